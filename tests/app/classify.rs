//! `tessera classify`: answers, reasons, and models that were moved or damaged.

use std::fs;

use crate::world::World;

#[test]
fn answers_and_says_why() {
    let world = World::with_images();
    world.trained();
    world.picture("new/a.png", 0, 3, 2);
    world.picture("new/b.png", 1, 3, 3);
    let lines = world.run(["classify", "model", "new", "--json", "--explain"]).ended(0).lines();
    assert_eq!(lines.len(), 2);
    for (line, class) in lines.iter().zip(["disc", "grid"]) {
        assert_eq!(line["class"], class);
        let confidence = line["confidence"].as_f64().unwrap();
        assert!((0.5..=1.0).contains(&confidence));
        let sum =
            |contributions: &serde_json::Value| contributions.as_array().unwrap().iter().map(|c| c["value"].as_f64().unwrap()).sum::<f64>();
        assert!((sum(&line["contributions"]) - line["scores"][class].as_f64().unwrap()).abs() < 1e-4);
        let second = &line["runner_up"];
        assert!((sum(&second["contributions"]) - line["scores"][second["class"].as_str().unwrap()].as_f64().unwrap()).abs() < 1e-4);
        let first = &line["contributions"][0];
        assert!(world.at("images").join(first["image"].as_str().unwrap()).is_file(), "{first}");
        assert_eq!((first["query"].as_array().unwrap().len(), first["element"].as_array().unwrap().len()), (2, 2));
    }
}

#[test]
fn says_why_in_words_and_pictures() {
    let world = World::with_images();
    world.trained();
    let new = world.picture("new.png", 1, 2, 3);
    let ran = world
        .run(["classify".as_ref(), "model".as_ref(), new.as_os_str(), "--explain".as_ref(), "--draw".as_ref(), "why".as_ref()])
        .ended(0);
    assert!(ran.stdout.contains("new.png: grid (confidence"), "{}", ran.stdout);
    assert!(ran.stdout.contains("What spoke most for grid against disc") && ran.stdout.contains(" of grid/grid_0"), "{}", ran.stdout);
    let drawn = image::open(world.at("why/0001-new.png")).unwrap();
    assert!(drawn.width() > 800);
    // The collage has a list of its pieces.
    let legend = fs::read_to_string(world.at("why/0001-new-collage.txt")).unwrap();
    assert!(legend.lines().count() > 10 && legend.contains("grid/grid_0"), "{legend}");
}

#[test]
fn a_library_answers_the_same_from_memory_and_from_disk() {
    let world = World::with_library();
    let new = world.picture("new.png", 1, 2, 3);
    let answer = |budget: &str| {
        let arguments = ["classify", "lib.tessera", new.to_str().unwrap(), "--json", "--explain", "--element-memory", budget];
        world.run(arguments).ended(0).stdout
    };
    let (all, none) = (answer("4096"), answer("0"));
    assert!(all.contains("\"contributions\"") && all == none, "{all}\n{none}");
    let memory = |budget: &str| {
        let found = world.run(["check", "lib.tessera", "--json", "--element-memory", budget]).ended(0).object()["memory_bytes"].clone();
        let of = |key: &str| found[key].as_u64().unwrap();
        assert_eq!(of("images") + of("words") + of("captions") + of("recogniser"), of("total"));
        of("recogniser")
    };
    assert!(memory("0") < memory("4096"));
    world.run(["check", "lib.tessera", "--element-memory", "-1"]).ended(2).complains("--element-memory");
}

#[test]
fn drawings_stay_out_of_models_and_libraries() {
    let world = World::with_library();
    world.trained();
    let new = world.picture("new.png", 1, 2, 3);
    let count = |folder: &str| fs::read_dir(world.at(folder)).unwrap().count();
    let before = (count("model"), count("lib.tessera"));
    for (to, found) in [("model", "a model"), ("model/in/it", "a model"), ("lib.tessera", "a library")] {
        let ran = world.run(["classify", "model", new.to_str().unwrap(), "--draw", to]).ended(65);
        assert!(ran.stdout.is_empty(), "it is told before anything is answered: {}", ran.stdout);
        ran.complains(&format!("expected a folder for drawings, found {found}"));
    }
    assert_eq!((count("model"), count("lib.tessera")), before);
}

