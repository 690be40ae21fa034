//! The power fails after any system call of the program, as often as there are seeds. What the
//! program had acknowledged is there afterwards, and nothing that it was not asked for.
//!
//! One seed draws the commands of a run, which `strace` records; others draw where the run ends and
//! what of the unsynced writes is left then. A model of the library that knows the commands alone
//! says what must be there. As a control, the same is done with some syncs left out of the record:
//! that must be noticed. The states of some seeds are tried by
//!
//! ```sh
//! TESSERA_TRIALS=10000..20000 cargo test -p tessera --test app -- --ignored --nocapture power_failures
//! ```
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "the long tests tell their figures")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera::session::Session;
use tessera_core::Error;
use tessera_core::library::event::EventId;
use tessera_core::library::repair::repair;
use tessera_core::library::{Library, has_lost_its_database, is_library};
use tessera_core::progress::Progress;

use crate::dice::Dice;
use crate::disk::{Disk, Op, STDOUT, can_record, ops, recorded};
use crate::world::{World, copy_folder, holder, program, ran, trials};

const LIBRARY: &str = "lib.tessera";
/// States that are drawn of each run.
const STATES: u64 = 250;
/// States that are drawn as a control.
const CONTROL: u64 = 120;
/// One of so many states is also looked at through the command line.
const BY_COMMAND: u64 = 25;
/// The images of a run.
const IMAGES: u32 = 4;

/// What a model knows of an image: its label, its caption, and whether it is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    label: Option<String>,
    caption: Option<String>,
    is_removed: bool,
}

/// The images of a library, by their numbers.
type Model = BTreeMap<u32, Said>;

/// A library as it should be after each of its acts.
struct Expected {
    now: Model,
    /// What undo and redo lead back to.
    past: Vec<Model>,
    future: Vec<Model>,
}

impl Expected {
    fn act(&mut self, change: impl FnOnce(&mut Model)) -> Model {
        self.past.push(self.now.clone());
        self.future.clear();
        change(&mut self.now);
        self.now.clone()
    }

    fn step(&mut self, is_undo: bool) -> Option<Model> {
        let (from, to) = if is_undo { (&mut self.past, &mut self.future) } else { (&mut self.future, &mut self.past) };
        let model = from.pop()?;
        to.push(std::mem::replace(&mut self.now, model));
        Some(self.now.clone())
    }
}

/// What a library must be after an event that was acknowledged.
struct Told {
    /// The position in the record after which it was.
    at: usize,
    event: u64,
    head: String,
    model: Model,
    /// Words that are in no file from here on.
    forgotten: Vec<String>,
}

/// The record of a run.
struct Run {
    world: World,
    /// The disk before it.
    base: Disk,
    ops: Vec<Op>,
    told: Vec<Told>,
    /// The head after each event, as the library had it in the end.
    heads: BTreeMap<u64, String>,
    /// What draws the clock of each command.
    clock: Dice,
}

/// A library that tells programs another time, where the system has it (libfaketime).
fn other_time() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?.filter_map(|entry| Some(entry.ok()?.path().join("faketime/libfaketimeMT.so.1")));
    folders.into_iter().find(|path| path.is_file())
}

/// A folder for files that are read once: in memory, where the system has one there.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

impl Run {
    /// Runs commands that a seed draws, and records them.
    fn new(seed: u64) -> Self {
        let mut chance = Dice(seed.wrapping_mul(0x9e6c_63d0_676a_9a99));
        let world = World::in_memory();
        for i in 0..IMAGES {
            world.picture(&format!("images/{}/{i}.png", ["disc", "grid"][i as usize % 2]), i as usize % 2, i, i);
        }
        let mut run = Self { world, base: Disk::default(), ops: Vec::new(), told: Vec::new(), heads: BTreeMap::new(), clock: Dice(seed) };
        let mut expected = Expected { now: Model::new(), past: Vec::new(), future: Vec::new() };
        let first = |model: &mut Model| {
            // Images have their numbers in the order of their paths.
            let labels = (0..IMAGES).map(|i| if i < IMAGES / 2 { "disc" } else { "grid" });
            model.extend((1..).zip(labels.map(|label| Said { label: Some(label.into()), ..Said::default() })));
        };
        let model = expected.act(first);
        expected.past.clear();
        let mut forgotten = Vec::new();
        run.command(&["import", LIBRARY, "images", "--labels", "class-folders"], &[], vec![model], &forgotten);
        run.live(0..7, &mut chance, &mut expected, &mut forgotten);
        // Every second run goes on with what a first power failure left.
        if seed % 2 == 1 {
            run.fail(&mut chance, &mut expected, &mut forgotten);
            run.live(7..12, &mut chance, &mut expected, &mut forgotten);
        }
        let library = run.copy();
        let events = library.events().unwrap();
        run.heads = events.iter().map(|event| (event.id.0, event.link.as_ref().unwrap().head.to_string())).collect();
        for told in &run.told {
            assert_eq!(told.head, format!("{}:{}", told.event, run.heads[&told.event]), "a head changed");
        }
        assert_eq!(model_of(&library), expected.now);
        drop(library);
        run
    }

