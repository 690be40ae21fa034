//! Every system call of some commands fails in turn, or is the last one: no room, a medium that
//! turned read-only, a sync that fails, a kill. What was acknowledged is there afterwards, the
//! library is sound, and the program says what happened.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "the long test tells its figures")]

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tessera::session::Session;
use tessera_core::library::chain::HeadPlace;

use crate::disk::can_record;
use crate::world::{Ran, World, copy_folder, holder, program, ran, run_by};

const LIBRARY: &str = "lib.tessera";

/// The files of a library that calls are made to fail on.
const FILES: [&str; 10] = [
    "",
    "library.db",
    "library.db-wal",
    "cache.db",
    "cache.db-wal",
    "journal.jsonl",
    "snapshots",
    "repair",
    "repair/library.db",
    "repair/library.db-wal",
];

/// A way in which system calls fail.
struct Failure {
    name: &'static str,
    calls: &'static str,
    how: &'static str,
    /// Whether all later calls fail, too.
    for_ever: bool,
}

const FAILURES: [Failure; 5] = [
    Failure {
        name: "a kill",
        calls: "openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,unlink,mkdir",
        how: "signal=KILL",
        for_ever: false,
    },
    Failure { name: "a full disk", calls: "write,pwrite64,mkdir", how: "error=ENOSPC", for_ever: true },
    Failure {
        name: "a medium that turned read-only",
        calls: "write,pwrite64,ftruncate,rename,unlink,mkdir",
        how: "error=EROFS",
        for_ever: true,
    },
    Failure { name: "a sync that fails once", calls: "fsync,fdatasync", how: "error=EIO", for_ever: false },
    Failure { name: "syncs that fail", calls: "fsync,fdatasync", how: "error=EIO", for_ever: true },
];

/// A command that calls fail in.
struct Victim {
    arguments: &'static [&'static str],
    /// Labels that it is given by stdin, of images 1, 2, 1, …
    labels: usize,
    /// What is done to the library first.
    prepare: fn(&World),
}

const VICTIMS: [Victim; 4] = [
    Victim { arguments: &["label", LIBRARY, "--stdin"], labels: 3, prepare: |_| {} },
    Victim { arguments: &["forget", LIBRARY, "#2", "--yes"], labels: 0, prepare: |_| {} },
    Victim { arguments: &["import", LIBRARY, "more"], labels: 0, prepare: |_| {} },
    Victim {
        arguments: &["check", LIBRARY, "--repair"],
        labels: 0,
        prepare: |world| {
            let database = world.at(LIBRARY).join("library.db");
            let mut bytes = fs::read(&database).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle - 9000..middle + 9000].fill(0xa5);
            fs::write(database, bytes).unwrap();
        },
    },
];

/// A word of a caption that one of the commands has forgotten.
const SECRET: &str = "secretlittleword";

fn lived() -> World {
    let world = World::in_memory();
    for (name, class, i) in [("images/disc/1.png", 0, 1), ("images/grid/2.png", 1, 2), ("more/disc/3.png", 0, 3)] {
        world.picture(name, class, i, i);
    }
    world.run(["import", "base", "images", "--labels", "class-folders"]).ended(0);
    world.run(["caption", "base", "#2", SECRET]).ended(0);
    world.run(["label", "base", "#1", "--as", "first"]).ended(0);
    world
}

/// Runs a command with calls to the library's files recorded, and failing from the `n`th on.
fn run(world: &World, victim: &Victim, failure: &Failure, n: Option<usize>) -> Ran {
    let plain = program(world.path(), victim.arguments.iter().chain(&["--with-head", "--json", "--threads", "1"]));
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "signal=none", "-o"]).arg(world.at("record"));
    let folder = fs::canonicalize(world.at(LIBRARY)).unwrap();
    for file in FILES {
        let path = if file.is_empty() { folder.clone() } else { folder.join(file) };
        command.arg("-P").arg(path);
        // Paths are compared as the program writes them.
        let path = if file.is_empty() { LIBRARY.to_owned() } else { format!("{LIBRARY}/{file}") };
        command.args(["-P", &path]);
    }
    command.args(["-e", &format!("trace={}", failure.calls)]);
    if let Some(n) = n {
        let ever = if failure.for_ever { "+" } else { "" };
        command.args(["-e", &format!("inject={}:{}:when={n}{ever}", failure.calls, failure.how)]);
    }
    let mut child = run_by(command, &plain).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines: String = (0..victim.labels).map(|i| format!("{}\n", json!({"image": 1 + i % 2, "label": format!("line {i}")}))).collect();
    // It may have ended before it reads them.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    ran(child.wait_with_output().unwrap())
}