#[test]
fn files_that_are_no_model_are_told_plainly() {
    let world = World::with_images();
    world.run(["train", "images", "--to", "m.tessera-model"]).ended(0);
    let new = world.picture("new.png", 1, 2, 3);
    let whole = fs::read(world.at("m.tessera-model")).unwrap();
    world.file("half.tessera-model", &whole[..whole.len() / 2]);
    world.file("notes.jpg", b"some notes");
    for (model, words) in [("half.tessera-model", "whose end is missing"), ("notes.jpg", "a file of another kind")] {
        let ran = world.run(["classify", model, new.to_str().unwrap()]).ended(65).complains(words);
        assert!(!ran.stderr.contains("EOCD") && !ran.stderr.contains("Zip"), "{}", ran.stderr);
    }
    // A model is there, and is no library.
    for command in ["review", "undo"] {
        world.run([command, "m.tessera-model"]).ended(65).complains("found a model, which holds no images");
    }
    world.run(["review", "notes.jpg"]).ended(65).complains("found a file");
    world.run(["review", "nowhere"]).ended(65).complains("nothing of that name");
}

#[test]
fn a_moved_model_answers_alike_on_one_and_two_threads() {
    let world = World::with_images();
    world.trained();
    world.picture("new.png", 0, 2, 3);
    let here = world.run(["classify", "model", "new.png", "--json", "--explain", "--threads", "1"]).ended(0).stdout;
    fs::create_dir(world.at("elsewhere")).unwrap();
    fs::rename(world.at("model"), world.at("elsewhere/moved")).unwrap();
    let there = world.run(["classify", "elsewhere/moved", "new.png", "--json", "--explain", "--threads", "2"]).ended(0).stdout;
    assert_eq!(here, there);
}

#[test]
fn what_is_below_the_bar_is_unknown() {
    let world = World::with_images();
    world.trained();
    world.picture("new.png", 0, 2, 3);
    let line = world.run(["classify", "model", "new.png", "--json", "--unknown-below", "1"]).ended(0).object();
    assert_eq!((line["class"].as_str(), line["unknown"].as_bool()), (Some("disc"), Some(true)));
    let words = world.run(["classify", "model", "new.png", "--unknown-below", "1"]).ended(0).stdout;
    assert!(words.contains("unknown, nearest disc") && words.contains("if it is of one of the classes"), "{words}");
    world.run(["classify", "model", "new.png", "--answered", "0.9"]).ended(0).complains("--answered changes nothing");
    world.run(["classify", "model", "new.png", "--answered", "0.3"]).ended(2).complains("from 0.5 to 1");
    world.run(["classify", "model", "new.png", "--answered", "0.9", "--unknown-below", "0.5"]).ended(2);
}

#[test]
fn images_of_other_classes_are_unknown_by_default() {
    let world = World::new();
    world.run(["generate", "toys", "--to", "toys", "--instances", "6", "--views", "4", "--seed", "3", "--side", "64"]).ended(0);
    fs::rename(world.at("toys/teapot"), world.at("teapots")).unwrap();
    let model = world.run(["train", "toys", "--to", "model", "--json"]).ended(0).object();
    assert!(
        model["unknown"]["answered"].as_f64() >= Some(0.95) && model["unknown"]["found"].as_f64() >= Some(0.25),
        "{}",
        model["unknown"]
    );
    assert!(model["answered"].as_array().unwrap().len() > 20);
    let unknown = |folder: &str, options: &[&str]| {
        let lines = world.run(["classify", "model", folder, "--json"].iter().chain(options)).ended(0).lines();
        assert!(options.len() > 1 || lines.iter().all(|line| line["unknown"] == line["looks_unknown"]));
        assert!(lines.iter().all(|line| line["class"].is_string() && line["class"] == line["nearest_class"]));
        (lines.iter().filter(|line| line["unknown"] == true).count() as f64) / lines.len() as f64
    };
    let found = unknown("teapots", &[]);
    assert!(found > 0.2 && unknown("toys/dog", &[]) <= 0.05, "{found}");
    assert_eq!(unknown("teapots", &["--answered", "1"]), 0.0);
    assert!(unknown("teapots", &["--answered", "0.7"]) > found);
}

