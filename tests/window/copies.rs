//! The page of copies: counted first, compared, cleaned up by keys, and taken back by one undo.

use std::path::Path;

use egui::Key;
use egui_kittest::kittest::Queryable as _;
use image::{Rgb, RgbImage, imageops};
use tessera::command::Command;
use tessera_core::ids::ItemId;

use crate::world::World;

/// A picture of squares of any light, others for each seed.
fn squares(seed: u32) -> RgbImage {
    let mix = |n: u32| n.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(0x9e37_79b9) >> 24;
    let light = |x: u32, y: u32| mix(seed * 9973 + x / 16 * 131 + y / 16 * 7919) as u8;
    RgbImage::from_fn(128, 96, |x, y| Rgb([light(x, y), light(x + 160, y), light(x, y + 160)]))
}

fn groups(world: &World) -> Vec<Vec<ItemId>> {
    let groups = world.app().desk().near_copies().groups();
    groups.iter().map(|group| group.images.iter().map(|copy| copy.image).collect()).collect()
}

/// The page with the copies in a folder, so many groups.
fn found_in(images: &Path, groups: usize) -> World {
    let mut world = World::on(images);
    world.ctrl(Key::Num7);
    world.step();
    world.click("Find copies");
    world.until("they are found", |app| app.desk().near_copies().groups().len() == groups);
    world.rest();
    world
}

#[test]
fn copies_are_counted_compared_and_removed_by_keys_and_one_undo_takes_that_back() {
    let images = tempfile::tempdir().unwrap();
    for seed in 0..4 {
        squares(seed).save(images.path().join(format!("photo-{seed}.png"))).unwrap();
    }
    for (seed, turned) in [(1, imageops::rotate90(&squares(1))), (2, imageops::flip_horizontal(&squares(2)))] {
        turned.save(images.path().join(format!("copy-{seed}.png"))).unwrap();
    }
    squares(2).save(images.path().join("again-2.bmp")).unwrap();
    let mut world = World::on(images.path());
    world.ctrl(Key::Num7);
    world.step();
    assert!(world.shows("Copies in this library"));
    world.click("Find copies");
    world.until("they are found", |app| app.desk().near_copies().distance().is_some());
    world.rest();
    assert!(world.shows("2 groups of 5 files") && world.shows("Remove 3 images and keep the best of each group"));
    let found = groups(&world);
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2]);
    // Mirrored squares are mirrored to the last bit.
    assert!(world.shows("again-2.bmp") && world.shows("mirrored, distance 0.0"));
    // The other copy of the first group, then the second group and back.
    world.key(Key::ArrowRight);
    assert!(world.shows("same pixels, distance 0.0"));
    world.key(Key::ArrowDown);
    assert!(world.shows("rotated"));
    world.key(Key::ArrowUp);
    assert!(world.shows("mirrored, distance 0.0"));
    // The image at the right goes, then the rest of the group but its best.
    world.key(Key::Delete);
    world.until("one is removed", |app| app.desk().near_copies().groups()[0].images.len() == 2);
    assert_eq!(groups(&world)[0].first(), found[0].first());
    world.ctrl(Key::Z);
    world.until("it is back", |app| app.desk().near_copies().groups()[0].images.len() == 3);
    world.key(Key::N);
    world.until("two are said to be no copies", |app| app.desk().near_copies().groups().iter().all(|group| group.images.len() == 2));
    assert!(world.state().are_no_copies(found[0][0], found[0][1]));
    world.ctrl(Key::Z);
    world.until("that is taken back", |app| app.desk().near_copies().groups()[0].images.len() == 3);
    world.key(Key::Enter);
    world.until("one group is left", |app| app.desk().near_copies().groups().len() == 1);
    assert_eq!(groups(&world), found[1..]);
    world.ctrl(Key::Z);
    world.until("the group is back", |app| app.desk().near_copies().groups().len() == 2);
    world.click("Remove 3 images and keep the best of each group");
    world.step();
    // Of one group something was mirrored, of the other rotated: none is surely the same picture.
    assert!(world.shows("Remove 3 images of 2 groups?") && world.shows("2 groups: rotated, mirrored or cropped"));
    assert!(world.shows("All files stay where they are") && !world.shows("Remove only the same pictures"));
    assert_eq!(world.state().images().count(), 7);
    world.click("Remove 3 images");
    world.until("none is left", |app| app.desk().near_copies().groups().is_empty());
    assert_eq!(world.state().images().count(), 4);
    assert!(world.shows("No copies"));
    world.ctrl(Key::Z);
    world.until("all are back", |app| app.desk().state().unwrap().images().count() == 7);
    assert_eq!(groups(&world), found);
}

