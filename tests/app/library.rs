//! Commands over a library: from import to forgetting, what is refused, and what is mended.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};
use tessera::command::KindChoice;
use tessera::session::Session;
use tessera::session::kinds_kept::KindSetting;
use tessera::session::library_kinds::kind_use;
use tessera_core::library::import::hold;
use tessera_core::progress::Progress;

use crate::world::World;

/// Whether any file below `folder` has these bytes, in lower or upper case.
fn has_bytes(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| match path.is_dir() {
        true => has_bytes(&path, bytes),
        false => fs::read(&path).unwrap().windows(bytes.len()).any(|window| window.eq_ignore_ascii_case(bytes)),
    })
}

fn hits(world: &World, words: &str) -> Vec<Value> {
    world.run(["search", "lib.tessera", words, "--json"]).ended(0).object()["hits"].as_array().unwrap().clone()
}

#[test]
fn from_import_to_forgetting() {
    let world = World::new();
    let toys = ["generate", "toys", "--to", "toys", "--format", "norb-names", "--instances", "3", "--views", "3", "--side", "64"];
    world.run(toys).ended(0);
    let imported = world.run(["import", "lib.tessera", "toys/train", "--json"]).ended(0).object();
    assert_eq!((&imported["imported"], &imported["found"]), (&json!(36), &json!(36)));

    let before = world.run(["classify", "lib.tessera", "toys/test", "--json"]).ended(0).complains("judged first");
    assert_eq!(before.lines().len(), 18);
    assert!(before.lines()[0]["confidence"].as_f64() > Some(0.0));
    let again = world.run(["classify", "lib.tessera", "toys/test", "--json"]).ended(0);
    assert_eq!((again.stdout == before.stdout, again.stderr.contains("judged first")), (true, false));
    let trained = world.run(["train", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!((&trained["images"], &trained["classes"], &trained["failed"]), (&json!(36), &json!(6), &json!(0)));
    assert!(trained["held_out_accuracy"].is_f64() && trained["train_ms_per_image"].as_f64().unwrap() > 0.0, "{trained}");
    assert_eq!(trained["model"], "lib.tessera/models/recogniser");

    fs::create_dir(world.at("elsewhere")).unwrap();
    let exported = world.run(["export", "lib.tessera", "model", "--to", "elsewhere/toys.tessera-model", "--json"]).ended(0).object();
    assert_eq!(exported["written"], 1);
    world.run(["export", "lib.tessera", "model", "--to", "elsewhere/folder"]).ended(0);
    fs::rename(world.at("elsewhere/toys.tessera-model"), world.at("copied.tessera-model")).unwrap();
    let scores = |by: &str| -> Vec<(Value, Value, Value)> {
        let lines = world.run(["classify", by, "toys/test", "--json"]).ended(0).lines();
        lines.into_iter().map(|line| (line["path"].clone(), line["scores"].clone(), line["confidence"].clone())).collect()
    };
    let by_library = scores("lib.tessera");
    for model in ["copied.tessera-model", "elsewhere/folder", "lib.tessera/models/recogniser"] {
        assert_eq!(scores(model), by_library, "{model}");
    }

    world.run(["caption", "lib.tessera", "#7", "a quaggafinch on a wire"]).ended(0);
    let found = hits(&world, "quaggafinch");
    assert_eq!((found.len(), &found[0]["image"], &found[0]["words"]), (1, &json!(7), &json!(["quaggafinch"])));
    let undone = world.run(["undo", "lib.tessera", "--json"]).ended(0).object();
    assert!(undone["ok"] == true && undone["event"].is_u64(), "{undone}");
    assert_eq!(hits(&world, "quaggafinch").len(), 0);
    world.run(["redo", "lib.tessera"]).ended(0);
    assert_eq!(hits(&world, "quaggafinch").len(), 1);
    assert!(has_bytes(&world.at("lib.tessera"), b"quaggafinch"));
    let name = found[0]["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let forgotten = world.run(["forget", "lib.tessera", "#7", "--json"]).ended(0).object();
    assert!(forgotten["ok"] == true && forgotten["event"].is_u64(), "{forgotten}");
    assert!(!has_bytes(&world.at("lib.tessera"), b"quaggafinch"), "the word is still in the library");
    assert!(!has_bytes(&world.at("lib.tessera"), name.as_bytes()), "the file's name is still in the library");
    assert_eq!(hits(&world, "quaggafinch").len(), 0);
    world.run(["check", "lib.tessera"]).ended(0);
    let again = world.run(["import", "lib.tessera", "toys/train", "--json"]).ended(0).object();
    assert_eq!((&again["imported"], &again["forgotten"]), (&json!(0), &json!(1)));
    let others = world.run(["import", "lib.tessera", "toys/test", "--again", "--json"]).ended(0).object();
    assert_eq!((&others["imported"], &others["forgotten"]), (&json!(18), &json!(0)), "{others}");
    let after_all = world.run(["import", "lib.tessera", "toys/train", "--again", "--json"]).ended(0).object();
    assert_eq!((&after_all["imported"], &after_all["forgotten"]), (&json!(1), &json!(0)), "{after_all}");
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn an_image_by_its_number_is_judged_without_its_object() {
    let world = World::with_library();
    let by_path = world.run(["classify", "lib.tessera", "images/disc/disc_01_0_0_0_lt.png", "--json", "--explain"]).ended(0);
    let by_path = by_path.complains("compared with themselves").object();
    assert_eq!(by_path["left_out"], Value::Null);
    let id = world.run(["search", "lib.tessera", "disc_01_0", "--json"]).ended(0).object()["hits"][0]["image"].clone();
    let by_id = world.run(["classify", "lib.tessera", &format!("#{id}"), "--json", "--explain"]).ended(0).object();
    assert!(by_id["left_out"].as_str().unwrap().starts_with("object"), "{}", by_id["left_out"]);
    assert!(by_id["scores"]["disc"].as_f64() < by_path["scores"]["disc"].as_f64());
    for contribution in by_id["contributions"].as_array().unwrap() {
        let image = contribution["image"].as_str().unwrap();
        assert!(Path::new(image).is_absolute() && Path::new(image).is_file() && !image.contains("disc_01"), "{image}");
    }
    world.run(["classify", "lib.tessera", "#1", "--draw", "why"]).ended(0);
    world.run(["classify", "lib.tessera", "#999", "#1", "--json"]).ended(1).complains("#999");
    world.run(["classify", "lib.tessera", "#999"]).ended(65);
    let unsure = world.run(["classify", "lib.tessera", "#1", "--unknown-below", "1", "--json"]).ended(0).object();
    assert_eq!((&unsure["class"], &unsure["unknown"]), (&json!("disc"), &json!(true)));
    world.run(["import", "blank.tessera", "images", "--labels", "none"]).ended(0);
    world.run(["classify", "blank.tessera", "#1"]).ended(65).complains("no labelled image");
    world.run(["train", "blank.tessera"]).ended(65).complains("two classes");
}

#[test]
fn a_library_is_trained_as_it_is() {
    let world = World::with_library();
    for arguments in [&["--elements", "orb"][..], &["--options", "options.ron"], &["--labels", "norb-names"], &["--kinds", "scales"]] {
        world.run(["train", "lib.tessera"].iter().chain(arguments)).ended(2).complains("train its folder");
    }
    let trained = world.run(["train", "lib.tessera", "--to", "m.tessera-model", "--json"]).ended(0).object();
    assert!(world.at("m.tessera-model").is_file() && trained["held_out_accuracy"] == 1.0, "{trained}");
    let words = world.run(["train", "lib.tessera"]).ended(0).stdout;
    assert!(words.contains("24 images of 2 classes") && words.contains("models/recogniser"), "{words}");
    let quiet = world.run(["classify", "lib.tessera", "#1", "--quiet"]).ended(0);
    assert!(quiet.stderr.is_empty(), "{}", quiet.stderr);
    assert!(!world.run(["classify", "lib.tessera", "#1"]).ended(0).stderr.contains("calibrated"));
}

#[test]
fn fitted_kinds_of_a_library_are_kept_and_taken_back() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "3", "--views", "3", "--side", "48"]).ended(0);
    world.run(["import", "lib.tessera", "toys"]).ended(0);
    let train = |options: &[&str]| world.run(["train", "lib.tessera", "--json"].iter().chain(options)).ended(0).object();
    let told = |answer: &Value| ["kinds", "kinds_loss", "held_out_accuracy"].map(|key| answer[key].clone());
    train(&["--learned-features", "off"]);
    let preset = train(&["--kinds", "preset"]);
    assert!(preset["kinds_loss"].is_null(), "{preset}");
    let fitted = train(&["--kinds", "fitted"]);
    assert!(fitted["kinds_loss"].as_f64().unwrap() <= fitted["kinds_loss_before"].as_f64().unwrap(), "{fitted}");
    assert_eq!(told(&train(&[])), told(&fitted), "it is kept when the library is opened again");
    assert_eq!(told(&train(&["--kinds", "preset"])), told(&preset), "and taken back");
    assert_eq!(told(&train(&[])), told(&preset), "until it is chosen again");
}

#[test]
fn stopping_while_kinds_are_fitted_keeps_the_usual_ones_until_it_is_judged() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "4", "--views", "2", "--side", "48"]).ended(0);
    world.run(["import", "lib.tessera", "toys"]).ended(0);
    let session = Session::new(2, 0).unwrap().with_data_folder(world.at("data"));
    let library = Mutex::new(session.open_library(&world.at("lib.tessera")).unwrap());
    let stopped = Progress::default();
    stopped.cancel();
    assert!(!session.with_progress(&stopped).fit_kinds(&library, KindSetting::default()).unwrap(), "it was cut short");
    let used = kind_use(&hold(&library));
    assert_eq!((used.setting.choice, used.loss), (KindChoice::Fitted, None));
    session.judge(&library, None).unwrap();
    let [usual, fitted] = kind_use(&hold(&library)).loss.expect("they are fitted when it is next judged");
    assert!(fitted <= usual, "{fitted} {usual}");
    library.into_inner().unwrap().close().unwrap();
}

