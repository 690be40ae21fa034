//! Damage to a library's files: it is noticed, and the state is recovered.

use std::sync::atomic::AtomicBool;

use rand::RngExt as _;
use tessera_core::library::relocate::relocate;
use tessera_core::library::repair::repair;
use tessera_core::library::snapshot::{KEPT, restore, snapshots};
use tessera_core::random::seeded;

use super::*;

/// A closed library with a history, and what it held.
fn lived() -> (Place, State) {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png", "owl/1.png"]);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "cat/1.png").id;
    let two = at(&library, "dog/2.png").id;
    hold(&library).label(&[one], &class("tiger")).unwrap();
    hold(&library).caption(two, say(&["a dog on a lawn", "two ears"])).unwrap();
    hold(&library).set_removed(&[two], true).unwrap();
    hold(&library).undo().unwrap();
    hold(&library).rename_class("owl", "bird").unwrap();
    let state = hold(&library).state().clone();
    close(library);
    (place, state)
}

fn close(library: Mutex<Library>) {
    library.into_inner().unwrap().close().unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let path = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &path) } else { fs::copy(entry.path(), path).map(|_| ()).unwrap() }
    }
}

fn try_open(folder: &Path) -> tessera_core::Result<Library> {
    open(folder, Arc::new(InProcess::default()))
}

/// Damages copies of a library, and checks each time that damaged data is never read as sound and
/// that a repair recovers everything. Returns how many were damaged in a way that counts.
fn damage(n: usize, seed: u64, spoil: impl Fn(&mut Vec<u8>, &mut tessera_core::random::Rng)) -> usize {
    let (place, expected) = lived();
    let mut rng = seeded(seed);
    let mut noticed = 0;
    for i in 0..n {
        let copied = place.dir.path().join(format!("copy-{i}.tessera"));
        copy(&place.folder(), &copied);
        let database = copied.join("library.db");
        let mut bytes = fs::read(&database).unwrap();
        spoil(&mut bytes, &mut rng);
        fs::write(&database, bytes).unwrap();
        let found = try_open(&copied).map(|library| (library.state().clone(), library.check().unwrap()));
        if let Ok((state, _)) = &found {
            assert_eq!(*state, expected, "damage {i} was taken for what was written");
        }
        if !matches!(&found, Ok((_, problems)) if problems.is_empty()) {
            noticed += 1;
            let done = repair(&copied, &Progress::default()).unwrap();
            assert!(done.lost.is_empty() && done.damaged.as_ref().is_some_and(|kept| kept.is_file()), "damage {i}: {done:?}");
            let library = try_open(&copied).unwrap();
            assert_eq!(*library.state(), expected, "damage {i} was repaired otherwise");
            assert_eq!(library.check().unwrap(), Vec::<String>::new());
        }
        fs::remove_dir_all(&copied).unwrap();
    }
    noticed
}

fn flip(bytes: &mut [u8], rng: &mut tessera_core::random::Rng) {
    let bit = rng.random_range(0..bytes.len() * 8);
    bytes[bit / 8] ^= 1 << (bit % 8);
}

/// A library that was killed after a few more acts, the last of them in `library.db-wal` alone, and
/// what it held.
fn killed() -> (Place, State) {
    let (place, _) = lived();
    let library = place.open();
    let two = at(&library, "cat/1.png").id;
    for i in 0..6 {
        hold(&library).label(&[two], &class(&format!("late {i}"))).unwrap();
    }
    let expected = hold(&library).state().clone();
    let copied = place.dir.path().join("killed");
    copy(&place.folder(), &copied);
    drop(library);
    fs::remove_dir_all(place.folder()).unwrap();
    fs::rename(copied, place.folder()).unwrap();
    assert!(fs::metadata(place.folder().join("library.db-wal")).unwrap().len() > 0);
    (place, expected)
}

/// Opens a library, after a repair if that is needed.
#[track_caller]
fn opened(folder: &Path) -> Library {
    if try_open(folder).is_err() {
        repair(folder, &Progress::default()).unwrap();
    }
    let library = try_open(folder).unwrap();
    assert_eq!(library.check().unwrap(), Vec::<String>::new());
    library
}

