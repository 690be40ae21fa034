//! `tessera duplicates`: copies of every kind in one group, others in none, and nothing is changed.

use std::fs;

use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage, imageops};
use serde_json::Value;

use crate::world::World;

/// A picture of rings around a few places, others for each seed.
fn rings(seed: u32) -> RgbImage {
    let place = |n: u32, of: u32| ((seed * 37 + n * 53 + 11) * (n + 3) * 29 % of) as f32;
    let places: Vec<(f32, f32)> = (0..5).map(|n| (place(n, 120), place(n + 7, 90))).collect();
    RgbImage::from_fn(120, 90, |x, y| {
        let far = |(cx, cy): &(f32, f32)| ((x as f32 - cx).powi(2) + (y as f32 - cy).powi(2)).sqrt();
        let light = |n: usize| (127.0 + 60.0 * (far(&places[n]) / 9.0).sin() + 60.0 * (far(&places[n + 2]) / 23.0).cos()) as u8;
        Rgb([light(0), light(1), light(2)])
    })
}

/// A world with a photo, seven copies of it, four other photos, and three pictures of nothing.
fn world() -> World {
    let world = World::new();
    let folder = world.at("photos");
    fs::create_dir_all(&folder).unwrap();
    let photo = rings(1);
    let named = [
        ("photo.bmp", photo.clone()),
        ("again.png", photo.clone()),
        ("turned.png", imageops::rotate90(&photo)),
        ("mirrored.png", imageops::flip_horizontal(&photo)),
        ("cropped.png", imageops::crop_imm(&photo, 12, 0, 108, 90).to_image()),
        ("small.png", imageops::resize(&photo, 60, 45, imageops::FilterType::Triangle)),
        ("other-2.png", rings(2)),
        ("other-3.png", rings(3)),
        ("other-4.png", rings(4)),
        ("white.png", RgbImage::from_pixel(40, 40, Rgb([255; 3]))),
        ("black.png", RgbImage::from_pixel(50, 40, Rgb([0; 3]))),
        ("sky.png", RgbImage::from_fn(60, 60, |_, y| Rgb([(y * 3) as u8; 3]))),
    ];
    for (name, picture) in named {
        picture.save(folder.join(name)).unwrap();
    }
    let jpeg = fs::File::create(folder.join("poor.jpg")).unwrap();
    JpegEncoder::new_with_quality(jpeg, 30).encode_image(&photo).unwrap();
    fs::copy(folder.join("photo.bmp"), folder.join("the-same.bmp")).unwrap();
    world.run(["import", "lib.tessera", "photos", "--labels", "none"]).ended(0);
    world
}

#[test]
fn what_is_said_to_be_no_copy_is_not_found_again() {
    let world = world();
    let pairs = |world: &World| world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object()["pairs"].as_u64().unwrap();
    let before = pairs(&world);
    let said = ["duplicates", "lib.tessera", "--not-copies", "photos/photo.bmp", "photos/turned.png"];
    world.run(said).ended(0);
    assert!(pairs(&world) < before);
    let again = world.run([&said[..], &["--json"]].concat()).ended(0).object();
    assert_eq!(again["event"], serde_json::Value::Null, "it is so already: {again}");
    let files = world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object();
    let first = told(&files["groups"][0]);
    assert!(first[0].0 == "photo.bmp" && first.iter().all(|(name, _)| name != "turned.png"), "{files}");
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(pairs(&world), before);
    world.run(["redo", "lib.tessera"]).ended(0);
    world.run(["duplicates", "lib.tessera", "--maybe-copies", "photos/turned.png", "photos/photo.bmp"]).ended(0);
    assert_eq!(pairs(&world), before);
    world.run(["duplicates", "lib.tessera", "--not-copies", "#1", "#1"]).ended(65).complains("two different images");
    // The one is forgotten: nothing of what was said about both is left.
    world.run(said).ended(0);
    world.run(["forget", "lib.tessera", "photos/turned.png", "--yes"]).ended(0);
    world.run(["check", "lib.tessera"]).ended(0);
    let journal = fs::read_to_string(world.at("lib.tessera/journal.jsonl")).unwrap();
    assert!(!journal.contains("NotCopy") && !journal.contains("no copies"), "{journal}");
}

