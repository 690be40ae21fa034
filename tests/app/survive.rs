//! The program killed, out of memory or disk, and run many times at once: what it acknowledged is
//! there afterwards.
#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "the long tests tell their figures")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rand::RngExt as _;
use serde_json::{Value, json};
use tessera_core::library::event::{Change, ContentHash, Field, Swap};
use tessera_core::library::journal::{self, JOURNAL, Line};
use tessera_core::random::{Rng, seeded};

use crate::world::{World, ran};

/// How often a program is killed in the ordinary tests, of each kind, and in the long ones.
const LIVES: (usize, usize) = (14, 130);
/// Programs that may end before they are killed, for each that is.
const MISSES: usize = 4;
const KILLED: i32 = 9;

/// A program that labelled until it was killed.
struct Labelled {
    /// The lines that it was given, by image.
    lines: Vec<(u64, String)>,
    /// How many of these it acknowledged.
    acknowledged: usize,
    /// Whether it was killed with lines still to do.
    is_hit: bool,
}

/// A streaming command and the lines that it is given.
struct Said {
    /// The command.
    command: &'static str,
    /// Under which key, and what else is in a line.
    key: &'static str,
    rest: fn() -> Value,
    /// What is said in a line of a life.
    value: fn(usize, usize) -> Value,
    /// What the library holds, as a stream would say it, by image.
    held: fn(&World) -> BTreeMap<u64, String>,
}

const LABELS: Said =
    Said { command: "label", key: "label", rest: || json!({}), value: |life, i| format!("life {life} line {i}").into(), held: labels };

const THUMBS: Said = Said {
    command: "feedback",
    key: "reward",
    rest: || json!({"query": "a toy"}),
    value: |life, i| (((life * 400 + i) % 1000 + 1) as f64 / 1000.0).into(),
    held: |world| {
        let lessons = world.run(["lessons", "lib.tessera", "--json"]).ended(0).object();
        let of = |lesson: &Value| (lesson["image"].as_u64().unwrap(), lesson["reward"].to_string());
        lessons["lessons"].as_array().unwrap().iter().map(of).collect()
    },
};

/// A value as a text that can be compared.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Sends lines to a streaming command until the program is killed.
fn say_until_killed(world: &World, said: &Said, rng: &mut Rng, life: usize) -> Labelled {
    let mut child = world.start([said.command, "lib.tessera", "--stdin"]);
    let mut input = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap());
    let values: Vec<(u64, Value)> = (0..400).map(|i| (rng.random_range(1..=24), (said.value)(life, i))).collect();
    let line = |(image, value): &(u64, Value)| {
        let mut line = (said.rest)();
        (line["image"], line[said.key]) = (json!(image), value.clone());
        format!("{line}\n")
    };
    let stream: String = values.iter().map(line).collect();
    let lines: Vec<(u64, String)> = values.iter().map(|(image, value)| (*image, text(value))).collect();
    let after = Duration::from_micros(rng.random_range(1_000..60_000));
    // Many lines are on their way when it is killed.
    let feeding = std::thread::spawn(move || {
        let _ = input.write_all(stream.as_bytes());
    });
    let mut answers = answers.lines();
    let mut acknowledged = Vec::new();
    let first = answers.next();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap()
    });
    for line in first.into_iter().chain(answers) {
        // A line that was cut is no acknowledgement.
        let Some(answer) = line.ok().and_then(|line| serde_json::from_str::<Value>(&line).ok()) else { break };
        assert_eq!(answer["ok"], true, "{answer}");
        acknowledged.push((answer["id"].as_u64().unwrap(), text(&answer[said.key])));
    }
    let is_killed = killer.join().unwrap().signal() == Some(KILLED);
    feeding.join().unwrap();
    assert!(acknowledged.iter().zip(&lines).all(|(a, b)| a == b));
    Labelled { is_hit: is_killed && acknowledged.len() < lines.len(), acknowledged: acknowledged.len(), lines }
}

/// How many of the lines were done, if all that were acknowledged are among them, all are done in
/// their order, and nothing else.
fn done(before: &BTreeMap<u64, String>, life: &Labelled, found: &BTreeMap<u64, String>) -> Option<usize> {
    let mut labels = before.clone();
    labels.extend(life.lines[..life.acknowledged].iter().cloned());
    for (n, (image, label)) in (life.acknowledged..).zip(&life.lines[life.acknowledged..]) {
        if labels == *found {
            return Some(n);
        }
        labels.insert(*image, label.clone());
    }
    (labels == *found).then_some(life.lines.len())
}