#[test]
fn files_of_copies_go_to_the_bin_where_that_is_ticked() {
    let images = tempfile::tempdir().unwrap();
    let at = |name: &str| images.path().join(name);
    for (name, picture) in [("photo", squares(0)), ("other", squares(1)), ("one-stays", squares(2))] {
        picture.save(at(&format!("{name}.png"))).unwrap();
    }
    imageops::rotate90(&squares(1)).save(at("turned.png")).unwrap();
    imageops::flip_horizontal(&squares(2)).save(at("other-stays.png")).unwrap();
    let mut world = found_in(images.path(), 2);
    // The turned copy laid on the picture differs nowhere.
    world.key(Key::D);
    world.until("the difference is drawn", |app| {
        let pair = &app.desk().near_copies().groups()[0].images;
        app.desk().near_copies().difference(pair[0].image, pair[1].image).is_some()
    });
    world.rest();
    assert!(world.shows("differences, four times as large: 0.0 of 255 on average, 0 at most"));
    world.key(Key::D);
    world.click("Files to the bin");
    world.key(Key::Delete);
    world.step();
    assert!(world.shows("Move 1 file of 1 image to the bin?"));
    world.key(Key::Escape);
    world.step();
    world.click("Remove 2 images and keep the best of each group");
    world.step();
    assert!(world.shows("Their files go to the bin of the system") && world.state().images().count() == 5);
    world.click("Remove 2 images");
    world.until("they are removed", |app| app.desk().near_copies().groups().is_empty());
    world.rest();
    let bin = world.folder.path().join("bin");
    let files = || bin.read_dir().unwrap().count();
    assert_eq!(files(), 1);
    assert!(at("one-stays.png").is_file() && at("other-stays.png").is_file());
    assert!(world.shows("1 file moved to the bin") && world.shows("this bin is full"));
    world.ctrl(Key::Z);
    world.until("both are back", |app| app.desk().state().unwrap().images().count() == 5);
    world.rest();
    assert!(world.shows("1 file put back from the bin"));
    assert_eq!(files(), 0);
    world.until("both groups are back", |app| app.desk().near_copies().groups().len() == 2);
    // Of a pair whose file is nowhere there is no copy.
    world.click("Remove 2 images and keep the best of each group");
    world.step();
    world.click("Remove 2 images");
    world.until("they are removed again", |app| app.desk().near_copies().groups().is_empty());
    world.rest();
    std::fs::remove_dir_all(&bin).unwrap();
    world.ctrl(Key::Z);
    world.until("both are back again", |app| app.desk().state().unwrap().images().count() == 5);
    world.rest();
    assert!(world.shows("0 files put back from the bin; 1 file not put back"));
    world.until("one group is left", |app| app.desk().near_copies().groups().len() == 1);
    assert!(world.shows("other-stays.png"));
}

