//! Libraries that are only read: because they were asked to be, on a read-only medium, on a full
//! disk, of a newer version, of another user. Each is tried through the command line.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
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
    change("CREATE TABLE tag (image INTEGER PRIMARY KEY, name TEXT) STRICT; PRAGMA user_version = 6");
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