#[test]
fn kinds_are_fitted_anew_when_labelled_images_have_doubled() {
    let world = World::new();
    for (folder, seed) in [("toys", "1"), ("more", "2")] {
        world.run(["generate", "toys", "--to", folder, "--instances", "4", "--views", "2", "--side", "48", "--seed", seed]).ended(0);
    }
    let train = |options: &[&str]| world.run(["train", "lib.tessera", "--json"].iter().chain(options)).ended(0).object();
    let told = |answer: &Value| ["kinds_loss_before", "kinds_loss", "images"].map(|key| answer[key].as_f64().unwrap());
    world.run(["import", "lib.tessera", "toys"]).ended(0);
    train(&["--learned-features", "off"]);
    let [before, after, images] = told(&train(&["--kinds", "fitted"]));
    assert!(images >= 40.0 && after <= before && before > 0.0, "{before} {after} {images}");
    // One more image is no doubling: what was fitted stays.
    let class = fs::read_dir(world.at("more")).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).min().unwrap();
    let file = fs::read_dir(&class).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    let few = world.at("few").join(class.file_name().unwrap());
    fs::create_dir_all(&few).unwrap();
    fs::rename(&file, few.join(file.file_name().unwrap())).unwrap();
    world.run(["import", "lib.tessera", "few"]).ended(0);
    assert_eq!(told(&train(&[])), [before, after, images + 1.0]);
    world.run(["import", "lib.tessera", "more"]).ended(0);
    let [doubled_before, doubled, all] = told(&train(&[]));
    assert!(all == 2.0 * images && doubled <= doubled_before, "{all} images");
    assert!(doubled_before != before, "they were fitted anew: {doubled_before}");
    assert_eq!(told(&train(&[])), [doubled_before, doubled, all], "once");
}

