//! Review and export of labels: wrong ones are found, class folders can be links, and a dry run
//! writes nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use tessera::command::{Export, ExportFormat};
use tessera::session::Session;
use tessera::session::export::ExportOptions;
use tessera_core::Error;
use tessera_core::library::event::UserLabel;
use tessera_core::progress::Progress;

use crate::world::World;

#[test]
fn wrong_labels_are_listed_with_their_reasons() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    // A disc that is labelled as a grid.
    world.run(["label", "lib.tessera", "images/disc/disc_02_1_0_0_lt.png", "--as", "grid"]).ended(0);
    let all = world.run(["review", "lib.tessera", "--json"]).ended(0).object();
    let judged = all["judged"].as_u64().unwrap();
    assert!(judged > 0, "{all}");
    assert_eq!((all["left"].as_u64(), all["doubted"].as_u64() <= Some(judged)), (Some(0), true));
    let one = world.run(["review", "lib.tessera", "-k", "1", "--json"]).ended(0).object();
    assert!(one["doubts"].as_array().unwrap().len() <= 1);
    let said: Vec<&str> = all["doubts"].as_array().unwrap().iter().map(|doubt| doubt["path"].as_str().unwrap()).collect();
    assert!(said.iter().any(|path| path.ends_with("disc_02_1_0_0_lt.png")), "{all}");
    for doubt in all["doubts"].as_array().unwrap() {
        let (label, instead) = (doubt["label"].as_str().unwrap(), doubt["instead"].as_array().unwrap());
        assert!(
            !instead.is_empty() && instead.iter().all(|pair| pair[0] != label && pair[1].as_f64() > doubt["chance"].as_f64()),
            "{doubt}"
        );
        assert_eq!(doubt["advisers"].as_array().unwrap().len(), 6);
    }
    // Of the planted label most say what it is, each by its name, and what looks like it is a disc
    // too.
    let doubts = all["doubts"].as_array().unwrap();
    let planted = doubts.iter().find(|doubt| doubt["path"].as_str().unwrap().ends_with("disc_02_1_0_0_lt.png")).unwrap();
    assert!(planted["label"] == "grid" && planted["instead"][0][0] == "disc", "{planted}");
    let advisers = planted["advisers"].as_array().unwrap();
    let said: Vec<(&str, Option<&str>)> =
        advisers.iter().map(|adviser| (adviser["name"].as_str().unwrap(), adviser["class"].as_str())).collect();
    for (name, class) in [("nearest", Some("disc")), ("recogniser", Some("disc")), ("captions", None)] {
        assert!(said.contains(&(name, class)), "{name}: {said:?}");
    }
    assert!(planted["alike"].as_array().unwrap().iter().any(|alike| alike["class"] == "disc"), "{planted}");
    world.run(["review", "lib.tessera", "-k", "0"]).ended(2);
    let words = world.run(["review", "lib.tessera"]).ended(0).stdout;
    assert!(words.contains("doubted"), "{words}");
}

