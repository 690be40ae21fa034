//! `tessera map`: every image has a place, those that are alike lie together, the same seed gives
//! the same map on any number of threads, and nothing else is written over.

use std::collections::BTreeMap;
use std::fs;

use image::imageops;
use serde_json::Value;

use crate::world::World;

/// A library of rings and squares.
fn world() -> World {
    let world = World::with_images();
    world.run(["import", "lib.tessera", "images", "--labels", "class-folders"]).ended(0);
    world
}

fn map(world: &World, arguments: &str) -> Value {
    let all = format!("map lib.tessera {arguments} --json");
    world.run(all.split(' ')).ended(0).object()
}

/// The rows of a table: class and place by path.
fn places(world: &World, name: &str) -> BTreeMap<String, (String, f64, f64)> {
    let text = fs::read_to_string(world.at(name)).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("id,path,x,y,class"));
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[1].to_owned(), (fields[4].to_owned(), fields[2].parse().unwrap(), fields[3].parse().unwrap()))
    };
    lines.map(row).collect()
}

#[test]
fn images_that_are_alike_lie_together() {
    let world = world();
    for layout in ["neighbours", "components"] {
        let said = map(&world, &format!("--to map.csv --by appearance --layout {layout}"));
        assert_eq!((&said["points"], &said["layout"], &said["by"]), (&24.into(), &layout.into(), &"appearance".into()), "{said}");
        assert!(said["trustworthiness"].as_f64().unwrap() > 0.7, "{said}");
        assert_eq!(said["rounds"].as_u64(), Some(if layout == "neighbours" { 750 } else { 0 }));
        let places = places(&world, "map.csv");
        assert_eq!(places.len(), 24);
        let mut own = 0;
        for (path, (class, x, y)) in &places {
            assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{path}: {x} {y}");
            let others = places.iter().filter(|(other, _)| *other != path);
            let near = others.min_by(|(_, a), (_, b)| {
                let far = |place: &(String, f64, f64)| (place.1 - x).powi(2) + (place.2 - y).powi(2);
                far(a).total_cmp(&far(b))
            });
            own += usize::from(near.unwrap().1.0 == *class);
        }
        assert!(own >= 20, "{own} of 24 lie next to one of their class");
    }
}

#[test]
fn a_seed_repeats_a_map_on_any_number_of_threads() {
    let world = world();
    let write = |name: &str, more: &str| {
        map(&world, format!("--to {name} --by appearance --rounds 60 {more}").trim_end());
        fs::read(world.at(name)).unwrap()
    };
    let one = write("one.csv", "--threads 1 --seed 5");
    assert_eq!(write("four.csv", "--threads 4 --seed 5"), one);
    assert_ne!(write("other.csv", "--seed 6"), one);
}

#[test]
fn colours_may_say_clusters() {
    let world = world();
    let said = world.run("map lib.tessera --to map.svg --rounds 5 --colour cluster".split(' ')).ended(0);
    assert!(said.stderr.contains("No clusters were found yet"), "{}", said.stderr);
    let found = world.run("cluster lib.tessera --by appearance --clusters 2 --json".split(' ')).ended(0).object();
    let legend = map(&world, "--to map.svg --rounds 5 --colour cluster")["legend"].clone();
    let sizes = |list: &Value, key: &str| list.as_array().unwrap().iter().map(|one| one[key].clone()).collect::<Vec<_>>();
    assert_eq!(sizes(&legend, "images"), sizes(&found["list"], "size"), "{legend} {found}");
    // A cluster that is called by a class has the colour of that class; no two have one.
    let name = format!("{}=disc", found["list"][1]["cluster"]);
    world.run(["cluster", "lib.tessera", "--name", &name]).ended(0);
    let by_class = map(&world, "--to map.svg --rounds 5")["legend"].clone();
    let disc = by_class.as_array().unwrap().iter().find(|entry| entry["name"] == "disc").unwrap()["colour"].clone();
    let legend = map(&world, "--to map.svg --rounds 5 --colour cluster")["legend"].clone();
    let of_disc = legend.as_array().unwrap().iter().filter(|entry| entry["colour"] == disc);
    assert_eq!(of_disc.map(|entry| entry["name"].clone()).collect::<Vec<_>>(), ["disc"], "{legend}");
}