#[test]
fn searching_says_what_it_did_not_find() {
    let world = World::with_library();
    let nothing = world.run(["search", "lib.tessera", "quaggafinch", "--json"]).ended(0).complains("No captions are remembered yet");
    let answer = nothing.complains("quaggafinch").object();
    assert_eq!((&answer["hits"], &answer["memories"], &answer["query"]), (&json!([]), &json!(0), &json!("quaggafinch")));
    world.run(["caption", "lib.tessera", "#2", "a red ring", "on white"]).ended(0);
    let answer = world.run(["search", "lib.tessera", "red", "ring", "quaggafinch", "--json"]).ended(0).object();
    assert_eq!((&answer["unknown_words"], &answer["memories"]), (&json!(["quaggafinch"]), &json!(2)));
    let hit = &answer["hits"][0];
    assert_eq!((&hit["image"], &hit["caption"], &hit["words"]), (&json!(2), &json!("a red ring"), &json!(["red", "ring"])));
    assert!(hit["score"].as_f64().unwrap() > 0.0 && Path::new(hit["path"].as_str().unwrap()).is_file());
    let few = world.run(["search", "lib.tessera", "disc", "-k", "3", "--json"]).ended(0).object();
    assert_eq!(few["hits"].as_array().unwrap().len(), 3);
    assert!(world.run(["search", "lib.tessera", "ring"]).ended(0).stdout.contains("a red ring"));
    world.run(["search", "lib.tessera", "ring", "-k", "many"]).ended(2);
    world.run(["search", "lib.tessera", "!"]).ended(0).complains("no word");
}

#[test]
fn acts_are_taken_back_and_done_again() {
    let world = World::with_library();
    let n_labels = || world.run(["export", "lib.tessera", "labels", "--to", "l.csv", "--dry-run", "--json"]).ended(0).object();
    let removed = world.run(["remove", "lib.tessera", "#1", "images/disc/disc_01_1_0_0_lt.png", "--json"]).ended(0).object();
    assert_eq!((&removed["ok"], &removed["event"]), (&json!(true), &json!(2)), "{removed}");
    assert_eq!((&n_labels()["written"], world.at("l.csv").exists()), (&json!(22), false));
    world.run(["label", "lib.tessera", "#1", "--as", "x"]).ended(65).complains("restore it first");
    assert!(world.run(["undo", "lib.tessera"]).ended(0).stdout.contains("Undone: Removed 2 images"));
    assert_eq!(n_labels()["written"], 24);
    assert!(world.run(["redo", "lib.tessera"]).ended(0).stdout.contains("Done again"));
    world.run(["restore", "lib.tessera", "#1"]).ended(0);
    assert_eq!(n_labels()["written"], 23);
    let nothing = world.run(["redo", "lib.tessera", "--json"]).ended(65).complains("nothing to do again").object();
    assert_eq!((&nothing["ok"], &nothing["event"]), (&json!(false), &Value::Null));
    for _ in 0..3 {
        world.run(["undo", "lib.tessera"]).ended(0);
    }
    world.run(["undo", "lib.tessera", "--json"]).ended(65).complains("nothing to undo");
}

