//! `tessera eval`: the keys other programs read, and what they mean.

use std::fs;

use serde_json::json;

use crate::world::World;

const KEYS: [&str; 11] = [
    "accuracy",
    "n_train",
    "n_test",
    "classes",
    "elements",
    "train_ms_per_image",
    "learn_ms_per_image",
    "test_ms_per_image",
    "network_ms_per_image",
    "model_bytes",
    "confusion",
];

/// Two images of each class, of objects that `images` does not show.
fn test_images(world: &World, folder: &str) {
    for (class, name) in ["disc", "grid"].into_iter().enumerate() {
        for instance in 7..9 {
            world.picture(&format!("{folder}/{name}/{name}_{instance:02}_0_0_0_lt.png"), class, 3, instance);
        }
    }
}

#[test]
fn tests_on_another_folder() {
    let world = World::with_images();
    test_images(&world, "test");
    for elements in ["orb", "hog", "colour", "mixed", "network", "all"] {
        let ran = world
            .run(["eval", "ckm", "--train", "images", "--test", "test", "--json", "--elements", elements, "--search", "exact"])
            .ended(0);
        let answer = ran.object();
        assert_eq!(ran.stdout.lines().count(), 1, "exactly one object");
        assert!(KEYS.iter().all(|key| !answer[key].is_null()), "{answer}");
        assert_eq!((answer["n_train"].as_u64(), answer["n_test"].as_u64(), answer["classes"].as_u64()), (Some(24), Some(4), Some(2)));
        let counts: u64 = answer["confusion"]["counts"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|row| row.as_array().unwrap())
            .map(|n| n.as_u64().unwrap())
            .sum();
        assert_eq!(counts, 4);
        let answered: u64 = answer["classes_answered"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!((answered, answer["pairs_compared"].as_f64()), (4, Some(1.0)));
        let [all, network] = ["test_ms_per_image", "network_ms_per_image"].map(|key| answer[key].as_f64().unwrap());
        assert_eq!(network > 0.0, ["network", "all"].contains(&elements), "{answer}");
        assert!(network < all, "{answer}");
    }
}

#[test]
fn sets_of_photographs_make_one_table() {
    let world = World::with_images();
    test_images(&world, "sets/test");
    world.picture("sets/test/grid/grid_09_0_0_0_lt.png", 1, 3, 9);
    fs::rename(world.at("images"), world.at("sets/train")).unwrap();
    let answers = world.run(["eval", "sets", "sets", "sets", "--json"]).ended(0).lines();
    assert_eq!(answers.len(), 2);
    let answer = &answers[0];
    assert_eq!(
        (&answer["set"], &answer["n_train"], &answer["n_test"], &answer["classes"]),
        (&json!("sets"), &json!(24), &json!(5), &json!(2))
    );
    // Both classes have 12 training images: the first is the largest.
    assert_eq!(
        (answer["accuracy"].as_f64(), answer["mean_class_accuracy"].as_f64(), answer["largest_class"].as_f64()),
        (Some(1.0), Some(1.0), Some(0.4))
    );
    for key in ["calibration_error", "calibration_error_by_chance", "test_ms_per_image", "network_ms_per_image"] {
        assert!(answer[key].as_f64() >= Some(0.0), "{key}: {answer}");
    }
    let table = world.run(["eval", "sets", "sets"]).ended(0).stdout;
    assert_eq!(table.lines().count(), 2, "{table}");
    world.run(["eval", "sets", "sets/train"]).ended(65).complains("no folder `train`");
}

#[test]
fn leaves_instances_or_objects_out() {
    let world = World::with_images();
    let answer = world.run(["eval", "ckm", "--data", "images", "--test-instances", "2,3", "--json"]).ended(0).object();
    assert_eq!((answer["n_train"].as_u64(), answer["n_test"].as_u64()), (Some(8), Some(16)));
    let answer = world.run(["eval", "ckm", "--data", "images", "--json"]).ended(0).object();
    assert_eq!((answer["n_train"].as_u64(), answer["n_test"].as_u64()), (Some(24), Some(24)));
    let answer = world.run(["eval", "ckm", "--data", "images", "--without-instances", "1", "--limit", "5", "--json"]).ended(0).object();
    assert_eq!((answer["n_train"].as_u64(), answer["n_test"].as_u64()), (Some(16), Some(5)));
    world.run(["eval", "ckm", "--data", "images", "--test-instances", "77"]).ended(2).complains("77");
    world.run(["eval", "ckm", "--data", "images", "--limit", "0"]).ended(2).complains("no image is left");
    let table = world.run(["eval", "ckm", "--data", "images"]).ended(0).stdout;
    assert!(table.contains("accuracy 1.0000 on 24 images") && table.contains("disc"), "{table}");
}

#[test]
fn where_no_object_is_known_images_are_left_out_alone() {
    let world = World::new();
    for i in 0..4 {
        world.picture(&format!("plain/disc/{}.png", ["a", "b", "c", "d"][i]), 0, 1, i as u32);
        world.picture(&format!("plain/grid/{}.png", ["e", "f", "g", "h"][i]), 1, 1, i as u32);
    }
    let ran = world.run(["eval", "ckm", "--data", "plain", "--json"]).ended(0).complains("near copies");
    let answer = ran.object();
    assert_eq!((answer["n_test"].as_u64(), answer["objects_unknown"].as_u64()), (Some(8), Some(8)));
    let trained = world.run(["train", "plain", "--to", "model", "--json"]).ended(0).complains("near copies").object();
    assert_eq!((&trained["held_out_accuracy"], &trained["held_out_spread"]), (&answer["accuracy"], &answer["accuracy_spread"]));
}

#[test]
fn one_measurement_has_one_spread() {
    let world = World::with_images();
    // Views of one object are wrong together: rings among the squares, and the other way round.
    for view in 0..4 {
        world.picture(&format!("images/grid/grid_09_{view}_0_0_lt.png"), 0, 1, view);
        world.picture(&format!("images/disc/disc_09_{view}_0_0_lt.png"), 1, 1, view);
    }
    let trained = world.trained().object();
    let tested = world.run(["eval", "ckm", "--data", "images", "--json"]).ended(0).object();
    assert_eq!(trained["held_out_accuracy"], tested["accuracy"]);
    assert_eq!(trained["held_out_spread"], tested["accuracy_spread"]);
    assert_eq!(trained["held_out_mean_recall_spread"], tested["mean_recall_spread"]);
    let (share, spread) = (tested["accuracy"].as_f64().unwrap(), tested["accuracy_spread"].as_f64().unwrap());
    let by_image = (share * (1.0 - share) / 32.0).sqrt();
    assert!(spread > 1.2 * by_image, "views of one object are one observation: {spread} is not more than {by_image}");
    // The recall of each class is told, too.
    let recalls = trained["recalls"].as_array().unwrap();
    let mean = recalls.iter().map(|of| of["recall"].as_f64().unwrap()).sum::<f64>() / recalls.len() as f64;
    assert_eq!((recalls.len(), &recalls[1]["class"]), (2, &json!("grid")));
    assert!((mean - trained["held_out_mean_recall"].as_f64().unwrap()).abs() < 1e-9, "{trained}");
    let words = world.run(["train", "images", "--to", "model"]).ended(0).stdout;
    assert!(words.contains(" % of disc\n") && words.contains(" % of grid\n"), "{words}");
}

#[test]
fn classes_that_were_not_trained_are_told() {
    let world = World::with_images();
    test_images(&world, "test");
    world.picture("test/cross/cross_01_0_0_0_lt.png", 1, 2, 1);
    let arguments = ["eval", "ckm", "--train", "images", "--test", "test"];
    let ran = world.run(arguments.into_iter().chain(["--json"])).ended(0);
    assert_eq!((&ran.object()["untrained"], ran.object()["accuracy"].as_f64()), (&json!(["cross"]), Some(0.8)));
    ran.complains("1 of 5 test images are of classes without a training image");
    fs::create_dir(world.at("set")).unwrap();
    fs::rename(world.at("images"), world.at("set/train")).unwrap();
    fs::rename(world.at("test"), world.at("set/test")).unwrap();
    assert_eq!(world.run(["eval", "sets", "set", "--json"]).ended(0).complains("cross").object()["untrained"], json!(["cross"]));
}

#[test]
fn features_stream_one_object_a_picture() {
    let world = World::with_images();
    world.file("bad.png", b"");
    let one = "images/disc/disc_01_0_0_0_lt.png";
    let ran = world.run(["eval", "features", one, "bad.png", one, "--features", "40", "--json"]).ended(1).complains("bad.png");
    let lines = ran.lines();
    assert_eq!(lines.len(), 2);
    for line in &lines {
        assert_eq!((line["path"].as_str(), line["width"].as_u64(), line["height"].as_u64()), (Some(one), Some(96), Some(96)));
        let (keypoints, descriptors) = (line["keypoints"].as_array().unwrap(), line["descriptors"].as_array().unwrap());
        assert!(!keypoints.is_empty() && keypoints.len() <= 40 && keypoints.len() == descriptors.len());
        assert!(keypoints.iter().all(|k| k.as_array().unwrap().len() == 5));
        assert!(descriptors.iter().all(|d| d.as_str().unwrap().len() == 64));
        assert!(line["ms"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(lines[0]["descriptors"], lines[1]["descriptors"]);
}

#[test]
fn each_search_takes_its_own_number_alone() {
    let world = World::with_images();
    let ask = |more: &[&str]| {
        let all = ["eval", "ckm", "--data", "images", "--json", "--elements", "colour", "--search"];
        world.run(all.iter().chain(more).copied().collect::<Vec<&str>>())
    };
    ask(&["index"]).ended(0);
    ask(&["index", "--probes", "2"]).ended(0);
    for wrong in [["exact", "--shortlist", "3"], ["exact", "--probes", "3"], ["shortlist", "--probes", "3"], ["index", "--shortlist", "3"]]
    {
        ask(&wrong).ended(2);
    }
    ask(&["index", "--probes", "0"]).ended(2);
}