    /// Runs some commands.
    fn live(&mut self, commands: Range<u32>, chance: &mut Dice, expected: &mut Expected, forgotten: &mut Vec<String>) {
        commands.for_each(|n| self.draw(n, chance, expected, forgotten));
    }

    /// Begins a new record with what a power failure somewhere in this one left.
    fn fail(&mut self, chance: &mut Dice, expected: &mut Expected, forgotten: &mut Vec<String>) {
        let first = self.told[0].at + 1;
        let at = first + chance.below(self.ops.len() - first + 1);
        let mut disk = self.base.clone();
        self.ops[..at].iter().for_each(|op| disk.apply(op));
        let folder = self.world.at(LIBRARY);
        fs::remove_dir_all(&folder).unwrap();
        disk.crash(self.world.path(), chance);
        self.base = Disk::with_folder(&folder, Path::new(LIBRARY));
        let last = self.copy().head().unwrap().event.0;
        let mut found = std::mem::take(&mut self.told).into_iter().filter(|told| told.event == last);
        let found = found.next().unwrap_or_else(|| panic!("event {last} was never told of"));
        (expected.now, expected.past, expected.future) = (found.model.clone(), Vec::new(), Vec::new());
        forgotten.clone_from(&found.forgotten);
        self.told.push(Told { at: 0, ..found });
        self.ops = vec![Op::Told(Vec::new())];
    }

    /// A copy of the library, opened.
    fn copy(&self) -> Library {
        let copy = self.world.at("copy");
        let _ = fs::remove_dir_all(&copy);
        copy_folder(&self.world.at(LIBRARY), &copy);
        Session::new(1, 0).unwrap().open_library(&copy).unwrap()
    }

    /// Draws the `n`th command, and runs it.
    fn draw(&mut self, n: u32, chance: &mut Dice, expected: &mut Expected, forgotten: &mut Vec<String>) {
        let seen: Vec<u32> = expected.now.iter().filter(|(_, said)| !said.is_removed).map(|(id, _)| *id).collect();
        let hidden: Vec<u32> = expected.now.iter().filter(|(_, said)| said.is_removed).map(|(id, _)| *id).collect();
        let one = seen[chance.below(seen.len())];
        let image = format!("#{one}");
        match chance.below(12) {
            0..4 => {
                let lines: Vec<(u32, String)> =
                    (0..3 + chance.below(5)).map(|i| (seen[chance.below(seen.len())], format!("class {n}-{i}"))).collect();
                let models = lines.iter().map(|(id, label)| expected.act(|model| model.get_mut(id).unwrap().label = Some(label.clone())));
                let models = models.collect();
                let lines: Vec<Value> = lines.iter().map(|(id, label)| json!({"image": id, "label": label})).collect();
                self.command(&["label", LIBRARY, "--stdin"], &lines, models, forgotten);
            }
            4 | 5 => {
                let lines: Vec<(u32, String)> =
                    (0..2 + chance.below(3)).map(|i| (seen[chance.below(seen.len())], format!("wordof{one}x{n}x{i}"))).collect();
                let models = lines.iter().map(|(id, text)| expected.act(|model| model.get_mut(id).unwrap().caption = Some(text.clone())));
                let models = models.collect();
                let lines: Vec<Value> = lines.iter().map(|(id, text)| json!({"image": id, "caption": text})).collect();
                self.command(&["caption", LIBRARY, "--stdin"], &lines, models, forgotten);
            }
            6 => {
                let words = format!("query {n}");
                let model = expected.act(|_| {});
                self.command(&["feedback", LIBRARY, "--query", &words, "--image", &image, "--reward", "0.5"], &[], vec![model], forgotten);
            }
            7 => match expected.step(true) {
                Some(model) => self.command(&["undo", LIBRARY], &[], vec![model], forgotten),
                None => self.command(&["check", LIBRARY], &[], Vec::new(), forgotten),
            },
            8 => match expected.step(false) {
                Some(model) => self.command(&["redo", LIBRARY], &[], vec![model], forgotten),
                None => self.command(&["check", LIBRARY, "--repair"], &[], Vec::new(), forgotten),
            },
            9 if !hidden.is_empty() => {
                let model = expected.act(|model| model.get_mut(&hidden[0]).unwrap().is_removed = false);
                self.command(&["restore", LIBRARY, &format!("#{}", hidden[0])], &[], vec![model], forgotten);
            }
            9 | 10 if seen.len() > 1 => {
                let model = expected.act(|model| model.get_mut(&one).unwrap().is_removed = true);
                self.command(&["remove", LIBRARY, &image], &[], vec![model], forgotten);
            }
            11 if seen.len() > 2 => {
                // The caption that goes must be in no file, whatever happens.
                let word = format!("secretof{one}x{n}");
                let model = expected.act(|model| model.get_mut(&one).unwrap().caption = Some(word.clone()));
                self.command(&["caption", LIBRARY, &image, &word], &[], vec![model], forgotten);
                expected.now.remove(&one);
                (expected.past, expected.future) = (Vec::new(), Vec::new());
                forgotten.push(word);
                self.command(&["forget", LIBRARY, &image, "--yes"], &[], vec![expected.now.clone()], forgotten);
            }
            _ => self.command(&["export", LIBRARY, "labels", "--to", &format!("labels-{n}.csv")], &[], Vec::new(), forgotten),
        }
    }

