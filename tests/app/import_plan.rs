//! `tessera import --dry-run`, and imports of data sets in layouts of their own.

use std::fs;

use serde_json::{Value, json};

use crate::world::World;

/// Three classes in numbered folders with maps beside the pictures, and files that are no
/// pictures.
fn numbered() -> World {
    let world = World::new();
    for (folder, class) in ["cow", "dog", "pig"].into_iter().enumerate() {
        for object in 1..3u32 {
            for view in 0..3u32 {
                let stem = format!("{class}{object}-066-{:03}", view * 90);
                world.picture(&format!("set/{}/{stem}.png", folder + 1), folder.min(1), object, view + 9 * folder as u32);
                let shade = |x: u32, y: u32| if (x + y + object * 7 + view) % 64 < 32 { 255 } else { 0 };
                let map = image::GrayImage::from_fn(64, 64, |x, y| image::Luma([shade(x + folder as u32, y)]));
                let path = world.at(&format!("set/{}/maps/{stem}-map.png", folder + 1));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                map.save(path).unwrap();
            }
        }
    }
    world.file("set/readme.md", b"text");
    world.file("set/1/notes.xyz", b"text");
    world
}

fn reasons(world: &World, report: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(world.at(report)).unwrap();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let name = line["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        assert!(!line["detail"].as_str().unwrap().is_empty());
        (line["reason"].as_str().unwrap().to_owned(), name)
    };
    text.lines().map(line).collect()
}