#[test]
fn class_folders_are_copies_or_links_and_told_before() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let export = |to: &str, more: &[&str]| {
        let mut arguments = vec!["export", "lib.tessera", "labels", "--format", "class-folders", "--to", to, "--json"];
        arguments.extend(more);
        world.run(arguments)
    };
    let told = export("out", &["--dry-run"]).ended(0).object();
    assert!(told["dry_run"] == true && !world.at("out").exists(), "{told}");
    assert_eq!(told["folders"], serde_json::json!([["disc", 12], ["grid", 12]]));
    assert_eq!((told["written"].as_u64(), told["missing"].as_u64()), (Some(24), Some(0)));
    let copied = export("out", &[]).ended(0).object();
    assert_eq!(copied["written"], told["written"]);
    assert!(world.at("out/disc/disc_01_0_0_0_lt.png").is_file() && !world.at("out/disc/disc_01_0_0_0_lt.png").is_symlink());
    export("linked", &["--links"]).ended(0);
    let link = world.at("linked/disc/disc_01_0_0_0_lt.png");
    assert_eq!(std::fs::read(&link).unwrap(), std::fs::read(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap());
    assert!(cfg!(not(unix)) || link.is_symlink());
    // Nothing is exported into a folder that has files, and links are for class folders only.
    export("out", &["--links"]).ended(65).complains("new or empty folder");
    world.run(["export", "lib.tessera", "labels", "--to", "l.csv", "--links"]).ended(2).complains("class-folders");
    // Files that went since are left out, told before and after.
    std::fs::remove_file(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap();
    let told = export("rest", &["--dry-run"]).ended(0).object();
    assert_eq!((told["written"].as_u64(), told["missing"].as_u64()), (Some(23), Some(1)));
    let linked = export("rest", &["--links"]).ended(0).object();
    assert_eq!((linked["written"].as_u64(), linked["missing"].as_u64()), (Some(23), Some(1)));
    assert!(!world.at("rest/disc/disc_01_0_0_0_lt.png").is_symlink());
}

#[test]
fn class_folders_have_names_that_every_system_takes() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let long = "ö".repeat(200);
    let flat = ["Äpfel", "äpfel", "aux", "com1.x", "COM1.", ".hidden", "a//b", &long];
    let flat_names = ["Äpfel", "äpfel-2", "_aux", "_com1.x", "COM1_", "_hidden", "a__b", &"ö".repeat(100)];
    let paths = ["a/b", "a", "A/b", "a/b?", "a/b:", "a/../..", "aux/x."];
    let path_names = ["a/b", "a", "A-2/b", "a/b_", "a/b_-2", "a/__/__", "_aux/x_"];
    let (classes, names) = ([flat.as_slice(), &paths].concat(), [flat_names.as_slice(), &path_names].concat());
    let library = Mutex::new(Session::new(1, 0).unwrap().open_library(&world.at("lib.tessera")).unwrap());
    {
        let mut library = library.lock().unwrap();
        let ids: Vec<_> = library.state().images().map(|image| image.id).collect();
        library.label(&ids, &UserLabel::NoClass).unwrap();
        for (class, id) in classes.iter().zip(&ids) {
            library.label(&[*id], &UserLabel::Class((*class).to_owned())).unwrap();
        }
    }
    let session = Session::new(1, 0).unwrap();
    let written = session.export(&library, Export::Labels(ExportFormat::ClassFolders), &world.at("out"), ExportOptions::default()).unwrap();
    let mut wanted: Vec<(String, usize)> = names.iter().map(|name| ((*name).to_owned(), 1)).collect();
    wanted.sort();
    assert_eq!((written.folders, written.renamed), (wanted, 0));
    assert!(names.iter().all(|name| world.at("out").join(name).is_dir()));
}

#[test]
fn classes_that_are_paths_become_folders_in_folders_and_are_read_again() {
    let world = World::new();
    let files = |i: usize| ["x", "y", "z"].map(|name| format!("images/{i}/{name}.png"));
    for i in 0..5 {
        for (view, file) in (0..).zip(files(i)) {
            world.picture(&file, 0, i as u32, view);
        }
    }
    world.run(["import", "lib.tessera", "images", "--labels", "none"]).ended(0);
    for (i, class) in ["a/b", "a", "c", "a/x.png", "c & d/e"].into_iter().enumerate() {
        let [x, y, z] = files(i);
        world.run(["label", "lib.tessera", &x, &y, &z, "--as", class]).ended(0);
    }
    let ran = world.run(["export", "lib.tessera", "labels", "--format", "class-folders", "--to", "out", "--json"]).ended(0);
    let told = ran.complains("--labels folder-paths").object();
    assert_eq!(told["folders"], serde_json::json!([["a", 3], ["a/b", 3], ["a/x.png", 3], ["c", 3], ["c & d/e", 3]]));
    // A file that is called as a folder beside it gets a number.
    for file in ["a/x-2.png", "a/y.png", "a/b/x.png", "a/x.png/x.png", "c/x.png", "c & d/e/x.png"] {
        assert!(world.at("out").join(file).is_file(), "{file}");
    }
    let classes = |library: &str| -> BTreeMap<Vec<u8>, String> {
        let to = format!("{library}.jsonl");
        world.run(["export", library, "labels", "--to", &to]).ended(0);
        let text = std::fs::read_to_string(world.at(&to)).unwrap();
        let row = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            (std::fs::read(world.at(row["path"].as_str().unwrap())).unwrap(), row["label"].as_str().unwrap().to_owned())
        };
        text.lines().map(row).collect()
    };
    world.run(["import", "again.tessera", "out", "--labels", "folder-paths"]).ended(0);
    let (before, after) = (classes("lib.tessera"), classes("again.tessera"));
    assert!(before.len() == 15 && before == after, "{:?}, {:?}", before.values(), after.values());
}

