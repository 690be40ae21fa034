//! Whole library folders changed at random: bits, cuts, files swapped, taken away, or put there
//! from other libraries, links, pipes, devices, foreign tables. Whatever command meets such a
//! folder ends in time, in bounded memory, in one of its exit codes, and touches nothing else.
//!
//! The folders of some seeds are tried by
//!
//! ```sh
//! TESSERA_TRIALS=1000..2000 cargo test -p tessera --test app -- --ignored --nocapture random_folders
//! ```
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "the long test tells its figures")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::{Pid, Signal, kill_process};

use crate::dice::Dice;
use crate::world::{World, copy_folder, program, run_by, trials};

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of memory that a command may fill; the system refuses more.
const MEMORY: u64 = 512 << 20;
/// The exit codes of docs/cli.md but for wrong usage: none of the commands is wrong.
const CODES: [i32; 6] = [0, 1, 65, 74, 75, 130];
/// Bytes of a file that is not changed any more.
const LARGE: u64 = 400 << 20;
/// What is in the folder that nothing may touch.
const OUTSIDE: [&str; 3] = ["outside/file", "outside/folder/1-1.db", "outside/library.db"];
/// Failures after which no more folders are tried.
const ENOUGH: usize = 10;

/// The folders that files are taken from.
const STOCK: [&str; 3] = ["stock/own.tessera", "stock/earlier.tessera", "stock/other.tessera"];

/// A library in three states: as a program leaves it, as it was some acts before, and another one
/// of other images; and beside them a folder that nothing may touch.
fn stocked() -> World {
    let world = World::new();
    world.picture("images/disc/one.png", 0, 1, 0);
    world.picture("images/grid/two.png", 1, 2, 1);
    world.picture("others/disc/three.png", 0, 3, 2);
    let [own, earlier, other] = STOCK;
    world.run(["import", own, "images", "--labels", "class-folders"]).ended(0);
    world.run(["caption", own, "#1", "a round toy"]).ended(0);
    world.run(["feedback", own, "--query", "toy", "--image", "#1", "--reward", "0.9"]).ended(0);
    world.run(["export", own, "model", "--to", "stock/own.tessera/models/first"]).ended(0);
    copy_folder(&world.at(own), &world.at(earlier));
    for n in 0..4 {
        world.run(["label", own, ["#1", "#2"][n % 2], "--as", &format!("class number {n}")]).ended(0);
    }
    world.run(["undo", own]).ended(0);
    world.run(["import", other, "others", "--labels", "class-folders"]).ended(0);
    world.run(["label", earlier, "#1", "--as", "said elsewhere"]).ended(0);
    for name in OUTSIDE {
        world.file(name, name.as_bytes());
    }
    world
}

