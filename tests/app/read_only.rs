//! Libraries that are only read: because they were asked to be, on a read-only medium, on a full
//! disk, of a newer version, of another user. Each is tried through the command line.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tessera_core::hash::hash64;

use crate::world::{Ran, World, ran};

/// Runs a shell script with the program as `$T` in the world's folder.
fn shell(world: &World, script: &str) -> Ran {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(world.path()).env("T", env!("CARGO_BIN_EXE_tessera")).env("XDG_DATA_HOME", world.at("home"));
    ran(command.stdin(Stdio::null()).output().unwrap())
}

/// The files of a folder with a hash of each, without those that SQLite keeps beside its own while
/// it reads.
fn contents(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(contents(&path));
        } else if !path.to_str().unwrap().ends_with("-shm") && !path.to_str().unwrap().ends_with("-wal") {
            found.insert(path.clone(), hash64(&fs::read(&path).unwrap()));
        }
    }
    found
}

/// Every command that reads works, and every one that writes is refused in these words.
#[track_caller]
fn is_read_only(world: &World, library: &str, options: &[&str], words: &str) {
    let run = |arguments: &[&str]| world.run(arguments.iter().chain(options).copied());
    assert_eq!(run(&["search", library, "disc", "-k", "3", "--json"]).ended(0).object()["hits"].as_array().unwrap().len(), 3);
    assert_eq!(run(&["classify", library, "#1", "--json"]).ended(0).object()["class"], "disc");
    run(&["suggest", library, "#2"]).ended(0);
    run(&["export", library, "labels", "--to", "labels.csv"]).ended(0);
    run(&["check", library]).ended(0);
    for arguments in [
        &["label", library, "#1", "--as", "x"][..],
        &["caption", library, "#1", "x"],
        &["undo", library],
        &["forget", library, "#3", "--yes"],
        &["import", library, "images/disc"],
    ] {
        run(arguments).ended(74).complains(words);
    }
}

#[test]
fn a_library_is_read_without_a_change_on_request() {
    let world = World::with_library();
    let before = contents(&world.at("lib.tessera"));
    is_read_only(&world, "lib.tessera", &["--read-only"], "read-only");
    world.run(["check", "lib.tessera", "--repair", "--read-only"]).ended(74).complains("read-only");
    assert_eq!(contents(&world.at("lib.tessera")), before);
    // Also while another program has it.
    let mut child = world.start(["label", "lib.tessera", "--stdin", "--json", "--wait", "60"]);
    let until = Instant::now() + Duration::from_secs(60);
    while world.run(["label", "lib.tessera", "#1", "--as", "x"]).code != 75 {
        assert!(Instant::now() < until, "the first program has the library");
    }
    world.run(["search", "lib.tessera", "disc", "--read-only"]).ended(0);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_read_only_medium_is_read() {
    let world = World::with_library();
    world.run(["label", "lib.tessera", "#4", "--as", "disc"]).ended(0);
    // As a program leaves it that was killed: the last event is in the write-ahead log alone.
    let mut child = world.start(["caption", "lib.tessera", "--stdin", "--json"]);
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"{\"image\": 5, \"caption\": \"a late bird\"}\n").unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("\"ok\":true") && fs::metadata(world.at("lib.tessera/library.db-wal")).unwrap().len() > 0);
    let mounted = shell(&world, "mkdir disc && mount --bind . disc && mount -o remount,bind,ro disc").code == 0;
    if !mounted {
        println!("skipped: only the system's administrator can mount");
        return;
    }
    let outcome = std::panic::catch_unwind(|| {
        let before = contents(&world.at("lib.tessera"));
        is_read_only(&world, "disc/lib.tessera", &[], "read-only");
        world.run(["check", "disc/lib.tessera"]).ended(0).complains("read-only medium");
        world.run(["export", "disc/lib.tessera", "captions", "--to", "c.csv"]).ended(0);
        assert!(fs::read_to_string(world.at("c.csv")).unwrap().contains("a late bird"), "what was acknowledged is there");
        world.run(["backup", "disc/lib.tessera", "copy"]).ended(0);
        assert_eq!(contents(&world.at("lib.tessera")), before);
    });
    shell(&world, "umount disc");
    outcome.unwrap();
    let noted = world.run(["check", "lib.tessera", "--json"]).ended(0).object()["head"].as_str().unwrap().to_owned();
    world.run(["backup", "new.tessera/", "--restore", "copy/"]).ended(0);
    world.run(["check", "new.tessera", "--head", &noted]).ended(0);
}