#[test]
fn a_dry_run_tells_all_and_makes_nothing() {
    let world = numbered();
    let arguments = ["import", "lib.tessera", "set", "--dry-run", "--json", "--exclude", "pig*", "--report", "r.jsonl"];
    let answer = world.run(arguments).ended(0).object();
    assert!(!world.at("lib.tessera").exists(), "nothing is made");
    assert_eq!((&answer["images"], &answer["masks"], &answer["skipped"]), (&json!(12), &json!(12), &json!(2)), "{answer}");
    let plan = &answer["folders"][0];
    assert_eq!((&plan["labels"], &plan["objects"]), (&json!("norb-names"), &json!(4)), "{plan}");
    assert_eq!(plan["classes"], json!({"cow": 6, "dog": 6}));
    assert_eq!(plan["excluded"], json!([{"pattern": "pig*", "files": 12}]));
    assert_eq!(plan["skipped"], json!({"no_picture": 1, "unsupported": 1}));
    assert_eq!(plan["files"], json!({"png": 24}));
    let examples = plan["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 10);
    assert!(examples.iter().any(|example| example["mask_of"].is_string()) && examples.iter().any(|example| example["class"] == "cow"));
    assert_eq!(reasons(&world, "r.jsonl").len(), 2);
    let words = world.run(["import", "lib.tessera", "set", "--plan", "--labels", "class-folders"]).ended(0).stdout;
    for part in ["* --labels class-folders", "  --labels norb-names", "18 of other pictures left out", "mask of", "1/maps/cow"] {
        assert!(words.contains(part), "{part} is not in {words}");
    }
    world.run(["import", "lib.tessera", "nowhere", "--dry-run"]).ended(74).complains("nowhere");
    world.file("texts/a.txt", b"text");
    world.run(["import", "lib.tessera", "texts", "--dry-run", "--json"]).ended(65).complains("texts");
}

#[test]
fn an_import_does_what_its_dry_run_told() {
    for (name, options) in
        [("a", &[][..]), ("b", &["--labels", "class-folders"]), ("c", &["--masks", "keep"]), ("d", &["--exclude", "maps"])]
    {
        let world = numbered();
        let library = format!("{name}.tessera");
        let run = |more: &[&str]| {
            let mut arguments = vec!["import", &library, "set", "--json"];
            arguments.extend(options);
            arguments.extend(more);
            world.run(arguments).ended(0).object()
        };
        let plan = run(&["--dry-run"]);
        let done = run(&["--report", "r.jsonl"]);
        assert_eq!(plan["images"], json!(done["imported"].as_u64().unwrap() + done["duplicate"].as_u64().unwrap()), "{plan} {done}");
        assert_eq!(plan["known"], json!(0), "{plan}");
        assert_eq!(plan["masks"], done["masks"], "{done}");
        assert_eq!(plan["skipped"], json!(done["unsupported"].as_u64().unwrap() + done["others"].as_u64().unwrap()), "{done}");
        let listed = reasons(&world, "r.jsonl");
        let n = |reason: &str| listed.iter().filter(|(of, _)| of == reason).count();
        assert_eq!((json!(n("mask")), n("unsupported"), n("no_picture")), (done["masks"].clone(), 1, 1), "{listed:?}");
        let mut classes: Vec<String> = Vec::new();
        world.run(["export", &library, "labels", "--to", "l.csv"]).ended(0);
        for line in fs::read_to_string(world.at("l.csv")).unwrap().lines().skip(1) {
            classes.push(line.rsplit(',').find(|part| !part.is_empty()).unwrap().to_owned());
        }
        classes.sort();
        classes.dedup();
        let planned: Vec<String> = plan["folders"][0]["classes"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(classes, planned, "{name}");
        let again = run(&["--dry-run"]);
        assert_eq!((&again["known"], &again["folders"][0]["known"]), (&plan["images"], &plan["images"]), "{again}");
    }
}

#[test]
fn training_on_a_folder_leaves_masks_out_too() {
    let world = numbered();
    let answer = world.run(["train", "set", "--json", "--elements", "orb"]).ended(0).object();
    assert_eq!((&answer["images"], &answer["classes"]), (&json!(18), &json!(3)), "{answer}");
}

#[test]
fn netpbm_pictures_are_imported_and_those_that_lie_are_told() {
    let world = World::new();
    let grey = |seed: u8| (0..64 * 64u32).map(|i| ((i % 64 * 3) as u8) ^ seed ^ (i / 64 * 2) as u8).collect::<Vec<u8>>();
    world.file("faces/ann/1.pgm", &[b"P5\n64 64\n255\n".as_slice(), &grey(1)].concat());
    world.file("faces/ann/2.ppm", &[b"P6\n64 64\n255\n".as_slice(), &grey(2), &grey(3), &grey(4)].concat());
    let wide: Vec<u8> = grey(5).iter().flat_map(|v| [*v, 0]).collect();
    world.file("faces/bob/3.pgm", &[b"P5\n64 64\n65535\n".as_slice(), &wide].concat());
    let plain: Vec<String> = grey(6).iter().map(u8::to_string).collect();
    world.file("faces/bob/4.pgm", format!("P2\n# made by hand\n64 64\n255\n{}\n", plain.join("\n")).as_bytes());
    world.file("faces/bob/5.pbm", &[b"P4\n64 64\n".as_slice(), &grey(7)[..512]].concat());
    let pam = b"P7\nWIDTH 64\nHEIGHT 64\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\n";
    world.file("faces/bob/6.pam", &[pam.as_slice(), &grey(8)].concat());
    // Without an ending, told by its first bytes; a text that begins like one is none.
    world.file("faces/bob/seven", &[b"P5 64 64 255\n".as_slice(), &grey(9)].concat());
    world.file("faces/bob/text", b"P5 is a paper size");
    world.file("faces/bob/lies.pgm", b"P5\n60000 1600\n255\nshort");
    world.file("faces/bob/cut.ppm", &[b"P6\n64 64\n255\n".as_slice(), &grey(2)].concat());
    let ran = world.run(["import", "lib.tessera", "faces", "--json", "--report", "r.jsonl"]).ended(1);
    let answer = ran.complains("23 bytes for 60000 x 1600").object();
    let counts: Vec<_> = ["imported", "failed", "unsupported", "worker_deaths"].iter().map(|key| answer[key].as_u64().unwrap()).collect();
    assert_eq!(counts, [7, 2, 1, 0], "{answer}");
    let mut listed: Vec<String> = reasons(&world, "r.jsonl").into_iter().map(|(_, name)| name).collect();
    listed.sort();
    assert_eq!(listed, ["cut.ppm", "lies.pgm", "text"]);
    let plan = world.run(["import", "x.tessera", "faces", "--dry-run", "--json"]).ended(0).object();
    assert_eq!(plan["folders"][0]["files"]["pgm"], 4, "{plan}");
}

#[test]
fn paths_of_folders_are_offered_where_folders_lie_in_folders_and_become_classes() {
    let world = World::new();
    for (class, folder) in ["animal/cow", "animal/dog", "plant"].into_iter().enumerate() {
        for view in 0..3u32 {
            world.picture(&format!("set/{folder}/{view}.png"), class.min(1), class as u32, view);
        }
    }
    let plan = world.run(["import", "lib.tessera", "set", "--dry-run", "--json"]).ended(0).object();
    let sources = plan["folders"][0]["sources"].as_array().unwrap();
    let told = |source: &Value| (source["labels"].clone(), source["classes"].clone(), source["objects"].clone());
    assert_eq!(told(&sources[0]), (json!("class-folders"), json!(2), json!(2)), "{plan}");
    assert_eq!(told(&sources[1]), (json!("folder-paths"), json!(3), json!(0)), "{plan}");
    assert_eq!(plan["folders"][0]["labels"], "class-folders", "not unless it is asked for");
    let words = world.run(["import", "lib.tessera", "set", "--dry-run", "--labels", "folder-paths"]).ended(0).stdout;
    assert!(words.contains("* --labels folder-paths") && words.contains("animal/dog 3"), "{words}");
    world.run(["import", "lib.tessera", "set", "--labels", "folder-paths"]).ended(0);
    let found = world.run(["search", "lib.tessera", "--class", "animal/dog", "--json"]).ended(0).object();
    assert_eq!(found["found"], 3, "{found}");
    // Later imports read the folder as it was read, masks and all, until another way is asked for.
    world.picture("set/plant/4.png", 1, 2, 4);
    world.picture("set/plant/4-mask.png", 1, 2, 5);
    let plan = world.run(["import", "lib.tessera", "set", "--dry-run", "--json"]).ended(0).object();
    assert_eq!(plan["folders"][0]["labels"], "folder-paths", "{plan}");
    let again = world.run(["import", "lib.tessera", "set", "--json"]).ended(0).object();
    assert_eq!((&again["imported"], &again["masks"]), (&json!(2), &json!(0)), "a colourful mask is a picture: {again}");
    world.run(["import", "lib.tessera", "set", "--labels", "folder-paths", "--masks", "leave-out"]).ended(0);
    let kept = world.run(["import", "lib.tessera", "set", "--json"]).ended(0).object();
    assert_eq!((&kept["imported"], &kept["masks"]), (&json!(0), &json!(1)), "{kept}");
    assert_eq!(world.run(["search", "lib.tessera", "--class", "animal/dog", "--json"]).ended(0).object()["found"], 3);
    world.run(["import", "lib.tessera", "set", "--labels", "auto"]).ended(0);
    assert_eq!(world.run(["search", "lib.tessera", "--class", "animal", "--json"]).ended(0).object()["found"], 6);
    let flat = world.run(["import", "other.tessera", "set/animal", "--dry-run", "--json"]).ended(0).object();
    let sources = flat["folders"][0]["sources"].as_array().unwrap();
    assert!(sources.iter().all(|source| source["labels"] != "folder-paths"), "they would be the same: {flat}");
    let narrow = world.run(["import", "other.tessera", "set", "--dry-run", "--json", "--exclude", "cow"]).ended(0).object();
    let labels: Vec<&Value> = narrow["folders"][0]["sources"].as_array().unwrap().iter().map(|source| &source["labels"]).collect();
    assert!(labels.contains(&&json!("folder-paths")), "as many classes with other names: {narrow}");
    let trained = world.run(["train", "set", "--labels", "folder-paths", "--to", "m.tessera-model", "--json"]).ended(0).object();
    assert_eq!(trained["classes"], 3, "{trained}");
}

#[test]
fn years_tell_no_classes_and_a_folder_may_be_one_class() {
    let world = World::new();
    for (i, name) in ["photos/2019/Lake/1.png", "photos/2019/2.png", "photos/2020/3.png", "dogs/4.png", "dogs/5.png"].iter().enumerate() {
        world.picture(name, i % 2, i as u32, i as u32);
    }
    let plan = world.run(["import", "lib.tessera", "photos", "--dry-run", "--json"]).ended(0).object();
    let folder = &plan["folders"][0];
    assert_eq!((&folder["labels"], &folder["unlabelled"]), (&json!("none"), &json!(3)), "{plan}");
    assert!(folder["words"].as_str().unwrap().starts_with("the folders are dates, such as 2019,"), "{plan}");
    let labels: Vec<&Value> = folder["sources"].as_array().unwrap().iter().map(|source| &source["labels"]).collect();
    assert_eq!(labels, ["class-folders", "folder-paths", "whole-folder", "none"]);
    world.run(["import", "lib.tessera", "photos"]).ended(0);
    world.run(["import", "lib.tessera", "dogs", "--labels", "whole-folder"]).ended(0);
    // It is looked through again as it was imported.
    world.picture("dogs/6.png", 0, 9, 9);
    world.run(["import", "lib.tessera", "dogs"]).ended(0);
    let found = |class: &str| world.run(["search", "lib.tessera", "--class", class, "--json"]).ended(0).object()["found"].clone();
    assert_eq!(found("dogs"), 3);
    world.run(["import", "lib.tessera", "photos", "--labels", "class-folders"]).ended(0);
    assert_eq!(found("2019"), 2);
}

#[test]
fn the_one_class_of_a_folder_may_be_named() {
    let world = World::new();
    for (i, name) in ["images/1.png", "images/below/2.png"].iter().enumerate() {
        world.picture(name, i, i as u32, i as u32);
    }
    let plan = world.run(["import", "lib.tessera", "images", "--class", "animal/dog", "--dry-run", "--json"]).ended(0).object();
    let folder = &plan["folders"][0];
    assert_eq!((&folder["labels"], &folder["classes"]), (&json!("whole-folder"), &json!({"animal/dog": 2})), "{plan}");
    assert!(folder["examples"].as_array().unwrap().iter().all(|example| example["class"] == "animal/dog"), "{plan}");
    world.run(["import", "lib.tessera", "images", "--class", "animal/dog"]).ended(0);
    world.picture("images/3.png", 0, 9, 9);
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let found = |class: &str| world.run(["search", "lib.tessera", "--class", class, "--json"]).ended(0).object()["found"].clone();
    assert_eq!(found("animal/dog"), 3);
    // A folder inside keeps its class where the one around it is to have none.
    let none = ["import", "inner.tessera", "images", "--labels", "none", "--dry-run"];
    world.run(["import", "inner.tessera", "images/below", "--class", "hound"]).ended(0);
    let plan = world.run(none.into_iter().chain(["--json"])).ended(0).object();
    let folder = &plan["folders"][0];
    assert_eq!(
        (&folder["classes"], &folder["of_folders_inside"], &folder["unlabelled"]),
        (&json!({"hound": 1}), &json!(1), &json!(2)),
        "{plan}"
    );
    let told = world.run(none).ended(0).stdout;
    for words in
        ["Classes      hound 1", "1 image keeps its class from folders inside that were imported by themselves", "Unlabelled   2 images"]
    {
        assert!(told.contains(words), "{told}");
    }
    let left_out = ["import", "lib.tessera", "images", "--exclude", "below", "--dry-run"];
    let plan = world.run(left_out.into_iter().chain(["--json"])).ended(0).object();
    assert_eq!((&plan["folders"][0]["images"], &plan["folders"][0]["known_left_out"]), (&json!(2), &json!(1)), "{plan}");
    assert!(world.run(left_out).ended(0).stdout.contains("1 image of the library is left out and stays in it"));
    let refused = ["import", "other.tessera", "images", "--class", "dog", "--labels", "none"];
    world.run(refused).ended(2).complains("option `labels` is none, but it must be whole-folder or left out where one class");
    world.run(["import", "other.tessera", "images", "--class", " "]).ended(65).complains("class: expected a name of 1 to 200 characters");
    world.run(["import", "other.tessera", "images", "--labels", "whole-folder"]).complains("name the class, or read labels elsewhere");
    assert!(!world.at("other.tessera").exists());
}

#[test]
fn few_inner_folders_are_said_to_be_objects_and_a_table_that_is_not_read_is_named() {
    let world = World::new();
    let mut captions = "image,caption\n".to_owned();
    for (class, folder) in ["animal/cow", "animal/dog", "plant/rose", "plant/oak"].into_iter().enumerate() {
        for view in 0..5u32 {
            world.picture(&format!("set/{folder}/{class}{view}.png"), class / 2, class as u32, view);
            captions += &format!("{class}{view}.png,a picture\n");
        }
    }
    world.file("set/texts.csv", captions.as_bytes());
    let said = world.run(["import", "lib.tessera", "set"]).ended(0);
    assert!(said.stderr.contains("texts.csv has captions or labels of 20 images and was not read"), "{}", said.stderr);
    let said = world.run(["import", "lib.tessera", "set"]).ended(0);
    assert!(!said.stderr.contains("texts.csv"), "nothing is new: {}", said.stderr);
    let said = world.run(["import", "read.tessera", "set", "--captions", "set/texts.csv"]).ended(0);
    assert!(!said.stderr.contains("was not read"), "{}", said.stderr);
    let hint = "4 folders inside those of classes, such as cow, are taken for single objects";
    for arguments in [["train", "lib.tessera", "--to", "l.tessera-model"], ["train", "set", "--to", "m.tessera-model"]] {
        world.run(arguments).ended(0).complains(hint);
    }
    world.run(["import", "lib.tessera", "set", "--labels", "folder-paths"]).ended(0);
    let said = world.run(["train", "lib.tessera", "--to", "p.tessera-model"]).ended(0);
    assert!(!said.stderr.contains("taken for single objects"), "{}", said.stderr);
}