#[test]
fn groups_that_are_surely_one_picture_are_removed_alone_and_nothing_goes_unasked() {
    let images = tempfile::tempdir().unwrap();
    let names = ["sea", "tree", "hand", "hero"];
    for (seed, name) in (0..).zip(names) {
        squares(seed).save(images.path().join(format!("{name}.png"))).unwrap();
    }
    for (seed, name) in [(0, "shore"), (3, "heroine")] {
        squares(seed).save(images.path().join(format!("{name}.bmp"))).unwrap();
    }
    let larger = imageops::resize(&squares(1), 256, 192, imageops::FilterType::Triangle);
    larger.save(images.path().join("oak.png")).unwrap();
    imageops::rotate180(&squares(2)).save(images.path().join("arm.png")).unwrap();
    let mut world = found_in(images.path(), 4);
    for (name, text) in [("hero.png", "a man"), ("heroine.bmp", "a woman"), ("sea.png", "the sea")] {
        let image = world.state().images().find(|image| image.file_name() == name).unwrap().id;
        let captions = vec![tessera_core::library::event::Caption { text: text.into(), by_user: false }];
        world.run(Command::Caption(image, captions));
        world.until("it has a caption", |app| !app.desk().state().unwrap().image(image).unwrap().captions.is_empty());
    }
    world.rest();
    let acts = world.state().history().len();
    let bulk = "Remove 4 images and keep the best of each group";
    world.click(bulk);
    world.step();
    for said in [
        "Remove 4 images of 4 groups?",
        "2 groups: the same pixels in another file",
        "1 group: recompressed or resized",
        "1 group: rotated, mirrored or cropped",
        "In 1 group captions or classes differ",
        "The same pictures are those of 2 groups",
        "Remove all 4 images",
    ] {
        assert!(world.shows(said), "{said}");
    }
    // Enter decides nothing, Escape and Cancel leave all as it was.
    world.key(Key::Enter);
    assert!(world.shows("Remove 4 images of 4 groups?"));
    world.key(Key::Escape);
    world.step();
    assert!(!world.shows("Remove 4 images of 4 groups?"));
    world.click(bulk);
    world.step();
    world.click("Cancel");
    world.rest();
    assert!(!world.shows("Remove 4 images of 4 groups?"));
    assert_eq!((world.state().images().count(), world.state().history().len()), (8, acts));
    world.click(bulk);
    world.step();
    world.click("Remove only the same pictures: 2 images");
    world.until("two groups are left", |app| app.desk().near_copies().groups().len() == 2);
    let mut left: Vec<String> = world.state().images().map(|image| image.file_name()).collect();
    left.sort();
    // A file of the larger bytes is the better one; one without captions takes them over.
    assert_eq!(left, ["arm.png", "hand.png", "hero.png", "heroine.bmp", "oak.png", "shore.bmp"]);
    let shore = world.state().images().find(|image| image.file_name() == "shore.bmp").unwrap();
    assert_eq!(shore.captions[0].text, "the sea");
    world.ctrl(Key::Z);
    world.until("all are back", |app| app.desk().near_copies().groups().len() == 4);
    world.click(bulk);
    world.step();
    world.click("Remove all 4 images");
    world.until("none is left", |app| app.desk().near_copies().groups().is_empty());
    assert_eq!(world.state().images().count(), 4);
}

#[test]
fn buttons_of_two_compared_images_fit_into_a_narrow_window() {
    let images = tempfile::tempdir().unwrap();
    squares(0).save(images.path().join("photo.png")).unwrap();
    imageops::flip_horizontal(&squares(0)).save(images.path().join("copy.png")).unwrap();
    let mut world = World::of_size([1024.0, 700.0], &[]);
    world.run(Command::Open(images.path().to_owned()));
    world.until("the images are there", |app| app.desk().state().is_some_and(|state| state.images().count() == 2));
    world.rest();
    world.ctrl(Key::Num7);
    world.step();
    world.click("Find copies");
    world.until("they are found", |app| app.desk().near_copies().groups().len() == 1);
    world.rest();
    let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1024.0, 700.0));
    for words in ["Keep this one", "Remove this one", "Not a copy", "Difference"] {
        let rect = world.harness.get_by_label(words).rect();
        assert!(window.contains_rect(rect), "{words} is at {rect:?}");
    }
    for button in world.harness.get_all_by_label("Show file") {
        assert!(window.contains_rect(button.rect()), "Show file is at {:?}", button.rect());
    }
}