#[test]
fn a_full_disk_does_not_end_reading() {
    let world = World::with_images();
    fs::create_dir(world.at("small")).unwrap();
    if shell(&world, "mount -t tmpfs -o size=4m none small").code != 0 {
        println!("skipped: only the system's administrator can make a small disk");
        return;
    }
    let outcome = std::panic::catch_unwind(|| {
        world.run(["import", "small/lib.tessera", "images"]).ended(0);
        shell(&world, "dd if=/dev/zero of=small/filler bs=4096 2>/dev/null");
        is_read_only(&world, "small/lib.tessera", &[], "no space left");
        fs::remove_file(world.at("small/filler")).unwrap();
        world.run(["label", "small/lib.tessera", "#1", "--as", "x"]).ended(0);
        world.run(["check", "small/lib.tessera"]).ended(0);
    });
    shell(&world, "umount small");
    outcome.unwrap();
}

#[test]
fn a_library_of_a_newer_version_is_read() {
    let world = World::with_library();
    let change = |sql: &str| Connection::open(world.at("lib.tessera/library.db")).unwrap().execute_batch(sql).unwrap();
    change("CREATE TABLE tag (image INTEGER PRIMARY KEY, name TEXT) STRICT; PRAGMA user_version = 1000");
    is_read_only(&world, "lib.tessera", &[], "a newer Tessera");
    // Where the tables that are known are not what they were, it is refused.
    change("ALTER TABLE caption ADD COLUMN language TEXT");
    world.run(["search", "lib.tessera", "disc"]).ended(65).complains("install a newer Tessera");
}