#[test]
fn folders_that_moved_are_found() {
    let world = World::with_library();
    fs::rename(world.at("images"), world.at("moved")).unwrap();
    world.run(["relocate", "lib.tessera", "elsewhere", "moved"]).ended(65).complains("no images");
    world.run(["relocate", "lib.tessera", "images", "nowhere"]).ended(74).complains("nowhere");
    let moved = world.run(["relocate", "lib.tessera", "images", "moved", "--json"]).ended(0).object();
    assert_eq!((&moved["ok"], &moved["found"], &moved["missing"]), (&json!(true), &json!(24), &json!(0)));
    assert!(moved["event"].is_u64());
    world.run(["label", "lib.tessera", "moved/disc/disc_01_0_0_0_lt.png", "--as", "ring"]).ended(0);
}

#[test]
fn exports_are_written_in_every_form() {
    let world = World::with_library();
    world.run(["caption", "lib.tessera", "#1", "a ring"]).ended(0);
    for (what, format, written) in [
        ("labels", None, 24),
        ("labels", Some("tsv"), 24),
        ("labels", Some("jsonl"), 24),
        ("labels", Some("coco"), 24),
        ("labels", Some("class-folders"), 24),
        ("labels", Some("norb-names"), 24),
        ("captions", None, 1),
        ("captions", Some("tsv"), 1),
        ("captions", Some("flickr8k"), 1),
        ("captions", Some("sidecar"), 1),
        ("captions", Some("coco"), 1),
        ("predictions", None, 24),
        ("predictions", Some("tsv"), 24),
        ("predictions", Some("jsonl"), 24),
        ("events", None, 2),
        ("events", Some("jsonl"), 2),
        ("model", None, 1),
    ] {
        let to = format!("{what}-{}", format.unwrap_or("usual"));
        let mut arguments = vec!["export", "lib.tessera", what, "--to", &to, "--json"];
        arguments.extend(format.map(|format| ["--format", format]).iter().flatten());
        let dry = world.run(arguments.iter().chain(&["--dry-run"])).ended(0).object();
        assert!(dry["written"] == written && !world.at(&to).exists(), "{to}: {dry}");
        let done = world.run(&arguments).ended(0).object();
        assert!(done["written"] == written && world.at(&to).exists(), "{to}: {done}");
        if !matches!(format, Some("class-folders" | "norb-names")) {
            world.run(&arguments).ended(0);
            let other = world.file("other", b"path to nowhere\n");
            arguments[4] = "other";
            if format != Some("sidecar") && what != "model" {
                world.run(&arguments).ended(65).complains("choose another name");
                world.run(arguments.iter().chain(&["--dry-run"])).ended(65).complains("choose another name");
                assert_eq!(fs::read(other).unwrap(), b"path to nowhere\n");
                world.file("other", b"");
                world.run(&arguments).ended(0);
            }
        }
    }
    assert!(fs::read_to_string(world.at("labels-usual")).unwrap().lines().count() == 25);
    for (what, format) in
        [("labels", "flickr8k"), ("captions", "class-folders"), ("predictions", "coco"), ("events", "csv"), ("model", "csv")]
    {
        world.run(["export", "lib.tessera", what, "--to", "x", "--format", format]).ended(2).complains("format");
    }
    world.run(["export", "lib.tessera", "labels"]).ended(2);
    let precious = "images/disc/disc_01_0_0_0_lt.png";
    let before = fs::read(world.at(precious)).unwrap();
    world.run(["export", "lib.tessera", "labels", "--to", precious]).ended(65);
    for more in [&[][..], &["--dry-run"]] {
        let folders = ["export", "lib.tessera", "labels", "--to", "images", "--format", "class-folders"];
        world.run(folders.iter().chain(more)).ended(65).complains("things in it");
        world.file("notes.tessera-model", b"a diary");
        for to in ["notes.tessera-model", "images"] {
            world.run(["export", "lib.tessera", "model", "--to", to].iter().chain(more)).ended(65);
        }
        world.file("texts/disc_01_0_0_0_lt.txt", b"a diary");
        let texts = ["export", "lib.tessera", "captions", "--to", "texts", "--format", "sidecar"];
        world.run(texts.iter().chain(more)).ended(65).complains("move it away");
    }
    assert_eq!(fs::read(world.at(precious)).unwrap(), before);
    world.run(["export", "lib.tessera", "model", "--to", "notes.tessera-model"]).ended(65).complains("another file");
}

