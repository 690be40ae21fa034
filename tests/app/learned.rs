//! Learned features of a library: the switch on the command line and at the desk, and the job that
//! looks at images of before.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tessera::command::Command;
use tessera::job::JobKind;
use tessera::session::Session;
use tessera::session::desk::Desk;

use crate::world::World;

fn checked(world: &World) -> Value {
    world.run(["check", "lib.tessera", "--json"]).ended(0).object()["learned_features"].clone()
}

fn state(on: bool, recognises: bool, seen: usize) -> Value {
    serde_json::json!({"on": on, "recognises": recognises, "seen": seen, "images": 24, "missing": 24 - seen})
}

fn scores(world: &World) -> Value {
    world.run(["classify", "lib.tessera", "#1", "--json"]).ended(0).object()
}

#[test]
fn one_switch_takes_them_out_of_answers_and_back() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    assert_eq!(checked(&world), state(true, true, 24));
    let train = |switch: &[&str]| world.run(["train", "lib.tessera", "--json"].iter().chain(switch)).ended(0).object();
    let learned = train(&[]);
    assert_eq!(learned["learned_features"], true);
    let with = scores(&world);
    let plain = train(&["--learned-features", "off"]);
    assert_eq!(plain["learned_features"], false);
    assert!(plain["elements"].as_u64() < learned["elements"].as_u64());
    assert_eq!(checked(&world), state(false, false, 24));
    let without = scores(&world);
    assert_ne!(with, without);
    assert_eq!(train(&["--learned-features", "on"])["elements"], learned["elements"]);
    assert_eq!(scores(&world), with);
    world.run(["train", "images", "--learned-features", "on"]).ended(2).complains("--elements all");

    // As a library that never had any.
    let other = World::with_images();
    other.run(["import", "lib.tessera", "nothing"]).ended(74);
    let session = Session::new(1, 0).unwrap();
    let mut library = session.open_or_create_library(&other.at("lib.tessera")).unwrap();
    library.set_learned_features(false, session.progress()).unwrap();
    library.close().unwrap();
    other.run(["import", "lib.tessera", "images"]).ended(0);
    assert_eq!(checked(&other), state(false, false, 0));
    other.run(["train", "lib.tessera"]).ended(0);
    assert_eq!(scores(&other)["confidence"], without["confidence"]);
}

#[track_caller]
fn until(desk: &mut Desk, what: &str, is_so: impl Fn(&Desk) -> bool) {
    let start = Instant::now();
    while !is_so(desk) {
        assert!(start.elapsed() < Duration::from_secs(200), "waited in vain until {what}: {:?}", desk.notices().log());
        std::thread::sleep(Duration::from_millis(2));
        desk.poll();
    }
}

#[test]
fn clusters_and_maps_by_the_network_go_with_the_switch_and_come_back() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images"]).ended(0);
    let cluster = |arguments: &[&str]| world.run(["cluster", "lib.tessera", "--json"].iter().chain(arguments));
    let switch = |state: &str| drop(world.run(["train", "lib.tessera", "--learned-features", state]).ended(0));
    let map = |arguments: &[&str]| world.run(["map", "lib.tessera", "--to", "map.csv", "--rounds", "5"].iter().chain(arguments));
    for by in ["network", "elements"] {
        let found = cluster(&["--by", by, "--clusters", "2"]).ended(0).object();
        switch("off");
        for arguments in [&[][..], &["--iterations", "3"], &["--merge", "1,2"], &["--split", "1"], &["--name", "1=disc"]] {
            cluster(arguments).ended(65).complains("tessera train LIBRARY --learned-features on");
        }
        map(&["--by", "edges", "--colour", "cluster"]).ended(0).complains("learned features, which are off");
        switch("on");
        assert_eq!(cluster(&[]).ended(0).object(), found, "by {by} they are back");
    }
    switch("off");
    map(&["--by", "network"]).ended(2).complains("`tessera train LIBRARY --learned-features on`");
    // Those that take no cells are shown whatever the switch says; others take the place of hidden
    // ones.
    for by in ["elements", "colours"] {
        let found = cluster(&["--by", by, "--clusters", "2"]).ended(0).object();
        assert_eq!(cluster(&[]).ended(0).object(), found, "by {by}");
    }
    switch("on");
    assert_eq!(cluster(&[]).ended(0).object()["by"], "colours");
    // What was asked for is hidden too, where the clusters themselves are lost.
    cluster(&["--by", "network", "--clusters", "2"]).ended(0);
    switch("off");
    std::fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    cluster(&[]).ended(65).complains("--learned-features on");
    assert_ne!(cluster(&["--again", "--clusters", "2"]).ended(0).object()["by"], "network");
}

#[test]
fn the_desk_looks_at_images_of_before_in_the_background() {
    let world = World::with_images();
    let session = || Session::new(2, 0).unwrap().with_data_folder(world.at("data"));
    let mut library = session().open_or_create_library(&world.at("lib.tessera")).unwrap();
    library.set_learned_features(false, session().progress()).unwrap();
    let library = Mutex::new(library);
    session().import(&library, &world.at("images"), &Default::default()).unwrap();
    library.into_inner().unwrap().close().unwrap();

    let mut desk = Desk::new(session(), Arc::new(|| {})).unwrap();
    desk.run(Command::Open(world.at("lib.tessera")));
    until(&mut desk, "it is open", |desk| desk.state().is_some() && desk.recognising().learned().images == 24);
    assert!(!desk.recognising().learned().is_on);
    desk.run(Command::UseLearnedFeatures(true));
    until(&mut desk, "the recogniser has changed over", |desk| desk.recognising().learned().recognises);
    assert_eq!(desk.recognising().learned().seen, 24);
    until(&mut desk, "nothing goes on", |desk| !desk.jobs().is_busy() && !desk.jobs().is_running(&JobKind::LookWithNetwork));
    desk.run(Command::UseLearnedFeatures(false));
    until(&mut desk, "they are off", |desk| !desk.recognising().learned().is_on);
    assert!(!desk.recognising().learned().recognises);
}

#[test]
fn what_a_lost_cache_held_is_computed_again_when_it_is_next_used() {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images", "--labels", "none"]).ended(0);
    world.run(["backup", "lib.tessera", "copy"]).ended(0);
    world.run(["backup", "lib.tessera", "--restore", "copy"]).ended(0);
    assert_eq!(checked(&world)["missing"], 24);
    assert!(world.run(["check", "lib.tessera"]).ended(0).stdout.contains("looked at 0 of 24"));
    let search = |options: &[&str]| world.run(["search", "lib.tessera", "wall", "--json"].iter().chain(options));
    let read = search(&["--read-only"]).ended(0).complains("Learned features of 24 images are missing");
    assert_eq!(read.object()["not_looked_at"], 24);
    let found = search(&[]).ended(0).complains("The network looked at 24 images first");
    assert_eq!(found.object()["not_looked_at"], 0);
    assert_eq!(checked(&world), state(true, true, 24));
    // Images whose files are away stay as they are, and that is said.
    std::fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    std::fs::rename(world.at("images/disc"), world.at("away")).unwrap();
    assert_eq!(search(&[]).ended(0).complains("of 12 images are missing").object()["not_looked_at"], 12);
    assert_eq!(checked(&world)["missing"], 12);
}