/// The last part of the path of each file of a group, with what was done to make it.
fn told(group: &Value) -> Vec<(String, String)> {
    let file = |file: &Value| {
        let name = file["path"].as_str().unwrap().rsplit(['/', '\\']).next().unwrap().to_owned();
        (name, file["transform"].as_str().unwrap().to_owned())
    };
    group.as_array().unwrap().iter().map(file).collect()
}

#[test]
fn copies_of_every_kind_are_one_group_and_nothing_is_changed() {
    let world = world();
    let head = world.run(["check", "lib.tessera", "--json"]).ended(0).object()["head"].clone();
    let found = world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object();
    let groups = found["groups"].as_array().unwrap();
    assert_eq!((groups.len(), found["found"].as_u64(), found["files"].as_u64()), (1, Some(1), Some(8)), "{found}");
    assert_eq!((found["images"].as_u64(), found["flat"].as_u64(), found["unread"].as_u64()), (Some(13), Some(3), Some(0)), "{found}");
    // Seven images are near each other, and one of them lies in two files.
    assert!(found["pairs"].as_u64() >= Some(7), "{found}");
    let mut files = told(&groups[0]);
    assert_eq!(files[0], ("photo.bmp".into(), "identical".into()), "{found}");
    files.sort();
    let expected = [
        ("again.png", "same pixels"),
        ("cropped.png", "cropped"),
        ("mirrored.png", "mirrored"),
        ("photo.bmp", "identical"),
        ("poor.jpg", "recompressed"),
        ("small.png", "resized"),
        ("the-same.bmp", "identical"),
        ("turned.png", "rotated 90"),
    ];
    assert_eq!(files, expected.map(|(name, what)| (name.to_owned(), what.to_owned())), "{found}");
    let distances: Vec<f64> = groups[0].as_array().unwrap().iter().map(|file| file["distance"].as_f64().unwrap()).collect();
    assert!(distances.is_sorted() && distances[0] == 0.0 && distances[7] <= 2.0, "{distances:?}");
    assert_eq!(world.run(["check", "lib.tessera", "--json"]).ended(0).object()["head"], head);
    // The same from a new cache, and on one thread.
    fs::remove_file(world.at("lib.tessera/cache.db")).unwrap();
    assert_eq!(world.run(["duplicates", "lib.tessera", "--json", "--threads", "1"]).ended(0).object(), found);
    let words = world.run(["duplicates", "lib.tessera"]).ended(0).stdout;
    assert!(words.starts_with("1 group of 8 files\n") && words.contains("photo.bmp  120 x 90"), "{words}");
}

#[test]
fn the_distance_is_a_word_or_a_number() {
    let world = world();
    let files = |distance: &str| {
        let found = world.run(["duplicates", "lib.tessera", "--distance", distance, "--json"]).ended(0).object();
        found["files"].as_u64().unwrap()
    };
    assert_eq!((files("identical"), files("near"), files("2")), (3, 8, 8));
    assert_eq!(files("0"), 3);
    assert!(files("similar") >= 8);
    for wrong in ["far", "-1", "101", "NaN"] {
        world.run(["duplicates", "lib.tessera", &format!("--distance={wrong}")]).ended(2).complains("identical, near, similar");
    }
    world.run(["duplicates", "lib.tessera", "-k", "0"]).ended(2);
    world.run(["duplicates", "nothing.tessera"]).ended(65);
}

#[test]
fn a_clean_up_is_one_act_that_one_undo_takes_back() {
    let world = world();
    let found = || world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object();
    let before = found();
    let group = before["groups"][0].as_array().unwrap();
    let others: Vec<String> =
        group.iter().filter(|file| file["image"] != group[0]["image"]).map(|file| format!("#{}", file["image"])).collect();
    assert_eq!(others.len(), 6);
    world.run(["remove", "lib.tessera"].into_iter().map(str::to_owned).chain(others)).ended(0);
    // Two files of the same bytes are left.
    assert_eq!(found()["files"], 2);
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(found(), before);
    // The one that is kept takes over what was said of its copies.
    let copy = format!("#{}", group.iter().find(|file| file["image"] != group[0]["image"]).unwrap()["image"]);
    world.run(["caption", "lib.tessera", &copy, "a boat"]).ended(0);
    let words = world.run(["duplicates", "lib.tessera", "--keep-best"]).ended(0).stdout;
    assert!(words.contains("Removed 6 images, 1 caption taken over"), "{words}");
    let found = world.run(["search", "lib.tessera", "boat", "--json"]).ended(0).object();
    assert_eq!(found["hits"][0]["image"], group[0]["image"], "{found}");
}

