//! `tessera import`: folders taken in, counted, and taken in again.

use std::fs;

use image::{GrayImage, Luma};
use serde_json::Value;
use tessera_core::data::NorbWriter;

use crate::world::{Ran, World};

fn n(answer: &Value, key: &str) -> u64 {
    answer[key].as_u64().unwrap_or_else(|| panic!("{key} is not a number in {answer}"))
}

/// Checks that every file found is counted once.
fn adds_up(answer: &Value) {
    let sum: u64 = ["imported", "unchanged", "duplicate", "unsupported", "failed"].iter().map(|key| n(answer, key)).sum();
    assert_eq!(n(answer, "found"), sum, "{answer}");
}

fn report(world: &World) -> Vec<Value> {
    fs::read_to_string(world.at("report.jsonl")).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_file_is_counted_once() {
    let world = World::with_images();
    let one = world.at("images/disc/disc_01_0_0_0_lt.png");
    fs::copy(&one, world.at("images/disc/copy.png")).unwrap();
    world.file("images/disc/text.jpg", b"this is text");
    world.file("images/grid/cut.png", &fs::read(&one).unwrap()[..60]);
    world.file("images/grid/raw.heic", b"a format of others");
    let import = || world.run(["import", "lib.tessera", "images", "--json", "--report", "report.jsonl"]);
    let ran: Ran = import().ended(1);
    let answer = ran.object();
    adds_up(&answer);
    assert_eq!((n(&answer, "imported"), n(&answer, "duplicate"), n(&answer, "failed")), (24, 1, 2), "{answer}");
    assert_eq!(n(&answer, "worker_deaths"), 0);
    assert!(answer["seconds"].as_f64().unwrap() > 0.0);
    let lines = report(&world);
    let (copies, failed): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line["reason"] == "duplicate");
    assert_eq!((failed.len(), copies.len()), (3, 1), "one line for each file that was not taken in or is a duplicate: {lines:?}");
    for line in failed {
        let path = line["path"].as_str().unwrap();
        assert!(path.ends_with("text.jpg") || path.ends_with("cut.png") || path.ends_with("raw.heic"), "{path}");
        assert_eq!(line["reason"] == "unsupported", path.ends_with("raw.heic"), "{line}");
        assert!(!line["reason"].as_str().unwrap().is_empty() && !line["detail"].as_str().unwrap().is_empty());
    }
    let again = import().ended(1).object();
    adds_up(&again);
    assert_eq!((n(&again, "imported"), n(&again, "unchanged"), n(&again, "failed")), (0, 25, 2), "{again}");
    world.picture("images/disc/disc_01_0_0_0_lt.png", 0, 3, 9);
    fs::remove_file(world.at("images/grid/grid_01_0_0_0_lt.png")).unwrap();
    let changed = import().ended(1).object();
    adds_up(&changed);
    assert_eq!((n(&changed, "imported"), n(&changed, "missing")), (1, 1), "{changed}");
}

#[test]
fn a_file_that_moved_to_a_folder_that_is_read_later_is_not_missing() {
    let world = World::new();
    for (path, seed) in [("first/a.png", 1), ("first/b.png", 2), ("second/c.png", 3)] {
        world.picture(path, 0, seed, 0);
    }
    let import = |more: &[&str]| {
        let arguments = ["import", "lib.tessera", "first", "second", "--json"];
        world.run(arguments.iter().chain(more)).ended(0).object()
    };
    import(&[]);
    fs::rename(world.at("first/a.png"), world.at("second/a.png")).unwrap();
    let moved = import(&[]);
    assert_eq!((n(&moved, "moved"), n(&moved, "missing")), (1, 0), "{moved}");
    fs::remove_file(world.at("second/a.png")).unwrap();
    let gone = import(&[]);
    assert_eq!(n(&gone, "missing"), 1, "one image, though it was in both folders: {gone}");
    // A removed image is known all the same.
    world.run(["remove", "lib.tessera", "first/b.png"]).ended(0);
    let plan = import(&["--dry-run"]);
    assert_eq!((n(&plan, "images"), n(&plan, "known")), (2, 2), "{plan}");
}