#[test]
fn labels_in_norb_names_are_read_again() {
    let world = World::with_library();
    world.picture("photos/a disc/sunny day.png", 0, 5, 5);
    world.picture("photos/a disc/rainy day.png", 0, 6, 6);
    world.run(["label", "lib.tessera", "#1", "--as", "a disc"]).ended(0);
    let export = |to: &str| world.run(["export", "lib.tessera", "labels", "--to", to, "--format", "norb-names"]);
    export("few").ended(0);
    assert!(world.at("few/a disc_01_0_0_0_lt.png").is_file() && world.at("few/grid_03_3_0_0_lt.png").is_file());
    // Of two images nothing is known but their class.
    world.run(["import", "lib.tessera", "photos"]).ended(0);
    export("all").ended(0);
    let again = world.run(["import", "again.tessera", "all", "--labels", "norb-names", "--json"]).ended(0).object();
    assert_eq!(again["imported"], 26, "{again}");
    let labels = |library: &str| {
        let to = format!("{library}.csv");
        world.run(["export", library, "labels", "--to", &to]).ended(0);
        let text = fs::read_to_string(world.at(&to)).unwrap();
        let mut labels: Vec<String> = text.lines().map(|line| line.rsplit_once(',').unwrap().1.to_owned()).collect();
        labels.sort();
        labels
    };
    assert_eq!(labels("lib.tessera"), labels("again.tessera"));
    world.run(["label", "lib.tessera", "#1", "--as", "2CV"]).ended(0);
    export("none").ended(65).complains("class-folders");
    assert!(!world.at("none").exists());
}

#[cfg(unix)]
#[test]
fn an_export_does_not_wait_at_a_pipe() {
    let world = World::with_library();
    assert!(std::process::Command::new("mkfifo").arg(world.at("pipe")).status().unwrap().success());
    world.run(["export", "lib.tessera", "labels", "--to", "pipe"]).ended(65).complains("not a file");
}