/// The labels of all images by their numbers.
fn labels(world: &World) -> BTreeMap<u64, String> {
    world.run(["export", "lib.tessera", "labels", "--to", "labels.jsonl", "--format", "jsonl"]).ended(0);
    let text = fs::read_to_string(world.at("labels.jsonl")).unwrap();
    let paths: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let library = tessera::session::Session::new(1, 0).unwrap().open_library(&world.at("lib.tessera")).unwrap();
    let by_id: BTreeMap<u64, String> =
        library.state().images().filter_map(|image| Some((u64::from(image.id.0), image.label()?.to_owned()))).collect();
    assert_eq!(by_id.len(), paths.len());
    by_id
}

fn kill_while_saying(said: &Said, lives: usize, seed: u64) {
    let world = World::with_library();
    let mut rng = seeded(seed);
    let mut before = (said.held)(&world);
    let (mut lines, mut hits) = (0, 0);
    for life in 0..lives * MISSES {
        let lived = say_until_killed(&world, said, &mut rng, life);
        lines += lived.acknowledged;
        hits += usize::from(lived.is_hit);
        world.run(["check", "lib.tessera"]).ended(0);
        let found = (said.held)(&world);
        let told = lived.acknowledged;
        assert!(
            done(&before, &lived, &found).is_some(),
            "life {life}, {told} lines acknowledged: {:?}\n{before:?}\n{found:?}",
            lived.lines
        );
        before = found;
        if hits == lives {
            break;
        }
    }
    assert_eq!(hits, lives, "too few were killed with lines still to do");
    println!("{} --stdin: killed {hits} times with lines still to do, {lines} acknowledged, none lost", said.command);
}

#[test]
fn a_label_that_is_older_than_the_acknowledged_one_is_noticed() {
    let before = BTreeMap::from([(1, "disc".to_owned()), (2, "disc".to_owned())]);
    let lines: Vec<(u64, String)> = [1, 2, 1, 1].iter().zip(0..).map(|(image, i)| (*image, format!("life 0 line {i}"))).collect();
    let life = Labelled { lines: lines.clone(), acknowledged: 3, is_hit: true };
    let after = |n: usize| before.clone().into_iter().chain(lines[..n].iter().cloned()).collect::<BTreeMap<_, _>>();
    assert_eq!([0, 1, 2, 3, 4].map(|n| done(&before, &life, &after(n))), [None, None, None, Some(3), Some(4)]);
}

/// Length and time of the files in a folder, but for the lock, which comes before all writes.
fn look(folder: &Path) -> BTreeMap<PathBuf, (u64, Option<SystemTime>)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.file_name() != "lock");
    files.filter_map(|entry| entry.metadata().ok().map(|meta| (entry.path(), (meta.len(), meta.modified().ok())))).collect()
}

/// A command that is killed while it writes.
struct Victim<'a> {
    arguments: &'a [&'a str],
    /// Where it writes.
    folder: &'a str,
    /// It is killed at one of so many writes.
    writes: usize,
}

/// Kills a command again and again right after one of its writes was seen, and looks each time at
/// what is there. Lives that ended before do not count.
fn kill_while(
    victim: &Victim<'_>,
    lives: usize,
    seed: u64,
    mut prepare: impl FnMut(&World, usize),
    mut sound: impl FnMut(&World),
) -> World {
    let world = World::with_library();
    let mut rng = seeded(seed);
    let folder = world.at(victim.folder);
    let (mut hits, mut unfinished) = (0, 0);
    for life in 0..lives * MISSES {
        prepare(&world, life);
        let first = look(&folder);
        let mut last = first.clone();
        let (which, after) = (1 + life * 5 % victim.writes, Duration::from_micros(rng.random_range(0..1_500)));
        let mut child = world.start(victim.arguments);
        let mut writes = 0;
        while writes < which && child.try_wait().unwrap().is_none() {
            let now = look(&folder);
            writes += usize::from(now != last);
            last = now;
        }
        std::thread::sleep(after);
        child.kill().unwrap();
        let is_hit = child.wait().unwrap().signal() == Some(KILLED) && writes == which;
        hits += usize::from(is_hit);
        let is_unfinished = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "part") && !first.contains_key(path);
        unfinished += usize::from(look(&folder).keys().any(is_unfinished));
        sound(&world);
        if hits == lives {
            break;
        }
    }
    assert_eq!(hits, lives, "too few were killed while they wrote");
    println!("{}: killed {hits} times within 2 ms of a write, {unfinished} left a file unfinished, sound after each", victim.arguments[0]);
    world
}

/// The bytes of the images that the journal tells of, which it does when the database has them.
fn told(world: &World) -> BTreeSet<ContentHash> {
    let (lines, _) = journal::read(&fs::read(world.at("lib.tessera").join(JOURNAL)).unwrap());
    let changes = lines.into_iter().flat_map(|line| if let Line::Event { changes, .. } = line { changes } else { Vec::new() });
    let bytes = |change| if let Change::Image(_, Field::Content(Swap(_, Some(content)))) = change { Some(content.hash) } else { None };
    changes.filter_map(bytes).collect()
}