    /// Runs a command and adds what it did and told to the record. `models` has the library after
    /// each of its acts.
    fn command(&mut self, arguments: &[&str], lines: &[Value], models: Vec<Model>, forgotten: &[String]) {
        let root = fs::canonicalize(self.world.path()).unwrap();
        let record = root.join("record");
        let mut program = program(&root, arguments.iter().chain(&["--with-head", "--json", "--threads", "1"]));
        if let Some(library) = other_time() {
            // The clock jumps back and forth by up to sixty years.
            let time = format!("@{}-{:02}-01 00:00:00", 1980 + self.clock.below(60), 1 + self.clock.below(12));
            program.env("LD_PRELOAD", library).env("FAKETIME", time).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let mut command = recorded(&program, &record);
        let mut child =
            command.stdin(Stdio::piped()).stdout(fs::File::create(root.join(STDOUT)).unwrap()).stderr(Stdio::piped()).spawn().unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let ended = ran(child.wait_with_output().unwrap());
        // A check alone tells of what a power failure tore, and leaves it as it is.
        let is_told = ended.code == 65 && arguments == ["check", LIBRARY] && self.told.first().is_some_and(|told| told.at == 0);
        ended.ended(if is_told { 65 } else { 0 });
        let begin = self.ops.len();
        self.ops.extend(ops(&fs::read_to_string(&record).unwrap(), &root));
        // Only the library counts: what is exported is made again.
        let is_ours = |path: &Path| path.starts_with(LIBRARY);
        let rest = self.ops.split_off(begin);
        self.ops.extend(rest.into_iter().filter(|op| match op {
            Op::Open(path, ..) | Op::Write(path, ..) | Op::Cut(path, _) | Op::Remove(path) | Op::Folder(path) => is_ours(path),
            Op::Sync(path) => is_ours(path) || path.as_os_str().is_empty(),
            Op::Rename(from, to) => is_ours(from) || is_ours(to),
            Op::Told(_) => true,
        }));
        let mut said = Vec::new();
        let mut models = models.into_iter();
        for (i, op) in self.ops.iter().enumerate().skip(begin) {
            let Op::Told(bytes) = op else { continue };
            said.extend_from_slice(bytes);
            while let Some(end) = said.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = said.drain(..=end).collect();
                let answer: Value = serde_json::from_slice(&line).unwrap();
                let Some(head) = answer["head"].as_str().filter(|_| answer["event"].is_u64() || answer["imported"].is_u64()) else {
                    continue;
                };
                let event = head.split_once(':').unwrap().0.parse().unwrap();
                let model = models.next().unwrap_or_else(|| panic!("{arguments:?} told of more than was asked: {answer}"));
                self.told.push(Told { at: i, event, head: head.to_owned(), model, forgotten: forgotten.to_vec() });
            }
        }
        assert_eq!(models.count(), 0, "{arguments:?} acknowledged less than it did");
    }

