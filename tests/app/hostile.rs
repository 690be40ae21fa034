//! Library folders taken as hostile input: damaged on purpose, linked to elsewhere, mixed from two
//! copies, or with programs of their own in them. Each is tried through the command line.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use crate::world::{World, copy_folder};

/// The places in a file where these bytes stand.
fn places(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    (0..bytes.len().saturating_sub(wanted.len())).filter(|&at| bytes[at..].starts_with(wanted)).collect()
}

#[test]
fn flipped_letters_of_the_database_are_mended() {
    let world = World::with_library();
    world.run(["caption", "lib.tessera", "#1", "a marmalade cat"]).ended(0);
    let database = world.at("lib.tessera/library.db");
    let sound = fs::read(&database).unwrap();
    let found = places(&sound, b"marmalade");
    assert!(found.len() >= 2, "in the event and in the table of captions");
    for at in found.into_iter().flat_map(|at| [at, at + 4]) {
        let mut bytes = sound.clone();
        // A byte of 128 and more that stands alone is no UTF-8.
        bytes[at] ^= 0x80;
        fs::write(&database, &bytes).unwrap();
        world.run(["search", "lib.tessera", "marmalade"]).ended(65).complains("--repair");
        world.run(["check", "lib.tessera"]).ended(65);
        world.run(["check", "lib.tessera", "--repair"]).ended(0);
        assert_eq!(world.run(["search", "lib.tessera", "marmalade", "--json"]).ended(0).object()["hits"][0]["image"], 1);
    }
}

