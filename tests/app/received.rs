//! What came from others, or is given to others: damaged rows of the cache, captions that are links
//! or without bounds, names in a model, keys that stand twice, formulas in tables, names of classes
//! that were forgotten. Each is tried through the command line.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::json;
use tessera_core::envelope::{MANIFEST, hash_hex};
use tessera_core::library::features::hash_file;
use tessera_core::library::{Library, LibraryOptions};
use tessera_core::picture::InProcess;
use tessera_core::progress::Progress;

use crate::world::{World, holder};

/// The tables of the cache with the columns that hold bytes or text.
const COLUMNS: [(&str, &str); 7] = [
    ("feature", "bytes"),
    ("thumbnail", "look"),
    ("thumbnail", "jpeg"),
    ("checkpoint", "bytes"),
    ("result", "text"),
    ("quarantine", "found"),
    ("skipped", "detail"),
];

/// What a library answers to some questions that use its cache.
fn answers(world: &World) -> Vec<String> {
    let ask = |arguments: &[&str]| world.run(arguments.iter().chain(&["--json", "--quiet"])).ended(0).stdout;
    vec![
        ask(&["classify", "lib.tessera", "#1", "new.png"]),
        ask(&["search", "lib.tessera", "--like", "#2", "disc"]),
        ask(&["search", "lib.tessera", "--like", "new.png"]),
        ask(&["check", "lib.tessera"]),
    ]
}

/// Changes a bit in a column of one row, the `nth`, or of all rows.
fn flip(world: &World, table: &str, column: &str, nth: Option<usize>) -> usize {
    let db = Connection::open(world.at("lib.tessera/cache.db")).unwrap();
    let mut query = db.prepare(&format!("SELECT rowid, {column} FROM {table}")).unwrap();
    let value = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get_ref(1)?.as_bytes().unwrap().to_vec()));
    let rows: Vec<(i64, Vec<u8>)> = query.query_map([], value).unwrap().map(Result::unwrap).collect();
    for (rowid, mut bytes) in rows.iter().enumerate().filter(|(i, _)| nth.is_none_or(|nth| *i == nth)).map(|(_, row)| row.clone()) {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let is_text = ["version", "model", "name", "text", "found", "detail"].contains(&column);
        let value = if is_text { "CAST(?2 AS TEXT)" } else { "?2" };
        db.execute(&format!("UPDATE {table} SET {column} = {value} WHERE rowid = ?1"), rusqlite::params![rowid, bytes]).unwrap();
    }
    rows.len()
}

#[test]
fn a_damaged_row_of_the_cache_changes_no_answer() {
    let world = World::with_library();
    world.picture("new.png", 1, 2, 9);
    world.file("images/none/broken.png", b"\x89PNG\r\n\x1a\nnothing");
    world.run(["import", "lib.tessera", "images"]).ended(1);
    world.run(["train", "lib.tessera", "--kinds", "preset"]).ended(0);
    let sound = answers(&world);
    let kept = fs::read(world.at("lib.tessera/cache.db")).unwrap();
    for (table, column) in COLUMNS {
        fs::write(world.at("lib.tessera/cache.db"), &kept).unwrap();
        // Of results there are two copies, of which a bit spoils one.
        let n = match table {
            "result" => {
                let n = flip(&world, table, column, Some(0));
                (1..n).for_each(|i| assert!(i % 2 == 1 || flip(&world, table, column, Some(i)) == n));
                n
            }
            _ => flip(&world, table, column, None),
        };
        assert!(n > 0 || table == "quarantine", "{table} is empty");
        assert_eq!(answers(&world), sound, "{table}.{column}");
    }
}

#[test]
fn a_bit_of_the_cache_changes_no_answer() {
    let world = World::with_library();
    world.picture("new.png", 1, 2, 9);
    world.run(["train", "lib.tessera"]).ended(0);
    let sound = answers(&world);
    let kept = fs::read(world.at("lib.tessera/cache.db")).unwrap();
    for turn in 0..12 {
        let mut bytes = kept.clone();
        let at = (bytes.len() * 8 - 1) / 12 * turn + 4099 * turn;
        let at = at % (bytes.len() * 8);
        bytes[at / 8] ^= 1 << (at % 8);
        fs::write(world.at("lib.tessera/cache.db"), &bytes).unwrap();
        for name in ["cache.db-wal", "cache.db-shm", "cache.db.damaged"] {
            let _ = fs::remove_file(world.at("lib.tessera").join(name));
        }
        assert_eq!(answers(&world), sound, "bit {at}");
    }
}

