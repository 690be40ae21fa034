//! The real program killed, starved and crowded: what it acknowledged is there afterwards.
#![cfg(unix)]
#![allow(clippy::print_stdout, reason = "the long tests tell their figures")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::RngExt as _;
use serde_json::{Value, json};
use tessera_core::random::{Rng, seeded};

use crate::world::{World, ran};

/// How often a program is killed in the ordinary tests, of each kind, and in the long ones.
const LIVES: (usize, usize) = (14, 130);

/// Labels through a stream until the program is killed. Returns what was acknowledged.
fn label_until_killed(world: &World, rng: &mut Rng, life: usize) -> Vec<(u64, String)> {
    let mut child = world.start(["label", "lib.tessera", "--stdin"]);
    let mut input = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap());
    let lines: Vec<(u64, String)> = (0..400).map(|i| (rng.random_range(1..=24), format!("life {life} line {i}"))).collect();
    let text: String = lines.iter().map(|(image, label)| format!("{}\n", json!({"image": image, "label": label}))).collect();
    let after = Duration::from_micros(rng.random_range(1_000..60_000));
    // Many lines are on their way when it is killed.
    let feeding = std::thread::spawn(move || {
        let _ = input.write_all(text.as_bytes());
    });
    let mut answers = answers.lines();
    let mut acknowledged = Vec::new();
    let first = answers.next();
    let pid = child.id();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(after);
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    });
    for line in first.into_iter().chain(answers) {
        // A line that was cut is no acknowledgement.
        let Some(answer) = line.ok().and_then(|line| serde_json::from_str::<Value>(&line).ok()) else { break };
        assert_eq!(answer["ok"], true, "{answer}");
        acknowledged.push((answer["id"].as_u64().unwrap(), answer["label"].as_str().unwrap().to_owned()));
    }
    killer.join().unwrap();
    child.wait().unwrap();
    feeding.join().unwrap();
    assert!(acknowledged.iter().zip(&lines).all(|(a, b)| a == b));
    acknowledged
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

fn kill_while_labelling(lives: usize, seed: u64) {
    let world = World::with_library();
    let mut rng = seeded(seed);
    let mut expected = labels(&world);
    let mut lines = 0;
    for life in 0..lives {
        let acknowledged = label_until_killed(&world, &mut rng, life);
        lines += acknowledged.len();
        expected.extend(acknowledged);
        world.run(["check", "lib.tessera"]).ended(0);
        let found = labels(&world);
        for (image, label) in &expected {
            let now = &found[image];
            // What was on its way and not acknowledged may be there too, if it came later.
            let later = now.starts_with(&format!("life {life} "));
            assert!(now == label || later, "life {life}: image {image} is {now}, was acknowledged as {label}");
        }
        expected = found;
    }
    println!("label --stdin: killed {lives} times, {lines} labels acknowledged, none lost");
}

fn kill_while(what: &str, lives: usize, seed: u64, arguments: &[&str], prepare: impl Fn(&World, usize), sound: impl Fn(&World)) {
    let world = World::with_library();
    let mut rng = seeded(seed);
    for life in 0..lives {
        prepare(&world, life);
        let mut child = world.start(arguments);
        let pid = child.id();
        std::thread::sleep(Duration::from_micros(rng.random_range(1_000..150_000)));
        Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        child.wait().unwrap();
        if world.at("lib.tessera/library.db").exists() {
            world.run(["check", "lib.tessera"]).ended(0);
        }
        sound(&world);
    }
    println!("{what}: killed {lives} times, sound after each");
}

fn kill_while_importing(lives: usize, seed: u64) {
    let prepare = |world: &World, life: usize| {
        for i in 0..40u32 {
            let picture = fs::read(world.at("images/disc/disc_01_0_0_0_lt.png")).unwrap();
            world.file(&format!("images/new/{life}-{i}.png"), &[picture.as_slice(), &i.to_le_bytes(), &life.to_le_bytes()].concat());
        }
    };
    kill_while("import", lives, seed, &["import", "lib.tessera", "images", "--quiet"], prepare, |_| {});
}

fn kill_while_saving(lives: usize, seed: u64) {
    let old = |world: &World, _: usize| {
        if !world.at("m/manifest.ron").exists() {
            world.run(["export", "lib.tessera", "model", "--to", "m"]).ended(0);
        }
    };
    let sound = |world: &World| {
        world.run(["classify", "m", "images/disc/disc_01_0_0_0_lt.png", "--quiet"]).ended(0);
    };
    kill_while("export model", lives, seed, &["export", "lib.tessera", "model", "--to", "m"], old, sound);
    kill_while("train", lives, seed + 1, &["train", "lib.tessera", "--to", "m"], old, sound);
}

#[test]
fn killed_while_labelling_it_has_lost_nothing() {
    kill_while_labelling(LIVES.0, 1);
}

#[test]
fn killed_while_importing_it_is_sound() {
    kill_while_importing(LIVES.0, 2);
}

#[test]
fn killed_while_saving_there_is_a_model() {
    kill_while_saving(LIVES.0 / 2 + 4, 3);
}

#[test]
#[ignore = "520 lives"]
fn long_killed_at_any_moment() {
    kill_while_labelling(LIVES.1, 11);
    kill_while_importing(LIVES.1, 12);
    kill_while_saving(LIVES.1, 13);
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
    // The system's administrator may do everything, so that somebody else has to try.
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
