//! The history of a library, proved by its head: what was altered, taken out or mixed is named, and
//! a library of each version is taken over with its events. Each is tried through the command line.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::Value;
use tessera_core::hash::hash64;

use crate::world::{Ran, World, copy_folder};

/// A library with four events after that of its import: labels of the images 1 to 4.
fn labelled() -> World {
    let world = World::with_library();
    for (image, class) in [("#1", "first"), ("#2", "second"), ("#3", "third"), ("#4", "fourth")] {
        world.run(["label", "lib.tessera", image, "--as", class]).ended(0);
    }
    world
}

fn head(world: &World, library: &str) -> String {
    world.run(["check", library, "--json"]).ended(0).object()["head"].as_str().unwrap().to_owned()
}

/// The events of a library as they are exported.
fn events(world: &World, library: &str) -> Vec<Value> {
    world.run(["export", library, "events", "--to", "events.jsonl"]).ended(0);
    let text = fs::read_to_string(world.at("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn problems(ran: &Ran) -> String {
    ran.object()["problems"].to_string()
}

/// The hash of an event's row, as the program computes it.
fn event_hash(row: &[Cell]) -> i64 {
    let mut bytes = Vec::new();
    // id, at, act and target, then kind, words, changes and written_by.
    for i in [0, 1, 2, 4] {
        let Cell::Integer(number) = row[i] else { panic!("a number") };
        bytes.extend(number.to_le_bytes());
    }
    for i in [3, 5, 6, 7] {
        let Cell::Text(text) = &row[i] else { panic!("a text") };
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    hash64(&bytes) as i64
}

/// The seal of a row of another table.
fn seal(table: &str, row: &[Cell]) -> i64 {
    let mut bytes = Vec::new();
    for cell in std::iter::once(&Cell::Text(table.to_owned())).chain(row) {
        let (kind, value): (u8, Vec<u8>) = match cell {
            Cell::Integer(value) => (1, value.to_le_bytes().to_vec()),
            Cell::Text(text) => (3, text.clone().into_bytes()),
            Cell::Blob(blob) => (4, blob.clone()),
            other => panic!("{other:?}"),
        };
        bytes.push(kind);
        bytes.extend((value.len() as u64).to_le_bytes());
        bytes.extend(value);
    }
    hash64(&bytes) as i64
}

/// Alters the words and changes of an event in the database, with the hash of its row.
fn alter_in_database(library: &Path, event: i64, from: &str, to: &str) {
    let db = Connection::open(library.join("library.db")).unwrap();
    let sql = "SELECT id, at, act, kind, target, words, changes, written_by FROM event WHERE id = ?1";
    let mut row: Vec<Cell> = db.query_row(sql, [event], |row| (0..8).map(|i| row.get(i)).collect()).unwrap();
    for cell in &mut row[5..7] {
        let Cell::Text(text) = cell else { panic!("a text") };
        assert!(text.contains(from));
        *text = text.replace(from, to);
    }
    let (words, changes, hash) = (row[5].clone(), row[6].clone(), event_hash(&row));
    db.execute("UPDATE event SET words = ?2, changes = ?3, row_hash = ?4 WHERE id = ?1", params![event, words, changes, hash]).unwrap();
}

/// Writes the lines of a journal anew, each with its number and its seal.
fn edit_journal(library: &Path, edit: impl Fn(&mut Vec<String>)) {
    let path = library.join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let says = |line: &str| line.split_once("\"line\":").unwrap().1.strip_suffix('}').unwrap().to_owned();
    let mut lines: Vec<String> = text.lines().map(says).collect();
    edit(&mut lines);
    let sealed = lines.iter().enumerate().map(|(n, line)| {
        let body = format!("\"n\":{n},\"line\":{line}");
        format!("{{\"xxh3\":\"{:016x}\",{body}}}\n", hash64(body.as_bytes()))
    });
    fs::write(&path, sealed.collect::<String>()).unwrap();
}

fn is_event(line: &str, event: u64) -> bool {
    line.starts_with(&format!("{{\"event\":{{\"id\":{event},"))
}

fn alter_in_journal(library: &Path, event: u64, from: &str, to: &str) {
    edit_journal(library, |lines| {
        let line = lines.iter_mut().find(|line| is_event(line, event)).unwrap();
        assert!(line.contains(from));
        *line = line.replace(from, to);
    });
}

/// Takes an event out of the database, with its link and the count of both.
fn take_out_of_database(library: &Path, event: i64) {
    let db = Connection::open(library.join("library.db")).unwrap();
    for (table, key) in [("event", "id"), ("link", "event")] {
        assert_eq!(db.execute(&format!("DELETE FROM {table} WHERE {key} = ?1"), [event]).unwrap(), 1);
        let n: i64 = db.query_row("SELECT n - 1 FROM tally WHERE name = ?1", [table], |row| row.get(0)).unwrap();
        let hash = seal("tally", &[Cell::Text(table.to_owned()), Cell::Integer(n)]);
        db.execute("UPDATE tally SET n = ?2, row_hash = ?3 WHERE name = ?1", params![table, n, hash]).unwrap();
    }
}

#[test]
fn an_event_altered_with_its_seal_is_noticed_and_restored() {
    let world = labelled();
    let before = events(&world, "lib.tessera");
    alter_in_database(&world.at("lib.tessera"), 2, "first", "frist");
    let ran = world.run(["check", "lib.tessera", "--json"]).ended(65);
    assert!(problems(&ran).contains("event 2 is not what its link says"), "{}", problems(&ran));
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    assert_eq!(events(&world, "lib.tessera"), before);

    alter_in_journal(&world.at("lib.tessera"), 2, "first", "frist");
    let ran = world.run(["check", "lib.tessera", "--json"]).ended(65);
    assert!(problems(&ran).contains("event 2 is not what its link says"), "{}", problems(&ran));
    world.run(["check", "lib.tessera", "--repair"]);
    world.run(["check", "lib.tessera"]).ended(0);
    assert_eq!(events(&world, "lib.tessera"), before);
}

#[test]
fn an_event_altered_everywhere_is_lost_and_named() {
    let world = labelled();
    let noted = head(&world, "lib.tessera");
    alter_in_database(&world.at("lib.tessera"), 3, "second", "sceond");
    alter_in_journal(&world.at("lib.tessera"), 3, "second", "sceond");
    let ran = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(65);
    assert!(problems(&ran).contains("event 3 is lost"), "{}", problems(&ran));
    assert_eq!(ran.object()["lost"], serde_json::json!([3]));
    // It was named; from here on it is listed.
    let after = world.run(["check", "lib.tessera", "--head", &noted, "--json"]).ended(0).object();
    assert_eq!((&after["lost"], &after["events"], &after["noted"]["event"]), (&serde_json::json!([3]), &4.into(), &5.into()));
    assert!(!fs::read_to_string(world.at("lib.tessera/journal.jsonl")).unwrap().contains("sceond"));
}

#[test]
fn an_event_taken_out_of_all_copies_is_named() {
    let world = labelled();
    let noted = head(&world, "lib.tessera");
    take_out_of_database(&world.at("lib.tessera"), 3);
    edit_journal(&world.at("lib.tessera"), |lines| lines.retain(|line| !is_event(line, 3)));
    fs::remove_dir_all(world.at("lib.tessera/snapshots")).unwrap();
    let ran = world.run(["check", "lib.tessera", "--json"]).ended(65);
    assert!(problems(&ran).contains("event 3 is lost: it is in no file"), "{}", problems(&ran));
    let ran = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(65);
    assert!(problems(&ran).contains("event 3 is lost"), "{}", problems(&ran));
    let after = world.run(["check", "lib.tessera", "--head", &noted, "--json"]).ended(0).object();
    assert_eq!((&after["lost"], &after["noted"]["event"]), (&serde_json::json!([3]), &5.into()));
    world.run(["label", "lib.tessera", "#5", "--as", "fifth"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
    // What one copy still has is put back.
    let other = labelled();
    take_out_of_database(&other.at("lib.tessera"), 3);
    other.run(["check", "lib.tessera"]).ended(65);
    other.run(["check", "lib.tessera", "--repair"]).ended(0);
    assert_eq!(other.run(["check", "lib.tessera", "--json"]).ended(0).object()["lost"], serde_json::json!([]));
}

#[test]
fn a_noted_head_tells_what_is_missing() {
    let world = labelled();
    let early = head(&world, "lib.tessera");
    fs::rename(world.at("lib.tessera"), world.at("now.tessera")).unwrap();
    copy_folder(&world.at("now.tessera"), &world.at("lib.tessera"));
    let late = world.run(["label", "now.tessera", "#5", "--as", "fifth", "--with-head", "--json"]).ended(0).object()["head"].clone();
    let late = late.as_str().unwrap();
    assert_eq!(late, head(&world, "now.tessera"));
    let found = world.run(["check", "now.tessera", "--head", &early[2..20], "--json"]).ended(0).object();
    assert_eq!(found["noted"]["event"], 5);
    let ran = world.run(["check", "lib.tessera", "--head", late, "--json"]).ended(65);
    assert!(problems(&ran).contains("the history ends at event 5: event 6 is missing"), "{}", problems(&ran));
    let ran = world.run(["check", "lib.tessera", "--head", &late[2..], "--json"]).ended(65);
    assert!(problems(&ran).contains("is not in this history"), "{}", problems(&ran));
    world.run(["label", "lib.tessera", "#5", "--as", "other"]).ended(0);
    let ran = world.run(["check", "lib.tessera", "--head", late, "--json"]).ended(65);
    assert!(problems(&ran).contains("another one stands after event 6"), "{}", problems(&ran));
    let ran = world.run(["check", "lib.tessera", "--head"]).ended(0);
    assert!(ran.stdout.contains("History: 6 events; its head is 6:"), "{}", ran.stdout);
    world.run(["check", "--head", "lib.tessera"]).ended(2).complains("expected a head");
}

/// Alters a letter in each line of the journal that tells one of these events.
fn garble_in_journal(library: &Path, events: &[u64]) {
    let path = library.join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let garble = |line: &str| match events.iter().any(|event| line.contains(&format!("\"line\":{{\"event\":{{\"id\":{event},"))) {
        true => line.replace("\"words\"", "\"wards\"") + "\n",
        false => line.to_owned() + "\n",
    };
    fs::write(&path, text.lines().map(garble).collect::<String>()).unwrap();
}

/// Cuts the journal behind the first place where these words stand.
fn cut_journal(library: &Path, words: &str) {
    let path = library.join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.find(words).unwrap() + words.len()]).unwrap();
}

/// What a repair says is lost.
fn lost_by_repair(world: &World, library: &str) -> (Value, String) {
    let ran = world.run(["check", library, "--repair", "--json"]).ended(65);
    (ran.object()["lost"].clone(), format!("{} {}", problems(&ran), ran.object()["repaired"]))
}

#[test]
fn events_that_are_lost_at_the_end_are_named_by_what_is_left_of_the_journal() {
    let world = labelled();
    let without_databases = |name: &str| {
        copy_folder(&world.at("lib.tessera"), &world.at(name));
        fs::remove_file(world.at(name).join("library.db")).unwrap();
        fs::remove_dir_all(world.at(name).join("snapshots")).unwrap();
        fs::remove_file(world.at(name).join("cache.db")).unwrap();
        world.at(name)
    };
    garble_in_journal(&without_databases("one.tessera"), &[5]);
    let (lost, said) = lost_by_repair(&world, "one.tessera");
    assert_eq!(lost, serde_json::json!([5]), "{said}");
    assert!(said.contains("event 5 is lost: it is in no file of the library; the journal shows that there was an event 5"), "{said}");
    assert!(said.contains("events after event 5 cannot be excluded"), "{said}");
    assert_eq!(said.matches("was skipped").count(), 1, "{said}");

    let two = without_databases("two.tessera");
    garble_in_journal(&two, &[4, 5]);
    cut_journal(&two, "\"wards\":\"Labelled disc_01_2");
    let text = fs::read_to_string(two.join("journal.jsonl")).unwrap();
    fs::write(two.join("journal.jsonl"), text.replace("\"id\":4,", "\"id\":7,")).unwrap();
    // A number that the damage made is not believed.
    let (lost, said) = lost_by_repair(&world, "two.tessera");
    assert_eq!(lost, serde_json::json!([4]), "{said}");

    // A line that was torn still tells its event.
    cut_journal(&without_databases("torn.tessera"), "\"event\":{\"id\":5,");
    let (lost, said) = lost_by_repair(&world, "torn.tessera");
    assert_eq!(lost, serde_json::json!([5]), "{said}");

    // Every event is lost, and named.
    garble_in_journal(&without_databases("all.tessera"), &[1, 2, 3, 4, 5]);
    let (lost, said) = lost_by_repair(&world, "all.tessera");
    assert_eq!(lost, serde_json::json!([1, 2, 3, 4, 5]), "{said}");

    // It was named; from here on it is listed, its number is not used again, and the journal knows
    // it, too.
    world.run(["check", "one.tessera"]).ended(0);
    let next = world.run(["label", "one.tessera", "#5", "--as", "fifth", "--json"]).ended(0).object();
    assert_eq!(next["event"], 6);
    fs::remove_file(world.at("one.tessera/library.db")).unwrap();
    fs::remove_dir_all(world.at("one.tessera/snapshots")).unwrap();
    world.run(["check", "one.tessera", "--repair"]).ended(0);
    let after = world.run(["check", "one.tessera", "--json"]).ended(0).object();
    assert_eq!((&after["lost"], &after["events"]), (&serde_json::json!([5]), &5.into()));
    let noted = head(&world, "lib.tessera");
    let ran = world.run(["check", "one.tessera", "--head", &noted, "--json"]).ended(65);
    assert!(problems(&ran).contains("event 5, after which the head was noted, is lost"), "{}", problems(&ran));
}

#[test]
fn an_older_database_beside_a_damaged_journal_is_told_with_the_numbers_it_lacks() {
    let world = World::with_library();
    world.run(["label", "lib.tessera", "#1", "--as", "first"]).ended(0);
    fs::copy(world.at("lib.tessera/library.db"), world.at("older.db")).unwrap();
    for (image, class) in [("#2", "second"), ("#3", "third")] {
        world.run(["label", "lib.tessera", image, "--as", class]).ended(0);
    }
    fs::copy(world.at("older.db"), world.at("lib.tessera/library.db")).unwrap();
    copy_folder(&world.at("lib.tessera"), &world.at("two.tessera"));
    garble_in_journal(&world.at("lib.tessera"), &[4]);
    let (lost, said) = lost_by_repair(&world, "lib.tessera");
    assert_eq!(lost, serde_json::json!([4]), "{said}");
    assert_eq!(events(&world, "lib.tessera").len(), 3);
    // The journal's first line names the library; without it the chain shows whose it is.
    let journal = world.at("two.tessera/journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.split_once('\n').unwrap().1).unwrap();
    world.run(["check", "two.tessera", "--repair"]);
    assert_eq!(events(&world, "two.tessera").len(), 4);
}

#[test]
fn what_a_damaged_snapshot_has_is_put_back_and_what_it_knew_is_named() {
    let world = labelled();
    let snapshots = world.at("lib.tessera/snapshots");
    let old = fs::read_dir(&snapshots).unwrap().next().unwrap().unwrap().path();
    let at: u64 = old.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().0.parse().unwrap();
    fs::remove_file(&old).unwrap();
    let snapshot = snapshots.join(format!("{}-5.db", at + 1));
    fs::copy(world.at("lib.tessera/library.db"), &snapshot).unwrap();
    let before = events(&world, "lib.tessera");

    // An older database, and a snapshot in which its history goes on.
    let other = World::new();
    copy_folder(&world.at("lib.tessera"), &other.at("lib.tessera"));
    for event in [5, 4] {
        take_out_of_database(&other.at("lib.tessera"), event);
    }
    fs::remove_file(other.at("lib.tessera/journal.jsonl")).unwrap();
    let ran = other.run(["check", "lib.tessera", "--json"]).ended(65);
    assert!(problems(&ran).contains("goes on to event 5 in a snapshot, and ends at event 3"), "{}", problems(&ran));
    other.run(["check", "lib.tessera", "--repair"]).ended(0);
    assert_eq!(events(&other, "lib.tessera"), before);

    // Nothing but a journal that was cut and a snapshot with a damaged row.
    let db = Connection::open(&snapshot).unwrap();
    db.execute("UPDATE event SET words = 'other' WHERE id = 5", []).unwrap();
    drop(db);
    for name in ["library.db", "cache.db"] {
        fs::remove_file(world.at("lib.tessera").join(name)).unwrap();
    }
    cut_journal(&world.at("lib.tessera"), "as second");
    copy_folder(&world.at("lib.tessera"), &world.at("junk.tessera"));
    let (lost, said) = lost_by_repair(&world, "lib.tessera");
    assert_eq!(lost, serde_json::json!([5]), "{said}");
    assert_eq!(events(&world, "lib.tessera"), before[..4]);
    assert!(said.contains("library.db.damaged-snapshot-"), "{said}");

    // A snapshot of which nothing but the name is left.
    fs::write(world.at("junk.tessera/snapshots").join(snapshot.file_name().unwrap()), b"junk").unwrap();
    let (lost, said) = lost_by_repair(&world, "junk.tessera");
    assert_eq!(lost, serde_json::json!([3, 4, 5]), "{said}");
    assert!(said.contains("events 3 to 5 are lost") && said.contains("-5.db` shows that there was an event 5"), "{said}");
}

#[test]
fn a_cache_names_lost_events_and_its_checkpoints_of_them_are_not_used() {
    let world = labelled();
    for name in ["library.db", "journal.jsonl"] {
        fs::remove_file(world.at("lib.tessera").join(name)).unwrap();
    }
    let (lost, said) = lost_by_repair(&world, "lib.tessera");
    assert_eq!(lost, serde_json::json!([2, 3, 4, 5]), "{said}");
    assert!(said.contains("`cache.db` shows that there was an event 5"), "{said}");
    world.run(["label", "lib.tessera", "#1", "--as", "first"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
    let found = world.run(["search", "lib.tessera", "fourth", "--json"]).ended(0).object();
    assert_eq!(found["hits"], serde_json::json!([]));
}

#[test]
fn a_journal_that_was_written_anew_is_told_as_repaired() {
    let world = labelled();
    fs::remove_file(world.at("lib.tessera/journal.jsonl")).unwrap();
    let repaired = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(0).object()["repaired"].clone();
    assert_eq!(repaired, serde_json::json!(["the journal was written anew from the database"]));
    cut_journal(&world.at("lib.tessera"), "as second");
    let repaired = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(0).object()["repaired"].to_string();
    assert!(repaired.contains("the journal was written anew from the database"), "{repaired}");
    // Nothing that was not done is told.
    fs::remove_file(world.at("lib.tessera/library.db")).unwrap();
    fs::remove_file(world.at("lib.tessera/journal.jsonl")).unwrap();
    let repaired = world.run(["check", "lib.tessera", "--repair", "--json"]).ended(65).object()["repaired"].to_string();
    assert!(repaired.contains("taken from the snapshot after event 1") && !repaired.contains("0 events"), "{repaired}");
}

#[test]
fn a_repair_that_recovers_every_event_leaves_no_problem() {
    let world = labelled();
    let noted = head(&world, "lib.tessera");
    // The snapshot has the event of the line that is skipped.
    garble_in_journal(&world.at("lib.tessera"), &[1]);
    fs::remove_file(world.at("lib.tessera/library.db")).unwrap();
    copy_folder(&world.at("lib.tessera"), &world.at("cut.tessera"));
    let found = world.run(["check", "lib.tessera", "--repair", "--head", &noted, "--json"]).ended(0).object();
    assert!(found["repaired"].to_string().contains("was skipped") && found["noted"]["event"] == 5, "{found}");
    world.run(["check", "lib.tessera"]).ended(0);
    // Without the line that the program wrote when it closed the library, there may have been more.
    let journal = world.at("cut.tessera/journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n").unwrap();
    let (_, said) = lost_by_repair(&world, "cut.tessera");
    assert!(said.contains("was skipped"), "{said}");
}

#[test]
fn two_histories_are_named_with_the_first_event_that_differs() {
    let world = labelled();
    copy_folder(&world.at("lib.tessera"), &world.at("copy.tessera"));
    for (library, class) in [("lib.tessera", "same"), ("copy.tessera", "same")] {
        world.run(["label", library, "#6", "--as", class]).ended(0);
        world.run(["label", library, "#7", "--as", class]).ended(0);
    }
    let theirs = head(&world, "copy.tessera");
    fs::copy(world.at("copy.tessera/journal.jsonl"), world.at("lib.tessera/journal.jsonl")).unwrap();
    // Both sides did the same, and still they are two histories.
    let ran = world.run(["check", "lib.tessera", "--json"]).ended(65);
    assert!(problems(&ran).contains("two histories: from event 6 "), "{}", problems(&ran));
    let fork = ran.object()["fork"].clone();
    assert_eq!(fork["shared"], 5);
    for side in ["database", "journal"] {
        let events: Vec<&Value> = fork[side].as_array().unwrap().iter().map(|event| &event["event"]).collect();
        assert_eq!(events, [6, 7], "{side}");
    }
    let ran = world.run(["check", "lib.tessera"]).ended(65);
    assert!(ran.stdout.contains("Both histories have: 5 events") && ran.stdout.contains("`journal.jsonl` alone has: 2 events"));
    world.run(["check", "lib.tessera", "--repair"]).ended(65).complains("go on with by `--keep`");
    world.run(["backup", "lib.tessera", "backup"]).ended(65).complains("two histories, which have 5 events in common");
    world.run(["check", "lib.tessera", "--keep", "database"]).ended(0);
    world.run(["check", "lib-2.tessera"]).ended(0);
    for (library, noted) in [("lib.tessera", None), ("lib-2.tessera", Some(7))] {
        let ran = world.run(["check", library, "--head", &theirs, "--json"]);
        assert_eq!(ran.object()["noted"]["event"].as_u64(), noted, "{library}");
    }
}

#[test]
fn forgetting_keeps_the_head() {
    let world = labelled();
    let noted = head(&world, "lib.tessera");
    world.run(["forget", "lib.tessera", "#2", "--yes"]).ended(0);
    let after = world.run(["check", "lib.tessera", "--head", &noted, "--json"]).ended(0).object();
    assert_eq!((&after["noted"]["event"], &after["events"], &after["lost"]), (&5.into(), &6.into(), &serde_json::json!([])));
    let told = events(&world, "lib.tessera");
    assert_eq!((&told[2]["words"], &told[2]["changes"]), (&"Forgotten".into(), &serde_json::json!([])));
    // A repair from the journal alone keeps it, too.
    fs::remove_file(world.at("lib.tessera/library.db")).unwrap();
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    world.run(["check", "lib.tessera", "--head", &noted]).ended(0);
    assert_eq!(events(&world, "lib.tessera"), told);
}

#[test]
fn acknowledgements_carry_the_head_on_request() {
    let world = World::with_images();
    let imported = world.run(["import", "lib.tessera", "images", "--with-head", "--json"]).ended(0).object();
    assert_eq!(imported["head"].as_str().unwrap(), head(&world, "lib.tessera"));
    assert_eq!(world.run(["undo", "lib.tessera", "--json"]).ended(0).object().get("head"), None);
    let lines = b"{\"image\": 1, \"label\": \"a\"}\n{\"image\": 2, \"label\": \"b\"}\n";
    world.run(["redo", "lib.tessera"]).ended(0);
    let said = world.feed(["label", "lib.tessera", "--stdin", "--with-head"], lines).ended(0).lines();
    assert_ne!(said[0]["head"], said[1]["head"]);
    assert_eq!(said[1]["head"].as_str().unwrap(), head(&world, "lib.tessera"));
}

/// A library that a version of the program left, with its journal where there is one.
fn left_by(world: &World, version: u32) -> String {
    let name = format!("v{version}.tessera");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/app/versions");
    fs::create_dir(world.at(&name)).unwrap();
    let db = Connection::open(world.at(&name).join("library.db")).unwrap();
    // The tables come in the order of their names, not of what they refer to.
    db.pragma_update(None, "foreign_keys", false).unwrap();
    db.execute_batch(&fs::read_to_string(from.join(format!("{version}.sql"))).unwrap()).unwrap();
    let journal = from.join(format!("{version}.jsonl"));
    if journal.is_file() {
        fs::copy(journal, world.at(&name).join("journal.jsonl")).unwrap();
    }
    name
}

#[test]
fn a_backup_of_a_library_that_is_only_read_changes_nothing_in_it() {
    let world = labelled();
    let mut killed = world.start(["label", "lib.tessera", "--stdin"]);
    writeln!(killed.stdin.as_mut().unwrap(), "{}", serde_json::json!({"image": 5, "label": "fifth"})).unwrap();
    BufReader::new(killed.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    for (library, events) in [("lib.tessera", 6), (&left_by(&world, 3), 7)] {
        let database = world.at(library).join("library.db");
        let before = fs::read(&database).unwrap();
        assert_eq!(world.run(["backup", library, &format!("{library} copy"), "--read-only", "--json"]).ended(0).object()["events"], events);
        assert!(fs::read(&database).unwrap() == before, "{library}");
    }
}

#[test]
fn libraries_of_every_version_are_opened_with_their_events() {
    let told = [
        (1, "Imported 2 images from /pictures"),
        (2, "Labelled 1.png as tiger"),
        (3, "Captioned 2.png"),
        (4, "Undo: Captioned 2.png"),
        (5, "Redo: Captioned 2.png"),
        (6, "Rewarded 2.png as an answer to \u{201c}dog\u{201d}"),
        (7, "Rejected tiger for 2.png"),
        (8, "Rejected the guess crate for 2.png"),
        (9, "1.png and 2.png are no copies"),
        (10, "Imported 1 image from /more"),
        (11, "Brought vectors mine of 2 images"),
        (12, "Said that 1.png and 2.png belong together"),
    ];
    for (version, n) in [(1, 5), (2, 6), (3, 7), (4, 8), (5, 8), (6, 11), (7, 12)] {
        let world = World::new();
        let name = &left_by(&world, version);
        let found: BTreeMap<u64, String> = events(&world, name)
            .iter()
            .map(|event| (event["event"].as_u64().unwrap(), event["words"].as_str().unwrap().to_owned()))
            .collect();
        let expected: BTreeMap<u64, String> = told.iter().take(n).map(|(id, words)| (*id, (*words).to_owned())).collect();
        assert_eq!(found, expected, "version {version}");
        let noted = head(&world, name);
        world.run(["label", name, "#2", "--as", "wolf"]).ended(0);
        world.run(["undo", name]).ended(0);
        let later = world.run(["check", name, "--head", &noted, "--json"]).ended(0).object();
        assert_eq!((&later["noted"]["event"], &later["events"]), (&n.into(), &(n + 2).into()), "version {version}");
        assert_eq!(world.run(["search", name, "dog", "--json"]).ended(0).object()["hits"][0]["image"], 2);
        // Links are made once: a database that is lost after that is made again with them.
        fs::remove_file(world.at(name).join("library.db")).unwrap();
        world.run(["check", name, "--repair"]).ended(0);
        assert_eq!(world.run(["check", name, "--head", &noted, "--json"]).ended(0).object()["noted"]["event"], n);
    }
}
