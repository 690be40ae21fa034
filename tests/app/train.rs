//! `tessera train`: good folders, and bad ones that end in a sentence.

use std::fs;

use crate::world::World;

#[test]
fn trains_in_one_pass_and_says_how_it_went() {
    let world = World::with_images();
    let answer = world.trained().object();
    assert_eq!((answer["images"].as_u64(), answer["classes"].as_u64()), (Some(24), Some(2)));
    assert!(answer["elements"].as_u64().unwrap() > 24 * 100);
    assert_eq!(answer["held_out_accuracy"].as_f64(), Some(1.0), "rings and squares are easily told apart");
    assert!(answer["train_ms_per_image"].as_f64().unwrap() > 0.0 && answer["network_ms_per_image"] == 0.0);
    let cells = world.run(["train", "images", "--elements", "network", "--to", "cells", "--json"]).ended(0).object();
    assert!(cells["train_ms_per_image"].as_f64() > cells["network_ms_per_image"].as_f64(), "{cells}");
    assert!(cells["network_ms_per_image"].as_f64() > Some(0.0), "{cells}");
    assert_eq!(answer["model"], "model");
    assert_eq!((answer["objects_unknown"].as_u64(), answer["failed"].as_u64()), (Some(0), Some(0)));
    assert!(world.at("model/manifest.ron").is_file());
}

#[test]
fn words_say_how_the_folder_was_understood() {
    let world = World::with_images();
    let ran = world.run(["train", "images"]).ended(0).complains("instance 1");
    assert!(ran.stdout.contains("24 images of 2 classes") && ran.stdout.contains("images.model"), "{}", ran.stdout);
    assert!(world.run(["train", "images", "--quiet"]).ended(0).stderr.is_empty());
}

#[test]
fn the_same_seed_gives_the_same_model_on_any_threads() {
    let world = World::with_images();
    for threads in ["1", "2"] {
        world.run(["train", "images", "--to", &format!("m{threads}"), "--threads", threads]).ended(0);
    }
    let manifest = |name: &str| fs::read(world.at(name).join("manifest.ron")).unwrap();
    assert_eq!(manifest("m1"), manifest("m2"));
}

#[test]
fn kinds_follow_the_images_unless_told_otherwise() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "3", "--views", "3", "--side", "48"]).ended(0);
    let train = |options: &[&str]| world.run(["train", "toys", "--to", "model", "--json"].iter().chain(options)).ended(0).object();
    let weights = |answer: &serde_json::Value| -> Vec<f64> {
        answer["kinds"].as_array().unwrap().iter().map(|kind| kind["weight"].as_f64().unwrap()).collect()
    };
    let preset = train(&["--kinds", "preset"]);
    assert_eq!((weights(&preset), &preset["kinds_loss"]), (vec![0.03, 1.0, 0.8], &serde_json::Value::Null));
    assert_eq!(weights(&train(&["--kinds", "preset", "--preset", "texture"])), [0.12, 1.0, 1.2]);
    let fitted = train(&[]);
    assert!(fitted["kinds_loss"].as_f64().unwrap() <= fitted["kinds_loss_before"].as_f64().unwrap(), "{fitted}");
    let manifest = fs::read_to_string(world.at("model/manifest.ron")).unwrap().replace(' ', "");
    assert!(weights(&fitted).iter().all(|weight| manifest.contains(&format!("weight:{weight}"))), "{manifest}");
    let places = train(&["--kinds", "places"]);
    assert_eq!(places["kinds_loss_before"], fitted["kinds_loss_before"]);
    assert!(world.run(["train", "toys", "--to", "model"]).ended(0).stdout.contains("edges "));
}