#[test]
fn damage_of_database_and_cache_is_mended_at_once() {
    let world = World::with_library();
    world.run(["caption", "lib.tessera", "#1", "a marmalade cat"]).ended(0);
    for name in ["library.db", "cache.db"] {
        let path = world.at("lib.tessera").join(name);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
    }
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn a_model_whose_manifest_is_a_pipe_is_refused_at_once() {
    let world = World::new();
    world.picture("disc/one.png", 0, 1, 0);
    fs::create_dir(world.at("model")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(world.at("model/manifest.ron")).status().unwrap().success());
    world.run(["classify", "model", "disc/one.png"]).ended(65).complains("expected a file");
}

#[test]
fn nothing_in_a_library_is_followed_out_of_it() {
    let names = ["lock", "library.db", "cache.db", "journal.jsonl", "snapshots", "models", "repair", "cache.db-wal"];
    for (name, is_hard) in names.iter().flat_map(|name| [(name, false), (name, true)]) {
        let world = World::with_library();
        let is_folder = ["snapshots", "models", "repair"].contains(name);
        if is_hard && is_folder {
            continue;
        }
        let mine = world.at("mine");
        if is_folder {
            world.file("mine/1-1.db.part", b"mine");
            world.file("mine/keep.part", b"mine");
        } else {
            world.file("mine", b"mine");
        }
        let place = world.at("lib.tessera").join(name);
        let _ = fs::remove_dir_all(&place).or_else(|_| fs::remove_file(&place));
        if is_hard {
            fs::hard_link(&mine, &place).unwrap()
        } else {
            symlink(&mine, &place).unwrap()
        }
        for arguments in [
            &["label", "lib.tessera", "#1", "--as", "x"][..],
            &["check", "lib.tessera", "--repair"],
            &["forget", "lib.tessera", "#2", "--yes"],
        ] {
            let ran = world.run(arguments);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(ran.code == 65 && said.contains("link"), "{name} {arguments:?} {} {said}", ran.code);
        }
        let kept: Vec<PathBuf> = if is_folder { vec![mine.join("1-1.db.part"), mine.join("keep.part")] } else { vec![mine.clone()] };
        assert!(kept.iter().all(|path| fs::read(path).unwrap() == b"mine"), "{name}");
        assert!(!is_folder || fs::read_dir(&mine).unwrap().count() == 2, "{name}");
    }
}

#[test]
fn a_link_to_nothing_makes_no_file() {
    for name in ["lock", "journal.jsonl", "cache.db"] {
        let world = World::with_library();
        let place = world.at("lib.tessera").join(name);
        let _ = fs::remove_file(&place);
        symlink(world.at("made"), &place).unwrap();
        world.run(["label", "lib.tessera", "#1", "--as", "x"]).ended(65).complains("a link");
        assert!(!world.at("made").exists(), "{name}");
    }
}

/// Statements that a stranger adds to a library's database.
const PROGRAMS: [&str; 6] = [
    "CREATE TRIGGER evil AFTER UPDATE ON fact BEGIN
         INSERT INTO fact SELECT hex(randomblob(8)), a.value FROM fact a, fact b, fact c, fact d, fact e, fact f, fact g, fact h; END",
    "CREATE TRIGGER evil AFTER INSERT ON event BEGIN UPDATE image SET user_label = 'other' WHERE id = 1; END",
    "CREATE TABLE copies (text TEXT); CREATE TRIGGER evil AFTER INSERT ON caption BEGIN INSERT INTO copies VALUES (NEW.text); END",
    "ALTER TABLE class RENAME TO class_kept; CREATE VIEW class AS
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x' AS name, i AS position, 0 AS colour, 0 AS row_hash FROM n",
    "CREATE INDEX evil ON event (length(hex(zeroblob(100000000))))",
    "DROP TABLE reward",
];

#[test]
fn programs_in_a_received_library_never_run() {
    for program in PROGRAMS {
        let world = World::with_library();
        world.run(["caption", "lib.tessera", "#1", "a marmalade cat"]).ended(0);
        let db = Connection::open(world.at("lib.tessera/library.db")).unwrap();
        db.execute_batch(program).unwrap();
        drop(db);
        let start = Instant::now();
        world.run(["label", "lib.tessera", "#1", "--as", "x"]).ended(65).complains("--repair");
        world.run(["search", "lib.tessera", "marmalade"]).ended(65);
        world.run(["check", "lib.tessera"]).ended(65);
        world.run(["check", "lib.tessera", "--repair"]).ended(0);
        assert!(start.elapsed() < Duration::from_secs(60), "{program}");
        assert_eq!(world.run(["search", "lib.tessera", "marmalade", "--json"]).ended(0).object()["hits"][0]["image"], 1);
        world.run(["label", "lib.tessera", "#1", "--as", "x"]).ended(0);
        world.run(["check", "lib.tessera"]).ended(0);
        let db = Connection::open(world.at("lib.tessera/library.db")).unwrap();
        let left: i64 = db
            .query_row("SELECT count(*) FROM sqlite_schema WHERE name IN ('evil', 'copies', 'class_kept')", [], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 0, "{program}");
    }
}

#[test]
fn a_cache_with_other_tables_is_made_anew() {
    let world = World::with_library();
    let path = world.at("lib.tessera/cache.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)").unwrap();
    drop(db);
    world.run(["search", "lib.tessera", "disc"]).ended(0);
    let kept = Connection::open(world.at("lib.tessera/cache.db.damaged")).unwrap();
    assert_eq!(kept.query_row("SELECT x FROM mine", [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn an_event_that_is_lost_is_named() {
    let world = World::with_library();
    let (database, journal) = (world.at("lib.tessera/library.db"), world.at("lib.tessera/journal.jsonl"));
    let before = fs::read(&database).unwrap();
    let last = fs::read_to_string(&journal).unwrap().lines().filter(|line| line.contains("\"event\"")).count();
    world.run(["label", "lib.tessera", "#1", "--as", "first"]).ended(0);
    world.run(["label", "lib.tessera", "#2", "--as", "second"]).ended(0);
    // As if the database's log had been lost, and a bit of one line of the journal flipped.
    fs::write(&database, &before).unwrap();
    let mut bytes = fs::read(&journal).unwrap();
    let at = places(&bytes, b"first")[0];
    bytes[at] ^= 1;
    fs::write(&journal, &bytes).unwrap();
    let ran = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(65);
    let problems = ran.object()["problems"].to_string();
    assert!(problems.contains(&format!("event {} is lost", last + 1)), "{problems}");
    assert!(problems.contains(&format!("it told of event {} of 20", last + 1)), "{problems}");
    assert_eq!(fs::read(world.at("lib.tessera/journal.jsonl.damaged-1")).unwrap(), bytes, "the evidence is kept");
    let found = world.run(["export", "lib.tessera", "labels", "--to", "l.jsonl"]);
    assert!(found.ended(0).stderr.is_empty());
    assert!(fs::read_to_string(world.at("l.jsonl")).unwrap().contains("second"), "what is there is used");
}

/// A library of whose database and journal each tells of other labels of images 1 and 2.
fn gone_apart() -> World {
    let world = World::with_library();
    copy_folder(&world.at("lib.tessera"), &world.at("copy.tessera"));
    world.run(["label", "lib.tessera", "#1", "--as", "ours"]).ended(0);
    for image in ["#1", "#2"] {
        world.run(["label", "copy.tessera", image, "--as", "theirs"]).ended(0);
    }
    fs::copy(world.at("copy.tessera/journal.jsonl"), world.at("lib.tessera/journal.jsonl")).unwrap();
    world
}

/// The labels of images 1 and 2.
fn labels(world: &World, library: &str) -> [String; 2] {
    world.run(["export", library, "labels", "--to", "out.jsonl", "--json"]).ended(0);
    let text = fs::read_to_string(world.at("out.jsonl")).unwrap();
    let label =
        |n: usize| serde_json::from_str::<serde_json::Value>(text.lines().nth(n).unwrap()).unwrap()["label"].as_str().unwrap().to_owned();
    [label(0), label(1)]
}

#[test]
fn copies_that_went_apart_are_never_mixed() {
    for (side, own, other) in [("database", ["ours", "disc"], ["theirs", "theirs"]), ("journal", ["theirs", "theirs"], ["ours", "disc"])] {
        let world = gone_apart();
        for arguments in [&["search", "lib.tessera", "disc"][..], &["check", "lib.tessera"]] {
            let ran = world.run(arguments).ended(65);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains("two histories"), "{}", ran.stderr);
        }
        let ran = world.run(["check", "lib.tessera", "--keep", side]).ended(0);
        assert!(ran.stdout.contains("lib-2.tessera"), "{}", ran.stdout);
        assert_eq!(labels(&world, "lib.tessera"), own);
        assert_eq!(labels(&world, "lib-2.tessera"), other);
        for library in ["lib.tessera", "lib-2.tessera"] {
            world.run(["label", library, "#3", "--as", "later"]).ended(0);
            world.run(["check", library]).ended(0);
        }
    }
}

#[test]
fn histories_of_a_damaged_database_are_not_mixed_either() {
    for (side, own, other) in [("database", ["ours", "disc"], ["theirs", "theirs"]), ("journal", ["theirs", "theirs"], ["ours", "disc"])] {
        let world = gone_apart();
        let db = Connection::open(world.at("lib.tessera/library.db")).unwrap();
        db.execute("UPDATE event SET words = 'other words' WHERE id = 1", []).unwrap();
        drop(db);
        let ran = world.run(["check", "lib.tessera"]).ended(65);
        assert!(ran.stdout.contains("`library.db` alone has: 1 event") && ran.stderr.contains("go on with by `--keep`"), "{}", ran.stdout);
        world.run(["check", "lib.tessera", "--repair"]).ended(65);
        world.run(["check", "lib.tessera", "--keep", side]).ended(0);
        assert_eq!(labels(&world, "lib.tessera"), own);
        assert_eq!(labels(&world, "lib-2.tessera"), other);
        for library in ["lib.tessera", "lib-2.tessera"] {
            world.run(["check", library]).ended(0);
        }
    }
}

#[test]
fn a_journal_of_another_history_is_kept_when_something_was_forgotten_since() {
    let world = World::with_library();
    copy_folder(&world.at("lib.tessera"), &world.at("copy.tessera"));
    world.run(["label", "copy.tessera", "#1", "--as", "theirs"]).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as", "ours"]).ended(0);
    world.run(["forget", "lib.tessera", "#3", "--yes"]).ended(0);
    let journal = fs::read(world.at("copy.tessera/journal.jsonl")).unwrap();
    fs::write(world.at("lib.tessera/journal.jsonl"), &journal).unwrap();
    world.run(["search", "lib.tessera", "disc"]).ended(65).complains("two histories");
    world.run(["check", "lib.tessera", "--repair"]).ended(65);
    assert_eq!(fs::read(world.at("lib.tessera/journal.jsonl")).unwrap(), journal);
    world.run(["check", "lib.tessera", "--keep", "database"]).ended(0);
    assert_eq!([labels(&world, "lib.tessera")[0].as_str(), labels(&world, "lib-2.tessera")[0].as_str()], ["ours", "theirs"]);
}

#[test]
fn a_history_is_chosen_only_where_there_are_two() {
    let world = World::with_library();
    let journal = world.at("lib.tessera/journal.jsonl");
    for side in ["database", "journal"] {
        world.run(["check", "lib.tessera", "--keep", side]).ended(65).complains("found one history");
    }
    fs::remove_file(&journal).unwrap();
    world.run(["check", "lib.tessera", "--keep", "database"]).ended(65).complains("found one history");
    assert!(!world.at("lib-2.tessera").exists());
}

#[test]
fn an_export_copies_what_was_labelled_or_nothing() {
    let world = World::with_library();
    world.picture("images/disc/disc_01_0_0_0_lt.png", 1, 3, 2);
    let answer = world.run(["export", "lib.tessera", "labels", "--to", "out", "--format", "class-folders", "--json"]).ended(0).object();
    assert_eq!((&answer["written"], &answer["missing"]), (&23.into(), &1.into()), "{answer}");
    assert!(!world.at("out/disc/disc_01_0_0_0_lt.png").exists() && !world.at("out/unfinished-export").exists());
}

#[test]
fn a_deleted_lock_lets_nobody_in() {
    let world = World::with_library();
    let mut first = world.start(["label", "lib.tessera", "--stdin", "--json"]);
    writeln!(first.stdin.as_mut().unwrap(), "{}", json!({"image": 1, "label": "ring"})).unwrap();
    // It answers once it has the library.
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    fs::remove_file(world.at("lib.tessera/lock")).unwrap();
    world.run(["label", "lib.tessera", "#1", "--as", "x"]).ended(75);
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
}

#[test]
fn what_another_program_reads_is_not_told_as_forgotten() {
    let world = World::with_library();
    fs::create_dir(world.at("lib.tessera/notes.damaged")).unwrap();
    let reader = Connection::open(world.at("lib.tessera/cache.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM feature").unwrap();
    world.run(["forget", "lib.tessera", "#1", "--yes"]).ended(75).complains("would stay in it");
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    world.run(["forget", "lib.tessera", "#1", "--yes"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
    assert!(world.at("lib.tessera/notes.damaged").is_dir(), "what is not the library's stays");
}

#[test]
fn requests_to_end_are_heard() {
    // Under `nohup` the program, too, is not to end when the terminal closes.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    let ignores_hangup = ignored.is_some_and(|mask| mask & 1 == 1);
    for signal in ["-TERM", "-HUP", "-INT"].into_iter().filter(|signal| !ignores_hangup || *signal != "-HUP") {
        ends_in_order(signal);
    }
}

fn ends_in_order(signal: &str) {
    let world = World::with_library();
    let many: String = (0..200_000).map(|i| format!("{{\"image\": {}, \"label\": \"{i}\"}}\n", 1 + i % 24)).collect();
    world.file("lines.jsonl", many.as_bytes());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(["label", "lib.tessera", "--stdin", "--json"]).current_dir(world.path()).env("XDG_DATA_HOME", world.at("home"));
    command.stdin(fs::File::open(world.at("lines.jsonl")).unwrap()).stdout(fs::File::create(world.at("said")).unwrap());
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while fs::metadata(world.at("said")).unwrap().len() == 0 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}: it ends by itself, and in order");
    let journal = fs::read_to_string(world.at("lib.tessera/journal.jsonl")).unwrap();
    assert!(journal.lines().last().unwrap().contains("\"end\""), "{signal}: the library was closed");
}

#[test]
fn an_export_that_was_killed_does_not_look_complete() {
    let world = World::with_library();
    let large = world.at("images/large/large.bmp");
    fs::create_dir_all(large.parent().unwrap()).unwrap();
    image::RgbImage::from_fn(3000, 3000, |x, y| image::Rgb([x as u8, y as u8, 0])).save(&large).unwrap();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let was_cut_off = || {
        let mut child = world.start(["export", "lib.tessera", "labels", "--to", "out", "--format", "class-folders"]);
        while !world.at("out/unfinished-export").exists() && child.try_wait().unwrap().is_none() {}
        let _ = child.kill();
        child.wait().unwrap();
        let entries = fs::read_dir(world.at("out")).into_iter().flatten();
        if entries.map(|entry| entry.unwrap().file_name()).eq(["unfinished-export"]) {
            return true;
        }
        let _ = fs::remove_dir_all(world.at("out"));
        false
    };
    assert!((0..50).any(|_| was_cut_off()), "it was never killed while it copied");
    world.run(["export", "lib.tessera", "labels", "--to", "out", "--format", "class-folders"]).ended(65).complains("things in it");
    world.run(["check", "lib.tessera"]).ended(0);
}