#[test]
fn a_row_that_the_library_did_not_write_keeps_no_image_out() {
    let world = World::with_library();
    let new = world.picture("images/disc/disc_04_0_0_0_lt.png", 0, 4, 1);
    let db = Connection::open(world.at("lib.tessera/cache.db")).unwrap();
    let hash = hash_file(&new).unwrap().0.to_be_bytes();
    db.execute("INSERT INTO quarantine VALUES (?1, 'it ended a worker')", [hash]).unwrap();
    drop(db);
    assert_eq!(world.run(["import", "lib.tessera", "images", "--json"]).ended(0).object()["imported"], 1);
}

#[cfg(unix)]
#[test]
fn captions_that_are_links_are_left_out_and_told() {
    use std::os::unix::fs::symlink;

    let world = World::new();
    world.picture("images/disc/one.png", 0, 1, 1);
    world.picture("images/disc/two.png", 0, 2, 2);
    world.file("secret", b"BEGIN OPENSSH PRIVATE KEY\n");
    world.file("images/disc/two.txt", b"a quiet ring\n");
    symlink(world.at("secret"), world.at("images/disc/one.txt")).unwrap();
    let ran = world.run(["import", "lib.tessera", "images", "--report", "report.jsonl", "--json"]).ended(0).complains("a link");
    assert_eq!((&ran.object()["imported"], &ran.object()["texts_left_out"]), (&json!(2), &json!(1)));
    let report = fs::read_to_string(world.at("report.jsonl")).unwrap();
    assert!(report.contains("one.txt") && report.contains("\"reason\":\"captions\"") && report.contains("a link"), "{report}");
    // A text that is too large, or none, keeps no image out.
    world.picture("other/disc/three.png", 0, 3, 2);
    world.picture("other/disc/four.png", 0, 3, 1);
    world.file("other/disc/three.txt", "ring ".repeat(20_000).as_bytes());
    world.file("other/disc/four.txt", b"\xff\xfe no text");
    let ran = world.run(["import", "lib.tessera", "other", "--report", "report.jsonl", "--json"]).ended(0).complains("three.txt");
    assert_eq!((&ran.object()["imported"], &ran.object()["texts_left_out"]), (&json!(2), &json!(2)));
    assert_eq!(fs::read_to_string(world.at("report.jsonl")).unwrap().matches("\"reason\":\"captions\"").count(), 2);
    // The same where the folder is named as a table.
    let table = world.run(["import", "lib.tessera", "images", "--captions", "images/disc", "--json"]).ended(1);
    assert!(table.stderr.contains("`one.txt` is a link"), "{}", table.stderr);
    for words in ["openssh", "private"] {
        assert_eq!(world.run(["search", "lib.tessera", words, "--json"]).ended(0).object()["hits"], json!([]), "{words}");
    }
    assert_eq!(world.run(["search", "lib.tessera", "quiet", "--json"]).ended(0).object()["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn captions_have_bounds_at_every_door() {
    let world = World::with_library();
    let image = "images/disc/disc_01_0_0_0_lt.png";
    let lines = |n: usize| (0..n).map(|i| format!("caption number {i}")).collect::<Vec<_>>();
    // A table.
    let row = |captions: &[String]| json!({"path": image, "captions": captions}).to_string() + "\n";
    world.file("many.jsonl", row(&lines(10_000)).as_bytes());
    world.file("long.jsonl", (row(&["ring ".repeat(2_000_000)]) + &row(&["a short one".into()])).as_bytes());
    let table = |file: &str| {
        let arguments = ["import", "lib.tessera", "images", "--captions", file, "--report", "report.jsonl", "--json"];
        world.run(arguments).ended(0).complains("left out").object()
    };
    let long = table("long.jsonl");
    assert_eq!((&long["captions"], &long["captions_left_out"]), (&json!(1), &json!(1)));
    let many = table("many.jsonl");
    assert_eq!((&many["captions"], &many["captions_left_out"]), (&json!(199), &json!(9801)));
    let report = fs::read_to_string(world.at("report.jsonl")).unwrap();
    assert!(report.contains("9,801 captions were left out: an image has at most 200"), "{report}");
    // Acts go on.
    world.run(["label", "lib.tessera", image, "--as", "ring"]).ended(0);
    assert_eq!(world.run(["search", "lib.tessera", "caption", "number", "--json"]).ended(0).object()["hits"][0]["image"], 1);
    // A text file beside an image.
    world.picture("more/disc/one.png", 0, 4, 1);
    world.file("more/disc/one.txt", lines(1000).join("\n").as_bytes());
    let beside = world.run(["import", "lib.tessera", "more", "--json"]).ended(0).complains("800 captions were left out");
    assert_eq!(beside.object()["captions_left_out"], 800);
    // A command, and a stream of them.
    let long = "x".repeat(10_001);
    world.run(["caption", "lib.tessera", "#2", &long]).ended(65).complains("at most 10000 characters");
    let all: Vec<String> = lines(201);
    world
        .run(["caption", "lib.tessera", "#2"].into_iter().chain(all.iter().map(String::as_str)))
        .ended(65)
        .complains("at most 200 captions");
    let much: Vec<String> = (0..11).map(|i| format!("{i:02}{}", "x".repeat(9_990))).collect();
    let input = json!({"image": 2, "caption": much}).to_string() + "\n";
    let answer = world.feed(["caption", "lib.tessera", "--stdin"], input.as_bytes()).ended(1).object();
    assert!(answer["ok"] == false && answer["error"].as_str().unwrap().contains("at most 100000 characters"), "{answer}");
}

/// Whether some file of a folder, or a file, has these words in it.
fn has(place: &Path, words: &str) -> bool {
    holder(place, words.as_bytes()).is_some()
}

#[test]
fn a_model_without_names_tells_none() {
    let world = World::with_library();
    let new = world.picture("new.png", 0, 2, 9);
    let folder = world.path().file_name().unwrap().to_str().unwrap().to_owned();
    for (named, bare, arguments) in [
        ("a.tessera-model", "b.tessera-model", &["train", "images"][..]),
        ("a", "b", &["train", "images"]),
        ("c.tessera-model", "d.tessera-model", &["train", "lib.tessera"]),
        ("e.tessera-model", "f.tessera-model", &["export", "lib.tessera", "model"]),
    ] {
        world.run(arguments.iter().chain(&["--to", named])).ended(0);
        world.run(arguments.iter().chain(&["--to", bare, "--without-names"])).ended(0);
        for words in ["disc_01", "_lt", &folder] {
            assert!(has(&world.at(named), words), "{named} has no {words}");
            assert!(!has(&world.at(bare), words), "{bare} has {words}");
        }
        let answer = |model: &str| world.run(["classify", model, new.to_str().unwrap(), "--explain", "--json"]).ended(0).lines().remove(0);
        let (with, without) = (answer(named), answer(bare));
        for key in ["class", "confidence", "scores", "margin", "class_term"] {
            assert_eq!(with[key], without[key], "{bare}: {key}");
        }
        let images: Vec<&str> = without["contributions"].as_array().unwrap().iter().filter_map(|piece| piece["image"].as_str()).collect();
        assert!(!images.is_empty() && images.iter().all(|image| image.starts_with('#')), "{images:?}");
        world.run(["classify", bare, "new.png", "--explain", "--draw", "why"]).ended(0).complains("without the names");
    }
    world.run(["export", "lib.tessera", "labels", "--to", "l.csv", "--without-names"]).ended(2).complains("`model` only");
}

#[test]
fn a_key_that_stands_twice_is_refused_by_name() {
    let world = World::with_library();
    let image = "images/disc/disc_01_0_0_0_lt.png";
    // Tables: the line is told and left out.
    let line =
        format!("{{\"path\": \"{image}\", \"label\": \"cat\", \"label\": \"dog\"}}\n{{\"path\": \"{image}\", \"caption\": \"one\"}}\n");
    world.file("t.jsonl", line.as_bytes());
    let ran = world.run(["import", "lib.tessera", "images", "--captions", "t.jsonl", "--json"]).ended(1).complains("line 1: `label` twice");
    assert_eq!((&ran.object()["labels"], &ran.object()["captions"]), (&json!(0), &json!(1)));
    let coco = format!(
        "{{\"images\": [{{\"id\": 1, \"file_name\": \"{image}\"}}], \"annotations\": [{{\"image_id\": 1, \"caption\": \"a\", \"caption\": \"b\"}}]}}"
    );
    world.file("t.json", coco.as_bytes());
    world.run(["import", "lib.tessera", "images", "--captions", "t.json"]).ended(1).complains("duplicate field `caption`");
    world.file("t.json", coco.replace("\"annotations\"", "\"images\"").as_bytes());
    world.run(["import", "lib.tessera", "images", "--captions", "t.json"]).ended(65).complains("duplicate field `images`");
    // Lines of stdin.
    let answer =
        world.feed(["label", "lib.tessera", "--stdin"], b"{\"image\": 1, \"label\": \"cat\", \"label\": \"dog\"}\n").ended(1).object();
    assert!(answer["error"].as_str().unwrap().contains("`label` twice"), "{answer}");
    // Options and manifests.
    let options = world.run(["eval", "ckm", "--print-options"]).ended(0).stdout;
    let at = options.find("side:").unwrap();
    world.file("options.ron", format!("{}side: 96, {}", &options[..at], &options[at..]).as_bytes());
    world.run(["train", "images", "--options", "options.ron", "--to", "m"]).ended(65).complains("side");
    world.trained();
    let manifest = world.at("model").join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    let body = &text[..text.rfind("// xxh3-128").unwrap()];
    let terms = body.find("terms: {").map(|at| at + "terms: {".len()).unwrap();
    let root = body.find("root: ").unwrap();
    for (at, what, named) in [(terms, "\"disc\": 1.0, \"disc\": 2.0, ", "`disc` twice"), (root, "root: \"elsewhere\", ", "`root`")] {
        let body = format!("{}{what}{}", &body[..at], &body[at..]);
        fs::write(&manifest, format!("{body}// xxh3-128 of everything above: {}\n", hash_hex(body.as_bytes()))).unwrap();
        world.run(["classify", "model", image]).ended(65).complains(named);
    }
}

#[test]
fn a_value_out_of_range_in_a_model_names_the_model() {
    let world = World::with_images();
    world.trained();
    let manifest = world.at("model").join(MANIFEST);
    let text = fs::read_to_string(&manifest).unwrap();
    let body = &text[..text.rfind("// xxh3-128").unwrap()];
    for (name, value) in [("side: ", "4294967295"), ("decompositions: ", "0"), ("slope: ", "-1.0"), ("images: ", "4000000000")] {
        let at = body.find(name).unwrap_or_else(|| panic!("no {name} in {body}")) + name.len();
        let end = at + body[at..].find([',', ')']).unwrap();
        let body = format!("{}{value}{}", &body[..at], &body[end..]);
        fs::write(&manifest, format!("{body}// xxh3-128 of everything above: {}\n", hash_hex(body.as_bytes()))).unwrap();
        world.run(["classify", "model", "images/disc"]).ended(65).complains("model: expected the weights of a recogniser");
    }
}

/// The cells that a spreadsheet program may see in a table, whatever it takes for a separator.
fn cells(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '\t', '|', '\r', '\n', '"']).map(|cell| cell.trim_start_matches(' '))
}

