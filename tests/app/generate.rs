//! `tessera generate` and the built-in sample.

use std::collections::BTreeMap;
use std::fs;

use crate::documents::keys::agrees;
use crate::world::World;

#[test]
fn without_a_command_it_learns_the_sample_and_explains_an_answer() {
    let world = World::new();
    let ran = world.run::<&str>([]).ended(0);
    assert!(ran.stdout.contains("What spoke most for") && ran.stdout.contains("confidence"), "{}", ran.stdout);
    let tried = world.at("home/tessera").read_dir().unwrap().next().unwrap().unwrap().path().join("try-these/airplane_07_0_12_4_lt.jpg");
    let length = fs::read(&tried).unwrap().len();
    fs::write(&tried, vec![7; length]).unwrap();
    let ran = world.run(["--json"]).ended(0);
    agrees("sample", &ran);
    let answer = ran.object();
    let accuracy = answer["held_out_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.75, "{accuracy} right on objects left out");
    assert_eq!(answer["classes"], 6);
    assert!(fs::read(&tried).unwrap() != vec![7; length], "the damaged image is put in order again");
}

#[test]
fn toys_can_be_made_and_learned() {
    let world = World::new();
    let made =
        world.run(["generate", "toys", "--to", "toys", "--instances", "2", "--views", "2", "--side", "64", "--json"]).ended(0).object();
    assert_eq!(made["images"], 24);
    let answer = world.run(["train", "toys", "--json"]).ended(0).object();
    assert_eq!((answer["images"].as_u64(), answer["classes"].as_u64()), (Some(24), Some(6)));
    world.run(["generate", "toys", "--to", "toys"]).ended(65).complains("toys");
}

#[test]
fn scenes_can_be_made_and_learned() {
    let world = World::new();
    let toys = ["--instances", "2", "--views", "2", "--train", "14", "--test", "7", "--side", "48", "--json"];
    for (scenes, classes) in [("compositions", 2), ("symmetries", 7)] {
        let made = world.run(["generate", scenes, "--to", scenes].into_iter().chain(toys)).ended(0).object();
        assert_eq!(made["images"], 21);
        let (train, test) = (format!("{scenes}/train"), format!("{scenes}/test"));
        let answer = world.run(["eval", "ckm", "--train", &train, "--test", &test, "--json"]).ended(0).object();
        assert_eq!((answer["n_train"].as_u64(), answer["classes"].as_u64()), (Some(14), Some(classes)));
        world.run(["generate", scenes, "--to", scenes]).ended(65).complains(scenes);
    }
    world.run(["generate", "compositions", "--to", "new", "--objects", "symmetries/train"]).ended(65).complains("mask");
    world.run(["generate", "compositions", "--to", "new", "--masks", "symmetries"]).ended(2);
}

#[test]
fn norb_files_are_learned_directly() {
    let world = World::new();
    world
        .run(["generate", "toys", "--to", "norb", "--instances", "2", "--views", "2", "--side", "48", "--stereo", "--format", "mat"])
        .ended(0);
    let dat = fs::read_dir(world.at("norb"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().ends_with("training-dat.mat"));
    let ran = world.run(["train".as_ref(), dat.unwrap().as_os_str(), "--to".as_ref(), "model".as_ref(), "--json".as_ref()]).ended(0);
    assert_eq!(ran.object()["images"], 12, "of each pair the left image, of the instances half");
    assert!(fs::read_to_string(world.at("model/manifest.ron")).unwrap().contains("teapot"), "the toys' own categories");
}

#[test]
fn the_sample_is_what_its_command_makes() {
    let world = World::new();
    world.run(["generate", "toys", "--sample", "--to", "sample"]).ended(0);
    let committed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/sample");
    let (made, committed) = (files(&world.at("sample")), files(&committed));
    assert!(committed.len() > 480);
    assert_eq!(made.keys().collect::<Vec<_>>(), committed.keys().collect::<Vec<_>>());
    for (name, bytes) in made {
        assert!(bytes == committed[&name], "{} differs", name.display());
    }
}

/// All files below a folder by their paths from it.
fn files(folder: &std::path::Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}