/// Everything in some folders, with what it holds and when it was last changed.
fn seen(world: &World) -> BTreeMap<PathBuf, (u64, u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left: Vec<PathBuf> = ["outside", "images", "others", "stock"].map(|name| world.at(name)).to_vec();
    while let Some(path) = left.pop() {
        let state = || -> io::Result<_> {
            let meta = fs::symlink_metadata(&path)?;
            let is_folder = meta.is_dir();
            // A file of which a hard link was made has one name more for a while.
            let bytes = if is_folder { Vec::new() } else { fs::read(&path)? };
            let modified = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
            let inside =
                if is_folder { fs::read_dir(&path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()? } else { Vec::new() };
            Ok(((meta.len(), meta.mode(), modified, bytes), inside))
        };
        match state() {
            Ok((state, inside)) => {
                left.extend(inside);
                found.insert(path, state);
            }
            // It is gone.
            Err(_) => drop(found.insert(path, (0, 0, 0, Vec::new()))),
        }
    }
    found
}

/// The paths that are not in both as they are in one.
fn changed<T: PartialEq>(before: &BTreeMap<PathBuf, T>, after: &BTreeMap<PathBuf, T>) -> Vec<PathBuf> {
    before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// The files of a folder and of those in it, and these folders, in the order of their names.
fn entries(folder: &Path, are_folders: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        let mut inside: Vec<PathBuf> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        inside.sort();
        for path in inside {
            let meta = fs::symlink_metadata(&path).unwrap();
            // What has another name outside is not written to by the test itself.
            if meta.is_dir() {
                if are_folders {
                    found.push(path.clone());
                }
                left.push(path);
            } else if !are_folders && meta.is_file() && meta.nlink() == 1 {
                found.push(path);
            }
        }
    }
    found
}

/// Names of files in a library, and some that look like them.
const NAMES: [&str; 20] = [
    "library.db",
    "library.db-wal",
    "library.db-shm",
    "library.db-journal",
    "library.db.part",
    "library.db.damaged-1",
    "cache.db",
    "cache.db-wal",
    "cache.db-shm",
    "cache.db-journal",
    "cache.db.before",
    "journal.jsonl",
    "journal.jsonl.1-1.part",
    "journal.jsonl.damaged-1",
    "lock",
    "snapshots",
    "models",
    "repair",
    "snapshots/9999999999999-4.db",
    "models/second",
];

/// Statements of a stranger; `?` stands for a number.
const STATEMENTS: [&str; 26] = [
    "CREATE TRIGGER evil AFTER INSERT ON event BEGIN UPDATE image SET user_label = 'other'; END",
    "CREATE TRIGGER evil AFTER UPDATE ON fact BEGIN INSERT INTO fact SELECT hex(randomblob(8)), value FROM fact; END",
    "CREATE VIEW evil AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "ALTER TABLE class RENAME TO kept; CREATE VIEW class AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT 'x' AS name, i AS position, 0 AS colour, 0 AS row_hash FROM n",
    "CREATE INDEX evil ON event (length(hex(zeroblob(10000000))))",
    "CREATE TABLE evil (a, b GENERATED ALWAYS AS (hex(zeroblob(100000000))))",
    "CREATE VIRTUAL TABLE evil USING fts5 (words)",
    "DROP TABLE reward",
    "DROP TABLE event",
    "DROP TABLE tally",
    "ALTER TABLE image ADD COLUMN evil",
    "PRAGMA user_version = ?",
    "PRAGMA application_id = ?",
    "PRAGMA auto_vacuum = 1; VACUUM",
    "PRAGMA page_size = 512; PRAGMA journal_mode = DELETE; VACUUM",
    "PRAGMA encoding = 'UTF-16'; VACUUM",
    "PRAGMA journal_mode = DELETE",
    "DELETE FROM event WHERE id = ?",
    "UPDATE event SET id = id + ?",
    "UPDATE event SET words = hex(zeroblob(10000000))",
    "UPDATE fact SET value = ?",
    "UPDATE tally SET rows = ?",
    "UPDATE image SET id = id + ?",
    "UPDATE place SET path = x'2e2e2f2e2e2f6f757473696465'",
    "UPDATE root SET path = x'00ff'",
    "DELETE FROM sqlite_sequence",
];

/// Changes a file. Returns how.
fn change_file(path: &Path, chance: &mut Dice) -> String {
    if fs::metadata(path).unwrap().len() > LARGE {
        return "too large to be changed".into();
    }
    let mut bytes = fs::read(path).unwrap();
    let words = match chance.below(8) {
        0 | 1 if !bytes.is_empty() => {
            let n = 1 + chance.below(4);
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
            let hole = chance.range(bytes.len(), 5000);
            bytes[hole.clone()].fill(chance.choose(&[0, 0xff, b'9', b'{']));
            format!("bytes {hole:?} are all the same")
        }
        4 => {
            let gone = chance.range(bytes.len(), 5000);
            bytes.drain(gone.clone());
            format!("bytes {gone:?} gone")
        }
        5 => {
            let (from, at) = (chance.range(bytes.len(), 5000), chance.below(bytes.len()));
            let copied = bytes[from.clone()].to_vec();
            bytes.splice(at..at, copied);
            format!("bytes {from:?} a second time at {at}")
        }
        6 => {
            let at = chance.below(bytes.len() + 1);
            let text = chance.choose(&["-1", "18446744073709551615", "\u{0}", "[[[[[[[[[[[[[[[[", "\n\n", "1e400", "\\ud800", "null"]);
            bytes.splice(at..at, text.bytes());
            format!("{text:?} at {at}")
        }
        _ => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            if lines.len() > 1 {
                let (a, b) = (chance.below(lines.len()), chance.below(lines.len()));
                lines.swap(a, b);
            }
            bytes = lines.concat();
            "two lines swapped".into()
        }
    };
    fs::write(path, &bytes).unwrap();
    words
}