#[test]
fn a_map_is_drawn_with_a_legend() {
    let world = world();
    let said = map(&world, "--to map.svg --rounds 20");
    let svg = fs::read_to_string(world.at("map.svg")).unwrap();
    assert_eq!(svg.matches("<circle").count(), 24);
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains(">disc (12)</text>") && svg.contains(">grid (12)</text>"));
    assert_eq!(said["legend"].as_array().unwrap().len(), 2, "{said}");
    assert_eq!((&said["legend"][0]["name"], &said["legend"][0]["images"]), (&"disc".into(), &12.into()));
    assert_ne!(said["legend"][0]["colour"], said["legend"][1]["colour"]);
    for more in ["", " --thumbnails"] {
        map(&world, &format!("--to map.png --rounds 20 --size 300{more}"));
        let picture = image::open(world.at("map.png")).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (520, 300), "beside the map stands its legend");
        assert!(picture.pixels().any(|pixel| pixel.0 != [255, 255, 255]));
        let legend = imageops::crop_imm(&picture, 300, 0, 220, 60).to_image();
        for entry in said["legend"].as_array().unwrap() {
            let [r, g, b] = [1, 3, 5].map(|at| u8::from_str_radix(&entry["colour"].as_str().unwrap()[at..at + 2], 16).unwrap());
            assert_eq!(legend.pixels().filter(|pixel| pixel.0 == [r, g, b]).count(), 144, "{entry}");
        }
        assert!(legend.pixels().any(|pixel| pixel.0 < [90; 3]), "names stand beside the colours");
    }
}

#[test]
fn colours_tell_of_dates_and_of_the_recogniser() {
    let world = world();
    let dates = map(&world, "--to map.svg --rounds 20 --colour date");
    assert!(dates["legend"].as_array().unwrap().iter().all(|entry| entry["name"].as_str().unwrap().starts_with("20")), "{dates}");
    let before = world.run(["map", "lib.tessera", "--to", "map.svg", "--rounds", "20", "--colour", "error", "--json"]).ended(0);
    assert_eq!(before.object()["legend"][0]["name"], "not judged");
    let before = before.complains("was not judged yet");
    drop(before);
    world.run(["train", "lib.tessera"]).ended(0);
    let errors = map(&world, "--to map.svg --rounds 20 --colour error");
    let judged = |name: &str| {
        errors["legend"].as_array().unwrap().iter().find(|entry| entry["name"] == name).map_or(0, |entry| entry["images"].as_u64().unwrap())
    };
    assert_eq!(judged("right") + judged("wrong"), 24, "{errors}");
    let scores = map(&world, "--to map.svg --rounds 20 --colour score");
    assert_eq!((&scores["legend"][0]["name"], &scores["legend"][4]["name"]), (&"0.00".into(), &"1.00".into()), "{scores}");
}

#[test]
fn what_cannot_be_written_or_laid_out_is_told_in_a_sentence() {
    let world = world();
    let refused = |arguments: &str, code: i32, words: &str| {
        world.run(format!("map {arguments}").split(' ')).ended(code).complains(words);
    };
    refused("lib.tessera --to map.gif", 2, "a name that ends in .svg, .png or .csv");
    refused("lib.tessera --to images.png/map.png", 65, "make the folder first");
    fs::create_dir(world.at("folder.svg")).unwrap();
    refused("lib.tessera --to folder.svg", 65, "the name of a file, found a folder");
    let image = "images/disc/disc_01_0_0_0_lt.png";
    let bytes = fs::read(world.at(image)).unwrap();
    refused(&format!("lib.tessera --to {image}"), 65, "an image of the library");
    assert_eq!(fs::read(world.at(image)).unwrap(), bytes);
    refused("lib.tessera --to map.svg --by nothing", 2, "`tessera vectors` lists");
    refused("lib.tessera --to map.svg --thumbnails", 2, ".png only");
    refused("lib.tessera --to map.svg --perplexity 0", 2, "1 to 200");
    refused("lib.tessera --to map.svg --rounds 0", 2, "1 to 100000");
    world.run(["import", "empty.tessera", "images/disc", "--labels", "none"]).ended(0);
    let images: Vec<String> = (1..=12).map(|id| format!("#{id}")).collect();
    world.run(["remove", "empty.tessera"].into_iter().chain(images.iter().map(String::as_str))).ended(0);
    refused("empty.tessera --to map.svg", 65, "import a folder of images first");
    assert!(!world.at("map.svg").exists());
    for n in 1..=3 {
        let world = World::new();
        for i in 0..n {
            world.picture(&format!("few/{i}.png"), 0, i, 0);
        }
        world.run(["import", "lib.tessera", "few"]).ended(0);
        assert_eq!(map(&world, "--to map.csv")["points"].as_u64(), Some(n.into()));
    }
}