#[test]
fn formulas_are_guarded_and_come_back() {
    let world = World::with_library();
    let captions =
        ["=HYPERLINK(\"http://x\";\"y\")", "'=already", "a; =b, '+c", "-1 below", "@all\n=two lines", "\u{ff1d}wide", "it's - fine"];
    world.run(["caption", "lib.tessera", "#1", "--"].into_iter().chain(captions)).ended(0);
    world.run(["label", "lib.tessera", "#1", "--as==cmd|' /C calc'!A0"]).ended(0);
    world.run(["export", "lib.tessera", "captions", "--to", "before.jsonl"]).ended(0);
    world.run(["export", "lib.tessera", "labels", "--to", "labels.jsonl"]).ended(0);
    for (what, name) in [("captions", "c.csv"), ("captions", "c.tsv"), ("labels", "l.csv"), ("labels", "l.tsv"), ("predictions", "p.csv")] {
        let export = ["export", "lib.tessera", what, "--to", name, "--csv-safe"];
        world.run(export).ended(0);
        world.run(export).ended(0);
        let text = fs::read_to_string(world.at(name)).unwrap();
        let formula = |cell: &str| cell.starts_with(['=', '+', '-', '@', '\u{ff1d}']);
        let found: Vec<&str> = cells(&text).filter(|cell| formula(cell)).collect();
        assert!(found.is_empty() && text.lines().next().unwrap().contains("csv_safe"), "{name}: {found:?}");
        // Another library reads what this one has.
        let other = format!("{name}.tessera");
        world.run(["import", &other, "images", "--labels", "none", "--captions", name]).ended(0);
        if what != "predictions" {
            world.run(["export", &other, what, "--to", "after.jsonl"]).ended(0);
            let before = if what == "captions" { "before.jsonl" } else { "labels.jsonl" };
            assert_eq!(fs::read_to_string(world.at("after.jsonl")).unwrap(), fs::read_to_string(world.at(before)).unwrap(), "{name}");
        }
    }
    // The library knows its own text again where the column that says so was deleted.
    for (what, table) in [("captions", "c.csv"), ("labels", "l.csv")] {
        let text = fs::read_to_string(world.at(table)).unwrap();
        let without = text.replace(",\"csv_safe\"", "").replace(",\"\"\n", "\n");
        assert!(!without.contains("csv_safe"), "{without}");
        world.file("w.csv", without.as_bytes());
        world.run(["import", "lib.tessera", "images", "--captions", "w.csv"]).ended(0);
        world.run(["export", "lib.tessera", what, "--to", "after.jsonl"]).ended(0);
        let before = if what == "captions" { "before.jsonl" } else { "labels.jsonl" };
        assert_eq!(fs::read_to_string(world.at("after.jsonl")).unwrap(), fs::read_to_string(world.at(before)).unwrap(), "{what}");
    }
    world.run(["export", "lib.tessera", "captions", "--to", "x.jsonl", "--csv-safe"]).ended(2).complains("csv or tsv");
    world.run(["export", "lib.tessera", "model", "--to", "x", "--csv-safe"]).ended(2).complains("left out for a model");
}

