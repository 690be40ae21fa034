//! Random damage to the files of a library, mended through the command line: with one of its three
//! copies damaged nothing is lost, with two of them nothing is lost without being named.
//!
//! The trials of some seeds are run by
//!
//! ```sh
//! TESSERA_TRIALS=1000..2000 cargo test -p tessera --test app -- --ignored --nocapture random_damage
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::dice::Dice;
use crate::world::{World, copy_folder, trials as seeds_of};

/// A library with two images and an event for each of some acts.
fn lived() -> World {
    let world = World::new();
    world.picture("images/disc/one.png", 0, 1, 0);
    world.picture("images/grid/two.png", 1, 2, 1);
    world.run(["import", "lib.tessera", "images", "--labels", "class-folders"]).ended(0);
    for n in 0..6 {
        world.run(["label", "lib.tessera", ["#1", "#2"][n % 2], "--as", &format!("class number {n}")]).ended(0);
    }
    world.run(["undo", "lib.tessera"]).ended(0);
    world
}

/// Bytes that disks and databases write at a time.
const BLOCK: usize = 4096;

/// Damages one of the files. Returns in what way.
fn damage(path: &Path, files: &[PathBuf], chance: &mut Dice) -> String {
    let mut bytes = fs::read(path).unwrap();
    let words = match chance.below(8) {
        0 | 1 => {
            let n = 1 + chance.below(3);
            for _ in 0..n {
                let at = chance.below(bytes.len());
                bytes[at] ^= 1 << chance.below(8);
            }
            format!("{n} bits flipped")
        }
        2 => {
            bytes.truncate(chance.below(bytes.len()));
            format!("cut to {} bytes", bytes.len())
        }
        3 => {
            let at = chance.below(bytes.len());
            let end = bytes.len().min(at + 1 + chance.below(4096));
            bytes[at..end].fill(0);
            format!("zeros from {at} to {end}")
        }
        4 => {
            let at = chance.below(bytes.len());
            let end = bytes.len().min(at + 1 + chance.below(1000));
            bytes.drain(at..end);
            format!("bytes {at} to {end} gone")
        }
        // A disk that writes to the wrong place.
        5 | 6 => {
            let from = &files[chance.below(files.len())];
            let other = fs::read(from).unwrap();
            let (here, there) = (chance.below(bytes.len().div_ceil(BLOCK)) * BLOCK, chance.below(other.len().div_ceil(BLOCK)) * BLOCK);
            let block = &other[there..other.len().min(there + BLOCK)];
            let end = bytes.len().min(here + block.len());
            bytes.splice(here..end, block.iter().copied());
            format!("the block at {there} of {} written to {here}", from.display())
        }
        _ => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let at = chance.below(lines.len());
            lines.remove(at);
            bytes = lines.concat();
            format!("line {at} gone")
        }
    };
    fs::write(path, &bytes).unwrap();
    words
}

/// The events of a library: number, and all that is said of it.
fn events(world: &World, library: &str, why: &str) -> BTreeMap<u64, Value> {
    let ran = world.run(["export", library, "events", "--to", "events.jsonl"]);
    assert_eq!(ran.code, 0, "{why}: {}", ran.stderr);
    let text = fs::read_to_string(world.at("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).map(|event| (event["event"].as_u64().unwrap(), event)).collect()
}

/// Runs the trials of these seeds. Returns in how many something was lost, and named.
fn trials(seeds: std::ops::Range<u64>) -> usize {
    let world = lived();
    let expected = events(&world, "lib.tessera", "undamaged");
    let mut lossy = 0;
    for seed in seeds {
        let mut chance = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let folder = world.at("trial.tessera");
        let _ = fs::remove_dir_all(&folder);
        copy_folder(&world.at("lib.tessera"), &folder);
        let snapshot = fs::read_dir(folder.join("snapshots")).unwrap().next().unwrap().unwrap().path();
        let files: [PathBuf; 3] = [folder.join("library.db"), folder.join("journal.jsonl"), snapshot];
        let first = chance.below(3);
        let two = chance.below(2) == 1;
        let mut done = vec![format!("{}: {}", files[first].display(), damage(&files[first], &files, &mut chance))];
        if two {
            let second = (first + 1 + chance.below(2)) % 3;
            done.push(format!("{}: {}", files[second].display(), damage(&files[second], &files, &mut chance)));
        }
        let ran = world.run(["check", "trial.tessera", "--repair", "--json"]);
        assert!([0, 65].contains(&ran.code), "seed {seed}, {done:?}: {} {}", ran.stdout, ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let found = events(&world, "trial.tessera", &format!("seed {seed}, {done:?}: {said}"));
        for (id, event) in &found {
            assert_eq!(event, &expected[id], "seed {seed}, {done:?}: {said}");
        }
        let last = found.keys().next_back().copied().unwrap_or(0);
        let missing: Vec<u64> = expected.keys().filter(|id| !found.contains_key(id)).copied().collect();
        assert!(two || missing.is_empty(), "seed {seed}, {done:?}: lost {missing:?}; {said}");
        let lost: Vec<u64> = ran.object()["lost"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        for id in &missing {
            let is_named = lost.contains(id) || (*id > last && said.contains("cannot be excluded"));
            assert!(is_named, "seed {seed}, {done:?}: event {id} is lost without a word; {said}");
        }
        lossy += usize::from(!missing.is_empty());
        let after = world.run(["check", "trial.tessera"]);
        assert_eq!(after.code, 0, "seed {seed}, {done:?}: {} {}", after.stdout, after.stderr);
    }
    lossy
}

/// A page of the table of facts that was written to the wrong place may be a sound page without
/// rows.
#[test]
fn a_library_that_lost_its_number_is_mended_from_its_journal() {
    let world = lived();
    let expected = events(&world, "lib.tessera", "undamaged");
    let database = world.at("lib.tessera/library.db");
    rusqlite::Connection::open(&database).unwrap().execute("DELETE FROM fact", []).unwrap();
    assert_eq!(world.run(["check", "lib.tessera"]).code, 65);
    let ran = world.run(["check", "lib.tessera", "--repair"]);
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert_eq!(events(&world, "lib.tessera", "mended"), expected);
    world.run(["label", "lib.tessera", "#1", "--as", "another"]).ended(0);
    assert_eq!(world.run(["check", "lib.tessera"]).code, 0);
}

#[test]
fn what_is_damaged_at_random_is_mended_or_named() {
    trials(0..8);
}

#[test]
#[ignore = "1,000 libraries, or those of TESSERA_TRIALS"]
fn random_damage_is_mended_or_named() {
    let seeds = seeds_of(0..1000);
    println!("{} of {} libraries lost something, and said so", trials(seeds.clone()), seeds.end - seeds.start);
}