#[test]
fn files_of_one_long_name_stay_files() {
    let world = World::new();
    for (folder, color) in [("a", 1), ("b", 2), ("c", 3)] {
        let name = format!("{}.png", if folder == "c" { "X" } else { "x" }.repeat(251));
        std::fs::create_dir_all(world.at("long").join(folder)).unwrap();
        image::RgbImage::from_pixel(32, 32, image::Rgb([color, 9, 90])).save(world.at("long").join(folder).join(name)).unwrap();
    }
    world.run(["import", "lib.tessera", "long", "--labels", "none"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "#2", "#3", "--as", "one"]).ended(0);
    let told = world.run(["export", "lib.tessera", "labels", "--format", "class-folders", "--to", "out", "--json"]).ended(0).object();
    assert_eq!(told["folders"], serde_json::json!([["one", 3]]));
    let files: Vec<_> = std::fs::read_dir(world.at("out/one")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(files.len() == 3 && files.iter().all(|name| name.len() == 255 && name.to_str().unwrap().ends_with(".png")), "{files:?}");
}

#[test]
fn images_that_mislead_are_listed() {
    let world = World::with_library();
    // A disc that is labelled as a grid draws the other discs of other objects.
    let wrong = "images/disc/disc_02_1_0_0_lt.png";
    world.run(["label", "lib.tessera", wrong, "--as", "grid"]).ended(0);
    let found = world.run(["review", "lib.tessera", "--harm", "--json"]).ended(0).object();
    assert!(found["judged"].as_u64().unwrap() >= 20, "{found}");
    let first = &found["harmful"][0];
    assert!(first["path"].as_str().unwrap().ends_with(wrong) && first["label"] == "grid", "{found}");
    assert!(first["misled"].as_u64() >= first["helped"].as_u64() && first["lead"].as_f64() > Some(0.0), "{found}");
    let words = world.run(["review", "lib.tessera", "--harm", "-k", "1"]).ended(0).stdout;
    assert!(words.starts_with("grid: without it ") && words.contains(" do more harm than good; judged by "), "{words}");
}

#[test]
fn a_rare_class_does_not_mislead_by_being_rare() {
    let world = World::new();
    // Two classes that nobody can tell apart, one with six times as many images.
    for i in 0..24 {
        world.picture(&format!("alike/many/{i}.png"), i % 2, i as u32 % 4, i as u32);
    }
    for i in 0..4 {
        world.picture(&format!("alike/few/{i}.png"), i % 2, i as u32, 30 + i as u32);
    }
    world.run(["import", "lib.tessera", "alike"]).ended(0);
    let found = world.run(["review", "lib.tessera", "--harm", "-k", "100", "--json"]).ended(0).object();
    let harmful = found["harmful"].as_array().unwrap();
    let of = |label: &str| harmful.iter().filter(|harm| harm["label"] == label).count();
    assert!(of("few") < 4 && of("many") > 0, "{found}");
    assert_eq!(harmful.len(), found["misleading"].as_u64().unwrap() as usize);
    // What is clear comes first, and then what would gain most.
    let first = |harm: &serde_json::Value| (harm["clear"] == true, harm["gain"].as_f64().unwrap());
    assert!(harmful.windows(2).all(|two| first(&two[0]) >= first(&two[1])), "{found}");
    let doubts = world.run(["review", "lib.tessera", "-k", "100", "--json"]).ended(0).object();
    let doubted = doubts["doubts"].as_array().unwrap();
    let few = doubted.iter().filter(|doubt| doubt["label"] == "few").count();
    assert!(few < 4 || few < doubted.len() / 2, "{doubts}");
}

#[test]
fn a_dry_run_of_predictions_tells_what_is_written() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    // A class of one object cannot be judged without it, and images without a class are recognised.
    world.run(["label", "lib.tessera", "images/disc/disc_02_1_0_0_lt.png", "--as", "lonely"]).ended(0);
    world.run(["label", "lib.tessera", "images/grid/grid_03_3_0_0_lt.png", "--none"]).ended(0);
    let export = |more: &[&str]| {
        let mut arguments = vec!["export", "lib.tessera", "predictions", "--to", "p.csv", "--json"];
        arguments.extend(more);
        world.run(arguments).ended(0).object()["written"].as_u64()
    };
    let told = export(&["--dry-run"]);
    assert!(!world.at("p.csv").exists());
    assert_eq!((told, export(&[])), (Some(23), told));
    assert_eq!(std::fs::read_to_string(world.at("p.csv")).unwrap().lines().count(), 24);
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let handle: Arc<OnceLock<Progress>> = Arc::default();
    let own = Arc::clone(&handle);
    let progress = Progress::watched(move |now| {
        if now.stage == "Copying" && now.done >= 10 {
            own.get().unwrap().cancel();
        }
    });
    handle.set(progress.clone()).unwrap();
    let session = Session::new(1, 0).unwrap().with_progress(&progress);
    let library = Mutex::new(session.open_library(&world.at("lib.tessera")).unwrap());
    std::fs::create_dir(world.at("empty")).unwrap();
    for to in ["empty", "deep/er/new"] {
        let outcome = session.export(&library, Export::Labels(ExportFormat::ClassFolders), &world.at(to), ExportOptions::default());
        assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    }
    assert!(std::fs::read_dir(world.at("empty")).unwrap().next().is_none() && !world.at("deep").exists());
}