#[test]
fn names_of_classes_are_forgotten_with_their_images() {
    let world = World::new();
    for i in 1..4 {
        world.picture(&format!("images/quokka/{i}.png"), 0, i, 0);
        world.picture(&format!("images/grid/{i}.png"), 1, i, 0);
    }
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let ids = |class: &str| -> Vec<String> {
        let found = world.run(["search", "lib.tessera", "--class", class, "--json"]).ended(0).object();
        found["hits"].as_array().unwrap().iter().map(|hit| format!("#{}", hit["image"])).collect()
    };
    // The window renames classes.
    let rename = |from: &str, to: &str| {
        let (decoder, progress) = (Arc::new(InProcess::default()), Progress::default());
        let mut library = Library::open(&world.at("lib.tessera"), &LibraryOptions::new(decoder, &progress)).unwrap();
        library.rename_class(from, to).unwrap().unwrap();
        library.close().unwrap();
    };
    rename("quokka", "wombat");
    let gone = ids("wombat");
    assert_eq!(gone.len(), 3);
    world.run(["undo", "lib.tessera"]).ended(0);
    world.run(["redo", "lib.tessera"]).ended(0);
    rename("wombat", "numbat");
    let forget = ["forget", "lib.tessera", "--yes"].map(str::to_owned).into_iter().chain(gone);
    world.run(forget.collect::<Vec<_>>()).ended(0);
    world.run(["export", "lib.tessera", "events", "--to", "events.jsonl"]).ended(0);
    for word in ["quokka", "wombat", "numbat"] {
        assert!(!has(&world.at("lib.tessera"), word) && !has(&world.at("events.jsonl"), word), "{word}");
    }
    world.run(["check", "lib.tessera"]).ended(0);
    assert_eq!(ids("grid").len(), 3);
    // What a folder's word stands for stays while an image of that folder does.
    rename("grid", "squares");
    world.run(["forget", "lib.tessera", "--yes", &ids("squares")[0]]).ended(0);
    world.run(["import", "lib.tessera", "images"]).ended(0);
    assert_eq!(ids("squares").len(), 2);
    world.run(["check", "lib.tessera"]).ended(0);
}