#[test]
fn further_files_of_the_same_bytes_go_to_the_bin_at_once() {
    let images = tempfile::tempdir().unwrap();
    let at = |i: u32, copy: u32| images.path().join(format!("photo{i}-{copy}.png"));
    for i in 0..3 {
        squares(i).save(at(i, 0)).unwrap();
        for copy in 1..=i {
            std::fs::copy(at(i, 0), at(i, copy)).unwrap();
        }
    }
    let mut world = found_in(images.path(), 2);
    world.click("Move 3 further files of the same bytes to the bin");
    world.step();
    assert!(world.shows("Move 3 files to the bin?"));
    world.click("Move to the bin");
    world.until("no group is left", |app| app.desk().near_copies().groups().is_empty());
    world.rest();
    let left = |i: u32| (0..=i).filter(|copy| at(i, *copy).exists()).count();
    assert_eq!([left(0), left(1), left(2)], [1, 1, 1]);
    assert_eq!(world.state().images().count(), 3, "the images stay");
    assert!(world.shows("3 files moved to the bin"));
    // Ctrl+Z takes back what was done last, though it is no act of the library.
    let acts = world.state().history().len();
    world.ctrl(Key::Z);
    world.until("the groups are back", |app| app.desk().near_copies().groups().len() == 2);
    world.rest();
    assert_eq!([0, 1, 2].map(|i| (0..=i).filter(|copy| at(i, *copy).exists()).count()), [1, 2, 3]);
    assert_eq!(world.state().history().len(), acts);
    assert!(world.shows("3 files put back from the bin"));
    world.ctrl(Key::Z);
    world.rest();
    world.click("Undo the import");
    world.until("the act before is taken back", |app| app.desk().state().unwrap().history().len() < acts);
}

#[test]
fn a_folder_of_copies_alone_is_in_the_tree_and_each_image_counts_once_in_it() {
    let images = tempfile::tempdir().unwrap();
    let at = |name: &str| images.path().join(name);
    for folder in ["first", "again/inside"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    for i in 0..2 {
        squares(i).save(at(&format!("first/{i}.png"))).unwrap();
    }
    for copy in ["again/1.png", "again/one.png", "again/inside/1.png"] {
        std::fs::copy(at("first/1.png"), at(copy)).unwrap();
    }
    let mut world = World::on(images.path());
    world.step();
    let root = world.state().roots().next().unwrap().0;
    let census = |world: &mut World| world.harness.state_mut().view_mut().shown.census();
    let counts =
        |world: &mut World| ["", "first", "again", "again/inside"].map(|folder| census(world).folders.get(&(root, folder.into())).copied());
    assert_eq!(counts(&mut world), [Some(2), Some(2), Some(1), Some(1)]);
    // Where a file was before it was moved is no folder of its image.
    std::fs::remove_dir_all(at("again/inside")).unwrap();
    world.run(Command::Rescan);
    world.rest();
    assert_eq!(counts(&mut world), [Some(2), Some(2), Some(1), None]);
    assert_eq!(census(&mut world).missing, 0);
}

#[test]
fn files_that_went_to_the_bin_one_after_another_come_back_in_turn() {
    let images = tempfile::tempdir().unwrap();
    let at = |name: &str| images.path().join(name);
    for i in 0..2 {
        squares(i).save(at(&format!("{i}.png"))).unwrap();
        std::fs::copy(at(&format!("{i}.png")), at(&format!("{i}-copy.png"))).unwrap();
    }
    let mut world = found_in(images.path(), 2);
    for left in [1, 0] {
        world.click_containing("To the bin: ");
        world.step();
        world.click("Move to the bin");
        world.until("a group is gone", |app| app.desk().near_copies().groups().len() == left);
        world.rest();
    }
    let state = world.state().clone();
    assert_eq!(world.app().desk().near_copies().binned_since(&state), 2);
    let there =
        || (0..2).map(|i| [format!("{i}.png"), format!("{i}-copy.png")].iter().filter(|name| at(name).exists()).count()).sum::<usize>();
    for (files, groups) in [(3, 1), (4, 2)] {
        world.ctrl(Key::Z);
        world.until("a group is back", |app| app.desk().near_copies().groups().len() == groups);
        world.rest();
        assert_eq!(there(), files);
    }
    assert_eq!(world.state().history().len(), state.history().len());
}

#[test]
fn what_was_not_reached_when_it_was_put_back_is_asked_for_again_by_the_next_undo() {
    let images = tempfile::tempdir().unwrap();
    squares(0).save(images.path().join("photo.png")).unwrap();
    let copies = ["photo-copy.png", "photo-late.png"].map(|name| images.path().join(name));
    for copy in &copies {
        std::fs::copy(images.path().join("photo.png"), copy).unwrap();
    }
    let mut world = found_in(images.path(), 1);
    world.click("Move 2 further files of the same bytes to the bin");
    world.step();
    world.click("Move to the bin");
    world.until("no group is left", |app| app.desk().near_copies().groups().is_empty());
    world.rest();
    let there = || [&images.path().join("photo.png"), &copies[0], &copies[1]].iter().filter(|file| file.exists()).count();
    let acts = world.state().history().len();
    for files in [2, 3] {
        world.ctrl(Key::Z);
        world.until("the group is there again", |app| app.desk().near_copies().groups().len() == 1);
        world.rest();
        assert_eq!(there(), files);
        assert!(world.shows("1 file put back from the bin"));
        let state = world.state().clone();
        assert_eq!(world.app().desk().near_copies().undos_first(&state), usize::from(files == 2));
    }
    assert_eq!(world.state().history().len(), acts);
}

#[test]
fn one_of_two_files_of_the_same_bytes_goes_to_the_bin() {
    let images = tempfile::tempdir().unwrap();
    let at = |name: &str| images.path().join(name);
    squares(0).save(at("photo.png")).unwrap();
    std::fs::copy(at("photo.png"), at("same.png")).unwrap();
    let mut world = found_in(images.path(), 1);
    assert!(world.shows("One image in 2 files of the same bytes"));
    world.click_containing("To the bin: ");
    world.step();
    assert!(world.shows("has the same bytes and stays") && at("photo.png").exists() && at("same.png").exists());
    world.click("Move to the bin");
    world.until("no group is left", |app| app.desk().near_copies().groups().is_empty());
    world.rest();
    assert_eq!(at("photo.png").exists() as u8 + at("same.png").exists() as u8, 1);
    assert_eq!(world.state().images().count(), 1);
    assert_eq!(world.state().images().next().unwrap().places.iter().filter(|place| place.here).count(), 1);
    // The last one stays, whoever asks; a link to it is no other file.
    let (image, left) = world.state().images().map(|image| (image.id, world.state().path_of(image).unwrap())).next().unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&left, at("link.png")).unwrap();
        world.run(Command::Rescan);
        world.until("the link is known", |app| {
            app.desk().state().unwrap().image(image).unwrap().places.iter().filter(|place| place.here).count() == 2
        });
        world.rest();
    }
    world.run(Command::FilesToBin(vec![(image, left.clone())].into()));
    world.rest();
    assert!(left.exists() && world.app().desk().notices().log().iter().any(|notice| notice.words.contains("the only one that is left")));
}