#[test]
fn bad_images_are_told_and_the_rest_goes_on() {
    let world = World::with_images();
    world.trained();
    world.picture("good.png", 0, 2, 3);
    world.file("bad.png", b"nothing");
    let ran = world.run(["classify", "model", "bad.png", "good.png", "gone.png", "--json", "--report", "r.jsonl"]).ended(1);
    assert_eq!(ran.lines().len(), 1);
    assert!(ran.stderr.contains("bad.png") && ran.stderr.contains("gone.png"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(world.at("r.jsonl")).unwrap().lines().count(), 2);
    world.run(["classify", "model", "bad.png"]).ended(65).complains("bad.png");
    world.run(["classify", "model", "gone.png"]).ended(74).complains("gone.png");
}

#[test]
fn damaged_models_are_refused_by_name() {
    let world = World::with_images();
    world.trained();
    world.picture("new.png", 0, 2, 3);
    world.run(["classify", "nowhere", "new.png"]).ended(65).complains("nowhere");
    world.run(["classify", "images", "new.png"]).ended(65).complains("manifest.ron");
    let files: Vec<_> = fs::read_dir(world.at("model")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    for file in files {
        let whole = fs::read(&file).unwrap();
        let mut bytes = whole.clone();
        bytes[whole.len() / 2] ^= 4;
        let name = file.file_name().unwrap().to_str().unwrap();
        fs::write(&file, &bytes).unwrap();
        world.run(["classify", "model", "new.png"]).ended(65).complains(name);
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        world.run(["classify", "model", "new.png"]).ended(65).complains(name);
        fs::write(&file, &whole).unwrap();
    }
    world.run(["classify", "model", "new.png"]).ended(0);
}

#[cfg(target_os = "linux")]
#[test]
fn answers_that_cannot_be_written_are_a_failure() {
    use std::process::{Command, Stdio};
    let world = World::with_images();
    world.trained();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(["classify", "model", "images"]).current_dir(world.path()).stdout(Stdio::from(full)).stderr(Stdio::null());
    assert_eq!(command.status().unwrap().code(), Some(74));
}

#[test]
fn a_report_does_not_write_over_other_files() {
    let world = World::with_images();
    world.trained();
    let precious = world.picture("precious.png", 0, 1, 1);
    let before = fs::read(&precious).unwrap();
    world.run(["classify", "model", "precious.png", "--report", "precious.png"]).ended(65).complains("precious.png");
    assert_eq!(fs::read(&precious).unwrap(), before);
    // Answers begin with a path like a report, and yet are not taken for one.
    let answers = world.run(["classify", "model", "precious.png", "--json"]).ended(0).stdout.clone();
    world.file("answers.jsonl", answers.as_bytes());
    world.run(["classify", "model", "precious.png", "--report", "answers.jsonl"]).ended(65).complains("answers.jsonl");
    assert_eq!(fs::read_to_string(world.at("answers.jsonl")).unwrap(), answers);
    world.file("bad.png", b"");
    for _ in 0..2 {
        world.run(["classify", "model", "bad.png", "precious.png", "--report", "report.jsonl"]).ended(1);
    }
    assert_eq!(fs::read_to_string(world.at("report.jsonl")).unwrap().lines().count(), 1);
}

#[test]
fn training_images_that_moved_are_told() {
    let world = World::with_images();
    world.trained();
    world.picture("new.png", 0, 2, 3);
    fs::rename(world.at("images"), world.at("moved")).unwrap();
    world.run(["classify", "model", "new.png", "--draw", "why"]).ended(0).complains("--training-images");
    let ran = world.run(["classify", "model", "new.png", "--draw", "why", "--training-images", "moved"]).ended(0);
    assert!(!ran.stderr.contains("--training-images"), "{}", ran.stderr);
}

#[test]
fn a_library_is_judged_before_its_first_answer() {
    let world = World::with_library();
    let ran = world.run(["classify", "lib.tessera", "#1"]).ended(0).complains("judged first");
    assert!(ran.stdout.contains("(confidence "), "{}", ran.stdout);
    let ran = world.run(["classify", "lib.tessera", "#1"]).ended(0);
    assert!(!ran.stderr.contains("judged first"), "{}", ran.stderr);
    // What is compared with itself is said, of a copy in another place too.
    fs::copy(world.at("images/disc/disc_01_0_0_0_lt.png"), world.at("copy.png")).unwrap();
    for path in ["images/disc/disc_01_0_0_0_lt.png", "copy.png"] {
        world.run(["classify", "lib.tessera", path]).ended(0).complains("compared with themselves");
    }
}

#[test]
fn a_library_that_cannot_be_judged_says_so_in_place_of_a_number() {
    let world = World::new();
    for (name, class) in [("disc", 0), ("grid", 1)] {
        world.picture(&format!("images/{name}/{name}_01_0_0_0_lt.png"), class, 1, 0);
    }
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let ran = world.run(["classify", "lib.tessera", "#1"]).ended(0).complains("no class has two objects");
    assert!(ran.stdout.contains("(not judged yet)") && !ran.stdout.contains("confidence"), "{}", ran.stdout);
    assert_eq!(world.run(["classify", "lib.tessera", "#1", "--json"]).ended(0).object()["confidence"], 0.5);
}

#[test]
fn a_library_that_lost_its_features_and_its_files_says_so() {
    let world = World::with_library();
    let lose = || {
        for name in ["cache.db", "cache.db-wal", "cache.db-shm"] {
            let _ = fs::remove_file(world.at("lib.tessera").join(name));
        }
    };
    lose();
    fs::rename(world.at("images"), world.at("moved")).unwrap();
    let new = "moved/disc/disc_01_0_0_0_lt.png";
    for arguments in [&["classify", "lib.tessera", new][..], &["classify", "lib.tessera", "#1"], &["train", "lib.tessera"]] {
        let ran = world.run(arguments).ended(65).complains("24 labelled images whose features are not in cache.db");
        assert!(ran.stderr.contains("whose files cannot be read, such as ") && ran.stderr.contains("tessera relocate"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("no labelled image"), "{}", ran.stderr);
    }
    for command in ["suggest", "review"] {
        let ran = world.run([command, "lib.tessera"]).ended(0).complains("tessera relocate");
        assert!(!ran.stderr.contains("No image has a class yet"), "{}", ran.stderr);
    }
    let checked = world.run(["check", "lib.tessera"]).ended(0).complains("24 labelled images whose features are not in cache.db");
    assert!(checked.stdout.contains("nothing is damaged") && !checked.stdout.contains("as it should be"), "{}", checked.stdout);
    // Where some are left, it goes on with them, and says so.
    lose();
    fs::create_dir(world.at("images")).unwrap();
    fs::rename(world.at("moved/disc"), world.at("images/disc")).unwrap();
    world.run(["classify", "lib.tessera", "images/disc/disc_01_0_0_0_lt.png"]).ended(0).complains("12 labelled images whose features");
    // The way out.
    fs::rename(world.at("images/disc"), world.at("moved/disc")).unwrap();
    world.run(["relocate", "lib.tessera", "images", "moved"]).ended(0);
    let ran = world.run(["classify", "lib.tessera", new]).ended(0);
    assert!(!ran.stderr.contains("cannot be read"), "{}", ran.stderr);
}