#[test]
fn an_image_without_a_file_is_still_compared_and_an_empty_library_has_no_copies() {
    let world = world();
    fs::remove_file(world.at("photos/poor.jpg")).unwrap();
    let found = world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object();
    assert_eq!((found["files"].as_u64(), found["unread"].as_u64()), (Some(8), Some(0)), "{found}");
    fs::create_dir(world.at("empty")).unwrap();
    world.picture("one/a.png", 0, 1, 0);
    world.run(["import", "one.tessera", "one"]).ended(0);
    let words = world.run(["duplicates", "one.tessera"]).ended(0).stdout;
    assert!(words.starts_with("No copies among 1 image"), "{words}");
}

/// The names of the files in the bin of a world.
fn in_bin(world: &World) -> Vec<String> {
    let there = fs::read_dir(world.at("home/Trash/files")).into_iter().flatten();
    let mut names: Vec<String> = there.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
#[cfg(target_os = "linux")]
fn files_of_copies_go_to_the_bin_and_come_back_with_an_undo() {
    let world = world();
    let before = world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object();
    // What changed since it was looked at is not the copy that was removed.
    fs::write(world.at("photos/small.png"), b"another text").unwrap();
    let cleared = world.run(["duplicates", "lib.tessera", "--keep-best", "--to-bin", "--json"]).ended(1);
    let answer = cleared.object();
    assert_eq!(in_bin(&world), ["again.png", "cropped.png", "mirrored.png", "poor.jpg", "turned.png"]);
    assert_eq!(answer["binned"].as_array().unwrap().len(), 5, "{answer}");
    let left = &answer["left"][0];
    assert!(
        left["path"].as_str().unwrap().ends_with("small.png") && left["reason"].as_str().unwrap().contains("does not hold"),
        "{answer}"
    );
    assert!(cleared.stderr.contains("small.png"), "{}", cleared.stderr);
    assert!(world.at("photos/photo.bmp").is_file() && world.at("photos/small.png").is_file());
    assert_eq!(world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object()["files"], 2, "two files of the same bytes");
    // One is not in the bin any more, and one has another file in its place.
    fs::rename(world.at("home/Trash/files/again.png"), world.at("again.png")).unwrap();
    fs::remove_file(world.at("home/Trash/info/again.png.trashinfo")).unwrap();
    fs::write(world.at("photos/turned.png"), b"in the way").unwrap();
    let undone = world.run(["undo", "lib.tessera", "--json"]).ended(1);
    let answer = undone.object();
    assert!(answer["words"].as_str().unwrap().contains("Removed 6 images"), "{answer}");
    assert_eq!(answer["put_back"].as_array().unwrap().len(), 3, "{answer}");
    assert_eq!(in_bin(&world), ["turned.png"]);
    let left: Vec<&str> = answer["left"].as_array().unwrap().iter().map(|left| left["reason"].as_str().unwrap()).collect();
    assert_eq!(left.len(), 2, "not of the file that never went there: {answer}");
    assert!(left.contains(&"it is not in the bin any more") && left.contains(&"another file lies there"), "{answer}");
    assert!(undone.stderr.contains("again.png") && undone.stderr.contains("turned.png"), "{}", undone.stderr);
    assert_eq!(fs::read(world.at("photos/turned.png")).unwrap(), b"in the way");
    fs::rename(world.at("again.png"), world.at("photos/again.png")).unwrap();
    fs::rename(world.at("home/Trash/files/turned.png"), world.at("photos/turned.png")).unwrap();
    fs::remove_dir_all(world.at("home/Trash")).unwrap();
    assert_eq!(world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object()["groups"], before["groups"]);
    let again = world.run(["redo", "lib.tessera"]).ended(0).stdout;
    assert!(again.contains("no file is moved") && in_bin(&world).is_empty(), "{again}");
    world.run(["undo", "lib.tessera"]).ended(0);
    world.run(["remove", "lib.tessera", "photos/poor.jpg", "--to-bin"]).ended(0);
    assert_eq!(in_bin(&world), ["poor.jpg"]);
    let undone = world.run(["undo", "lib.tessera"]).ended(0).stdout;
    assert!(undone.contains("1 file put back from the bin") && world.at("photos/poor.jpg").is_file(), "{undone}");
    world.run(["remove", "lib.tessera", "photos/poor.jpg", "--to-bin"]).ended(0);
    // The files of images that were removed before go too, but not of a library that is only read.
    world.run(["remove", "lib.tessera", "photos/turned.png"]).ended(0);
    world.run(["remove", "lib.tessera", "photos/turned.png", "--to-bin", "--read-only"]).ended(74);
    assert_eq!(in_bin(&world), ["poor.jpg"]);
    let said = world.run(["remove", "lib.tessera", "photos/turned.png", "--to-bin"]).ended(0).stdout;
    assert!(said.contains("1 file moved there") && in_bin(&world) == ["poor.jpg", "turned.png"], "{said}");
    world.run(["duplicates", "lib.tessera", "--keep-best", "-k", "1"]).ended(2);
    world.run(["check", "lib.tessera"]).ended(0);
}

#[test]
#[cfg(target_os = "linux")]
fn of_several_files_from_one_place_the_bin_gives_back_that_of_the_image() {
    let world = world();
    let place = world.at("photos/other-2.png");
    let first = fs::read(&place).unwrap();
    world.run(["remove", "lib.tessera", "photos/other-2.png", "--to-bin"]).ended(0);
    rings(9).save(&place).unwrap();
    let second = fs::read(&place).unwrap();
    assert_ne!(first.len(), second.len());
    world.run(["import", "lib.tessera", "photos"]).ended(0);
    world.run(["remove", "lib.tessera", "photos/other-2.png", "--to-bin"]).ended(0);
    world.run(["undo", "lib.tessera"]).ended(0);
    assert_eq!(fs::read(&place).unwrap(), second);
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_stays_where_no_bin_takes_it_or_nothing_is_kept() {
    let world = world();
    // The bin's folder cannot be made below a file.
    fs::remove_dir_all(world.at("home")).ok();
    world.file("home", b"");
    let said = world.run(["remove", "lib.tessera", "photos/poor.jpg", "--to-bin"]).ended(1);
    assert!(said.stderr.contains("no bin that takes it") && world.at("photos/poor.jpg").is_file(), "{}", said.stderr);
    world.run(["undo", "lib.tessera"]).ended(0);
    fs::remove_file(world.at("home")).unwrap();
    let count = || world.run(["duplicates", "lib.tessera", "--json"]).ended(0).object()["files"].clone();
    let before = count();
    fs::remove_file(world.at("photos/photo.bmp")).unwrap();
    fs::remove_file(world.at("photos/the-same.bmp")).unwrap();
    let said = world.run(["duplicates", "lib.tessera", "--keep-best", "--to-bin"]).ended(1);
    assert!(said.stderr.contains("would be kept") && in_bin(&world).is_empty(), "{}", said.stderr);
    assert_eq!(count(), before);
    world.run(["duplicates", "lib.tessera", "--keep-best"]).ended(0);
    assert!(world.at("photos/poor.jpg").is_file());
    world.run(["duplicates", "lib.tessera", "--to-bin"]).ended(2);
}

#[test]
fn copies_that_may_be_other_views_of_one_object_are_told() {
    let world = World::new();
    for (place, picture) in [
        ("pear/one/a.png", rings(1)),
        ("pear/one/b.png", imageops::flip_horizontal(&rings(1))),
        ("pear/two/c.png", rings(2)),
        ("apple/three/d.png", imageops::flip_horizontal(&rings(2))),
    ] {
        let file = world.at("set").join(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        picture.save(file).unwrap();
    }
    world.run(["import", "lib.tessera", "set"]).ended(0);
    let ran = world.run(["duplicates", "lib.tessera", "--json"]).ended(0);
    let found = ran.object();
    assert_eq!((&found["found"], &found["views"]), (&2.into(), &1.into()), "{found}");
    assert!(ran.stderr.contains("1 image of these may be other views of one object"), "{}", ran.stderr);
}
