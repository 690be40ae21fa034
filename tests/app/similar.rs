//! `tessera similar`: the most alike images by each kind of vectors, the same by an index, and
//! never those that are gone.

use std::fs;

use image::{Rgb, RgbImage};
use serde_json::Value;

use crate::world::World;

/// Waves of one colour on another: images of near seeds look alike.
fn waves(seed: u32) -> RgbImage {
    let (turn, tint) = (seed as f32 * 0.05, (seed * 4 % 200) as u8);
    RgbImage::from_fn(48, 48, |x, y| {
        let wave = (x as f32 * turn.cos() + y as f32 * turn.sin()).sin();
        Rgb([(127.0 + 100.0 * wave) as u8, tint, 200 - tint])
    })
}

/// So many of them in a folder `photos`.
pub(crate) fn write_waves(world: &World, n: u32) {
    fs::create_dir_all(world.at("photos")).unwrap();
    for seed in 0..n {
        waves(seed).save(world.at(&format!("photos/{seed:02}.png"))).unwrap();
    }
}

/// A library of forty images.
fn world() -> World {
    let world = World::new();
    write_waves(&world, 40);
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    world
}

/// The names of the images that were found.
fn names(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["path"].as_str().unwrap().rsplit(['/', '\\']).next().unwrap().to_owned()).collect()
}

fn similar(world: &World, arguments: &str) -> Value {
    let all = format!("similar lib.tessera {arguments} --json");
    world.run(all.split(' ')).ended(0).object()
}

#[test]
fn the_most_alike_come_first_and_an_index_finds_them_too() {
    let world = world();
    for by in ["appearance", "edges", "colours", "network"] {
        let scanned = similar(&world, &format!("photos/20.png --by {by} -k 5"));
        assert_eq!((&scanned["by"], &scanned["recall"], &scanned["indexed"]), (&by.into(), &1.0.into(), &false.into()), "{scanned}");
        let distances: Vec<f64> = scanned["hits"].as_array().unwrap().iter().map(|hit| hit["distance"].as_f64().unwrap()).collect();
        assert!(distances.len() == 5 && distances.is_sorted() && distances[0] < 0.3, "{scanned}");
        let found = names(&scanned);
        assert!(!found.contains(&"20.png".into()), "it is not like itself: {found:?}");
        let indexed = similar(&world, &format!("photos/20.png --by {by} -k 5 --recall 0.9 --curve"));
        assert_eq!(indexed["indexed"], true, "{indexed}");
        assert!(indexed["recall"].as_f64() >= Some(0.9) && !indexed["curve"].as_array().unwrap().is_empty(), "{indexed}");
        assert!(names(&indexed).iter().filter(|name| found.contains(name)).count() >= 4, "{by}: {indexed} {found:?}");
        assert_eq!(names(&similar(&world, &format!("photos/20.png --by {by} -k 5 --recall 1"))), found, "with 1 all are compared");
    }
    let near: Vec<String> = names(&similar(&world, "photos/20.png --by appearance -k 2"));
    assert!(near.iter().all(|name| ["19.png", "21.png"].contains(&name.as_str())), "{near:?}");
}

#[test]
fn a_file_from_elsewhere_a_part_and_a_filter() {
    let world = world();
    waves(20).save(world.at("elsewhere.png")).unwrap();
    let found = similar(&world, "elsewhere.png --by appearance -k 1");
    assert_eq!(names(&found), ["20.png"]);
    assert!(found["hits"][0]["distance"].as_f64().unwrap().abs() < 0.01, "{found}");
    assert_eq!(names(&similar(&world, "photos/20.png --crop 0,0,32,32 -k 40")).len(), 40, "of a part the image itself may be found");
    let within = similar(&world, "photos/20.png --by network --crop all -k 40");
    assert!(names(&within).len() == 39 && within["by_parts"] == 39, "parts of all others: {within}");
    world.run(["label", "lib.tessera", "photos/30.png", "photos/31.png", "--as", "thirty"]).ended(0);
    let mut of_class = names(&similar(&world, "photos/20.png --class thirty"));
    of_class.sort();
    assert_eq!(of_class, ["30.png", "31.png"]);
}