#[test]
fn a_picture_that_is_cut_off_is_taken_in_and_named() {
    let world = World::new();
    let one = image::open(world.picture("photos/whole.png", 0, 1, 0)).unwrap();
    fs::remove_file(world.at("photos/whole.png")).unwrap();
    let mut jpeg = std::io::Cursor::new(Vec::new());
    one.write_to(&mut jpeg, image::ImageFormat::Jpeg).unwrap();
    let jpeg = jpeg.into_inner();
    world.file("photos/whole.jpg", &jpeg);
    world.file("photos/more.jpg", &[&jpeg[..], b"behind the picture"].concat());
    world.file("photos/half.jpg", &jpeg[..jpeg.len() * 6 / 10]);
    let ran = world.run(["import", "lib.tessera", "photos", "--json", "--report", "report.jsonl"]).ended(0);
    assert_eq!((n(&ran.object(), "imported"), n(&ran.object(), "cut_off")), (3, 1), "{}", ran.object());
    let lines = report(&world);
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line["path"].as_str().unwrap().ends_with("half.jpg") && line["reason"] == "cut_off", "{line}");
}

#[test]
fn several_folders_are_summed_and_patterns_leave_out() {
    let world = World::with_images();
    world.picture("more/disc/a.png", 0, 5, 1);
    world.picture("more/drafts/b.png", 1, 5, 1);
    let ran = world.run(["import", "lib.tessera", "images", "more", "--exclude", "drafts/**", "--exclude", "*_3_0_0_lt.png", "--json"]);
    let answer = ran.ended(0).object();
    adds_up(&answer);
    assert_eq!(n(&answer, "imported"), 18 + 1, "{answer}");
    let words = world.run(["import", "other.tessera", "more", "--labels", "none"]).ended(0).stdout;
    assert!(words.contains("2 images imported"), "{words}");
    let labels = world.run(["export", "other.tessera", "labels", "--to", "l.csv", "--json"]).ended(0).object();
    assert_eq!(labels["written"], 0, "--labels none reads no labels");
}

#[test]
fn what_was_taken_in_before_an_error_is_told() {
    let world = World::with_images();
    world.file("images/grid/cut.png", b"\x89PNG and no more");
    world.file("texts/a.txt", b"no picture");
    let ran = world.run(["import", "lib.tessera", "images", "texts", "--json", "--report", "report.jsonl"]);
    let answer = ran.ended(65).complains("texts").object();
    adds_up(&answer);
    assert_eq!((n(&answer, "imported"), n(&answer, "failed"), report(&world).len()), (24, 1, 1), "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("texts") && answer["cancelled"] == false, "{answer}");
    let again = world.run(["import", "lib.tessera", "texts", "images", "--json"]).ended(65).complains("texts");
    assert!(again.stdout.is_empty(), "{}", again.stdout);
}

#[test]
fn a_file_that_was_moved_is_no_copy() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    fs::rename(world.at("images/disc/disc_01_0_0_0_lt.png"), world.at("images/disc/disc_01_0_0_9_lt.png")).unwrap();
    let ran = world.run(["import", "lib.tessera", "images", "--json", "--report", "report.jsonl"]).ended(0);
    let answer = ran.object();
    assert_eq!((n(&answer, "duplicate"), n(&answer, "moved"), n(&answer, "imported")), (1, 1, 0), "{answer}");
    assert!(report(&world).iter().all(|line| line["reason"] != "duplicate"), "{:?}", report(&world));
    let again = world.run(["import", "lib.tessera", "images", "--json"]).ended(0).object();
    assert_eq!((n(&again, "duplicate"), n(&again, "moved")), (0, 0), "it is where it is expected now: {again}");
    // One that is gone has its bytes in two other places.
    let gone = world.at("images/disc/disc_01_0_0_9_lt.png");
    fs::copy(&gone, world.at("images/disc/disc_01_0_0_7_lt.png")).unwrap();
    fs::rename(&gone, world.at("images/disc/disc_01_0_0_6_lt.png")).unwrap();
    let answer = world.run(["import", "lib.tessera", "images", "--json", "--report", "again.jsonl"]).ended(0).object();
    assert_eq!((n(&answer, "duplicate"), n(&answer, "moved")), (2, 1), "{answer}");
    let told = fs::read_to_string(world.at("again.jsonl")).unwrap();
    let copy = told.lines().find(|line| line.contains("\"duplicate\"")).unwrap_or_else(|| panic!("{told}"));
    assert!(copy.contains("disc_01_0_0_6_lt.png") && copy.contains("disc_01_0_0_7_lt.png"), "each is told with the other: {copy}");
}