    /// The record as a disk, with all of it done.
    fn whole(&self) -> Disk {
        let mut disk = self.base.clone();
        self.ops.iter().for_each(|op| disk.apply(op));
        disk
    }

    /// Tries the states of some seeds. Returns what came of each.
    fn states(&self, session: &Session, seeds: Range<u64>, dropped: &[&'static str]) -> Vec<Result<Found, Fault>> {
        let mut drawn: Vec<(usize, u64)> = seeds.map(|seed| (1 + Dice(seed ^ 0x5851_f42d_4c95_7f2d).below(self.ops.len()), seed)).collect();
        drawn.sort_unstable();
        let mut disk = self.base.clone().without_syncs_of(dropped);
        let mut done = 0;
        drawn
            .into_iter()
            .map(|(at, seed)| {
                self.ops[done..at].iter().for_each(|op| disk.apply(op));
                done = at;
                let place = scratch();
                disk.crash(place.path(), &mut Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)));
                let by_command = dropped.is_empty() && seed.is_multiple_of(BY_COMMAND);
                self.judge(session, place.path(), at, by_command).map_err(|fault| fault.of(seed, at))
            })
            .collect()
    }

    /// Looks at what was left when the power failed after the first `at` system calls.
    fn judge(&self, session: &Session, place: &Path, at: usize, by_command: bool) -> Result<Found, Fault> {
        let folder = place.join(LIBRARY);
        // What came after this call was acknowledged later; the next one may have been done.
        let n = self.told.iter().take_while(|told| told.at < at).count();
        let acknowledged = n.checked_sub(1).map(|n| &self.told[n]);
        let least = acknowledged.map_or(0, |told| told.event);
        let most = self.told.get(n).map_or(least, |told| told.event);
        let lost = |found: String| Fault { is_lost: true, words: format!("event {least} was acknowledged, {found}") };
        let other = |words: String| Fault { is_lost: false, words };
        if !is_library(&folder) && !has_lost_its_database(&folder) {
            return if least == 0 { Ok(Found::default()) } else { Err(lost("there is no library".into())) };
        }
        if by_command && let Some(told) = acknowledged {
            let answer = crate::world::tessera(place, ["check", LIBRARY, "--repair", "--json", "--head", &told.head]);
            if answer.code != 0 {
                return Err(lost(format!("`check --repair --head` ended with {}: {}{}", answer.code, answer.stdout, answer.stderr)));
            }
        }
        let mut found = Found { is_repaired: false, was_library: true };
        let library = match session.open_library(&folder) {
            Err(Error::Data { .. }) => {
                let repaired = repair(&folder, &Progress::default()).map_err(|error| other(format!("no repair: {error}")))?;
                if !repaired.lost.is_empty() {
                    return Err(lost(format!("the repair lost {:?}", repaired.lost)));
                }
                found.is_repaired = true;
                session.open_library(&folder)
            }
            outcome => outcome,
        };
        let library = library.map_err(|error| other(format!("it does not open: {error}")))?;
        let head = library.head().map_err(|error| other(error.to_string()))?;
        let EventId(last) = head.event;
        if last < least {
            return Err(lost(format!("the history ends at {last}")));
        }
        if last > most {
            return Err(other(format!("event {last} is there, but {most} was the last that was asked for")));
        }
        if last > 0 && self.heads[&last] != head.digest.to_string() {
            return Err(other(format!("after event {last} is another head")));
        }
        if !library.lost().is_empty() {
            return Err(other(format!("it tells of a loss: {:?}", library.lost())));
        }
        let problems = library.check().map_err(|error| other(error.to_string()))?;
        if !problems.is_empty() {
            return Err(other(format!("{problems:?}")));
        }
        if let Some(told) = self.told.iter().find(|told| told.event == last)
            && model_of(&library) != told.model
        {
            return Err(other(format!("after event {last} are {:?}, but should be {:?}", model_of(&library), told.model)));
        }
        drop(library);
        // An image is forgotten when that is told, not before.
        if let Some(told) = acknowledged
            && let Some((word, path)) = told.forgotten.iter().find_map(|word| Some((word, holder(&folder, word.as_bytes())?)))
        {
            return Err(other(format!("{word:?} was forgotten, and is in {}", path.display())));
        }
        Ok(found)
    }
}

/// What a library says of its images, as the model has it.
fn model_of(library: &Library) -> Model {
    let records = library.state().records().iter().filter(|image| image.content.is_some());
    records
        .map(|image| {
            let caption = image.captions.first().map(|caption| caption.text.clone());
            (image.id.0, Said { label: image.label().map(str::to_owned), caption, is_removed: image.removed })
        })
        .collect()
}