/// Takes away whatever lies there, following nothing.
fn clear(path: &Path) {
    let _ = if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Puts something there that is no ordinary file. Returns what.
fn put_special(world: &World, path: &Path, chance: &mut Dice) -> &'static str {
    clear(path);
    let outside = world.at(chance.choose(&OUTSIDE));
    let node = |kind, device| mknodat(CWD, path, kind, Mode::from_bits_truncate(0o666), device);
    match chance.below(9) {
        0 => symlink(outside, path).map(|()| "a link"),
        1 => symlink(world.at("outside/folder"), path).map(|()| "a link to a folder"),
        2 => symlink(world.at("outside/made"), path).map(|()| "a link to nothing"),
        3 => symlink(path, path).map(|()| "a link to itself"),
        4 => fs::hard_link(outside, path).map(|()| "a hard link"),
        5 => node(FileType::Fifo, 0).map(|()| "a pipe").map_err(Into::into),
        6 => UnixListener::bind(path).map(|_| "a socket"),
        // Only the system's administrator can make devices.
        7 => node(FileType::CharacterDevice, makedev(1, 5)).map(|()| "a device").or(Ok("nothing")),
        _ => fs::create_dir_all(path.join("a/b/c/d/e/f/g/h")).map(|()| "a folder"),
    }
    .unwrap_or("nothing")
}

/// Whether it is a database that SQLite opens nothing special beside, which an earlier change may
/// have put there: it would wait at a pipe for ever.
fn is_safe_database(path: &Path) -> bool {
    let is_ordinary = |ending: &str| {
        let beside = path.with_extension(format!("db{ending}"));
        fs::symlink_metadata(beside).map_or(true, |meta| meta.is_file() && meta.nlink() == 1)
    };
    path.extension().is_some_and(|ending| ending == "db") && ["", "-journal", "-wal", "-shm"].into_iter().all(is_ordinary)
}