/// What is wrong with a library after a command in which calls failed, if anything is. `before` is
/// the last event that was there before.
fn fault(world: &World, session: &Session, victim: &Victim, ended: &Ran, before: u64) -> Result<(), String> {
    if ended.stderr.contains("panicked") || ![-1, 0, 1, 65, 74].contains(&ended.code) {
        return Err(format!("it ended with {}: {}", ended.code, ended.stderr));
    }
    // A line that was cut is no acknowledgement.
    let answers: Vec<Value> = ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let heads: Vec<&str> =
        answers.iter().filter(|answer| !answer["event"].is_null()).filter_map(|answer| answer["head"].as_str()).collect();
    let is_repair = victim.arguments[0] == "check";
    let arguments = ["check", LIBRARY, "--json", "--repair"];
    let checked = world.run(&arguments[..3 + usize::from(is_repair)]);
    if checked.code != 0 {
        return Err(format!("a check afterwards ended with {}: {} {}", checked.code, checked.stdout, checked.stderr));
    }
    let library = session.open_library(&world.at(LIBRARY)).map_err(|error| error.to_string())?;
    let last = library.head().map_err(|error| error.to_string())?.event.0;
    let events = heads.iter().map(|head| head.split_once(':').unwrap().0.parse::<u64>().unwrap());
    let least = events.fold(before, u64::max);
    if last < least || (is_repair && last != before) {
        return Err(format!("event {least} was acknowledged, and the history ends at {last}"));
    }
    for head in heads {
        let place = library.find_head(&head.parse().unwrap()).map_err(|error| error.to_string())?;
        if !matches!(place, HeadPlace::After(_)) {
            return Err(format!("the head {head} was acknowledged, and is {place:?}"));
        }
    }
    let problems = library.check().map_err(|error| error.to_string())?;
    if !problems.is_empty() || !library.lost().is_empty() {
        return Err(format!("{problems:?} {:?}", library.lost()));
    }
    if victim.labels > 0 {
        let told = |i: usize| answers.iter().any(|answer| answer["ok"] == true && answer["label"] == format!("line {i}"));
        let found: Vec<&str> = library.state().images().filter_map(|image| image.label()).collect();
        // A line without an answer, or with an error, may be done or not.
        let could_be = |done: &[usize]| {
            let label = |image: usize| done.iter().rev().find(|i| *i % 2 + 1 == image).map(|i| format!("line {i}"));
            found == [label(1).unwrap_or("first".into()), label(2).unwrap_or("grid".into())]
        };
        let choices = (0..1_usize << victim.labels).map(|bits| (0..victim.labels).filter(|i| bits >> i & 1 == 1).collect::<Vec<usize>>());
        let mut choices =
            choices.filter(|done| done.len() as u64 == last - before && (0..victim.labels).all(|i| !told(i) || done.contains(&i)));
        if !choices.any(|done| could_be(&done)) {
            return Err(format!("after {} lines, of which {answers:?} were told, the labels are {found:?}", last - before));
        }
    }
    let is_forgotten = victim.arguments[0] == "forget" && last > before;
    drop(library);
    if is_forgotten && holder(&world.at(LIBRARY), SECRET.as_bytes()).is_some() {
        return Err("what was forgotten is in a file".into());
    }
    Ok(())
}

/// Lets calls fail in turn, at most so many for each command and way.
fn sweep(most: usize) {
    if let Err(why) = can_record() {
        println!("skipped: no system call can be made to fail here (install strace): {why}");
        return;
    }
    let (world, session) = (lived(), Session::new(1, 0).unwrap());
    let before = session.open_library(&world.at("base")).unwrap().head().unwrap().event.0;
    let begin = |victim: &Victim| {
        let _ = fs::remove_dir_all(world.at(LIBRARY));
        copy_folder(&world.at("base"), &world.at(LIBRARY));
        (victim.prepare)(&world);
    };
    let mut faults = Vec::new();
    for (victim, failure) in VICTIMS.iter().flat_map(|victim| FAILURES.iter().map(move |failure| (victim, failure))) {
        begin(victim);
        let whole = run(&world, victim, failure, None).ended(0);
        assert_eq!(fault(&world, &session, victim, &whole, before), Ok(()), "{:?} without a failure", victim.arguments);
        let calls = fs::read_to_string(world.at("record")).unwrap().lines().filter(|line| !line.contains("resumed>")).count();
        assert!(calls > 2, "{:?}, {}: {calls} calls are recorded", victim.arguments, failure.name);
        let (mut tried, mut failed) = (0, 0);
        for n in (1..=calls).step_by(calls.div_ceil(most)) {
            begin(victim);
            let ended = run(&world, victim, failure, Some(n));
            tried += 1;
            failed += usize::from(ended.code != 0);
            if let Err(words) = fault(&world, &session, victim, &ended, before) {
                faults.push(format!("{:?}, {} at call {n}: {words}", victim.arguments, failure.name));
            }
        }
        println!("{:?}, {}: {tried} of {calls} calls, {failed} times the command failed", victim.arguments, failure.name);
        assert!(failed > 0 || tried < calls, "{:?}, {}: no failure was noticed", victim.arguments, failure.name);
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn calls_that_fail_lose_nothing() {
    sweep(5);
}

#[test]
#[ignore = "all calls of four commands, in five ways"]
fn long_every_call_that_fails_loses_nothing() {
    sweep(usize::MAX);
}