#[test]
fn an_image_in_the_folders_of_two_classes_is_told() {
    let world = World::with_images();
    let one = world.at("images/disc/disc_01_0_0_0_lt.png");
    fs::copy(&one, world.at("images/grid/grid_07_0_0_0_lt.png")).unwrap();
    let ran = world.run(["import", "lib.tessera", "images", "--json", "--report", "report.jsonl"]).ended(0);
    let answer = ran.object();
    assert_eq!(n(&answer, "duplicate"), 1, "{answer}");
    let [conflict] = &answer["class_conflicts"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert!(conflict["path"].as_str().unwrap().ends_with("grid_07_0_0_0_lt.png"), "{conflict}");
    assert_eq!((&conflict["class"], &conflict["kept"]), (&"grid".into(), &"disc".into()));
    assert!(report(&world).iter().any(|line| line["reason"] == "class"), "{:?}", report(&world));
    // The same in a folder that comes later.
    let later = world.at("more/grid/grid_08_0_0_0_lt.png");
    fs::create_dir_all(later.parent().unwrap()).unwrap();
    fs::create_dir_all(world.at("more/disc")).unwrap();
    fs::copy(&one, &later).unwrap();
    fs::copy(&one, world.at("more/disc/disc_08_0_0_0_lt.png")).unwrap();
    let ran = world.run(["import", "lib.tessera", "more", "--labels", "class-folders"]).ended(0).complains("keeps the class `disc`");
    assert!(ran.stdout.contains("2 duplicate, 1 of them in the folder of another class"), "{}", ran.stdout);
}

#[test]
fn captions_and_labels_come_from_a_table() {
    let world = World::with_images();
    let table = "path,caption,label\nimages/disc/disc_01_0_0_0_lt.png,a humming ring,odd\nnowhere.png,lost,odd\n";
    world.file("captions.csv", table.as_bytes());
    let arguments = ["import", "lib.tessera", "images", "--captions", "captions.csv", "--json", "--report", "report.jsonl"];
    let answer = world.run(arguments).ended(0).complains("nowhere.png").object();
    let listed = report(&world);
    assert_eq!((listed.len(), &listed[0]["reason"]), (1, &"no_image".into()), "{listed:?}");
    assert!(listed[0]["detail"].as_str().unwrap().contains("`nowhere.png`"), "{listed:?}");
    assert_eq!((n(&answer, "captions"), n(&answer, "labels"), n(&answer, "unmatched")), (1, 1, 1), "{answer}");
    let hits = world.run(["search", "lib.tessera", "humming", "--json"]).ended(0).object();
    assert_eq!(hits["hits"][0]["caption"], "a humming ring");
    world.run(["import", "lib.tessera", "images", "--captions", "gone.csv"]).ended(74).complains("gone.csv");
}

#[test]
fn a_table_above_its_images_moves_with_them() {
    let world = World::with_images();
    // One name in three folders: only the place tells which is which.
    for (place, instance) in [("all/a.png", 5), ("all/one/a.png", 6), ("all/one/two/a.png", 7)] {
        world.picture(place, 0, instance, 1);
    }
    world.run(["import", "lib.tessera", "all", "--labels", "none"]).ended(0);
    for (image, class) in [("all/a.png", "first"), ("all/one/a.png", "second"), ("all/one/two/a.png", "third")] {
        world.run(["label", "lib.tessera", image, "--as", class]).ended(0);
    }
    let export = |library: &str, to: &str| {
        world.run(["export", library, "labels", "--to", to]).ended(0);
        fs::read_to_string(world.at(to)).unwrap()
    };
    let table = export("lib.tessera", "all/labels.csv");
    assert!(table.contains("\na.png,first") && table.contains("\none/a.png,second") && table.contains("\none/two/a.png,third"), "{table}");
    assert!(export("lib.tessera", "images/labels.csv").contains("/all/one/a.png,second"), "not below the table");
    fs::rename(world.at("all"), world.at("moved")).unwrap();
    let arguments = ["import", "other.tessera", "moved", "--labels", "none", "--captions", "moved/labels.csv", "--json"];
    let answer = world.run(arguments).ended(0).object();
    assert_eq!((n(&answer, "labels"), n(&answer, "unmatched")), (3, 0), "{answer}");
    assert_eq!(export("other.tessera", "moved/again.csv"), table);
}

#[test]
fn lines_of_captions_that_cannot_be_used_are_told_to_programs_too() {
    let world = World::with_images();
    let line = |rest: &str| format!("{{\"path\": \"images/disc/disc_01_0_0_0_lt.png\", {rest}}}\n");
    let lines = line("\"caption\": \"a ring\"") + "{\"caption\": \"of nothing\"}\nno JSON\n" + &line("\"caption\": \"another\"");
    world.file("captions.jsonl", lines.as_bytes());
    let arguments = ["import", "lib.tessera", "images", "--captions", "captions.jsonl", "--quiet", "--json", "--report", "report.jsonl"];
    let ran = world.run(arguments).ended(1).complains("captions.jsonl: 2 lines could not be used");
    let answer = ran.object();
    assert_eq!((n(&answer, "captions"), n(&answer, "bad_lines"), n(&answer, "failed")), (2, 2, 0), "{answer}");
    let told = report(&world);
    assert_eq!(told.len(), 2, "{told:?}");
    for (line, number) in told.iter().zip([2, 3]) {
        assert_eq!((&line["path"], &line["reason"]), (&"captions.jsonl".into(), &"line".into()));
        assert!(line["detail"].as_str().unwrap().starts_with(&format!("line {number}: ")), "{line}");
    }
}

#[test]
fn norb_files_are_unpacked_first() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "norb", "--instances", "2", "--views", "2", "--side", "64", "--format", "mat"]).ended(0);
    let mats = fs::read_dir(world.at("norb")).unwrap().map(|entry| entry.unwrap().path());
    let mats: Vec<String> = mats.map(|path| path.to_string_lossy().into_owned()).filter(|path| path.ends_with("-dat.mat")).collect();
    world.run(["import", "lib.tessera", &mats[0]]).ended(65).complains("--unpack");
    assert!(!world.at("lib.tessera").exists(), "nothing is made for what cannot be imported");
    let mut arguments = vec!["import", "lib.tessera", "--unpack", "pictures", "--json"];
    arguments.extend(mats.iter().map(String::as_str));
    let answer = world.run(&arguments).ended(0).object();
    adds_up(&answer);
    assert_eq!(n(&answer, "imported"), 6 * 2 * 2, "{answer}");
    assert!(world.at("pictures").is_dir());
    assert_eq!(world.run(["train", "lib.tessera", "--json"]).ended(0).object()["classes"], 6);
}