#[test]
fn scales_are_chosen_on_request_and_told() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "3", "--views", "3", "--side", "48"]).ended(0);
    let train = |options: &[&str]| world.run(["train", "toys", "--to", "model", "--json"].iter().chain(options)).ended(0).object();
    let scales = |answer: &serde_json::Value| -> Vec<String> {
        answer["kinds"].as_array().unwrap().iter().map(|kind| kind["scale"].as_str().unwrap().to_owned()).collect()
    };
    let fitted = train(&[]);
    let usual = ["patches of 51 pixels", "cells of 9 pixels", "6 squares along the longer side"];
    assert_eq!(scales(&fitted), usual);
    let chosen = train(&["--kinds", "scales", "--threads", "1"]);
    assert_eq!(chosen["kinds_loss_before"], fitted["kinds_loss_before"]);
    assert!(chosen["kinds_loss"].as_f64().unwrap() <= chosen["kinds_loss_before"].as_f64().unwrap(), "{chosen}");
    let manifest = || fs::read_to_string(world.at("model/manifest.ron")).unwrap();
    let first = manifest();
    let words = world.run(["train", "toys", "--to", "model", "--kinds", "scales", "--threads", "2"]).ended(0).stdout;
    assert_eq!(manifest(), first, "the same on any number of threads");
    let told = if scales(&chosen) == usual { "No other scale of pieces" } else { "Pieces of other scales were clearly better" };
    assert!(words.contains(told), "{words}");
    world.run(["classify", "model", "toys", "--json"]).ended(0);
    world.run(["train", "toys", "--kinds", "back"]).ended(2).complains("only a library keeps");
    let experiment = ["eval", "ckm", "--train", "toys", "--test", "toys", "--kinds", "scales", "--json"];
    assert!(world.run(experiment).ended(0).object()["accuracy"].as_f64() > Some(0.5));
}

#[test]
fn bad_folders_end_in_a_sentence() {
    let world = World::new();
    world.run(["train", "nowhere"]).ended(74).complains("nowhere");
    fs::create_dir(world.at("empty")).unwrap();
    world.run(["train", "empty"]).ended(65).complains("empty");
    world.picture("one-class/disc/a.png", 0, 1, 0);
    world.picture("one-class/disc/b.png", 0, 2, 0);
    world.run(["train", "one-class"]).ended(65).complains("only `disc`");
    world.picture("one-image/disc/a.png", 0, 1, 0);
    world.run(["train", "one-image"]).ended(65).complains("two classes or more");
    world.file("no-picture/a/x.png", b"text");
    world.file("no-picture/b/y.jpg", b"text");
    world.run(["train", "no-picture"]).ended(65).complains("no image that can be read");
    assert!(!world.at("empty.model").exists() && !world.at("one-class.model").exists());
}

