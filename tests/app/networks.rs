//! Networks that the user brings: tried, kept, used by recognisers, and removed.

use std::fs;

use crate::made::{Graph, grid, means, sums, tokenizer, write};
use crate::world::World;

/// Writes the files of a pair of encoders.
pub(crate) fn pair_in(world: &World) {
    write(&world.at("."), "image.onnx", means(Some(8)).file());
    write(&world.at("."), "text.onnx", sums(3).file());
    write(&world.at("."), "tokenizer.json", tokenizer());
}

/// A world with images, a pair of encoders, and one that gives a grid.
fn with_networks() -> World {
    let world = World::with_images();
    pair_in(&world);
    write(&world.at("."), "grid.onnx", grid().file());
    world
}

#[test]
fn networks_are_added_listed_and_removed() {
    let world = with_networks();
    let added = world.run(["network", "add", "pair", "image.onnx", "text.onnx", "tokenizer.json", "--json"]).ended(0).object();
    assert_eq!((added["name"].as_str(), added["dimension"].as_u64(), added["text"].as_bool()), (Some("pair"), Some(3), Some(true)));
    assert!(added["image_ms"].as_f64().unwrap() > 0.0 && added["text_ms"].as_f64().unwrap() > 0.0);
    assert!(!cfg!(target_os = "linux") || added["megabytes"].as_u64().unwrap() > 0);
    write(&world.at("."), "images/grid.onnx", grid().file());
    world.run(["network", "add", "cells", "images", "--pixels", "unit"]).ended(0);
    let listed = world.run(["network", "list", "--json"]).ended(0).object();
    assert_eq!((listed["networks"][0]["name"].as_str(), &listed["networks"][1]), (Some("cells"), &added));
    assert_eq!(listed["networks"][0]["rows"], 4);
    // The files are copies.
    for name in ["image.onnx", "text.onnx", "tokenizer.json", "images/grid.onnx"] {
        fs::remove_file(world.at(name)).unwrap();
    }
    world.run(["network", "match", "pair", "images", "--words", "red", "-k", "3"]).ended(0);
    world.run(["network", "match", "cells", "images", "--words", "red"]).ended(65).complains("an image encoder alone");
    world.run(["network", "remove", "pair"]).ended(0);
    world.run(["network", "remove", "pair"]).ended(65).complains("`tessera network list`");
    assert_eq!(world.run(["network", "list", "--json"]).ended(0).object()["networks"].as_array().unwrap().len(), 1);
    let home = world.at("home/tessera/networks");
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    fs::write(home.join("cells/network.json"), "{").unwrap();
    world.run(["network", "list"]).ended(1).complains("`tessera network add`");
    world.run(["network", "remove", "cells"]).ended(0);
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_a_network_is_told() {
    let world = with_networks();
    write(&world.at("."), "noise.onnx", [7; 5000]);
    write(&world.at("."), "open.onnx", means(None).file());
    let cases: [(&[&str], i32, &str); 9] = [
        (&["good", "images"], 65, "a folder with an ONNX file"),
        (&["good", "gone.onnx"], 74, "gone.onnx"),
        (&["good", "noise.onnx"], 65, "export it again"),
        (&["good", "open.onnx"], 65, "--side 224"),
        (&["good", "image.onnx", "text.onnx"], 65, "0 tokenizers"),
        (&["good", "grid.onnx", "--output", "logits"], 65, "--output"),
        (&["Good", "image.onnx"], 2, "lowercase letters"),
        (&["mixed", "image.onnx"], 2, "another name"),
        (&["../up", "image.onnx"], 2, "lowercase letters"),
    ];
    for (arguments, code, words) in cases {
        world.run([&["network", "add"], arguments].concat()).ended(code).complains(words);
    }
    assert!(!world.at("home/tessera/networks/good").exists());
    world.run(["network", "add", "good", "open.onnx", "--side", "16"]).ended(0);
    world.run(["network", "add", "good", "image.onnx"]).ended(65).complains("a network of that name");
    world.run(["train", "images", "--elements", "better", "--to", "model"]).ended(2).complains("`tessera network list`");
}

#[test]
fn a_network_that_takes_all_memory_ends_its_worker_alone() {
    let world = World::new();
    // 20 GB of zeros.
    let huge = Graph::default()
        .constant("zero", &[1], &[0.0])
        .integers("shape", &[5_000_000_000])
        .layer("Expand", &["zero", "shape"], "vast", &[])
        .layer("ReduceMean", &["vast"], "mean", &[("axes", &[0])])
        .output("mean", &[Some(1)]);
    write(&world.at("."), "huge.onnx", means(Some(8)).with(huge).file());
    if cfg!(target_os = "linux") {
        world.run(["network", "add", "huge", "huge.onnx", "--output", "mean"]).ended(65).complains("memory of a worker process");
    }
}

#[test]
fn recognisers_are_made_of_a_network() {
    let world = with_networks();
    world.run(["network", "add", "cells", "grid.onnx"]).ended(0);
    let trained = world.run(["train", "images", "--elements", "cells", "--to", "model", "--json"]).ended(0).object();
    assert_eq!(trained["elements"].as_u64(), Some(24 * 16));
    let answer = world.run(["classify", "model", "images/disc", "--explain", "--draw", "drawn", "--json"]).ended(0);
    assert!(answer.lines().iter().all(|line| line["contributions"][0]["kind"] == "encoder"));
    let judged = world.run(["eval", "ckm", "--data", "images", "--elements", "cells", "--json"]).ended(0).object();
    assert_eq!((judged["n_test"].as_u64(), judged["elements"].as_u64()), (Some(24), Some(24 * 16)));
    let options = world.run(["eval", "ckm", "--print-options", "--elements", "cells"]).ended(0).stdout;
    world.file("options.ron", options.as_bytes());
    world.run(["train", "images", "--options", "options.ron", "--to", "other"]).ended(0);
    let hash = world.run(["network", "list", "--json"]).ended(0).object()["networks"][0]["hash"].as_str().unwrap().to_owned();
    world.run(["network", "remove", "cells"]).ended(0);
    world.run(["classify", "model", "images/disc"]).ended(65).complains(&hash).complains("`cells`").complains("tessera network add");
    world.run(["train", "images", "--options", "options.ron", "--to", "other"]).ended(65).complains(&hash);
    // Another name is the same network.
    world.run(["network", "add", "again", "grid.onnx"]).ended(0);
    world.run(["classify", "model", "images/disc"]).ended(0);
}

#[test]
fn words_find_images_of_a_library_by_a_pair() {
    let world = with_networks();
    world.run(["network", "add", "pair", "image.onnx", "text.onnx", "tokenizer.json"]).ended(0);
    world.run(["network", "add", "cells", "grid.onnx"]).ended(0);
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let pair = || world.run(["check", "lib.tessera", "--json"]).ended(0).object()["words_network"].clone();
    assert!(pair().is_null());
    world.run(["train", "lib.tessera", "--words-network", "nothing"]).ended(65).complains("`tessera network list`");
    world.run(["train", "lib.tessera", "--words-network", "cells"]).ended(65).complains("an image encoder alone");
    world.run(["train", "images", "--words-network", "pair"]).ended(2).complains("left out for a folder");
    world.run(["train", "lib.tessera", "--words-network", "pair"]).ended(0);
    assert_eq!((pair()["name"].as_str(), pair()["seen"].as_u64(), pair()["images"].as_u64()), (Some("pair"), Some(24), Some(24)));

    let searched = world.run(["search", "lib.tessera", "red", "--explain", "--json"]).ended(0).object();
    let hit = &searched["hits"][0];
    let is_likeness = |term: &&serde_json::Value| term["kind"] == "likeness";
    let term = hit["why"]["terms"].as_array().unwrap().iter().find(is_likeness).unwrap();
    assert!(hit["likeness"].is_number() && term["value"].as_f64().unwrap() > 0.0, "{hit}");
    assert!(world.run(["search", "lib.tessera", "red"]).ended(0).stdout.contains("(by what it looks like, "));

    world.run(["network", "remove", "pair"]).ended(0);
    let hash = pair()["hash"].as_str().unwrap().to_owned();
    assert!(pair()["name"].is_null());
    world.run(["search", "lib.tessera", "red"]).ended(0).complains(&hash);
    world.run(["train", "lib.tessera", "--words-network", "off"]).ended(0);
    assert!(pair().is_null());
}

#[test]
fn a_network_looks_at_all_images_of_a_library() {
    let world = with_networks();
    world.run(["network", "add", "cells", "grid.onnx"]).ended(0);
    world.run(["import", "lib.tessera", "images"]).ended(0);
    world.run(["vectors", "lib.tessera", "--by", "nothing"]).ended(65).complains("`tessera network list`");
    world.run(["vectors", "lib.tessera", "--by", "cells", "--drop", "cells"]).ended(2);
    world.run(["vectors", "lib.tessera", "--name", "mine"]).ended(2);
    let look = |arguments: &[&str]| world.run(["vectors", "lib.tessera", "--by", "cells", "--json"].iter().chain(arguments));
    let keys = |answer: &serde_json::Value| ["images", "looked", "changed", "missing"].map(|key| answer[key].as_u64().unwrap());
    let first = look(&[]).ended(0).object();
    assert_eq!((first["name"].as_str(), keys(&first)), (Some("cells"), [24, 24, 24, 0]));
    assert!(first["event"].is_u64() && first["cancelled"] == false, "{first}");
    let again = look(&[]).ended(0).object();
    assert!(keys(&again) == [24, 0, 0, 0] && again["event"].is_null(), "{again}");

    // Everything compares by them, also without learned features.
    world.run(["train", "lib.tessera", "--learned-features", "off"]).ended(0);
    let found = world.run(["similar", "lib.tessera", "#1", "--by", "cells", "--json"]).ended(0).object();
    assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
    assert_eq!(world.run("cluster lib.tessera --by cells --clusters 2 --json".split(' ')).ended(0).object()["images"], 24);
    let map = world.run("map lib.tessera --by cells --to map.csv --rounds 5 --json".split(' ')).ended(0).object();
    assert_eq!((map["points"].as_u64(), map["by"].as_str()), (Some(24), Some("cells")));

    // One act, which is taken back; another set has a name of its own, and needs no second look.
    let sets = || world.run(["vectors", "lib.tessera", "--json"]).ended(0).object()["sets"].as_array().unwrap().len();
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(sets(), 0);
    world.run(["redo", "lib.tessera"]).ended(0);
    let other = look(&["--name", "mine"]).ended(0).object();
    assert_eq!((keys(&other), sets()), ([24, 0, 24, 0], 2));
    look(&["--name", "edges"]).ended(65).complains("built-in");
    world.file("short.csv", b"path,x,y\ndisc_01_0_0_0_lt.png,1,0\n");
    world.run("import lib.tessera images --vectors short.csv".split(' ')).ended(0);
    look(&["--name", "short"]).ended(65).complains("as many values as the set has");

    // What was looked at is in the cache; where that is lost and the files are away, their images
    // are left out.
    fs::rename(world.at("images"), world.at("away")).unwrap();
    assert_eq!(keys(&look(&[]).ended(0).object()), [24, 0, 0, 0]);
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    let lost = look(&[]).ended(1).complains("24 images left out").object();
    assert_eq!((keys(&lost), sets()), ([24, 0, 0, 24], 3));
    // Which they are is listed.
    world.run(["vectors", "lib.tessera", "--report", "failed.jsonl"]).ended(2);
    look(&["--report", "failed.jsonl"]).ended(1).complains("disc_01_0_0_0_lt.png");
    let report = fs::read_to_string(world.at("failed.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        rows.len() == 24 && rows.iter().all(|row| row["reason"] == "io" && row["path"].as_str().unwrap().ends_with(".png")),
        "{report}"
    );
}