#[test]
fn pictures_of_one_pose_are_unpacked_side_by_side() {
    let world = World::new();
    let mut set = NorbWriter::create(&world.at("clutter"), 48, 48).unwrap();
    // Two trucks seen alike, and two pictures of which nothing is known.
    for (shade, category, info) in [(0, 3, [7, 3, 12, 4]), (60, 3, [7, 3, 12, 4]), (120, 5, [-1; 4]), (180, 5, [-1; 4])] {
        let frame = GrayImage::from_fn(48, 48, |x, y| Luma([(x * y / 9) as u8 ^ shade]));
        set.push(category, &[info.as_slice(), &[i32::from(shade); 6]].concat(), &frame, &frame).unwrap();
    }
    set.finish().unwrap();
    fs::write(world.at("clutter-names.txt"), "animal\nhuman\nairplane\n../truck\ncar\nnone\n").unwrap();
    let import = || world.run(["import", "lib.tessera", "clutter-dat.mat", "--unpack", "pictures", "--json"]);
    let answer = import().ended(0).complains("Unpacked 4 pictures").object();
    assert_eq!((n(&answer, "found"), n(&answer, "imported")), (4, 4), "{answer}");
    let trucks = world.at("pictures/_._truck");
    assert!(trucks.join("000001_.._truck_07_3_12_4_lt.png").is_file());
    assert_eq!(n(&import().ended(0).object(), "unchanged"), 4);
    world.file("pictures/none/000002_none_00_0_0_0_lt.png", b"of somebody else");
    import().ended(65).complains("another folder");
    assert_eq!(fs::read(world.at("pictures/none/000002_none_00_0_0_0_lt.png")).unwrap(), b"of somebody else");
}