/// Changes a library's folder in one way. Returns how.
fn change(world: &World, folder: &Path, chance: &mut Dice) -> String {
    let files = entries(folder, false);
    let short = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let named = |chance: &mut Dice| {
        let path = folder.join(chance.choose(&NAMES));
        // What lies in a folder that an earlier change has made a link is outside.
        let is_outside = path.parent().is_some_and(Path::is_symlink);
        if is_outside { folder.join("cache.db") } else { path }
    };
    if files.is_empty() {
        return "nothing is left".into();
    }
    let one = files[chance.below(files.len())].clone();
    match chance.below(16) {
        0..5 => format!("{}: {}", short(&one), change_file(&one, chance)),
        5 => {
            fs::remove_file(&one).unwrap();
            format!("{} taken away", short(&one))
        }
        6 => {
            let folders = entries(folder, true);
            let Some(gone) = folders.get(chance.below(folders.len())) else { return "no folder to take away".into() };
            clear(gone);
            format!("{} taken away", short(gone))
        }
        7 => {
            let two = files[chance.below(files.len())].clone();
            let aside = folder.join("aside");
            fs::rename(&one, &aside).unwrap();
            let _ = fs::rename(&two, &one);
            let _ = fs::rename(&aside, &two);
            format!("{} and {} swapped", short(&one), short(&two))
        }
        8 => {
            let to = named(chance);
            // A folder with something in it stays in the way.
            let is_done = fs::rename(&one, &to).is_ok();
            format!("{} renamed to {}: {is_done}", short(&one), short(&to))
        }
        9 | 10 => {
            let stock = world.at(chance.choose(&STOCK[1..]));
            let from = stock.join(one.strip_prefix(folder).unwrap());
            let from = if from.is_file() { from } else { stock.join(chance.choose(&["library.db", "cache.db", "journal.jsonl"])) };
            fs::copy(&from, &one).unwrap();
            format!("{} is that of {}", short(&one), from.display())
        }
        11 => {
            let (from, to) = (entries(&world.at(chance.choose(&STOCK)), false), named(chance));
            clear(&to);
            let from = &from[chance.below(from.len())];
            let _ = fs::create_dir_all(to.parent().unwrap()).and_then(|()| fs::copy(from, &to));
            format!("{} is {}", short(&to), from.display())
        }
        12 | 13 => {
            let to = if chance.below(2) == 0 { one } else { named(chance) };
            format!("{} is {}", short(&to), put_special(world, &to, chance))
        }
        14 => {
            let databases: Vec<&PathBuf> = files.iter().filter(|path| is_safe_database(path)).collect();
            let Some(path) = databases.get(chance.below(databases.len())) else { return "no database to change".into() };
            let number = chance.choose(&["-1", "0", "1", "3", "7", "9223372036854775807"]);
            let sql = chance.choose(&STATEMENTS).replace('?', number);
            let done = Connection::open(path).and_then(|db| db.execute_batch(&sql));
            format!("{}: {sql}: {}", short(path), done.is_ok())
        }
        _ => {
            let length: u64 = chance.choose(&[1 << 20, 300 << 20, 8 << 30, 1 << 40]);
            // A backup copies all of a model, which takes what it takes.
            let length = if short(&one).starts_with("models") { length.min(LARGE / 4) } else { length };
            let done = File::options().write(true).open(&one).and_then(|file| {
                file.write_all_at(b"\n", fs::metadata(&one)?.len())?;
                file.set_len(length)
            });
            format!("{} has {length} bytes: {}", short(&one), done.is_ok())
        }
    }
}

/// Changes a copy of a library by a seed. Returns how.
fn mangle(world: &World, folder: &Path, chance: &mut Dice) -> Vec<String> {
    copy_folder(&world.at(STOCK[0]), folder);
    let n = 1 + chance.below(3);
    (0..n).map(|_| change(world, folder, chance)).collect()
}

const LIBRARY: &str = "trial.tessera";

/// The commands that meet a changed folder; those that are quick come more than once.
const COMMANDS: [&[&str]; 36] = [
    &["check", LIBRARY],
    &["check", LIBRARY, "--repair"],
    &["check", LIBRARY, "--repair"],
    &["check", LIBRARY, "--repair"],
    &["check", LIBRARY, "--head"],
    &["check", LIBRARY, "--keep", "database"],
    &["check", LIBRARY, "--keep", "journal"],
    &["search", LIBRARY, "toy"],
    &["search", LIBRARY, "toy", "--read-only"],
    &["label", LIBRARY, "#1", "--as", "new"],
    &["label", LIBRARY, "#2", "--as", "new", "--with-head"],
    &["caption", LIBRARY, "#2", "another toy"],
    &["feedback", LIBRARY, "--query", "toy", "--image", "#2", "--reward", "0.5"],
    &["lessons", LIBRARY],
    &["classify", LIBRARY, "../images/disc/one.png", "--explain"],
    &["suggest", LIBRARY],
    &["review", LIBRARY],
    &["similar", LIBRARY, "#1"],
    &["duplicates", LIBRARY],
    &["cluster", LIBRARY, "--clusters", "2"],
    &["map", LIBRARY, "--to", "map.svg"],
    &["vectors", LIBRARY],
    &["undo", LIBRARY],
    &["redo", LIBRARY],
    &["remove", LIBRARY, "#1"],
    &["restore", LIBRARY, "#1"],
    &["forget", LIBRARY, "#1", "--yes"],
    &["forget", LIBRARY, "#2", "--yes"],
    &["relocate", LIBRARY, "../images", "../others"],
    &["import", LIBRARY, "../others"],
    &["export", LIBRARY, "labels", "--to", "labels.csv"],
    &["export", LIBRARY, "events", "--to", "events.jsonl"],
    &["export", LIBRARY, "model", "--to", "model"],
    &["backup", LIBRARY, "backup"],
    &["train", LIBRARY],
    &["classify", "trial.tessera/models/first", "../images/disc/one.png"],
];