#[test]
fn bad_files_are_told_and_the_rest_goes_on() {
    let world = World::with_images();
    world.file("images/disc/text.jpg", b"this is text");
    world.file("images/disc/cut.png", &fs::read(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap()[..60]);
    world.file("images/grid/empty.gif", b"");
    let ran = world.run(["train", "images", "--to", "model", "--json", "--report", "report.jsonl"]).ended(1);
    assert_eq!((ran.object()["images"].as_u64(), ran.object()["failed"].as_u64()), (Some(24), Some(3)));
    let report = fs::read_to_string(world.at("report.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for name in ["text.jpg", "cut.png", "empty.gif"] {
        let line =
            lines.iter().find(|line| line["path"].as_str().unwrap().ends_with(name)).unwrap_or_else(|| panic!("{name} is not in {report}"));
        assert_eq!(line["reason"], "data");
        assert!(line["detail"].as_str().unwrap().contains("expected"));
    }
}

#[test]
fn flat_images_are_learned_without_corners() {
    let world = World::new();
    for (class, value) in [("dark", 30u8), ("light", 220)] {
        for i in 0..3 {
            let path = world.at(&format!("flat/{class}/{i}.png"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            image::GrayImage::from_pixel(64, 64, image::Luma([value + i])).save(path).unwrap();
        }
    }
    let ran = world.run(["train", "flat", "--elements", "orb", "--to", "model", "--json"]).ended(0).complains("6 images gave no element");
    assert_eq!(ran.object()["elements"], 0);
    let line = world.run(["classify", "model", "flat/dark/0.png", "--json", "--explain"]).ended(0).object();
    assert_eq!(line["contributions"].as_array().unwrap().len(), 0);
}

#[cfg(unix)]
#[test]
fn it_can_be_stopped() {
    let world = World::with_images();
    for instance in 10..60 {
        for class in 0..2 {
            world.picture(&format!("images/{class}/{class}_{instance:02}_0_0_0_lt.png"), class, instance % 4, instance);
        }
    }
    let child = world.start(["train", "images", "--to", "model"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    crate::world::ran(child.wait_with_output().unwrap()).ended(130).complains("cancelled").complains("; no model was written");
    assert!(!world.at("model").exists());
}

#[test]
fn other_folders_are_not_written_over() {
    let world = World::with_images();
    world.run(["train", "images", "--to", "images"]).ended(65).complains("other things in it");
    world.file("taken", b"x");
    world.run(["train", "images", "--to", "taken"]).ended(65).complains("a file");
    world.trained();
    world.run(["train", "images", "--to", "model"]).ended(0);
}

#[test]
fn wrong_usage_ends_with_2() {
    let world = World::with_images();
    for arguments in [
        vec!["train"],
        vec!["train", "images", "--elements", "sift"],
        vec!["train", "images", "--threads", "many"],
        vec!["frobnicate"],
        vec!["classify", "model", "x.png", "--unknown-below", "2"],
        vec!["eval", "ckm", "--train", "images"],
    ] {
        let ran = world.run(&arguments).ended(2);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{arguments:?}");
    }
    // A path without a command opens the window, so a command after one is a mistake.
    world.run(["images", "train", "images"]).ended(2).complains("a command comes first");
    for (arguments, words) in [
        (["train", "images", "--seed", "abc"], "invalid value 'abc' for '--seed <N>': expected a whole number, 0 or more"),
        (["train", "images", "--probes", "-3"], "invalid value '-3' for '--probes <N>': expected a whole number, 0 or more"),
        (["train", "images", "--seed", "99999999999999999999"], "this number is too large"),
    ] {
        let ran = world.run(arguments).ended(2).complains(words);
        assert!(!ran.stderr.contains("digit") && !ran.stderr.contains("-- -3"), "{}", ran.stderr);
    }
    world.run(["--help"]).ended(0);
    world.run(["--version"]).ended(0);
}

#[test]
fn options_of_every_command_may_stand_before_it() {
    let world = World::with_images();
    let before = world.run(["--json", "--seed", "3", "--quiet", "train", "images", "--to", "before"]).ended(0);
    let after = world.run(["train", "images", "--to", "after", "--json", "--seed", "3", "--quiet"]).ended(0);
    assert!(before.stderr.is_empty() && after.stderr.is_empty());
    assert_eq!(before.object()["elements"], after.object()["elements"]);
    let manifest = |name: &str| fs::read(world.at(name).join("manifest.ron")).unwrap();
    assert_eq!(manifest("before"), manifest("after"));
}

#[test]
fn options_can_be_written_down_and_read_back() {
    let world = World::with_images();
    let options = world.run(["eval", "ckm", "--print-options", "--elements", "hog"]).ended(0).stdout;
    world.file("options.ron", options.replace("decompositions: 8", "decompositions: 3").as_bytes());
    world.run(["train", "images", "--options", "options.ron", "--to", "model"]).ended(0);
    assert!(fs::read_to_string(world.at("model/manifest.ron")).unwrap().contains("decompositions: 3"));
    world.file("options.ron", options.replace("rho", "roh").as_bytes());
    world.run(["train", "images", "--options", "options.ron"]).ended(65).complains("options.ron");
    world.file("options.ron", options.replace("decompositions: 8", "decompositions: 0").as_bytes());
    world.run(["train", "images", "--options", "options.ron"]).ended(2).complains("decompositions");
}

#[cfg(unix)]
#[test]
fn odd_names_and_loops_do_not_stop_it() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::with_images();
    let odd = world.at("images/disc").join(OsStr::from_bytes(b"caf\xe9 \xff\n.png"));
    fs::copy(world.at("images/disc/disc_01_0_0_0_lt.png"), odd).unwrap();
    std::os::unix::fs::symlink(world.at("images"), world.at("images/disc/loop")).unwrap();
    let ran = world.run(["train", "images", "--to", "model", "--json"]).ended(0);
    assert_eq!(ran.object()["images"], 25);
}

#[test]
fn learned_weights_are_saved_judged_and_explained() {
    let world = World::with_images();
    let answer = world.run(["train", "images", "--weights", "learned", "--to", "learned", "--json"]).ended(0).object();
    assert!(answer["learn_ms_per_image"].as_f64().unwrap() > 0.0 && answer["held_out"] == 24, "{answer}");
    // Rings and squares are told apart without them, so no pass is better than none.
    assert_eq!((answer["epochs"].as_u64(), answer["held_out_accuracy"].as_f64()), (Some(0), Some(1.0)));
    let ran = world.run(["train", "images", "--weights", "learned", "--to", "again"]).ended(0);
    assert!(ran.stdout.contains("uniform"), "{}", ran.stdout);
    let ran = world.run(["classify", "learned", "images/disc/disc_01_0_0_0_lt.png", "--explain", "--json"]).ended(0);
    let weight = ran.lines()[0]["contributions"][0]["weight"].as_f64();
    assert_eq!(weight, Some(0.0));
    let answer = world.run(["eval", "ckm", "--data", "images", "--weights", "learned", "--elements", "hog", "--json"]).ended(0).object();
    assert_eq!((answer["n_test"].as_u64(), answer["accuracy"].as_f64()), (Some(24), Some(1.0)));
}

/// The weights of the pieces of an answer.
fn weights(world: &World) -> Vec<f64> {
    let ran = world.run(["classify", "lib.tessera", "#1", "--explain", "--json"]).ended(0);
    let answer = &ran.lines()[0];
    answer["contributions"].as_array().unwrap().iter().map(|piece| piece["weight"].as_f64().unwrap()).collect()
}

#[test]
fn learned_weights_of_a_library_are_kept_switched_off_and_on() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "3", "--views", "2", "--seed", "4", "--side", "48"]).ended(0);
    world.run(["import", "lib.tessera", "toys"]).ended(0);
    // Weights of our own kinds help on these images; beside cells of the network they do not.
    let uniform = world.run(["train", "lib.tessera", "--learned-features", "off", "--json"]).ended(0).object();
    assert_eq!((uniform["epochs"].as_u64(), uniform["learn_ms_per_image"].as_f64()), (Some(0), Some(0.0)));
    assert!(weights(&world).iter().all(|weight| *weight == 0.0));
    let learned = world.run(["train", "lib.tessera", "--weights", "learned", "--json"]).ended(0).object();
    assert!(learned["epochs"].as_u64() > Some(0), "{learned}");
    assert!(weights(&world).iter().any(|weight| *weight != 0.0), "in use when it is opened again");
    // Without being told, it learns the weights anew; taken away, it is as it was.
    let again = world.run(["train", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!((&again["epochs"], &again["held_out_accuracy"]), (&learned["epochs"], &learned["held_out_accuracy"]));
    let off = world.run(["train", "lib.tessera", "--weights", "uniform", "--json"]).ended(0).object();
    assert_eq!(off["held_out_accuracy"], uniform["held_out_accuracy"]);
    assert!(weights(&world).iter().all(|weight| *weight == 0.0));
}