fn edit(path: &Path, spoil: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    spoil(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_the_database_lost_is_had_from_the_journal() {
    let (place, expected) = killed();
    let mut rng = seeded(4);
    for i in 0..24 {
        let copied = place.dir.path().join(format!("copy-{i}.tessera"));
        copy(&place.folder(), &copied);
        let _ = fs::remove_file(copied.join("library.db-shm"));
        match i {
            0 => fs::remove_file(copied.join("library.db-wal")).unwrap(),
            1..16 => edit(&copied.join("library.db-wal"), |bytes| flip(bytes, &mut rng)),
            _ => edit(&copied.join("library.db"), |bytes| flip(bytes, &mut rng)),
        }
        assert_eq!(*opened(&copied).state(), expected, "damage {i}");
    }
}

#[test]
fn a_journal_that_lost_its_end_or_a_line_is_noticed() {
    let (place, expected) = lived();
    let journal = place.folder().join("journal.jsonl");
    let lines = |text: &[u8]| -> Vec<Vec<u8>> { text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect() };
    edit(&journal, |text| *text = lines(text)[..4].concat());
    let library = try_open(&place.folder()).unwrap();
    assert_eq!((library.state(), library.check().unwrap()), (&expected, Vec::new()), "it was written anew");
    library.close().unwrap();
    edit(&journal, |text| {
        let mut lines = lines(text);
        lines.remove(4);
        *text = lines.concat();
    });
    let library = try_open(&place.folder()).unwrap();
    let problems = library.check().unwrap();
    assert!(problems.len() == 1 && problems[0] == "1 line of the journal is missing before its line 5", "{problems:?}");
    drop(library);
    let done = repair(&place.folder(), &Progress::default()).unwrap().done;
    assert!(done.iter().any(|line| line.contains("the journal was written anew")), "{done:?}");
    assert_eq!(*opened(&place.folder()).state(), expected);
    // With the database gone too, the repair reports what is missing, and takes it from the
    // snapshot.
    opened(&place.folder()).close().unwrap();
    edit(&journal, |text| *text = lines(text)[..4].concat());
    fs::write(place.folder().join("library.db"), b"nothing").unwrap();
    repair(&place.folder(), &Progress::default()).unwrap();
    assert_eq!(*opened(&place.folder()).state(), expected);
}

#[test]
fn bad_lines_about_folders_do_not_stop_a_repair() {
    let (place, expected) = lived();
    fs::remove_dir_all(place.folder().join("snapshots")).unwrap();
    edit(&place.folder().join("journal.jsonl"), |text| {
        // A folder is told when it is entered, and again when it is read otherwise.
        let told: Vec<usize> = (0..text.len()).filter(|at| text[*at..].starts_with(b"{\"root\":{\"id\"")).collect();
        told.iter().for_each(|at| text[at + 13] ^= 1);
        assert!(told.len() == 2, "{told:?}");
    });
    fs::write(place.folder().join("library.db"), b"nothing").unwrap();
    let done = repair(&place.folder(), &Progress::default()).unwrap();
    assert!(done.lost.iter().any(|words| words.contains("import it again")), "{done:?}");
    let library = Mutex::new(try_open(&place.folder()).unwrap());
    place.import(&library);
    let now = hold(&library).state().clone();
    for image in expected.images() {
        assert_eq!(now.image(image.id).unwrap().label(), image.label());
    }
}

#[test]
fn folders_stay_where_they_were_moved_to() {
    let (place, _) = lived();
    let library = place.open();
    hold(&library).take_snapshot().unwrap();
    let moved = fs::canonicalize(place.dir.path()).unwrap().join("moved");
    fs::rename(place.images(), &moved).unwrap();
    relocate(&library, &place.images(), &moved, &Progress::default()).unwrap();
    let expected = hold(&library).state().clone();
    close(library);
    fs::write(place.folder().join("library.db"), b"nothing").unwrap();
    repair(&place.folder(), &Progress::default()).unwrap();
    assert_eq!(*opened(&place.folder()).state(), expected);
}

#[test]
fn what_was_put_back_stays_and_forgetting_reaches_every_copy() {
    let place = Place::new(&["cat/1.png", "dog/quaggafinch.png"]);
    let library = place.open();
    place.import(&library);
    let first = hold(&library).take_snapshot().unwrap();
    let (one, gone) = (at(&library, "cat/1.png").id, at(&library, "dog/quaggafinch.png").id);
    for i in 0..5 {
        hold(&library).label(&[one], &class(&format!("undone {i}"))).unwrap();
    }
    hold(&library).take_snapshot().unwrap();
    close(library);
    restore(&place.folder(), &first.path, &Progress::default()).unwrap();
    let library = place.open();
    hold(&library).label(&[one], &class("after")).unwrap();
    let expected = hold(&library).state().clone();
    close(library);
    let intact = place.dir.path().join("intact");
    copy(&place.folder(), &intact);
    for with_journal in [true, false] {
        if !with_journal {
            fs::remove_file(place.folder().join("journal.jsonl")).unwrap();
        }
        fs::write(place.folder().join("library.db"), b"nothing").unwrap();
        repair(&place.folder(), &Progress::default()).unwrap();
        assert_eq!(*opened(&place.folder()).state(), expected, "{with_journal}");
        fs::remove_dir_all(place.folder()).unwrap();
        copy(&intact, &place.folder());
    }
    fs::write(place.folder().join("journal.jsonl.12-0.part"), b"quaggafinch.").unwrap();
    let library = place.open();
    fs::write(place.folder().join("snapshots/7-3.part"), b"quaggafinch.").unwrap();
    hold(&library).forget(&[gone], &Progress::default()).unwrap();
    close(library);
    for folder in [place.folder(), place.folder().join("snapshots")] {
        for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file()) {
            let bytes = fs::read(entry.path()).unwrap();
            assert!(!bytes.windows(12).any(|part| part == b"quaggafinch."), "{} has its name", entry.path().display());
        }
    }
}

#[test]
fn a_library_without_its_database_is_offered_for_repair() {
    let (place, expected) = lived();
    fs::remove_file(place.folder().join("library.db")).unwrap();
    let error = try_open(&place.folder()).err().unwrap().to_string();
    assert!(error.contains("only its journal and snapshots") && error.contains("--repair"), "{error}");
    assert_eq!(*opened(&place.folder()).state(), expected);
    // Nor does an emptied file pass for a new library.
    fs::write(place.folder().join("library.db"), b"").unwrap();
    assert!(try_open(&place.folder()).is_err());
    assert_eq!(*opened(&place.folder()).state(), expected);
    fs::remove_file(place.folder().join("library.db")).unwrap();
    fs::create_dir(place.folder().join("library.db")).unwrap();
    assert_eq!(*opened(&place.folder()).state(), expected);
    // The journal of another library is not mixed in.
    let (other, _) = lived();
    fs::copy(other.folder().join("journal.jsonl"), place.folder().join("journal.jsonl")).unwrap();
    let error = try_open(&place.folder()).err().unwrap().to_string();
    assert!(error.contains("the journal of another one"), "{error}");
}

#[test]
fn a_flipped_bit_is_noticed_and_repaired() {
    assert!(damage(40, 1, |bytes, rng| flip(bytes, rng)) > 0);
}

#[test]
#[ignore = "300 libraries"]
fn flipped_bits_are_noticed_and_repaired() {
    println!("{} of 300 flipped bits counted; all were repaired", damage(300, 2, |bytes, rng| flip(bytes, rng)));
}

#[test]
fn lost_and_torn_pages_are_noticed_and_repaired() {
    let spoil = |bytes: &mut Vec<u8>, rng: &mut tessera_core::random::Rng| match rng.random_range(0..3) {
        0 => bytes.truncate(rng.random_range(0..bytes.len())),
        1 => {
            let page = rng.random_range(0..bytes.len() / 4096) * 4096;
            bytes[page..page + 4096].fill(0);
        }
        _ => {
            let page = rng.random_range(0..bytes.len() / 4096) * 4096;
            rng.fill(&mut bytes[page..page + 512]);
        }
    };
    assert!(damage(12, 3, spoil) > 6);
}

#[test]
fn a_database_that_is_gone_is_made_again_from_the_journal_alone() {
    let (place, expected) = lived();
    fs::remove_dir_all(place.folder().join("snapshots")).unwrap();
    fs::remove_file(place.folder().join("library.db")).unwrap();
    let done = repair(&place.folder(), &Progress::default()).unwrap();
    assert!(done.lost.is_empty() && done.damaged.is_none(), "{done:?}");
    assert_eq!(*try_open(&place.folder()).unwrap().state(), expected);
}

#[test]
fn a_journal_may_have_bad_lines_and_an_unfinished_end() {
    let (place, expected) = lived();
    let journal = place.folder().join("journal.jsonl");
    let mut text = fs::read(&journal).unwrap();
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    let middle = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(lines / 2).unwrap().0;
    text[middle + 30] ^= 1;
    text.truncate(text.len() - 7);
    fs::write(&journal, &text).unwrap();
    fs::write(place.folder().join("library.db"), b"nothing").unwrap();
    // The snapshot has what the journal lacks.
    let done = repair(&place.folder(), &Progress::default()).unwrap();
    assert!(done.lost.len() == 1 && done.lost[0].contains("of the journal was skipped"), "{done:?}");
    assert_eq!(*try_open(&place.folder()).unwrap().state(), expected);
    // A journal is made again when it is gone.
    fs::remove_file(&journal).unwrap();
    try_open(&place.folder()).unwrap().close().unwrap();
    let (lines, problems) = tessera_core::library::journal::read(&fs::read(&journal).unwrap());
    assert!(lines.len() > 8 && problems.is_empty());
}

#[test]
fn a_journal_holds_everything_at_every_moment() {
    let place = Place::new(&["cat/1.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "cat/1.png").id;
    for i in 0..5 {
        hold(&library).label(&[one], &class(&format!("class {i}"))).unwrap();
        let expected = hold(&library).state().clone();
        let copied = place.dir.path().join(format!("copy-{i}.tessera"));
        copy(&place.folder(), &copied);
        for name in ["library.db", "library.db-wal", "library.db-shm"] {
            let _ = fs::remove_file(copied.join(name));
        }
        assert!(repair(&copied, &Progress::default()).unwrap().lost.is_empty());
        assert_eq!(*try_open(&copied).unwrap().state(), expected);
    }
}

#[test]
fn snapshots_are_few_and_sound_and_forget_too() {
    let place = Place::new(&["cat/1.png", "dog/1.png", "dog/quaggafinch.png"]);
    let library = place.open();
    place.import(&library);
    for _ in 0..KEPT + 3 {
        hold(&library).take_snapshot().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(snapshots(&place.folder()).len(), KEPT);
    let gone = at(&library, "dog/quaggafinch.png").id;
    hold(&library).forget(&[gone], &Progress::default()).unwrap();
    assert!(snapshots(&place.folder()).is_empty());
    let expected = hold(&library).state().clone();
    close(library);
    for entry in fs::read_dir(place.folder()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = fs::read(entry.path()).unwrap();
        assert!(!bytes.windows(12).any(|part| part == b"quaggafinch."), "{} has its name", entry.path().display());
    }
    fs::remove_file(place.folder().join("library.db")).unwrap();
    repair(&place.folder(), &Progress::default()).unwrap();
    assert_eq!(*try_open(&place.folder()).unwrap().state(), expected);
    let library = place.open();
    assert_eq!(place.import(&library).forgotten, 1, "it stays forgotten");
    place.put("owl/new.png", 90);
    place.import(&library);
    assert!(at(&library, "owl/new.png").id.0 > gone.0, "no identifier is used twice");
}

#[test]
fn a_damaged_snapshot_is_noticed() {
    let (place, expected) = lived();
    let snapshot = snapshots(&place.folder()).remove(0).path;
    edit(&snapshot, |bytes| bytes.truncate(bytes.len() / 2));
    let library = try_open(&place.folder()).unwrap();
    assert_eq!(library.check().unwrap().len(), 1);
    drop(library);
    assert_eq!(repair(&place.folder(), &Progress::default()).unwrap().done.len(), 1);
    assert_eq!(*opened(&place.folder()).state(), expected);
}

#[test]
fn a_sound_library_is_left_alone() {
    let (place, expected) = lived();
    let before = fs::read(place.folder().join("library.db")).unwrap();
    assert_eq!(repair(&place.folder(), &Progress::default()).unwrap(), Default::default());
    assert_eq!(fs::read(place.folder().join("library.db")).unwrap(), before);
    let library = try_open(&place.folder()).unwrap();
    assert!(matches!(repair(&place.folder(), &Progress::default()), Err(tessera_core::Error::Busy { .. })));
    assert_eq!(*library.state(), expected);
}

#[test]
fn a_snapshot_is_put_back() {
    let place = Place::new(&["cat/1.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let then = hold(&library).state().clone();
    let snapshot = hold(&library).take_snapshot().unwrap();
    let one = at(&library, "cat/1.png").id;
    hold(&library).label(&[one], &class("tiger")).unwrap();
    assert!(matches!(restore(&place.folder(), &snapshot.path, &Progress::default()), Err(tessera_core::Error::Busy { .. })));
    close(library);
    let kept = restore(&place.folder(), &snapshot.path, &Progress::default()).unwrap();
    let library = place.open();
    assert_eq!(*hold(&library).state(), then);
    sound(&library);
    let health = hold(&library).health().unwrap();
    assert_eq!((health.roots.len(), health.roots[0].images, health.roots[0].is_here, health.roots[0].missing), (1, 2, true, 0));
    assert!(health.stored.iter().any(|(name, bytes)| name == "library.db" && *bytes > 0) && kept.is_file());
    assert!(health.checked_at.is_some() && !health.snapshots.is_empty());
    fs::write(&snapshot.path, b"nothing").unwrap();
    drop(library);
    assert_eq!(restore(&place.folder(), &snapshot.path, &Progress::default()).unwrap_err().reason(), "data");
}

#[test]
fn a_clock_that_was_ahead_does_not_mix_up_snapshots() {
    let place = Place::new(&["cat/1.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let first = hold(&library).take_snapshot().unwrap();
    let ahead = place.folder().join("snapshots/7258118400000-2.db");
    fs::rename(&first.path, &ahead).unwrap();
    let one = at(&library, "cat/1.png").id;
    hold(&library).label(&[one], &class("tiger")).unwrap();
    let second = hold(&library).take_snapshot().unwrap();
    assert_eq!(snapshots(&place.folder())[0], second, "the later one is the newer one");
    close(library);
    restore(&place.folder(), &ahead, &Progress::default()).unwrap();
    close(place.open());
    let third = snapshots(&place.folder()).remove(0);
    assert!(third.at > second.at && third.event < second.event, "the first one since a snapshot was put back: {third:?}");
    fs::write(place.folder().join("library.db"), b"nothing").unwrap();
    repair(&place.folder(), &Progress::default()).unwrap();
    let library = place.open();
    assert_ne!(at(&library, "cat/1.png").label(), Some("tiger"), "later ones of before are not its past");
}

/// A decoder that panics while a flag is set.
#[derive(Default)]
struct Unwell(InProcess, AtomicBool);

impl Decoder for Unwell {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> tessera_core::Result<Picture> {
        assert!(!self.1.load(Ordering::Relaxed), "unwell");
        self.0.decode(path, side, progress)
    }
}

fn drop_features(place: &Place) {
    let cache = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap();
    cache.execute("DELETE FROM feature", []).unwrap();
}

#[test]
fn a_mistake_while_models_learn_is_made_good() {
    let (place, _) = lived();
    let decoder = Arc::new(Unwell::default());
    let reopen = || Mutex::new(open(&place.folder(), Arc::clone(&decoder) as _).unwrap());
    let library = reopen();
    let image = at(&library, "cat/2.png").id;
    // The features have to be cut from the file again, and that goes wrong.
    hold(&library).set_removed(&[image], true).unwrap();
    drop_features(&place);
    decoder.1.store(true, Ordering::Relaxed);
    hold(&library).set_removed(&[image], false).unwrap();
    assert!(hold(&library).take_remarks().iter().any(|words| words.contains("unwell")));
    hold(&library).label(&[image], &class("lynx")).unwrap();
    let state = hold(&library).state().clone();
    close(library);
    // What was not learned does not count as learned.
    decoder.1.store(false, Ordering::Relaxed);
    let library = reopen();
    assert_eq!(*hold(&library).state(), state);
    sound(&library);
    taught_anew(&place, library);
}

#[test]
fn whoever_panics_with_the_library_in_hand_spoils_nothing() {
    let (place, expected) = lived();
    let library = place.open();
    let learned = hold(&library).everything_learned();
    let outcome = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let _held = hold(&library);
                panic!("in the middle");
            })
            .join()
    });
    assert!(outcome.is_err() && library.is_poisoned());
    assert!(*hold(&library).state() == expected && hold(&library).everything_learned() == learned);
    assert!(!library.is_poisoned());
    taught_anew(&place, library);
}