#[test]
fn an_image_that_is_a_part_of_another_is_told_how_to_find_that() {
    let world = world();
    RgbImage::from_fn(64, 64, |x, y| Rgb([(x * 4) as u8, (y * 4) as u8, (x * y % 256) as u8])).save(world.at("other.png")).unwrap();
    let advice = "--crop all finds that one";
    let as_whole = world.run(["similar", "lib.tessera", "other.png", "--by", "network"]).ended(0).stderr;
    assert!(as_whole.contains(advice), "{as_whole}");
    let as_part = world.run(["similar", "lib.tessera", "other.png", "--by", "network", "--crop", "all"]).ended(0);
    assert!(!as_part.stderr.contains(advice) && as_part.stdout.contains("40 of them part by part"), "{}", as_part.stdout);
    let same = world.run(["similar", "lib.tessera", "photos/20.png", "--by", "network"]).ended(0).stderr;
    assert!(!same.contains(advice), "{same}");
    world.run(["similar", "lib.tessera", "other.png", "--by", "colours", "--crop", "all"]).ended(0).complains("compared as a whole");
    let searched = world.run(["search", "lib.tessera", "--like", "other.png", "--look", "colours", "--crop", "all"]).ended(0);
    searched.complains("compared as a whole");
}

#[test]
fn what_is_gone_is_never_found_and_what_comes_is_found_at_once() {
    let world = world();
    similar(&world, "photos/20.png --by appearance --curve");
    world.run(["remove", "lib.tessera", "photos/21.png"]).ended(0);
    let without = similar(&world, "photos/20.png --by appearance -k 39");
    assert!(!names(&without).contains(&"21.png".into()), "{without}");
    world.run(["undo", "lib.tessera"]).ended(0);
    assert!(names(&similar(&world, "photos/20.png --by appearance -k 3")).contains(&"21.png".into()));
    let mut almost = waves(20);
    almost.put_pixel(0, 0, Rgb([0, 0, 0]));
    almost.save(world.at("photos/almost.png")).unwrap();
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    assert_eq!(similar(&world, "photos/20.png --by appearance -k 1 --recall 0.9")["indexed"], false, "few images are all compared");
    let found = similar(&world, "photos/20.png --by appearance -k 1 --recall 0.9 --curve");
    assert_eq!((names(&found), &found["indexed"]), (vec!["almost.png".into()], &true.into()));
    world.run(["forget", "lib.tessera", "photos/almost.png", "--yes"]).ended(0);
    let after = similar(&world, "photos/20.png --by appearance -k 39");
    assert!(!names(&after).contains(&"almost.png".into()) && after["indexed"] == false, "{after}");
}

#[test]
fn kinds_of_indexes_are_compared_on_a_librarys_own_images() {
    let world = World::new();
    write_waves(&world, 810);
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    let told = similar(&world, "photos/20.png --by appearance -k 3 --partitions");
    let partitions = told["partitions"].as_array().unwrap();
    let trees: Vec<&str> = partitions.iter().map(|one| one["tree"].as_str().unwrap()).collect();
    assert_eq!(trees, ["kmeans", "pca", "kd", "rp", "forest"]);
    for one in partitions {
        let ways: Vec<(f64, f64)> = one["curve"]
            .as_array()
            .unwrap()
            .iter()
            .map(|way| (way["recall"].as_f64().unwrap(), way["candidates"].as_f64().unwrap()))
            .collect();
        assert!(ways.iter().map(|way| way.0).is_sorted() && ways.iter().all(|way| way.1 <= 648.0), "{one}");
        assert!(ways.last().unwrap().0 > 0.9, "{one}");
    }
    assert_eq!(similar(&world, "photos/20.png --by appearance -k 3 --partitions")["partitions"], told["partitions"], "the same once more");
    assert_eq!(told["partitions_of"], serde_json::json!({"by": "appearance", "images": 648, "asked": 162, "k": 10}));
    assert!(partitions[0]["curve"][0]["candidates"].as_f64() < Some(500.0), "cells choose among the images: {}", partitions[0]);
    let said = world.run(["similar", "lib.tessera", "photos/20.png", "--by", "appearance", "--partitions"]).ended(0).stdout;
    assert!(said.contains("asked by 162 others") && said.contains("trees, principal directions"), "{said}");
    let few = self::world();
    few.run(["similar", "lib.tessera", "photos/20.png", "--by", "appearance", "--partitions"]).ended(65).complains("800 images or more");
}

#[test]
fn wrong_questions_are_refused_in_words() {
    let world = world();
    world.run(["similar", "lib.tessera", "nothing.png"]).ended(65).complains("an image of this library or a picture file");
    world.run(["similar", "lib.tessera", "#1", "--recall", "0"]).ended(2).complains("above 0");
    world.run(["similar", "lib.tessera", "#1", "--by", "smell"]).ended(2).complains("appearance, edges, colours, network");
    world.run(["train", "lib.tessera", "--learned-features", "off"]).ended(0);
    world.run(["similar", "lib.tessera", "#1", "--by", "network"]).ended(2).complains("learned features");
}