#[test]
fn a_library_of_another_user_is_read() {
    let world = World::with_library();
    fs::set_permissions(world.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let user = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let ran = shell(&world, &format!("chmod -R a+rX . && cp \"$T\" t && chmod a+rx t && {user} ./t search lib.tessera disc --json"));
    if ran.stderr.contains("setpriv") {
        println!("skipped: only the system's administrator can become somebody else");
        return;
    }
    assert!(!ran.ended(0).object()["hits"].as_array().unwrap().is_empty());
    let ran = shell(&world, &format!("{user} ./t label lib.tessera '#1' --as x"));
    ran.ended(74).complains("this user may not write to it");
}

#[test]
fn what_is_told_read_only_is_computed_from_the_library_as_it_is() {
    let world = World::with_library();
    let before = contents(&world.at("lib.tessera"));
    world.run(["train", "lib.tessera", "--read-only"]).ended(74).complains("read-only");
    let judge =
        |options: &[&str]| world.run(["train", "lib.tessera", "--to", "m.tessera-model", "--json"].iter().chain(options)).ended(0).object();
    let first = judge(&["--read-only"]);
    assert_eq!(first["held_out"], 24, "it was never judged, and is judged for this answer");
    let answer = || world.run(["classify", "lib.tessera", "#1", "--json", "--read-only"]).ended(0).object();
    let told = answer();
    assert_eq!(contents(&world.at("lib.tessera")), before);
    assert_eq!(judge(&[])["held_out_accuracy"], first["held_out_accuracy"]);
    assert_eq!(answer()["confidence"], told["confidence"]);
    // After other labels nothing of before is told.
    for image in 1..=6 {
        world.run(["label", "lib.tessera", &format!("#{image}"), "--as", "grid"]).ended(0);
    }
    let now = judge(&["--read-only"]);
    assert_eq!(now["largest_class"], 0.75);
    assert_eq!(now["recalls"], judge(&[])["recalls"]);
}

#[test]
fn a_check_changes_nothing_and_names_what_is_damaged() {
    let world = World::with_library();
    world.run(["label", "lib.tessera", "#1", "--as", "ring"]).ended(0);
    let library = world.at("lib.tessera");
    let (database, journal) = (library.join("library.db"), library.join("journal.jsonl"));
    let names = || -> BTreeSet<PathBuf> { fs::read_dir(&library).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let problems = || -> Vec<String> {
        let found = world.run(["check", "lib.tessera", "--json"]).ended(65).object();
        assert_eq!(found["repaired"], serde_json::json!([]), "{found}");
        found["problems"].as_array().unwrap().iter().map(|words| words.as_str().unwrap().to_owned()).collect()
    };
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("Labelled", "Labeled ", 1)).unwrap();
    let before = (names(), contents(&library));
    for _ in 0..2 {
        let found = problems();
        assert!(found.len() == 1 && found[0].contains("it told of event 2"), "{found:?}");
    }
    assert_eq!((names(), contents(&library)), before);
    // Both files, by the names that the user knows.
    let whole = fs::read(&database).unwrap();
    fs::write(&database, b"no database, but long enough to look like one if nobody reads its first bytes").unwrap();
    let found = problems();
    assert!(found.len() == 2 && found[0].starts_with("lib.tessera/library.db: ") && found[1].contains("it told of event 2"), "{found:?}");
    world.run(["search", "lib.tessera", "ring", "--read-only"]).ended(65).complains("tessera: lib.tessera/library.db: ");
    fs::write(&database, whole).unwrap();
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
    // A journal that is not there, and one that was cut.
    fs::remove_file(&journal).unwrap();
    assert_eq!(problems(), ["there is no journal"]);
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    world.run(["label", "lib.tessera", "#2", "--as", "ring"]).ended(0);
    let text = fs::read_to_string(&journal).unwrap();
    let cut: Vec<&str> = text.lines().collect();
    fs::write(&journal, cut[..cut.len() - 2].join("\n") + "\n").unwrap();
    assert_eq!(problems(), ["the journal does not end as it did when the library was closed"]);
    // A cache that is none.
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    fs::write(library.join("cache.db"), b"no cache").unwrap();
    assert!(problems()[0].starts_with("cache.db is damaged"));
    assert_eq!(fs::read(library.join("cache.db")).unwrap(), b"no cache");
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn reading_leaves_no_files_of_sqlite_beside_the_database() {
    let world = World::with_library();
    world.run(["search", "lib.tessera", "disc", "--read-only"]).ended(0);
    for ending in ["-wal", "-shm"] {
        assert!(!world.at(&format!("lib.tessera/library.db{ending}")).exists(), "{ending}");
    }
}

#[test]
fn what_can_be_done_with_a_library_that_is_only_read_is_said() {
    let world = World::with_library();
    let ran = world.run(["train", "lib.tessera", "--read-only"]).ended(74);
    let ran = ran.complains("give `--to FILE` with a place outside of the library, or leave out --read-only");
    assert!(!ran.stderr.contains("ask for access"), "{}", ran.stderr);
    world.run(["train", "lib.tessera", "--read-only", "--to", "m.tessera-model"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as", "x", "--read-only"]).ended(74).complains("; leave out --read-only");
    // A database that is lost.
    fs::remove_file(world.at("lib.tessera/library.db")).unwrap();
    for arguments in [&["search", "lib.tessera", "disc"][..], &["search", "lib.tessera", "disc", "--read-only"]] {
        world.run(arguments).ended(65).complains("found only its journal and snapshots; run `tessera check LIBRARY --repair`");
    }
}
