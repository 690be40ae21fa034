//! Vectors that the user brings: read in each form, compared by `similar` and `search`, kept with
//! the labels, taken back, and purged by `forget`.

use std::fs;

use image::{Rgb, RgbImage};
use serde_json::Value;

use crate::world::World;

/// A library of five images, and no vectors yet.
fn world() -> World {
    let world = World::new();
    fs::create_dir_all(world.at("photos/more")).unwrap();
    for (n, name) in ["a.png", "b.png", "c.png", "more/d.png", "more/e.png"].into_iter().enumerate() {
        RgbImage::from_fn(40, 40, |x, y| Rgb([(x * 5) as u8, (y * (n as u32 + 1)) as u8, (n * 50) as u8]))
            .save(world.at("photos").join(name))
            .unwrap();
    }
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    world
}

const CSV: &str = "path,x,y,z\na.png,1,0,0\nb.png,0.9,0.1,0\nc.png,0,1,0\nd.png,0,0.1,1\nmore/e.png,-1,0,0\n";

fn names(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["path"].as_str().unwrap().rsplit(['/', '\\']).next().unwrap().to_owned()).collect()
}

fn bring(world: &World, file: &str) -> Value {
    world.run(["import", "lib.tessera", "photos", "--labels", "none", "--vectors", file, "--json"]).ended(0).object()["vectors"].clone()
}

fn similar(world: &World, image: &str, set: &str) -> Value {
    world.run(["similar", "lib.tessera", image, "--by", set, "--json"]).ended(0).object()
}

/// A file of tensors of f32.
fn tensors(parts: &[(&str, &[usize], &[f32])], names: Option<&str>) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    if let Some(names) = names {
        header.insert("__metadata__".into(), serde_json::json!({"names": names}));
    }
    let mut bytes: Vec<u8> = Vec::new();
    for (name, shape, values) in parts {
        let begin = bytes.len();
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header.insert((*name).into(), serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [begin, bytes.len()]}));
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], &header, &bytes].concat()
}

