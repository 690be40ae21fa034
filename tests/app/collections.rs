//! A collection is opened as a library that is only read: made of the shards once, without the
//! image files, and anew when the collection changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use tessera::session::Session;
use tessera::session::library::{Target, what_is};
use tessera_core::Error;
use tessera_core::library::read_only::ReadOnly;
use tessera_core::progress::Progress;

use crate::world::World;

/// The libraries of collections in a world's cache folder.
fn made(world: &World) -> Vec<PathBuf> {
    let folder = world.at("cache/tessera/collections");
    fs::read_dir(folder).map_or_else(|_| Vec::new(), |entries| entries.map(|entry| entry.unwrap().path()).collect())
}

/// The names of hits with their values.
fn hits(answer: &Value, value: &str) -> BTreeMap<String, f64> {
    let name = |hit: &Value| Path::new(hit["path"].as_str().unwrap()).file_name().unwrap().to_string_lossy().into_owned();
    answer["hits"].as_array().unwrap().iter().map(|hit| (name(hit), hit[value].as_f64().unwrap())).collect()
}

#[test]
fn a_collection_answers_as_the_library_that_it_was_made_of() {
    let world = World::with_library();
    world.run(["caption", "lib.tessera", "#2", "seen from the left"]).ended(0);
    world.run(["shard", "photos", "lib.tessera", "--images", "10"]).ended(0);
    fs::copy(world.at("images/disc/disc_01_1_0_0_lt.png"), world.at("asked.png")).unwrap();
    let search = |of: &str, words: &str| world.run(["search", of, words, "-k", "24", "--json"]).ended(0).object();
    let similar =
        |of: &str| world.run(["similar", of, "asked.png", "-k", "5", "--by", "edges", "--recall", "1", "--json"]).ended(0).object();
    let expected = [search("lib.tessera", "disc 02"), search("lib.tessera", "left")].map(|answer| hits(&answer, "score"));
    let nearest = hits(&similar("lib.tessera"), "distance");
    // The shards are all there is: neither the image files nor the library.
    fs::remove_dir_all(world.at("images")).unwrap();
    fs::remove_dir_all(world.at("lib.tessera")).unwrap();
    assert_eq!(what_is(&world.at("photos")), Target::Collection);
    assert_eq!([search("photos", "disc 02"), search("photos", "left")].map(|answer| hits(&answer, "score")), expected);
    assert_eq!(expected[1].len(), 1, "the caption came with the shard");
    // The appearance in a shard is that of the image, in a library that of its small picture.
    let found = hits(&similar("photos"), "distance");
    assert!(found["disc_01_1_0_0_lt.png"] < 0.02 && nearest["disc_01_1_0_0_lt.png"] < 0.02, "{found:?} {nearest:?}");
    assert!(found.keys().chain(nearest.keys()).all(|name| name.starts_with("disc")), "{found:?} {nearest:?}");
    assert_eq!(world.run(["classify", "photos", "asked.png", "--json"]).ended(0).object()["class"], "disc");
    world.run(["duplicates", "photos", "--json"]).ended(0);
    world.run(["export", "photos", "labels", "--to", "labels.csv"]).ended(0);
    assert_eq!(fs::read_to_string(world.at("labels.csv")).unwrap().matches("disc/disc_").count(), 12);
}

#[test]
fn a_collection_is_only_read() {
    let world = World::with_images();
    world.run(["shard", "photos", "images"]).ended(0);
    let before = fs::read(world.at("photos/manifest.json")).unwrap();
    for arguments in [
        &["label", "photos", "#1", "--as", "x"][..],
        &["caption", "photos", "#1", "x"],
        &["undo", "photos"],
        &["remove", "photos", "#1"],
        &["forget", "photos", "#3", "--yes"],
        &["import", "photos", "images/disc"],
        &["train", "photos"],
    ] {
        world.run(arguments).ended(74).complains("for it shows a collection");
    }
    world.run(["train", "photos", "--to", "model"]).ended(0);
    assert_eq!(world.run(["classify", "model", "images/grid/grid_01_1_0_0_lt.png", "--json"]).ended(0).object()["class"], "grid");
    world.run(["check", "photos"]).ended(65).complains("expected a library, found a collection");
    world.run(["backup", "photos", "copy"]).ended(65).complains("any copy of the folder is a backup");
    // Whoever finds the library in the cache may not change it either.
    let library = made(&world)[0].to_str().unwrap().to_owned();
    world.run(["label", &library, "#1", "--as", "x"]).ended(74).complains("for it shows a collection");
    world.run(["check", &library, "--repair"]).ended(74).complains("for it shows a collection");
    assert_eq!(world.run(["check", &library, "--json"]).ended(0).object()["ok"], true);
    assert_eq!(fs::read(world.at("photos/manifest.json")).unwrap(), before);
    assert_eq!(fs::read_dir(world.at("photos")).unwrap().count(), 3, "a shard, the manifest and its lock");
}