#[test]
fn an_export_takes_away_nothing_of_others() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    // Somebody puts a file where the last image is to go.
    let theirs = world.at("out/grid/mine.png");
    let target = world.at("out/grid/grid_03_3_0_0_lt.png");
    let (own, other) = (theirs.clone(), target.clone());
    let progress = Progress::watched(move |now| {
        if now.stage == "Copying" && now.done == 10 {
            std::fs::create_dir_all(own.parent().unwrap()).unwrap();
            std::fs::write(&own, "mine").unwrap();
            std::fs::write(&other, "mine too").unwrap();
        }
    });
    let session = Session::new(1, 0).unwrap().with_progress(&progress);
    let library = Mutex::new(session.open_library(&world.at("lib.tessera")).unwrap());
    let state = library.lock().unwrap().state().clone();
    let is_there = state.images().any(|image| image.file_name() == "grid_03_3_0_0_lt.png");
    assert!(is_there, "{:?}", state.images().map(|image| image.file_name()).collect::<Vec<_>>());
    let outcome = session.export(&library, Export::Labels(ExportFormat::ClassFolders), &world.at("out"), ExportOptions::default());
    assert!(matches!(outcome, Err(Error::Io { .. })), "{outcome:?}");
    assert_eq!((std::fs::read(&theirs).unwrap(), std::fs::read(&target).unwrap()), (b"mine".to_vec(), b"mine too".to_vec()));
    assert!(!world.at("out/disc").exists());
    assert_eq!(std::fs::read_dir(world.at("out/grid")).unwrap().count(), 2);
}

#[test]
fn an_export_replaces_an_older_one_and_nothing_else() {
    let world = World::with_library();
    for (what, to) in [("labels", "l.csv"), ("predictions", "p.csv"), ("events", "e.jsonl")] {
        let export = ["export", "lib.tessera", what, "--to", to];
        world.run(export).ended(0);
        world.run(export).ended(0);
        world.file(to, b"something else");
        world.run(export).ended(65).complains("another file");
    }
}