#[test]
fn what_cannot_be_imported_ends_in_a_sentence() {
    let world = World::with_library();
    world.run(["import", "lib.tessera"]).ended(2);
    world.run(["import", "lib.tessera", "nowhere"]).ended(74).complains("nowhere");
    world.file("texts/a.txt", b"no picture");
    world.run(["import", "new.tessera", "texts"]).ended(65).complains("texts");
    assert!(!world.at("new.tessera").exists(), "an import that could not begin leaves nothing behind");
    world.run(["import", "images", "images"]).ended(65).complains("other things in it");
    world.run(["import", "lib.tessera", "lib.tessera"]).ended(65).complains("a library");
    world.run(["import", "lib.tessera", "images", "--labels", "guess"]).ended(2);
    world.run(["import", "lib.tessera", "images", "--exclude", "a[", "--json"]).ended(2);
    let precious = world.at("images/disc/disc_01_0_0_0_lt.png");
    world.run(["import", "lib.tessera", "images", "--report", precious.to_str().unwrap()]).ended(65).complains("another file");
}

#[cfg(unix)]
#[test]
fn a_stopped_import_keeps_what_it_did() {
    use std::process::Command;
    use std::thread::sleep;
    use std::time::Duration;
    let world = World::new();
    let picture = fs::read(world.picture("one.png", 0, 1, 1)).unwrap();
    // Bytes after a PNG's end make another file of the same picture.
    for i in 0..500u32 {
        let bytes = [picture.as_slice(), &i.to_le_bytes()].concat();
        world.file(&format!("many/disc/{i}.png"), &bytes);
    }
    let child = world.start(["import", "lib.tessera", "many", "--json", "--threads", "1"]);
    while !world.at("lib.tessera/cache.db").exists() {
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(150));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = crate::world::ran(child.wait_with_output().unwrap()).ended(130);
    let answer = ran.object();
    adds_up(&answer);
    assert!(answer["cancelled"] == true && n(&answer, "imported") < 500, "{answer}");
    let rest = world.run(["import", "lib.tessera", "many", "--json"]).ended(0).object();
    assert_eq!(n(&rest, "imported") + n(&rest, "unchanged"), 500, "{rest}");
    assert_eq!(n(&rest, "unchanged"), n(&answer, "imported"));
}