#[test]
fn it_is_made_once_for_each_version() {
    let world = World::with_images();
    world.run(["shard", "photos", "images/disc"]).ended(0);
    let found = || world.run(["search", "photos", "grid", "--json"]).ended(0).object()["found"].as_u64().unwrap();
    assert_eq!(found(), 0);
    let first = made(&world);
    let written = |place: &Path| fs::metadata(place.join("library.db")).unwrap().modified().unwrap();
    let at = written(&first[0]);
    found();
    assert_eq!((made(&world), written(&first[0])), (first.clone(), at), "it is not made again");
    world.run(["shard", "photos", "images/grid"]).ended(0);
    assert_eq!(found(), 12);
    let second = made(&world);
    assert!(second.len() == 1 && second != first, "that of the version before is dropped: {second:?}");
    // One that is damaged is made again.
    fs::write(second[0].join("library.db"), b"no database").unwrap();
    assert_eq!(found(), 12);
    // A shard that is damaged is named; other collections keep theirs.
    let shard = fs::read_dir(world.at("photos"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "parquet"));
    let shard = shard.unwrap();
    let name = shard.file_name().unwrap().to_str().unwrap().to_owned();
    let mut bytes = fs::read(&shard).unwrap();
    bytes[100] ^= 1;
    fs::write(&shard, bytes).unwrap();
    fs::remove_dir_all(&made(&world)[0]).unwrap();
    world.run(["search", "photos", "grid"]).ended(65).complains(&name);
    world.run(["shard", "others", "images/disc"]).ended(0);
    world.run(["search", "others", "disc"]).ended(0);
    assert_eq!(made(&world).len(), 2);
}

#[test]
fn making_goes_on_where_it_was_cancelled() {
    let world = World::with_images();
    world.run(["shard", "photos", "images", "--images", "6"]).ended(0);
    let steps = Arc::new(AtomicUsize::new(0));
    let session = Session::new(2, 0).unwrap().with_data_folder(world.at("data"));
    let handle: Arc<std::sync::OnceLock<Progress>> = Arc::default();
    let watch = {
        let (steps, handle) = (Arc::clone(&steps), Arc::clone(&handle));
        Progress::watched(move |at| {
            if at.stage == "Reading the collection" && at.done > 0 && steps.fetch_add(1, Ordering::Relaxed) == 13 {
                handle.get().unwrap().cancel();
            }
        })
    };
    handle.set(watch.clone()).unwrap();
    let cancelled = session.with_progress(&watch).open_collection(&world.at("photos"));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    let library = session.open_collection(&world.at("photos")).unwrap();
    assert_eq!((library.state().images().count(), library.read_only()), (24, Some(ReadOnly::Collection)));
    assert!(library.state().history().len() >= 4, "what was entered before stays");
}

#[test]
fn elements_of_any_kind_are_compared_as_they_were_cut() {
    let world = World::with_images();
    for elements in ["colour", "network", "all"] {
        world.run(["shard", elements, "images", "--elements", elements]).ended(0);
        let asked = world.run(["classify", elements, "images/disc/disc_02_1_0_0_lt.png", "--explain", "--json"]).ended(0).object();
        assert_eq!(asked["class"], "disc", "{elements}");
        let kinds: Vec<&str> = asked["contributions"].as_array().unwrap().iter().filter_map(|row| row["kind"].as_str()).collect();
        assert_eq!(kinds.iter().any(|kind| kind.contains("hog")), elements == "all", "{elements}: {kinds:?}");
        assert_eq!(kinds.iter().any(|kind| kind.contains("colour")), elements != "network", "{elements}: {kinds:?}");
    }
}

#[test]
fn a_manifest_of_another_program_makes_no_collection() {
    let world = World::with_images();
    fs::write(world.at("images/manifest.json"), br#"{"name": "site", "icons": []}"#).unwrap();
    assert_eq!(what_is(&world.at("images")), Target::Folder);
    world.run(["import", "lib.tessera", "images"]).ended(0);
    assert_eq!(world.run(["search", "lib.tessera", "disc", "--json"]).ended(0).object()["found"], 12);
}

#[test]
fn names_need_not_be_unique_and_full_paths_are_kept() {
    let world = World::with_images();
    fs::create_dir(world.at("a")).unwrap();
    fs::create_dir(world.at("b")).unwrap();
    fs::copy(world.at("images/disc/disc_01_1_0_0_lt.png"), world.at("a/one.png")).unwrap();
    fs::copy(world.at("images/grid/grid_01_1_0_0_lt.png"), world.at("b/one.png")).unwrap();
    world.run(["shard", "photos", "a"]).ended(0);
    world.run(["shard", "photos", "b"]).ended(0);
    let answer = world.run(["search", "photos", "one", "--json"]).ended(0).object();
    let mut paths: Vec<&str> = answer["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), 2, "{paths:?}");
}

#[test]
fn folders_above_are_no_words() {
    let world = World::with_images();
    fs::create_dir_all(world.at("disc/heron/grid")).unwrap();
    fs::copy(world.at("images/grid/grid_01_1_0_0_lt.png"), world.at("disc/heron/grid/one.png")).unwrap();
    world.run(["shard", "photos", "disc/heron"]).ended(0);
    let found = |words: &str| world.run(["search", "photos", words, "--json"]).ended(0).object()["found"].as_u64().unwrap();
    assert_eq!(["grid", "one", "heron", "disc"].map(found), [1, 1, 0, 0]);
}