const TOO_LONG: &str = "it took too long";

/// How a command ended.
struct Ended {
    /// Its exit code, or the number of the signal that ended it, below 0.
    code: i32,
    /// What it said.
    said: String,
    took: Duration,
    /// The most memory that it was seen to have, in bytes.
    memory: u64,
}

/// Waits for a command, which is stopped after its time; a request to end is sent to it after
/// `patience`, if there is one.
fn wait(child: &mut Child, patience: Option<Duration>) -> (i32, Duration, u64) {
    let (start, pid) = (Instant::now(), Pid::from_child(child));
    let (mut memory, mut asked) = (0, None);
    let status = format!("/proc/{}/status", child.id());
    loop {
        let peak = fs::read_to_string(&status).unwrap_or_default();
        let peak = peak.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        memory = memory.max(peak.unwrap_or(0) << 10);
        if let Some(status) = child.try_wait().unwrap() {
            let took = asked.unwrap_or(start).elapsed();
            return (status.code().unwrap_or_else(|| -status.signal().unwrap_or(0)), took, memory);
        }
        if asked.is_none() && patience.is_some_and(|patience| start.elapsed() >= patience) {
            kill_process(pid, Signal::INT).unwrap();
            asked = Some(Instant::now());
        }
        if start.elapsed() > PATIENCE + patience.unwrap_or_default() {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Runs a command in the folder of the trial. With `patience` it is asked to end after that.
fn run(world: &World, arguments: &[&str], patience: Option<Duration>) -> Ended {
    let output = world.at("said");
    let file = File::create(&output).unwrap();
    let plain = program(&world.at("work"), arguments.iter().chain(&["--threads", "1"]));
    // The limit must hold from the first moment on; the shell becomes the program.
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -d {}; exec \"$0\" \"$@\"", MEMORY >> 10)]);
    let mut command = run_by(command, &plain);
    // What a program that was stopped leaves among temporary files goes with the folder.
    command
        .env("XDG_DATA_HOME", world.at("home"))
        .env("TMPDIR", world.at("work"))
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file);
    let mut child = command.spawn().unwrap();
    let (code, took, memory) = wait(&mut child, patience);
    let said = String::from_utf8_lossy(&fs::read(&output).unwrap()).into_owned();
    Ended { code, said, took, memory }
}

/// What is wrong with how a command ended, if anything is.
fn fault(ended: &Ended, is_interrupted: bool) -> Option<&'static str> {
    // A program that is stopped before it can listen is stopped by the system.
    let is_code = CODES.contains(&ended.code) || (is_interrupted && ended.code == -Signal::INT.as_raw() && ended.said.is_empty());
    if ended.took > PATIENCE {
        Some(TOO_LONG)
    } else if ended.said.contains("panicked") {
        Some("it panicked")
    } else if !is_code {
        Some("it ended in no way that is told")
    } else if ![0, 1].contains(&ended.code) && is_code && ended.code > 0 && ended.said.is_empty() {
        Some("it failed without a word")
    } else {
        None
    }
}

/// Sums over all trials.
#[derive(Default)]
struct Figures {
    folders: usize,
    commands: usize,
    refused: usize,
    stopped: usize,
    repaired: usize,
    slowest: Duration,
    largest: u64,
    faults: Vec<String>,
}

impl Figures {
    /// Runs a command and looks at how it ended.
    fn run(&mut self, world: &World, arguments: &[&str], patience: Option<Duration>) -> Result<i32, String> {
        let ended = run(world, arguments, patience);
        self.commands += 1;
        self.refused += usize::from(ended.code > 1 && ended.code != 130);
        self.stopped += usize::from(patience.is_some() && (ended.code == 130 || ended.code < 0));
        (self.slowest, self.largest) = (self.slowest.max(ended.took), self.largest.max(ended.memory));
        let words: String = ended.said.chars().take(1000).collect();
        let told = |fault| format!("{fault}: {arguments:?} ended with {} after {:?}: {words}", ended.code, ended.took);
        fault(&ended, patience.is_some()).map_or(Ok(ended.code), |fault| Err(told(fault)))
    }