#[test]
fn a_line_of_captions_that_is_not_utf_8_is_told_and_the_others_are_taken() {
    let world = World::with_images();
    let image = |n: u32| format!("images/disc/disc_0{n}_0_0_0_lt.png");
    let lines = |text: [String; 3], bad: &[u8]| [text[0].as_bytes(), text[1].as_bytes(), bad, b"\n", text[2].as_bytes()].concat();
    let csv =
        lines([format!("path,caption\n{},a ring\n", image(1)), format!("{},caf", image(2)), format!("{},a disc\n", image(3))], b"\xE9");
    let json = |n: u32, caption: &str| format!("{{\"path\": \"{}\", \"caption\": \"{caption}\"}}\n", image(n));
    let jsonl = lines([json(1, "a ring") + "\n", "{\"path\": \"x\", \"caption\": \"".into(), json(3, "a disc")], b"\xFF\"}");
    for (name, bytes) in [("c.csv", csv), ("c.jsonl", jsonl)] {
        world.file(name, &bytes);
        let library = format!("{name}.tessera");
        let ran = world.run(["import", &library, "images", "--captions", name, "--json", "--report", "report.jsonl"]).ended(1);
        let answer = ran.object();
        assert_eq!((n(&answer, "imported"), n(&answer, "captions"), n(&answer, "bad_lines")), (24, 2, 1), "{answer}");
        let told = report(&world);
        assert!(told[0]["detail"].as_str().unwrap().starts_with("line 3: expected text in UTF-8, found the byte "), "{told:?}");
    }
}

#[test]
fn lines_of_json_with_other_keys_and_values_are_told() {
    let world = World::with_images();
    let path = "\"path\": \"images/disc/disc_01_0_0_0_lt.png\"";
    let lines = [
        format!("{{{path}, \"capton\": \"a ring\"}}"),
        format!("{{{path}, \"label\": true}}"),
        format!("{{{path}, \"label\": [\"odd\"]}}"),
        format!("{{{path}, \"caption\": [\"a ring\", 4]}}"),
        "{\"imgae\": \"x.png\", \"caption\": \"a ring\"}".to_owned(),
        format!("{{{path}, \"caption\": [\"one\", null, \"two\"], \"width\": 4}}"),
        format!("{{{path}}}"),
        format!("{{{path}, \"caption\": \"{}\"}}", "long ".repeat(3_000)),
    ];
    world.file("captions.jsonl", lines.join("\n").as_bytes());
    let ran = world.run(["import", "lib.tessera", "images", "--captions", "captions.jsonl", "--json", "--report", "report.jsonl"]).ended(1);
    let answer = ran.object();
    assert_eq!((n(&answer, "captions"), n(&answer, "bad_lines"), n(&answer, "captions_left_out")), (2, 5, 1), "{answer}");
    let told: Vec<String> = report(&world).iter().map(|line| line["detail"].as_str().unwrap().to_owned()).collect();
    for words in [
        "line 1: expected `label` or `caption`, found `capton`",
        "line 2: `label`: expected text in quotation marks, found `true`",
        "line 3: `label`: expected text in quotation marks, found a list",
        "line 4: `caption`: expected text in quotation marks, found `4`",
        "line 5: expected `path`, found `imgae`",
        "line 8: 1 caption was left out: an image has at most 200",
    ] {
        assert!(told.iter().any(|detail| detail.starts_with(words)), "{words} is not in {told:#?}");
    }
    ran.complains("line 8: 1 caption was left out");
    // Classes that are numbers are common.
    world.file("numbered.jsonl", format!("{{{path}, \"label\": 3}}\n").as_bytes());
    let numbered = world.run(["import", "lib.tessera", "images", "--captions", "numbered.jsonl", "--json"]).ended(0).object();
    assert_eq!(n(&numbered, "labels"), 1, "{numbered}");
    world.run(["search", "lib.tessera", "--class", "3"]).ended(0);
}