#[test]
fn damage_is_told_and_the_cache_made_again() {
    let world = World::with_library();
    world.run(["label", "lib.tessera", "#1", "--as", "ring"]).ended(0);
    let fine = world.run(["check", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!((&fine["ok"], &fine["problems"], &fine["repaired"]), (&json!(true), &json!([]), &json!([])));
    let cache = world.at("lib.tessera/cache.db");
    let mut bytes = fs::read(&cache).unwrap();
    bytes[4096..].fill(0x5a);
    fs::write(&cache, &bytes).unwrap();
    let found = world.run(["check", "lib.tessera", "--json"]).ended(65).object();
    assert!(found["problems"][0].as_str().unwrap().contains("cache.db is damaged"), "{found}");
    let mended = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(0).object();
    assert!(mended["ok"] == true && mended["repaired"][0].as_str().unwrap().contains("cache.db was damaged"), "{mended}");
    assert_eq!(fs::read(world.at("lib.tessera/cache.db.damaged")).unwrap(), bytes, "the damaged file is kept");
    assert_eq!(world.run(["search", "lib.tessera", "ring", "--json"]).ended(0).object()["hits"][0]["image"], 1);
    assert_eq!(world.run(["check", "lib.tessera", "--repair", "--json"]).ended(0).object()["repaired"], json!([]));
    let precious = world.at("lib.tessera/library.db");
    let whole = fs::read(&precious).unwrap();
    fs::write(&precious, b"no database, but long enough to look like one if nobody reads its first bytes").unwrap();
    world.run(["search", "lib.tessera", "ring"]).ended(65).complains("--repair");
    let broken = world.run(["check", "lib.tessera", "--json"]).ended(65).complains("--repair").object();
    assert!(broken["ok"] == false && broken["problems"].as_array().unwrap().len() == 1, "{broken}");
    assert!(fs::read(&precious).unwrap() != whole, "a check changes nothing");
    let mended = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(0).object();
    assert!(mended["ok"] == true && mended["repaired"].as_array().unwrap().len() >= 2, "{mended}");
    assert_eq!(world.run(["search", "lib.tessera", "ring", "--json"]).ended(0).object()["hits"][0]["image"], 1);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn what_is_no_library_or_no_image_ends_in_a_sentence() {
    let world = World::with_library();
    let commands: [&[&str]; 13] = [
        &["search", "LIB", "x"],
        &["label", "LIB", "#1", "--as", "x"],
        &["label", "LIB", "--stdin"],
        &["caption", "LIB", "#1", "x"],
        &["undo", "LIB"],
        &["redo", "LIB"],
        &["remove", "LIB", "#1"],
        &["restore", "LIB", "#1"],
        &["forget", "LIB", "#1"],
        &["relocate", "LIB", "a", "b"],
        &["export", "LIB", "labels", "--to", "x"],
        &["check", "LIB"],
        &["check", "LIB", "--repair"],
    ];
    for command in commands {
        for (library, found) in [("nowhere.tessera", "nothing of that name"), ("images", "a folder without one")] {
            let arguments = command.iter().map(|argument| if *argument == "LIB" { library } else { argument });
            world.run(arguments).ended(65).complains(found);
        }
    }
    for act in [&["label", "--as", "x"][..], &["caption", "x"], &["remove"], &["restore"], &["forget"]] {
        for image in ["#999", "nowhere.png", "#x"] {
            let arguments = [&[act[0], "lib.tessera", image], &act[1..]].concat();
            world.run(arguments).ended(65).complains("an image of this library");
        }
    }
    world.picture("stranger.png", 0, 1, 1);
    world.run(["remove", "lib.tessera", "stranger.png"]).ended(65).complains("not in it");
    for arguments in
        [&["undo"][..], &["remove", "lib.tessera"], &["relocate", "lib.tessera", "a"], &["export", "lib.tessera", "x", "--to", "y"]]
    {
        world.run(arguments).ended(2);
    }
}

#[test]
fn without_a_command_a_path_is_for_the_window() {
    let world = World::with_images();
    world.run(["frobnicate"]).ended(2).complains("frobnicate");
    world.run(["images"]).ended(74).complains("window");
    world.run(["images", "search", "x", "y"]).ended(2);
    world.run(["sample", "--help"]).ended(0);
}

#[test]
fn what_is_said_of_answers_is_learned_and_taken_back() {
    let world = World::with_library();
    let search = |by: &str| -> Value { world.run(["search", "lib.tessera", "odd", "question", "--json", "--by", by]).ended(0).object() };
    assert_eq!(search("memory")["hits"].as_array().unwrap().len(), 0);
    world.run(["caption", "lib.tessera", "#3", "a very odd disc"]).ended(0);
    let first = search("memory");
    assert_eq!((&first["hits"][0]["image"], &first["hits"][0]["taught"]), (&json!(3), &Value::Null), "{first}");
    let said = ["feedback", "lib.tessera", "--query", "Odd question", "--image", "#7", "--reward", "1", "--json"];
    let answer = world.run(said).ended(0).object();
    assert!(answer["ok"] == true && answer["event"].is_u64(), "{answer}");
    let answer = world.run(said).ended(0).object();
    assert!(answer["ok"] == true && answer["event"].is_null(), "it was said already: {answer}");
    let taught = search("memory");
    assert_eq!((&taught["hits"][0]["image"], &taught["hits"][0]["taught"]), (&json!(7), &json!(1.0)), "{taught}");
    assert_eq!(search("index")["hits"][0]["image"], 3, "the index learns nothing");
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(search("memory"), first);
    world.run(["redo", "lib.tessera"]).ended(0);
    world.run(["feedback", "lib.tessera", "--query", "odd question", "--image", "#7", "--unteach"]).ended(0);
    assert_eq!(search("memory"), first);
    let refused = world.run(["feedback", "lib.tessera", "--query", "odd", "--image", "#999", "--reward", "1", "--json"]).ended(65).object();
    assert!(refused["ok"] == false && refused["error"].as_str().unwrap().contains("999"), "{refused}");
    world.run(["feedback", "lib.tessera", "--query", "odd", "--image", "#3", "--reward", "7"]).ended(2).complains("-1 to 1");
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn images_are_found_by_look_among_what_is_meant_and_with_reasons() {
    let world = World::with_library();
    let first = world.run(["search", "lib.tessera", "--like", "#1", "-k", "40", "--json"]).ended(0).object();
    let hits = first["hits"].as_array().unwrap();
    assert!(hits.len() == 23 && hits.iter().all(|hit| hit["image"] != 1 && hit["look"] == hit["score"]), "{first}");
    let path = hits[0]["path"].as_str().unwrap().to_owned();
    let same = world.run(["search", "lib.tessera", "--like", &path, "-k", "40", "--json"]).ended(0).object();
    let same = same["hits"].as_array().unwrap();
    assert!(same.len() == 23 && same.iter().all(|hit| hit["path"] != path.as_str()));
    let part = ["search", "lib.tessera", "--like", &path, "--crop", "4,4,24,24", "-k", "1", "--json", "--explain"];
    let hit = &world.run(part).ended(0).object()["hits"][0];
    assert_eq!(hit["why"]["terms"], json!([{"kind": "look", "words": null, "value": hit["score"]}]));
    world.run(["search", "lib.tessera", "--like", &path, "--crop", "4,4,24,4000"]).ended(2).complains("within the picture");
    image::RgbImage::from_fn(3000, 40, |x, y| image::Rgb([x as u8, (y * 6) as u8, (x / 12) as u8])).save(world.at("wide.png")).unwrap();
    let edge = ["search", "lib.tessera", "--like", "wide.png", "--crop", "2992,32,8,8", "-k", "1", "--json"];
    let edge = world.run(edge).ended(0).object();
    assert!(edge["hits"][0]["score"].as_f64().unwrap() > 0.0, "a part at the border is a part: {edge}");
    world.run(["search", "lib.tessera", "--like", &path, "--crop", "4,4"]).ended(2).complains("X,Y,WIDTH,HEIGHT");
    world.run(["search", "lib.tessera", "--like", "#99"]).ended(65).complains("no image of that number");
    world.run(["search", "lib.tessera"]).ended(2);
    for (id, text) in [("#3", "a red disc on a table"), ("#4", "a red disc in the air"), ("#9", "a blue thing on a table")] {
        world.run(["caption", "lib.tessera", id, text]).ended(0);
    }
    world.run(["feedback", "lib.tessera", "--query", "red table", "--image", "#4", "--reward", "-1"]).ended(0);
    for more in [&["--like", "#2"][..], &[]] {
        let words = ["search", "lib.tessera", "red table", "--explain", "--json"].iter().chain(more);
        let answer = world.run(words).ended(0).object();
        let hits = answer["hits"].as_array().unwrap();
        assert!(hits.len() >= 2, "{answer}");
        for hit in hits {
            let terms = hit["why"]["terms"].as_array().unwrap();
            let sum: f64 = terms.iter().map(|term| term["value"].as_f64().unwrap()).sum();
            assert!((sum - hit["score"].as_f64().unwrap()).abs() < 1e-5, "{hit}");
            assert_eq!(terms.iter().any(|term| term["kind"] == "look"), !more.is_empty(), "{hit}");
            for turn in hit["why"]["ways"].as_array().unwrap().iter().flat_map(|way| way["turns"].as_array().unwrap()) {
                assert!((-1.0..=1.0).contains(&turn["margin"].as_f64().unwrap()) && turn["side"].is_string(), "{turn}");
            }
        }
    }
    world.run(["search", "lib.tessera", "red", "table", "--explain"]).ended(0);
    let class = hits[0]["path"].as_str().map(|path| Path::new(path).parent().unwrap().to_owned()).unwrap();
    let inside = world.run([
        "search".as_ref(),
        "lib.tessera".as_ref(),
        "--like".as_ref(),
        "#1".as_ref(),
        "-k".as_ref(),
        "40".as_ref(),
        "--json".as_ref(),
        "--folder".as_ref(),
        class.as_os_str(),
    ]);
    let inside = inside.ended(0).object();
    let inside = inside["hits"].as_array().unwrap();
    assert!(!inside.is_empty() && inside.iter().all(|hit| hit["path"].as_str().unwrap().starts_with(class.to_str().unwrap())));
    world.run(["search", "lib.tessera", "red", "--folder", "no such folder"]).ended(65).complains("a folder with images");
    world.run(["search", "lib.tessera", "--like", "no such image"]).ended(65).complains("or a picture file");
    world.run(["feedback", "lib.tessera", "--query", "red", "--image", "#3", "--reward", "0.0001"]).ended(2).complains("takes back");
    // Without the cache files are looked at anew.
    for entry in
        fs::read_dir(world.at("lib.tessera")).unwrap().flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("cache"))
    {
        fs::remove_file(entry.path()).unwrap();
    }
    let anew = world.run(["search", "lib.tessera", "--like", "#1", "-k", "40", "--json"]).ended(0).object();
    let scores = |answer: &Value| -> Vec<(u64, f64)> {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| (hit["image"].as_u64().unwrap(), hit["score"].as_f64().unwrap())).collect()
    };
    assert_eq!(scores(&anew), scores(&first));
    world.run(["search", "lib.tessera", "red", "--class", "no such class"]).ended(65).complains("one of its classes");
    let lessons = world.run(["lessons", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!((&lessons["lessons"][0]["query"], &lessons["lessons"][0]["reward"]), (&json!("red table"), &json!(-1.0)));
}

#[test]
fn what_images_are_not_is_said_like_a_label() {
    let world = World::with_library();
    let answer = world.run(["label", "lib.tessera", "#1", "#2", "--not", "disc", "--json"]).ended(0).object();
    assert!(answer["ok"] == true && answer["event"].is_u64(), "{answer}");
    let again = world.run(["label", "lib.tessera", "#1", "--not", "disc", "--json"]).ended(0).object();
    assert!(again["event"].is_null(), "it was said already: {again}");
    world.run(["label", "lib.tessera", "#1", "--not", "unheard of"]).ended(65).complains("unheard of");
    world.run(["label", "lib.tessera", "#1", "--not", "DISC"]).ended(65).complains("there is `disc`");
    world.run(["search", "lib.tessera", "disc", "--class", "dics"]).ended(65).complains("there is `disc`");
    world.run(["label", "lib.tessera", "#1", "--not", "disc", "--as", "disc"]).ended(2);
    world.run(["label", "lib.tessera", "#1"]).ended(2).complains("--none").complains("--not");
    let both =
        world.feed(["label", "lib.tessera", "--stdin"], b"{\"image\": 3, \"not\": \"disc\", \"label\": \"grid\"}\n").ended(1).lines();
    assert!(both[0]["error"].as_str().unwrap().contains("found both"), "{}", both[0]);
    let twice = world.run(["label", "lib.tessera", "#5", "#5", "--as", "kite"]).ended(0).stdout;
    assert!(!twice.contains("2 images"), "{twice}");
    world.run(["undo", "lib.tessera"]).ended(0);
    let answers = world.feed(["label", "lib.tessera", "--stdin"], b"{\"image\": 3, \"not\": \"disc\"}\n").ended(0).lines();
    assert_eq!((&answers[0]["ok"], &answers[0]["not"]), (&json!(true), &json!("disc")));
    world.run(["undo", "lib.tessera"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn answers_are_judged_through_a_stream() {
    let world = World::with_library();
    let lines = r##"{"image": 3, "query": "red disc", "reward": 1}
{"image": "#4", "query": "Red  disc", "reward": -0.5}
{"image": 3, "query": "red disc", "reward": null}
{"image": 3, "query": 7, "reward": 1}
{"image": 3, "query": "red disc", "reward": "much"}
{"image": 3, "query": "red disc", "reward": 2}
"##;
    let answers = world.feed(["feedback", "lib.tessera", "--stdin"], lines.as_bytes()).ended(1).lines();
    let ok: Vec<bool> = answers.iter().map(|answer| answer["ok"].as_bool().unwrap()).collect();
    assert_eq!(ok, [true, true, true, false, false, false], "{answers:?}");
    let lessons = world.run(["lessons", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!(lessons["lessons"].as_array().unwrap().len(), 1);
    assert_eq!(lessons["lessons"][0]["reward"], -0.5);
}

#[test]
fn classes_are_suggested_by_advisers() {
    let world = World::with_library();
    let answer = world.run(["suggest", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!((answer["suggestions"].as_array().unwrap().len(), &answer["learned"]), (0, &json!(24)), "all have a class: {answer}");
    for id in ["#1", "#13", "#24"] {
        world.run(["label", "lib.tessera", id, "--none"]).ended(0);
    }
    world.run(["label", "lib.tessera", "#24", "--not", "grid"]).ended(0);
    let answer = world.run(["suggest", "lib.tessera", "--json"]).ended(0).object();
    let suggestions = answer["suggestions"].as_array().unwrap();
    let of = |id: u64| suggestions.iter().find(|suggestion| suggestion["image"] == id).unwrap();
    assert_eq!((suggestions.len(), &answer["learned"]), (3, &json!(21)));
    assert_eq!((&of(1)["class"], &of(13)["class"], &of(24)["class"]), (&json!("disc"), &json!("grid"), &json!("disc")), "{answer}");
    for suggestion in suggestions {
        let trust: f64 = suggestion["advisers"].as_array().unwrap().iter().map(|adviser| adviser["trust"].as_f64().unwrap()).sum();
        assert!((trust - 1.0).abs() < 1e-9, "{suggestion}");
    }
    let named = world.run(["suggest", "lib.tessera", "#13", "--json"]).ended(0).object();
    assert_eq!(named["suggestions"][0], *of(13), "the same whoever else is asked about");
    world.run(["suggest", "lib.tessera"]).ended(0);
    world.run(["suggest", "lib.tessera", "#77"]).ended(65).complains("no image of that number");
}

#[test]
fn an_undo_after_forgetting_says_what_it_takes_back_and_what_stays_forgotten() {
    let world = World::with_library();
    world.run(["label", "lib.tessera", "#3", "--as", "odd"]).ended(0);
    world.run(["forget", "lib.tessera", "#1", "--yes"]).ended(0);
    let undone = world.run(["undo", "lib.tessera", "--json"]).ended(0).object();
    let words = undone["words"].as_str().unwrap();
    assert!(
        words.starts_with("Undone: Labelled ") && words.ends_with("; what came after it, Forgot an image, cannot be taken back"),
        "{words}"
    );
    assert_eq!(undone["not_undone"], "Forgot an image");
    let redone = world.run(["redo", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!(redone.get("not_undone"), None);
    assert_eq!(world.run(["undo", "lib.tessera", "--json"]).ended(0).object().get("not_undone"), None);
    // Nothing is left to undo.
    let bare = World::new();
    bare.picture("images/one.png", 0, 1, 0);
    bare.run(["import", "lib.tessera", "images", "--labels", "none"]).ended(0);
    bare.run(["undo", "lib.tessera"]).ended(0);
    bare.run(["redo", "lib.tessera"]).ended(0);
    bare.run(["forget", "lib.tessera", "#1", "--yes"]).ended(0);
    let ran = bare.run(["undo", "lib.tessera"]);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("Forgot an image, cannot be taken back"), "{} {}", ran.stdout, ran.stderr);
}