/// The bytes of the images that the library has.
fn held(world: &World) -> BTreeSet<ContentHash> {
    let library = tessera::session::Session::new(1, 0).unwrap().open_library(&world.at("lib.tessera")).unwrap();
    library.state().images().filter_map(|image| Some(image.content?.hash)).collect()
}

fn kill_while_importing(lives: usize, seed: u64) {
    let mut files = 24;
    let prepare = |world: &World, life: usize| {
        for i in 0..40u32 {
            let picture = fs::read(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap();
            world.file(&format!("images/new/{life}-{i}.png"), &[picture.as_slice(), &i.to_le_bytes(), &life.to_le_bytes()].concat());
        }
        files += 40;
    };
    let mut before = BTreeSet::new();
    let sound = |world: &World| {
        let told = told(world);
        world.run(["check", "lib.tessera"]).ended(0);
        let found = held(world);
        assert!(told.is_subset(&found), "the journal told of {} images, there are {}", told.len(), found.len());
        assert!(before.is_subset(&found), "there were {} images, there are {}", before.len(), found.len());
        before = found;
    };
    let import = Victim { arguments: &["import", "lib.tessera", "images", "--quiet"], folder: "lib.tessera", writes: 18 };
    let world = kill_while(&import, lives, seed, prepare, sound);
    let answer = world.run(["import", "lib.tessera", "images", "--json"]).ended(0).object();
    let known = before.len();
    assert_eq!((&answer["found"], &answer["unchanged"], &answer["imported"]), (&json!(files), &json!(known), &json!(files - known)));
}

fn kill_while_saving(lives: (usize, usize), seed: u64) {
    let old = |world: &World, life: usize| {
        if !world.at("m/manifest.ron").exists() {
            world.run(["export", "lib.tessera", "model", "--to", "m"]).ended(0);
        }
        world.run(["label", "lib.tessera", "#1", "--as", ["grid", "disc"][life % 2]]).ended(0);
    };
    let sound = |world: &World| {
        world.run(["check", "lib.tessera"]).ended(0);
        world.run(["classify", "m", "images/disc/disc_01_0_0_0_lt.png", "--quiet"]).ended(0);
    };
    let export = Victim { arguments: &["export", "lib.tessera", "model", "--to", "m"], folder: "m", writes: 4 };
    kill_while(&export, lives.0, seed, old, sound);
    let train = Victim { arguments: &["train", "lib.tessera", "--to", "m"], folder: "m", writes: 4 };
    kill_while(&train, lives.1, seed + 1, old, sound);
}

#[test]
fn killed_while_labelling_it_has_lost_nothing() {
    kill_while_saying(&LABELS, LIVES.0, 1);
}

#[test]
fn killed_while_answers_are_judged_it_has_lost_nothing() {
    kill_while_saying(&THUMBS, LIVES.0 / 2, 4);
}

#[test]
fn killed_while_importing_it_is_sound() {
    kill_while_importing(LIVES.0, 2);
}

#[test]
fn killed_while_saving_there_is_a_model() {
    kill_while_saving((LIVES.0 + 2, LIVES.0 / 2 - 1), 3);
}

#[test]
#[ignore = "520 lives"]
fn long_killed_at_any_moment() {
    kill_while_saying(&LABELS, LIVES.1, 11);
    kill_while_saying(&THUMBS, LIVES.1 / 2, 14);
    kill_while_importing(LIVES.1, 12);
    kill_while_saving((LIVES.1, LIVES.1), 13);
}

#[test]
fn eight_programs_label_at_one_time() {
    let world = World::with_library();
    let per = if cfg!(debug_assertions) { 50 } else { 200 };
    let children: Vec<_> = (0..8)
        .map(|program| {
            let mut child = world.start(["label", "lib.tessera", "--stdin", "--wait", "300"]);
            let text: String =
                (0..per).map(|i| format!("{}\n", json!({"image": 1 + (i + program) % 24, "label": format!("{program}-{i}")}))).collect();
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            child
        })
        .collect();
    for child in children {
        let answers = ran(child.wait_with_output().unwrap()).ended(0).lines();
        assert!(answers.len() == per && answers.iter().all(|answer| answer["ok"] == true));
    }
    let events = world.run(["export", "lib.tessera", "events", "--to", "e.jsonl", "--json"]).ended(0).object();
    assert_eq!(events["written"], 8 * per + 1);
    world.run(["check", "lib.tessera"]).ended(0);
}

/// Runs a shell script with the program as `$T` in the world's folder.
fn shell(world: &World, script: &str) -> crate::world::Ran {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(world.path()).env("T", env!("CARGO_BIN_EXE_tessera")).env("XDG_DATA_HOME", world.at("home"));
    ran(command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_limit_on_the_size_of_files_loses_nothing() {
    let world = World::with_library();
    let lines: String =
        (0..600).map(|i| format!("{}\n", json!({"image": 1 + i % 24, "label": format!("{i} {}", "long ".repeat(30))}))).collect();
    world.file("lines.jsonl", lines.as_bytes());
    let size = fs::metadata(world.at("lib.tessera/library.db")).unwrap().len() / 1024;
    let ran = shell(&world, &format!("ulimit -f {}; \"$T\" label lib.tessera --stdin < lines.jsonl", size + 60));
    assert!(ran.code != 0 && !ran.stderr.contains("panicked"), "{} {}", ran.code, ran.stderr);
    let acknowledged: Vec<Value> = ran.lines().into_iter().filter(|answer| answer["ok"] == true).collect();
    assert!(!acknowledged.is_empty() && acknowledged.len() < 600);
    let refused = ran.lines().into_iter().find(|answer| answer["ok"] == false);
    assert!(refused.is_none_or(|answer| answer["error"].as_str().unwrap().contains("library.db")), "it names the file");
    world.run(["check", "lib.tessera"]).ended(0);
    let found = labels(&world);
    let last: BTreeMap<u64, String> =
        acknowledged.iter().map(|answer| (answer["id"].as_u64().unwrap(), answer["label"].as_str().unwrap().to_owned())).collect();
    for (image, label) in last {
        assert_eq!(found[&image], label.trim());
    }
}

#[test]
fn what_could_not_be_mended_is_not_told_as_mended() {
    let world = World::with_library();
    for id in 1..=24 {
        world.run(["caption", "lib.tessera", &format!("#{id}"), &"a very long word ".repeat(500)]).ended(0);
    }
    let journal = world.at("lib.tessera/journal.jsonl");
    let size = fs::metadata(&journal).unwrap().len() / 1024;
    fs::remove_file(&journal).unwrap();
    let ran = shell(&world, &format!("ulimit -f {}; \"$T\" check lib.tessera --repair --json", size / 2)).ended(65);
    let ran = ran.complains("the journal is as it was: cannot write");
    assert_eq!(ran.object()["repaired"], json!([]), "{}", ran.stdout);
    world.run(["check", "lib.tessera"]).ended(65);
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let world = World::with_images();
    fs::create_dir(world.at("small")).unwrap();
    let mounted = shell(&world, "mount -t tmpfs -o size=3m none small").code == 0;
    if !mounted {
        println!("skipped: only the system's administrator can make a small disk");
        return;
    }
    let outcome = std::panic::catch_unwind(|| {
        let lines: String =
            (0..4000).map(|i| format!("{}\n", json!({"image": 1 + i % 24, "label": format!("{i} {}", "long ".repeat(30))}))).collect();
        world.file("lines.jsonl", lines.as_bytes());
        world.run(["import", "small/lib.tessera", "images"]).ended(0);
        let ran = shell(&world, "\"$T\" label small/lib.tessera --stdin < lines.jsonl");
        let acknowledged = ran.lines().into_iter().filter(|answer| answer["ok"] == true).count();
        assert!(ran.code != 0 && acknowledged > 0 && acknowledged < 4000, "{acknowledged} {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("library.db") && said.contains("room"), "{}", ran.stderr);
        shell(&world, "mount -o remount,size=40m small");
        world.run(["check", "small/lib.tessera"]).ended(0);
        let events = world.run(["export", "small/lib.tessera", "events", "--to", "e.jsonl", "--json"]).ended(0).object();
        assert_eq!(events["written"], acknowledged + 1);
    });
    shell(&world, "umount small");
    outcome.unwrap();
}

#[test]
fn an_ordinary_user_without_rights_is_told_so() {
    let world = World::with_library();
    // The administrator may write everywhere, so the program runs as another user.
    let user = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let script = format!(
        "chmod -R a+rX . && cp \"$T\" tessera-copy && chmod a+rx tessera-copy && chmod 000 images/disc/disc_01_0_0_0_lt.png && {user} ./tessera-copy"
    );
    let parent = world.path().to_owned();
    fs::set_permissions(&parent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = shell(&world, &format!("{script} label lib.tessera '#1' --as x"));
    if ran.stderr.contains("setpriv") {
        println!("skipped: only the system's administrator can become somebody else");
        return;
    }
    assert!(ran.code == 74 && ran.stderr.contains("lib.tessera") && ran.stderr.contains("ask for access"), "{} {}", ran.code, ran.stderr);
    let ran =
        shell(&world, &format!("mkdir -p theirs && chmod 777 theirs && {user} ./tessera-copy import theirs/lib.tessera images --json"));
    let answer = ran.object();
    assert_eq!((ran.code, &answer["failed"], &answer["imported"]), (1, &json!(1), &json!(23)), "{answer}");
}