/// What was left of a library where nothing was wrong.
#[derive(Default)]
struct Found {
    was_library: bool,
    is_repaired: bool,
}

/// What was wrong with what was left of a library.
struct Fault {
    /// Whether something is missing that was acknowledged.
    is_lost: bool,
    words: String,
}

impl Fault {
    fn of(self, seed: u64, at: usize) -> Self {
        Self { words: format!("state {seed}, after call {at}: {}", self.words), ..self }
    }
}

/// Says why nothing can be recorded here, if that is so.
fn is_skipped() -> bool {
    let outcome = can_record();
    if let Err(why) = &outcome {
        println!("skipped: no system calls can be recorded here (install strace): {why}");
    }
    outcome.is_err()
}

/// Tries the states of some seeds.
fn fail(seeds: Range<u64>) {
    if is_skipped() {
        return;
    }
    let runs: Vec<Range<u64>> = (seeds.start / STATES..seeds.end.div_ceil(STATES))
        .map(|run| seeds.start.max(run * STATES)..seeds.end.min((run + 1) * STATES))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let session = Session::new(1, 0).unwrap();
        let (mut calls, mut states) = (0, Vec::new());
        while let Some(seeds) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let run = Run::new(seeds.start / STATES);
            calls += run.ops.len();
            states.extend(run.states(&session, seeds.clone(), &[]));
        }
        (calls, states)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let done: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(runs.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let calls: usize = done.iter().map(|(calls, _)| calls).sum();
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for state in done.into_iter().flat_map(|(_, states)| states) {
        match state {
            Ok(state) => found.push(state),
            Err(fault) => faults.push(fault.words),
        }
    }
    let libraries = found.iter().filter(|found| found.was_library).count();
    let repaired = found.iter().filter(|found| found.is_repaired).count();
    let n = seeds.end - seeds.start;
    assert_eq!(found.len() + faults.len(), n as usize);
    println!(
        "{n} power failures among {calls} calls: {libraries} left a library, {repaired} of them to be repaired; {} faults",
        faults.len()
    );
    assert!(faults.is_empty(), "{}", faults[..faults.len().min(5)].join("\n"));
}

#[test]
fn a_record_leads_to_the_files_that_are_there() {
    if is_skipped() {
        return;
    }
    let run = Run::new(1);
    let disk = run.whole();
    let shown = disk.shown();
    assert!(shown.len() > 3, "{:?}", shown.keys());
    for (path, bytes) in shown {
        assert!(fs::read(run.world.path().join(&path)).unwrap() == bytes, "{} is another", path.display());
    }
}

#[test]
fn power_failures_lose_nothing() {
    fail(0..STATES);
}

/// The control: a simulation that does not notice a sync that is left out proves nothing.
#[test]
fn a_sync_that_is_left_out_is_noticed() {
    if is_skipped() {
        return;
    }
    let (session, run) = (Session::new(1, 0).unwrap(), Run::new(2));
    let lost = |dropped: &[&'static str]| {
        let states = run.states(&session, 2 * STATES..2 * STATES + CONTROL, dropped);
        states.iter().filter(|state| state.as_ref().is_err_and(|fault| fault.is_lost)).count()
    };
    assert_eq!(lost(&[]), 0);
    // The journal alone is a second copy: without its syncs nothing is lost while the database has
    // its own, and what is torn in it is named.
    let without_journal = run.states(&session, 2 * STATES..2 * STATES + CONTROL, &["journal.jsonl", ".part"]);
    let faults: Vec<&Fault> = without_journal.iter().filter_map(|state| state.as_ref().err()).collect();
    assert!(!faults.is_empty() && faults.iter().all(|fault| !fault.is_lost));
    let without_log = lost(&["library.db-wal"]);
    assert!(without_log > 0, "without syncs of the write-ahead log nothing was lost in {CONTROL} states");
    let without_both = lost(&["library.db-wal", "journal.jsonl", ".part"]);
    println!(
        "of {CONTROL} states, {without_log} lost something without syncs of the log, {without_both} without those of the journal either"
    );
    assert!(without_both >= without_log, "{without_both} lost without both, {without_log} without one");
}

#[test]
#[ignore = "10,000 states, or those of TESSERA_TRIALS"]
fn long_power_failures_lose_nothing() {
    fail(trials(0..10_000));
}