    /// Lets a command, and sometimes a repair, meet the folder of a seed.
    fn meet(&mut self, world: &World, chance: &mut Dice) -> Result<(), String> {
        let arguments = chance.choose(&COMMANDS);
        let patience = (chance.below(8) == 0).then(|| Duration::from_micros(chance.below(40_000) as u64));
        let first = self.run(world, arguments, patience)?;
        let is_repair = arguments.contains(&"--repair");
        let mended = if patience.is_none() && is_repair {
            first
        } else if chance.below(8) == 0 {
            self.run(world, &["check", LIBRARY, "--repair"], None)?
        } else {
            return Ok(());
        };
        if mended == 0 {
            self.repaired += 1;
            let after = self.run(world, &["check", LIBRARY], None)?;
            if after != 0 {
                return Err(format!("a check after a repair ended with {after}; {}", fs::read_to_string(world.at("said")).unwrap()));
            }
        }
        Ok(())
    }
}

/// Tries the folders of these seeds.
fn try_folders(seeds: std::ops::Range<u64>) -> Figures {
    let world = stocked();
    let before = seen(&world);
    let mut figures = Figures::default();
    for seed in seeds {
        let mut attempt = || {
            let work = world.at("work");
            clear(&work);
            fs::create_dir_all(&work).unwrap();
            let mut chance = Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
            let done = mangle(&world, &work.join(LIBRARY), &mut chance);
            (done, figures.meet(&world, &mut chance))
        };
        let (mut done, mut met) = attempt();
        // On a machine with much else to do, anything takes long once.
        if met.as_ref().is_err_and(|words| words.starts_with(TOO_LONG)) {
            (done, met) = attempt();
        }
        figures.folders += 1;
        let touched = changed(&before, &seen(&world));
        let is_untouched = touched.is_empty();
        if let Err(words) = met.and_then(|()| is_untouched.then_some(()).ok_or_else(|| format!("changed outside: {touched:?}"))) {
            println!("seed {seed}: {done:#?}: {words}");
            figures.faults.push(format!("seed {seed}"));
            if !is_untouched || figures.faults.len() == ENOUGH {
                break;
            }
        }
    }
    figures
}

#[track_caller]
fn holds(figures: &Figures) {
    let Figures { folders, commands, refused, stopped, repaired, slowest, largest, .. } = figures;
    println!(
        "{folders} folders, {commands} commands: {refused} refused, {stopped} stopped by Ctrl+C, {repaired} repaired; the slowest took {} ms, the largest was seen with {} MB",
        slowest.as_millis(),
        largest >> 20
    );
    assert_eq!(figures.faults, Vec::<String>::new());
}

#[test]
fn folders_changed_at_random_are_survived() {
    holds(&try_folders(0..200));
}

#[test]
#[ignore = "2,000 folders, or those of TESSERA_TRIALS"]
fn random_folders_are_survived() {
    holds(&try_folders(trials(0..2000)));
}

#[test]
fn a_command_that_ends_in_no_way_that_is_told_is_noticed() {
    let ended = |code, said: &str, took| Ended { code, said: said.into(), took: Duration::from_secs(took), memory: 0 };
    assert_eq!(fault(&ended(65, "damaged", 1), false), None);
    assert_eq!(fault(&ended(65, "damaged", 11), false), Some(TOO_LONG));
    assert_eq!(fault(&ended(101, "thread panicked at", 1), false), Some("it panicked"));
    assert_eq!(fault(&ended(-6, "out of memory", 1), false), Some("it ended in no way that is told"));
    assert_eq!(fault(&ended(-2, "", 1), false), Some("it ended in no way that is told"));
    assert_eq!(fault(&ended(-2, "", 1), true), None);
    assert_eq!(fault(&ended(74, "", 1), false), Some("it failed without a word"));
}