#[test]
fn copies_that_may_be_other_views_of_one_object_are_told() {
    let images = tempfile::tempdir().unwrap();
    for (place, picture) in [
        ("pear/one/a.png", squares(1)),
        ("pear/one/b.png", imageops::flip_horizontal(&squares(1))),
        ("pear/two/c.png", squares(2)),
        ("apple/three/d.png", imageops::flip_horizontal(&squares(2))),
    ] {
        let file = images.path().join(place);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        picture.save(file).unwrap();
    }
    let mut world = found_in(images.path(), 2);
    assert!(world.shows("1 of them may be other views of one object"));
    // The distance by which the list was found is told.
    let copy = groups(&world)[0][1];
    let captions = vec![tessera_core::library::event::Caption { text: "a pear".into(), by_user: true }];
    world.run(Command::Caption(copy, captions));
    world.until("it has a caption", |app| !app.desk().state().unwrap().image(copy).unwrap().captions.is_empty());
    world.rest();
    world.click("Identical");
    assert!(world.shows("These were found at Near: press Find copies to find those at Identical"));
    world.click("Near");
    let first = world.app().desk().near_copies().groups()[0].views;
    assert_eq!(world.shows("; or another view of pear/one"), first == 1);
    world.key(Key::ArrowDown);
    assert_eq!(world.shows("; or another view of pear/one"), first == 0);
    // The caption of a copy that goes passes to the one that stays.
    let best = groups(&world)[0][0];
    world.click("Remove 2 images and keep the best of each group");
    world.step();
    assert!(world.shows("In 1 group images may be other views of one object"));
    world.click("Remove 2 images");
    world.until("none is left", |app| app.desk().near_copies().groups().is_empty());
    assert_eq!(world.state().image(best).unwrap().captions[0].text, "a pear");
}
