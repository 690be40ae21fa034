//! Backups of a library through the command line: made while it is in use, brought up to date,
//! stopped in the middle, damaged, restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::world::World;

fn head(world: &World, library: &str) -> String {
    world.run(["check", library, "--json"]).ended(0).object()["head"].as_str().unwrap().to_owned()
}

/// The files of a backup.
fn files(backup: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(backup.join("files")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

fn label_of_one(world: &World, library: &str) -> String {
    world.run(["export", library, "labels", "--to", "out.jsonl"]).ended(0);
    let text = fs::read_to_string(world.at("out.jsonl")).unwrap();
    let row: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    row["label"].as_str().unwrap().to_owned()
}

#[test]
fn a_backup_is_brought_up_to_date_and_restored() {
    let world = World::with_library();
    world.run(["train", "lib.tessera", "--to", "lib.tessera/models/one", "--quiet"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as", "first"]).ended(0);
    let made = world.run(["backup", "lib.tessera", "copy", "--json"]).ended(0).object();
    assert_eq!(made["head"].as_str().unwrap(), head(&world, "lib.tessera"));
    assert_eq!((&made["events"], &made["kept"]), (&2.into(), &serde_json::Value::Null));
    assert_eq!(made["copied"].as_u64().unwrap() as usize, files(&world.at("copy")).len());
    let bytes: u64 = files(&world.at("copy")).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert_eq!(made["bytes"], bytes);
    // The model is there already; the database tells of another act.
    world.run(["label", "lib.tessera", "#1", "--as", "second"]).ended(0);
    let again = world.run(["backup", "lib.tessera", "copy", "--json"]).ended(0).object();
    assert_eq!((&again["events"], &again["copied"]), (&3.into(), &1.into()));
    assert_eq!(files(&world.at("copy")).len(), made["copied"].as_u64().unwrap() as usize, "the former database is gone");
    // A file that was damaged is copied again.
    let large = files(&world.at("copy")).into_iter().max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap();
    let mut spoilt = fs::read(&large).unwrap();
    spoilt[100] ^= 1;
    fs::write(&large, &spoilt).unwrap();
    world.run(["backup", "other.tessera", "--restore", "copy"]).ended(65).complains("other bytes");
    assert!(!world.at("other.tessera").exists());
    assert!(world.run(["backup", "lib.tessera", "copy", "--json"]).ended(0).object()["copied"].as_u64().unwrap() >= 1);

    world.run(["label", "lib.tessera", "#1", "--as", "third"]).ended(0);
    let later = head(&world, "lib.tessera");
    let restored = world.run(["backup", "lib.tessera", "--restore", "copy", "--json"]).ended(0).object();
    assert_eq!((&restored["head"], restored["kept"].as_str()), (&again["head"], Some("lib-2.tessera")));
    assert_eq!([label_of_one(&world, "lib.tessera"), label_of_one(&world, "lib-2.tessera")], ["second", "third"]);
    assert_eq!(head(&world, "lib-2.tessera"), later);
    assert!(world.at("lib.tessera/models/one/manifest.ron").is_file());
    world.run(["check", "lib.tessera"]).ended(0);
    let again = world.run(["backup", "new.tessera", "--restore", "copy", "--json"]).ended(0).object();
    assert_eq!(again["kept"], serde_json::Value::Null);
    world.run(["check", "new.tessera"]).ended(0);
}

#[test]
fn a_backup_of_another_history_is_neither_replaced_nor_restored_unasked() {
    let world = World::with_library();
    world.run(["backup", "lib.tessera", "early"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as", "ours"]).ended(0);
    world.run(["backup", "lib.tessera", "late"]).ended(0);
    // The library goes back to its past, and then another way.
    world.run(["backup", "lib.tessera", "--restore", "early"]).ended(0);
    world.run(["backup", "lib.tessera", "late"]).ended(65).complains("with events to number 2");
    world.run(["backup", "lib.tessera", "early"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as", "theirs"]).ended(0);
    world.run(["backup", "lib.tessera", "late"]).ended(65).complains("one of another history");
    world.run(["backup", "lib.tessera", "--restore", "late"]).ended(65).complains("one of another history");
    assert!(!world.at("lib.tessera.restoring").exists(), "a refused restoration leaves nothing");
    assert_eq!(label_of_one(&world, "lib.tessera"), "theirs");
    world.run(["backup", "lib.tessera", "--restore", "late", "--other-history"]).ended(0);
    assert_eq!(label_of_one(&world, "lib.tessera"), "ours");
    world.run(["import", "stranger.tessera", "images"]).ended(0);
    world.run(["backup", "stranger.tessera", "late"]).ended(65).complains("another library");
    for wrong in ["images", "lib.tessera/copy"] {
        world.run(["backup", "lib.tessera", wrong]).ended(65);
    }
    world.run(["backup", "lib.tessera", "--restore", "images"]).ended(65).complains("backup.json");
    world.run(["check", "late"]).ended(65).complains("the backup of one");
    world.run(["search", "late", "x"]).ended(65).complains("the backup of one");
    // Another program's file of that name makes none.
    fs::write(world.at("images/backup.json"), "{}").unwrap();
    world.run(["search", "images", "x"]).ended(65).complains("found a folder without one");
    fs::write(world.at("file.txt"), "a file").unwrap();
    world.run(["backup", "file.txt", "--restore", "late"]).ended(65).complains("found a file or a link");
    assert!(!world.at("file.txt.restoring").exists());
    world.run(["backup", "images", "--restore", "late"]).ended(65).complains("other things");
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn a_backup_is_not_made_of_a_database_that_lost_events() {
    let world = World::with_library();
    let database = world.at("lib.tessera/library.db");
    let before = fs::read(&database).unwrap();
    world.run(["label", "lib.tessera", "#1", "--as", "late"]).ended(0);
    fs::write(&database, before).unwrap();
    world.run(["backup", "lib.tessera", "copy"]).ended(65).complains("1 event that only the journal");
    // So where a damaged line shows that there was another event.
    let told = fs::read_to_string(world.at("lib.tessera/journal.jsonl")).unwrap();
    fs::write(world.at("lib.tessera/journal.jsonl"), told.replace("as late", "as lite")).unwrap();
    world.run(["backup", "lib.tessera", "copy"]).ended(65).complains("1 event that only the journal");
    fs::write(world.at("lib.tessera/journal.jsonl"), told).unwrap();
    assert!(!world.at("copy/backup.json").exists());
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    assert_eq!(world.run(["backup", "lib.tessera", "copy", "--json"]).ended(0).object()["events"], 2);
}

#[test]
fn images_that_were_forgotten_since_a_backup_was_made_come_back_by_name() {
    let world = World::with_library();
    world.run(["backup", "lib.tessera", "copy"]).ended(0);
    world.run(["forget", "lib.tessera", "#3", "#5", "--yes"]).ended(0);
    let restored = world.run(["backup", "lib.tessera", "--restore", "copy"]).ended(0);
    assert!(restored.stdout.contains("2 images that it had forgotten came back from the backup: #3, #5;"), "{}", restored.stdout);
    // Where the database cannot be read, the journal says what was forgotten.
    world.run(["forget", "lib.tessera", "#3", "--yes"]).ended(0);
    fs::write(world.at("lib.tessera/library.db"), b"no database").unwrap();
    let restored = world.run(["backup", "lib.tessera", "--restore", "copy", "--json"]).ended(0).object();
    assert_eq!(restored["came_back"], serde_json::json!([3]));
    assert_eq!(world.run(["backup", "lib.tessera", "--restore", "copy", "--json"]).ended(0).object()["came_back"], serde_json::json!([]));
}

#[test]
fn a_half_made_backup_is_none_until_it_is_gone_on_with() {
    let world = World::with_library();
    world.run(["train", "lib.tessera", "--to", "lib.tessera/models/one", "--quiet"]).ended(0);
    world.run(["backup", "lib.tessera", "whole"]).ended(0);
    // What a program leaves that was killed before it could put the list in place.
    fs::create_dir_all(world.at("half/files")).unwrap();
    fs::write(world.at("half/unfinished-backup"), "").unwrap();
    let copied = files(&world.at("whole"));
    for file in &copied[1..] {
        fs::copy(file, world.at("half/files").join(file.file_name().unwrap())).unwrap();
    }
    fs::write(world.at("half/files/draft.part"), b"half of a database").unwrap();
    world.run(["backup", "lib.tessera", "--restore", "half"]).ended(65).complains("backup.json");
    world.run(["backup", "lib.tessera", "half"]).ended(0);
    assert!(!world.at("half/unfinished-backup").exists() && !world.at("half/files/draft.part").exists());
    world.run(["backup", "new.tessera", "--restore", "half"]).ended(0);
    world.run(["check", "new.tessera"]).ended(0);
    // A list that was changed names nothing outside of the library.
    let list = fs::read_to_string(world.at("half/backup.json")).unwrap();
    fs::write(world.at("half/backup.json"), list.replace("models/one", "../../one")).unwrap();
    world.run(["backup", "new.tessera", "--restore", "half"]).ended(65).complains("as it was written");
}

#[test]
fn a_library_in_use_is_backed_up() {
    let world = World::with_library();
    let mut child = world.start(["label", "lib.tessera", "--stdin", "--json", "--wait", "60"]);
    let until = Instant::now() + Duration::from_secs(60);
    while world.run(["label", "lib.tessera", "#1", "--as", "x"]).code != 75 {
        assert!(Instant::now() < until, "the first program has the library");
    }
    let made = world.run(["backup", "lib.tessera", "copy", "--json"]).ended(0).object();
    world.run(["backup", "lib.tessera", "--restore", "copy"]).ended(75);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let noted = made["head"].as_str().unwrap();
    world.run(["check", "lib.tessera", "--head", noted]).ended(0);
    world.run(["backup", "new.tessera", "--restore", "copy"]).ended(0);
    assert_eq!(head(&world, "new.tessera"), noted);
}