#[test]
fn every_form_of_file_is_read_and_compared() {
    let world = world();
    world.file("mine.csv", CSV.as_bytes());
    let read = bring(&world, "mine.csv");
    assert_eq!((&read["name"], &read["values"], &read["matched"], &read["changed"]), (&"mine".into(), &3.into(), &5.into(), &5.into()));
    let found = similar(&world, "photos/a.png", "mine");
    assert_eq!(names(&found), ["b.png", "c.png", "d.png", "e.png"], "{found}");
    let distances: Vec<f64> = found["hits"].as_array().unwrap().iter().map(|hit| hit["distance"].as_f64().unwrap()).collect();
    let expected = [1.0 - 0.9 / 0.82f64.sqrt(), 1.0, 1.0, 2.0];
    assert!(distances.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4), "{distances:?}");
    assert_eq!(bring(&world, "mine.csv")["changed"], 0, "they are there already");

    // The same vectors in other forms make the same answers.
    let values: Vec<f32> = vec![1.0, 0.0, 0.0, 0.9, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1, 1.0, -1.0, 0.0, 0.0];
    let all = ["a.png", "b.png", "c.png", "d.png", "e.png"];
    world.file("listed.safetensors", &tensors(&[("all", &[5, 3], &values)], Some(&serde_json::to_string(&all).unwrap())));
    let parts: Vec<(&str, &[usize], &[f32])> = all.iter().zip(values.chunks(3)).map(|(name, values)| (*name, &[3][..], values)).collect();
    world.file("each.safetensors", &tensors(&parts, None));
    let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3), }");
    let matrix =
        [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()];
    world.file("matrix.npy", &matrix.concat());
    world.file("matrix.txt", all.join("\n").as_bytes());
    for (file, set) in [("listed.safetensors", "listed"), ("each.safetensors", "each"), ("matrix.npy", "matrix")] {
        assert_eq!(bring(&world, file)["changed"], 5, "{file}");
        assert_eq!(similar(&world, "photos/a.png", set)["hits"], found["hits"], "{file}");
    }
    let sets = world.run(["vectors", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!(sets["sets"].as_array().unwrap().len(), 4, "{sets}");
    assert_eq!(sets["sets"][3], serde_json::json!({"name": "mine", "images": 5, "values": 3}));

    // With words and filters, too.
    world.run(["caption", "lib.tessera", "photos/more/e.png", "a dark shore"]).ended(0);
    let searched = ["search", "lib.tessera", "shore", "--like", "photos/a.png", "--look", "mine", "--json"];
    assert_eq!(names(&world.run(searched).ended(0).object()), ["e.png"]);
    let filtered = ["similar", "lib.tessera", "photos/a.png", "--by", "mine", "--folder", "photos/more", "--json"];
    assert_eq!(names(&world.run(filtered).ended(0).object()), ["d.png", "e.png"]);
    let indexed = ["similar", "lib.tessera", "photos/a.png", "--by", "mine", "-k", "3", "--recall", "0.1", "--curve", "--json"];
    let indexed = world.run(indexed).ended(0).object();
    assert_eq!((&names(&indexed)[..], &indexed["indexed"]), (&names(&found)[..3], &true.into()));
    // An index follows a vector that is brought anew.
    world.file("mine.csv", CSV.replace("b.png,0.9,0.1,0", "b.png,-0.9,0.1,0").as_bytes());
    assert_eq!(bring(&world, "mine.csv")["changed"], 1);
    assert_eq!(names(&similar(&world, "photos/a.png", "mine")), ["c.png", "d.png", "b.png", "e.png"]);
}

#[test]
fn they_are_kept_taken_back_and_purged() {
    let world = world();
    world.file("mine.csv", CSV.as_bytes());
    bring(&world, "mine.csv");
    let found = names(&similar(&world, "photos/a.png", "mine"));
    world.run(["undo", "lib.tessera"]).ended(0);
    world.run(["similar", "lib.tessera", "photos/a.png", "--by", "mine"]).ended(2).complains("mine");
    world.run(["redo", "lib.tessera"]).ended(0);
    // A lost database is made again with them, and a lost cache does not matter.
    fs::remove_file(world.at("lib.tessera/library.db")).unwrap();
    let _ = fs::remove_file(world.at("lib.tessera/cache.db"));
    world.run(["check", "lib.tessera", "--repair"]).ended(0);
    assert_eq!(names(&similar(&world, "photos/a.png", "mine")), found);
    world.run(["vectors", "lib.tessera", "--drop", "mine"]).ended(0);
    world.run(["vectors", "lib.tessera", "--drop", "mine"]).ended(65).complains("none was brought");
    world.run(["undo", "lib.tessera"]).ended(0);
    // The steps of 0.9 and 0.1 are in no file once their image is forgotten.
    let is_there = |world: &World| {
        let needle = "/385DgAA";
        fs::read_to_string(world.at("lib.tessera/journal.jsonl")).unwrap().contains(needle)
    };
    assert!(is_there(&world));
    world.run(["forget", "lib.tessera", "photos/b.png", "--yes"]).ended(0);
    assert!(!is_there(&world));
    assert_eq!(names(&similar(&world, "photos/a.png", "mine")), ["c.png", "d.png", "e.png"]);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
fn what_cannot_be_used_is_said_and_the_rest_is_taken_in() {
    let world = world();
    let lines = "a.png,1,0\nb.png,1\nc.png,nan,1\nd.png,0,0\na.png,1,1\nnobody.png,1,1\ne.png,x,1\n,1,1\nc.png,0,1\n";
    world.file("bad.csv", lines.as_bytes());
    let import = |file: &str| world.run(["import", "lib.tessera", "photos", "--labels", "none", "--vectors", file, "--json"]);
    let ran = import("bad.csv").ended(1).complains("line 2: expected 2 values, as the first row has, found 1");
    let read = ran.object()["vectors"].clone();
    assert_eq!((&read["bad"], &read["matched"], &read["unmatched"]), (&6.into(), &2.into(), &1.into()), "{read}");
    world.file("nobody.csv", b"x.png,1,0\n");
    import("nobody.csv").ended(1).complains("none of its paths");
    world.file("none.csv", b"path,caption\na.png,a cat\n");
    import("none.csv").ended(65).complains("no row that can be used");
    world.file("short.csv", b"a.png,1,2,3\n");
    import("short.csv").ended(0);
    world.file("short.csv", b"b.png,1,2\n");
    import("short.csv").ended(65).complains("as many values as the set has; drop it first");
    world.file("edges.csv", b"a.png,1\n");
    import("edges.csv").ended(2).complains("built-in");
    // Rows of one file name: the path that has more in common with the image's counts.
    world.file("same.csv", b"other/d.png,1,0\nmore/d.png,0,1\nelse/d.png,1,1\nother/e.png,1,0\nelse/e.png,0,1\n");
    let same = import("same.csv").ended(0).object()["vectors"].clone();
    assert_eq!((&same["matched"], &same["unmatched"], &same["ambiguous"]), (&1.into(), &2.into(), &2.into()), "{same}");
    let arguments = ["import", "lib.tessera", "photos", "--labels", "none", "--vectors", "same.csv", "--report", "report.jsonl"];
    world.run(arguments).ended(0);
    let report = fs::read_to_string(world.at("report.jsonl")).unwrap();
    let rows: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<&str> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["other/d.png", "else/d.png", "other/e.png", "else/e.png"], "{report}");
    assert!(rows.iter().all(|row| row["reason"] == "vectors"), "{report}");
    world.file("few.npy", b"\x93NUMPY junk");
    world.file("few.txt", b"a.png\n");
    import("few.npy").ended(65).complains("npy");
    world.run(["similar", "lib.tessera", "photos/b.png", "--by", "bad"]).ended(65).complains("an image with a vector `bad`");
    world.run(["similar", "lib.tessera", "photos/a.png", "--by", "bad", "--crop", "0,0,30,30"]).ended(65).complains("as a whole");
}
