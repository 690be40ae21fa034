//! Import: which files are found and recognised, and what stays when files change, move and vanish.

use std::collections::BTreeSet;

use tessera_core::data::{Labels, Masks};
use tessera_core::library::import::{ImportRequest, import_file, plan};
use tessera_core::library::relocate::relocate;
use tessera_core::library::state::Root;

use super::*;

#[test]
fn a_mixed_folder_adds_up() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png", "beside.png", "cat/drafts/x.png"]);
    fs::copy(place.image("cat/1.png"), place.image("dog/copy.png")).unwrap();
    fs::write(place.image("dog/new.heic"), b"heic").unwrap();
    fs::write(place.image("dog/broken.jpg"), b"not a picture").unwrap();
    fs::write(place.image("cat/1.txt"), "a cat on a mat\n\nasleep\n").unwrap();
    let library = place.open();
    let options = ImportOptions { exclude: vec!["drafts".into()], ..ImportOptions::default() };
    let report = imported_with(&library, &place.images(), &options);
    assert_eq!((report.found, counts(&report)), (7, (4, 0, 1)), "{report:?}");
    assert_eq!((report.unsupported, report.failed.len()), (1, 1));
    assert!(report.failed[0].path.ends_with("broken.jpg") && !report.failed[0].reason.is_empty());
    let one = at(&library, "cat/1.png");
    assert_eq!((one.label(), one.places.len()), (Some("cat"), 2));
    assert_eq!(
        one.captions.iter().map(|c| (c.text.as_str(), c.by_user)).collect::<Vec<_>>(),
        [("a cat on a mat", false), ("asleep", false)]
    );
    assert_eq!(at(&library, "beside.png").label(), None);
    assert_eq!(hold(&library).recogniser().ckm().examples().count(), 3);
    assert!(hold(&library).words().knows("asleep"));
    assert_eq!(hold(&library).state().history().last().unwrap().words, format!("Imported 4 images from {}", place.images().display()));

    place.decoded();
    let again = imported_with(&library, &place.images(), &options);
    assert_eq!((again.found, counts(&again)), (7, (0, 5, 0)));
    assert_eq!(place.decoded(), 1, "only the broken one is tried again");
    taught_anew(&place, library);
}

#[test]
fn names_tell_objects_and_circumstances() {
    let place = Place::new(&["truck_07_3_12_4_lt.png", "truck_07_3_12_4_rt.png", "car_1_0_2_1_lt.png"]);
    let library = place.open();
    assert_eq!(place.import(&library).found, 2);
    let truck = at(&library, "truck_07_3_12_4_lt.png");
    assert_eq!((truck.label(), truck.folder.group.as_deref()), (Some("truck"), Some("truck/07")));
    assert_eq!((truck.folder.meta.elevation, truck.folder.meta.azimuth), (Some(3), Some(12)));
    drop(library);
    let library = place.open();
    assert_eq!(at(&library, "truck_07_3_12_4_lt.png").folder, truck.folder);
    assert_eq!(counts(&place.import(&library)), (0, 2, 0));
    fs::rename(place.image("truck_07_3_12_4_lt.png"), place.image("truck_07_3_13_4_lt.png")).unwrap();
    fs::rename(place.image("truck_07_3_12_4_rt.png"), place.image("truck_07_3_13_4_rt.png")).unwrap();
    place.import(&library);
    assert_eq!(at(&library, "truck_07_3_13_4_lt.png").folder.meta.azimuth, Some(13));
}

#[test]
fn a_big_import_is_one_act() {
    let names: Vec<String> = (0..70).map(|i| format!("{}/{i}.png", ["a", "b"][i % 2])).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let library = place.open();
    assert_eq!(place.import(&library).imported, 70);
    let history = hold(&library).state().history().to_vec();
    assert_eq!(history.len(), 1);
    assert!(history[0].words.starts_with("Imported 70 images"), "{}", history[0].words);
    let full = view(hold(&library).state());
    hold(&library).undo().unwrap();
    let bottom = hold(&library).state().clone();
    assert_eq!((bottom.images().count(), bottom.classes().len()), (0, 0));
    sound(&library);
    hold(&library).redo().unwrap();
    assert_eq!(view(hold(&library).state()), full);
    sound(&library);
    hold(&library).undo().unwrap();
    assert_eq!(place.import(&library).imported, 70);
    assert_eq!(view(hold(&library).state()), full, "images come back as themselves");
    assert!(hold(&library).redo().unwrap().is_none());
    taught_anew(&place, library);
}

#[test]
fn what_moves_stays_what_it_is() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let (one, two) = (at(&library, "cat/1.png").id, at(&library, "cat/2.png").id);
    hold(&library).label(&[two], &class("tiger")).unwrap();
    place.decoded();
    fs::rename(place.image("cat/1.png"), place.image("dog/kept name.png")).unwrap();
    fs::rename(place.image("cat/2.png"), place.image("dog/2.png")).unwrap();
    let report = place.import(&library);
    assert_eq!((report.missing, report.moved, report.imported, place.decoded()), (0, 2, 0, 0));
    let moved = at(&library, "dog/kept name.png");
    assert_eq!((moved.id, moved.label(), moved.name().as_str()), (one, Some("dog"), "dog/kept name.png"));
    assert_eq!((at(&library, "dog/2.png").id, at(&library, "dog/2.png").label()), (two, Some("tiger")));
    assert!(hold(&library).words().knows("kept"));
    taught_anew(&place, library);
}

#[test]
fn a_folder_that_moved_is_read_as_before_and_other_classes_are_counted() {
    let place = Place::new(&["animal/cat/1.png", "animal/dog/2.png", "plant/rose/3.png"]);
    let library = place.open();
    let paths = ImportOptions { labels: Labels::FolderPaths, ..ImportOptions::default() };
    let folders = ImportOptions { labels: Labels::ClassFolders, ..ImportOptions::default() };
    for (options, relabelled) in [(&paths, 0), (&folders, 3), (&folders, 0), (&paths, 3)] {
        let report = imported_with(&library, &place.images(), options);
        assert_eq!(report.relabelled, relabelled);
    }
    assert_eq!(at(&library, "animal/cat/1.png").label(), Some("animal/cat"));
    let elsewhere = place.images().parent().unwrap().join("elsewhere").join(place.images().file_name().unwrap());
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::rename(place.images(), &elsewhere).unwrap();
    let earlier = |folder: &Path| ImportOptions::earlier(Some(hold(&library).state()), folder).labels;
    assert_eq!((earlier(&elsewhere), earlier(&elsewhere.join("animal"))), (Labels::FolderPaths, Labels::Auto));
    let report = imported_with(&library, &elsewhere, &folders);
    assert_eq!((report.imported, report.moved, report.relabelled), (0, 3, 3));
    assert_eq!(at(&library, "animal/cat/1.png").label(), Some("animal"));
    let words = |library: &Mutex<Library>| hold(library).state().history().last().unwrap().words.clone();
    assert!(words(&library).starts_with("Read the folders of "), "{}", words(&library));
    hold(&library).undo().unwrap();
    assert_eq!(at(&library, "animal/cat/1.png").label(), Some("animal/cat"));
}

/// The classes of the images that are there, by name.
fn classes_in_use(library: &Mutex<Library>) -> Vec<String> {
    let library = hold(library);
    let labels: BTreeSet<&str> = library.state().images().filter_map(|image| image.label()).collect();
    labels.into_iter().map(str::to_owned).collect()
}

/// What the library keeps of its only folder.
fn kept(library: &Mutex<Library>) -> Root {
    hold(library).state().roots().next().unwrap().1.clone()
}

#[test]
fn a_folder_that_is_one_class_stays_it_under_another_name() {
    let odd = "animal/dog, class of caf\u{e9}, masks keep";
    for (given, class) in [(None, "dogs"), (Some(" animal/dog, class of cafe\u{301}, masks keep"), odd)] {
        let place = Place::new(&["dogs/1.png", "dogs/2.png"]);
        let library = place.open();
        let (dogs, hounds) = (place.image("dogs"), place.image("hounds"));
        let unnamed = ImportOptions { labels: Labels::WholeFolder, masks: Masks::Keep, ..ImportOptions::default() };
        let report = imported_with(&library, &dogs, &ImportOptions { one_class: given.map(Into::into), ..unnamed.clone() });
        assert_eq!((report.imported, classes_in_use(&library)), (2, vec![class.to_owned()]));
        assert_eq!(kept(&library).reading.labels, format!("whole-folder, masks keep, class {class}"));
        fs::rename(&dogs, &hounds).unwrap();
        relocate(&library, &dogs, &hounds, &Progress::default()).unwrap();
        place.put("hounds/3.png", 3);
        let again = ImportOptions::earlier(Some(hold(&library).state()), &hounds);
        assert_eq!(again, ImportOptions { one_class: Some(class.into()), ..unnamed.clone() });
        assert_eq!(again, ImportOptions::of(&kept(&library)), "a look for changes reads it so, too");
        assert_eq!((imported_with(&library, &hounds, &again).imported, classes_in_use(&library)), (1, vec![class.to_owned()]));
        // Asked for anew, the folder's name counts.
        imported_with(&library, &hounds, &unnamed);
        assert_eq!(classes_in_use(&library), ["hounds"]);
        assert_eq!(kept(&library).reading.labels, "whole-folder, masks keep, class hounds");
    }
}

#[test]
fn what_is_no_class_is_no_class_of_a_folder() {
    let place = Place::new(&["images/1.png"]);
    let library = place.open();
    let long = "x".repeat(201);
    for (one_class, found) in [
        (Some(" "), "other than `unlabelled`, found empty"),
        (Some(&*long), "found 201 characters long"),
        (Some("unlabelled"), "found `unlabelled`"),
        (None, "found one that is called images"),
    ] {
        let options = ImportOptions { labels: Labels::WholeFolder, one_class: one_class.map(Into::into), ..ImportOptions::default() };
        let folder = place.image("images");
        for error in [
            import(&library, &folder, &options, &Progress::default()).unwrap_err(),
            plan(None, &folder, &options, &Progress::default()).unwrap_err(),
        ] {
            assert!(error.to_string().contains(found), "{error}");
        }
    }
    assert_eq!(hold(&library).state().roots().count(), 0);
}

#[test]
fn names_that_moved_survive_a_crash() {
    let place = Place::new(&["a/1.png", "b/1.png"]);
    let library = place.open();
    place.import(&library);
    hold(&library).save_checkpoints().unwrap();
    // The folder's label stays the same, so no event records the move.
    fs::rename(place.image("a/1.png"), place.image("a/walrus.png")).unwrap();
    place.import(&library);
    assert!(hold(&library).words().knows("walrus"));
    drop(library);
    let library = place.open();
    assert!(hold(&library).words().knows("walrus"));
    taught_anew(&place, library);
}

#[test]
fn files_that_swap_names_swap_images() {
    let place = Place::new(&["cat/a.png", "dog/b.png"]);
    let library = place.open();
    place.import(&library);
    let (a, b) = (at(&library, "cat/a.png").id, at(&library, "dog/b.png").id);
    hold(&library).caption(a, say(&["first"])).unwrap();
    let aside = place.image("aside");
    fs::rename(place.image("cat/a.png"), &aside).unwrap();
    fs::rename(place.image("dog/b.png"), place.image("cat/a.png")).unwrap();
    fs::rename(&aside, place.image("dog/b.png")).unwrap();
    place.import(&library);
    assert_eq!((at(&library, "cat/a.png").id, at(&library, "dog/b.png").id), (b, a));
    assert_eq!((at(&library, "cat/a.png").label(), at(&library, "dog/b.png").label()), (Some("cat"), Some("dog")));
    assert_eq!(at(&library, "dog/b.png").captions, say(&["first"]));
    assert_eq!(counts(&place.import(&library)), (0, 2, 0));
    taught_anew(&place, library);
}

#[test]
fn a_file_that_moves_away_and_one_that_takes_its_name_are_two() {
    let place = Place::new(&["cat/a.png", "cat/c.png"]);
    let library = place.open();
    place.import(&library);
    let a = at(&library, "cat/a.png").id;
    fs::rename(place.image("cat/a.png"), place.image("cat/z.png")).unwrap();
    place.put("cat/a.png", 50);
    assert_eq!(place.import(&library).imported, 1);
    assert_eq!(at(&library, "cat/z.png").id, a);
    assert_ne!(at(&library, "cat/a.png").id, a);
    assert_eq!(counts(&place.import(&library)), (0, 3, 0));
    taught_anew(&place, library);
}

#[test]
fn new_bytes_at_an_old_path_keep_what_was_said() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "cat/1.png");
    hold(&library).label(&[one.id], &class("tiger")).unwrap();
    hold(&library).caption(one.id, say(&["striped"])).unwrap();
    place.put("cat/1.png", 77);
    let report = place.import(&library);
    assert_eq!((counts(&report), report.changed), ((1, 2, 0), 1));
    let now = at(&library, "cat/1.png");
    assert_eq!((now.id, now.label(), now.captions.clone()), (one.id, Some("tiger"), say(&["striped"])));
    assert!(now.content.unwrap().changed && now.content.unwrap().hash != one.content.unwrap().hash);
    let machine = Arc::clone(hold(&library).recogniser().ckm());
    let held = machine.examples().find(|(_, example)| example.id == one.id).unwrap().1;
    assert_eq!(*held.elements.get(), machine.elements(&scene(77, 48, 48).into()).unwrap());
    // What files do is not taken back.
    while hold(&library).undo().unwrap().is_some() {}
    sound(&library);
    while hold(&library).redo().unwrap().is_some() {}
    assert_eq!(at(&library, "cat/1.png"), now);
    sound(&library);
    taught_anew(&place, library);
}

#[test]
fn bytes_that_found_another_image_stay_there_when_history_moves() {
    let place = Place::new(&["cat/1.png", "cat/2.png"]);
    let library = place.open();
    place.import(&library);
    let old = fs::read(place.image("cat/1.png")).unwrap();
    place.put("cat/1.png", 90);
    place.import(&library);
    fs::write(place.image("cat/3.png"), old).unwrap();
    assert_eq!(place.import(&library).imported, 1);
    let full = view(hold(&library).state());
    for _ in 0..2 {
        while hold(&library).undo().unwrap().is_some() {
            sound(&library);
        }
        while hold(&library).redo().unwrap().is_some() {
            sound(&library);
        }
        assert_eq!(view(hold(&library).state()), full);
    }
    // An undone image's bytes that appear at another's path meanwhile are the other's.
    hold(&library).undo().unwrap();
    fs::rename(place.image("cat/3.png"), place.image("cat/2.png")).unwrap();
    place.import(&library);
    hold(&library).redo().unwrap();
    sound(&library);
    hold(&library).undo().unwrap();
    sound(&library);
    taught_anew(&place, library);
}

#[test]
fn copies_are_one_image_until_they_differ() {
    let place = Place::new(&["cat/a/1.png", "cat/x.png"]);
    // In another order by bytes than by folders.
    fs::copy(place.image("cat/a/1.png"), place.image("cat/a-1.png")).unwrap();
    let library = place.open();
    assert_eq!(counts(&place.import(&library)), (2, 0, 1));
    let both = at(&library, "cat/a-1.png");
    assert_eq!(both.places.len(), 2);
    hold(&library).label(&[both.id], &class("tiger")).unwrap();
    hold(&library).caption(both.id, say(&["striped"])).unwrap();
    drop(library);
    let library = place.open();
    sound(&library);
    place.put("cat/a-1.png", 60);
    let report = place.import(&library);
    assert_eq!((counts(&report), report.changed), ((1, 2, 0), 1));
    let own = at(&library, "cat/a-1.png");
    assert_ne!(own.id, both.id);
    assert_eq!((own.label(), own.captions.clone(), own.places.len()), (Some("tiger"), say(&["striped"]), 1));
    assert_eq!(at(&library, "cat/a/1.png").id, both.id);

    // Both copies change in one go: one keeps the record, the other becomes its own.
    fs::copy(place.image("cat/x.png"), place.image("cat/y.png")).unwrap();
    place.import(&library);
    let x = at(&library, "cat/x.png").id;
    place.put("cat/x.png", 61);
    place.put("cat/y.png", 62);
    assert_eq!(place.import(&library).imported, 2);
    assert_eq!(at(&library, "cat/x.png").id, x);
    assert_ne!(at(&library, "cat/y.png").id, x);
    assert_eq!(counts(&place.import(&library)).1, 4);
    taught_anew(&place, library);
}

#[test]
fn a_copy_in_the_folder_of_another_class_changes_no_class() {
    let place = Place::new(&["dog/1.png", "cat/2.png"]);
    let library = place.open();
    place.import(&library);
    let dog = at(&library, "dog/1.png").id;
    // Before its original by name.
    fs::copy(place.image("dog/1.png"), place.image("cat/0.png")).unwrap();
    for _ in 0..3 {
        place.import(&library);
        assert_eq!(hold(&library).state().image(dog).unwrap().label(), Some("dog"));
    }
    // One alone has what its folder says.
    fs::remove_file(place.image("dog/1.png")).unwrap();
    place.import(&library);
    place.import(&library);
    assert_eq!(hold(&library).state().image(dog).unwrap().label(), Some("cat"));
    taught_anew(&place, library);
}

/// The first of two equal files by path need not be the one whose name tells a class.
#[test]
fn a_copy_tells_the_class_that_its_original_does_not() {
    let names: Vec<String> = (0..8).map(|i| format!("{}{}-045-000.png", if i < 4 { "dog" } else { "cow" }, i % 4 + 1)).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for copy in ["a copy.png", "z copy.png"] {
        fs::copy(place.image("cow4-045-000.png"), place.image(copy)).unwrap();
    }
    let library = place.open();
    let report = place.import(&library);
    assert_eq!((counts(&report), report.relabelled), ((8, 0, 2), 0));
    let cow = at(&library, "a copy.png");
    assert_eq!((cow.label(), cow.folder.group.as_deref(), cow.places.len()), (Some("cow"), Some("cow/04"), 3));
    let report = place.import(&library);
    assert_eq!((counts(&report), report.relabelled), ((0, 10, 0), 0));
    assert_eq!(at(&library, "a copy.png").folder, cow.folder);
    hold(&library).undo().unwrap();
    assert!(hold(&library).state().image(cow.id).is_none_or(|image| image.content.is_none()));

    // Images that were taken in without labels get the classes of copies, by an act that undo takes
    // back; what the user says goes before.
    let place = Place::new(&["x.png", "y.png"]);
    let library = place.open();
    imported_with(&library, &place.images(), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    let (x, y) = (at(&library, "x.png").id, at(&library, "y.png").id);
    hold(&library).label(&[y], &class("bird")).unwrap();
    let other = tempfile::tempdir().unwrap();
    for (name, of) in [("cat/1.png", "x.png"), ("dog/2.png", "y.png")] {
        let path = other.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(place.image(of), path).unwrap();
    }
    let report = imported_with(&library, other.path(), &ImportOptions::default());
    assert_eq!((counts(&report), report.relabelled), ((0, 0, 2), 2));
    let label = |id| hold(&library).state().image(id).unwrap().label().map(str::to_owned);
    assert_eq!((label(x).as_deref(), label(y).as_deref()), (Some("cat"), Some("bird")));
    imported_with(&library, &place.images(), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    assert_eq!(label(x).as_deref(), Some("cat"));
    hold(&library).undo().unwrap();
    assert_eq!((label(x), label(y).as_deref()), (None, Some("bird")));
    taught_anew(&place, library);
}

/// Files that come and go leave an image the class that one of them tells or told.
#[test]
fn a_class_that_a_copy_tells_stays_with_its_image() {
    let place = Place::new(&["a.png", "cow/2.png", "dog/3.png"]);
    fs::copy(place.image("a.png"), place.image("cow/1.png")).unwrap();
    let library = place.open();
    place.import(&library);
    let id = at(&library, "a.png").id;
    let label = || hold(&library).state().image(id).unwrap().label().map(str::to_owned);
    let import = || (0..2).map(|_| place.import(&library).relabelled).sum::<usize>();
    assert_eq!(label().as_deref(), Some("cow"));
    fs::rename(place.image("cow"), place.image("bull")).unwrap();
    assert_eq!((import(), label().as_deref()), (2, Some("bull")));
    fs::remove_file(place.image("bull/1.png")).unwrap();
    assert_eq!((import(), label().as_deref()), (0, Some("bull")));
    // Where labels are read elsewhere, it has what is read there.
    imported_with(&library, &place.images(), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    assert_eq!(label(), None);
    taught_anew(&place, library);
}

#[test]
fn copies_in_later_batches_tell_classes_and_contradict_each_other() {
    let names: Vec<String> = (0..70).map(|i| format!("z/{i}.png")).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    fs::copy(place.image("z/69.png"), place.image("a.png")).unwrap();
    fs::create_dir(place.image("zz")).unwrap();
    fs::copy(place.image("z/69.png"), place.image("zz/0.png")).unwrap();
    let library = place.open();
    let report = place.import(&library);
    assert_eq!((counts(&report), report.relabelled), ((70, 0, 2), 0));
    assert_eq!(at(&library, "a.png").label(), Some("z"));
    let conflicts: Vec<_> = report.conflicts.iter().map(|conflict| (conflict.class.as_str(), conflict.kept.as_str())).collect();
    assert_eq!(conflicts, [("zz", "z")]);
    taught_anew(&place, library);
}

/// Folders of years that were classes before stay classes, and new ones are none.
#[test]
fn classes_that_are_dates_stay_where_they_were_taken_in() {
    let place = Place::new(&["2019/1.png", "2020/2.png"]);
    let library = place.open();
    assert_eq!(place.import(&library).layout, "the folders are dates, such as 2019, and tell no classes; the pictures have no labels");
    assert!(hold(&library).state().images().all(|image| image.label().is_none()));
    imported_with(&library, &place.images(), &ImportOptions { labels: Labels::ClassFolders, ..ImportOptions::default() });
    place.put("2021/3.png", 9);
    assert_eq!(place.import(&library).relabelled, 0);
    let labels =
        |library: &Mutex<Library>| hold(library).state().images().map(|image| image.label().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(labels(&library), ["2019", "2020", "2021"].map(|year| Some(year.to_owned())));
    taught_anew(&place, library);
}

#[test]
fn removed_and_lost_images_stay_as_they_are() {
    let place = Place::new(&["cat/1.png", "cat/2.png"]);
    let library = place.open();
    place.import(&library);
    let (one, two) = (at(&library, "cat/1.png").id, at(&library, "cat/2.png").id);
    hold(&library).set_removed(&[one], true).unwrap();
    fs::rename(place.image("cat/1.png"), place.image("cat/renamed.png")).unwrap();
    place.import(&library);
    assert!(at(&library, "cat/renamed.png").removed);
    assert_eq!(hold(&library).recogniser().ckm().examples().count(), 1);

    let away = place.dir.path().join("away.png");
    fs::rename(place.image("cat/2.png"), &away).unwrap();
    assert_eq!(place.import(&library).missing, 1);
    assert!(!at(&library, "cat/2.png").is_here());
    assert!(hold(&library).thumbnail(two).unwrap().is_some());
    assert_eq!(at(&library, "cat/2.png").label(), Some("cat"));
    fs::rename(&away, place.image("cat/2.png")).unwrap();
    place.import(&library);
    assert!(at(&library, "cat/2.png").is_here());

    let before = view(hold(&library).state());
    fs::rename(place.images(), place.dir.path().join("gone")).unwrap();
    let error = import(&library, &place.images(), &ImportOptions::default(), &Progress::default()).unwrap_err();
    assert_eq!(error.reason(), "io");
    assert_eq!(view(hold(&library).state()), before);
    sound(&library);
}

#[test]
fn a_cancelled_import_is_completed_by_the_next() {
    let names: Vec<String> = (0..90).map(|i| format!("{}/{i}.png", ["a", "b", "c"][i % 3])).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let library = place.open();
    place.import(&library);
    let content = |library: &Mutex<Library>| {
        let said = |image: &Arc<Image>| (image.content.unwrap().hash, image.label().map(str::to_owned), image.name());
        let mut all: Vec<_> = hold(library).state().images().map(said).collect();
        all.sort();
        all
    };
    let whole = content(&library);
    for at in [1, 40, 70] {
        let progress = Progress::default();
        let decoder = Arc::new(Counting { cancel: Some((at, progress.clone())), ..Counting::default() });
        let library = Mutex::new(open(&place.dir.path().join(format!("{at}.tessera")), decoder).unwrap());
        let report = import(&library, &place.images(), &ImportOptions::default(), &progress).unwrap();
        adds_up(&report);
        assert!(report.cancelled && report.imported >= at && report.imported < 90, "{report:?}");
        assert_eq!(hold(&library).state().images().count(), report.imported);
        sound(&library);
        hold(&library).undo().unwrap();
        assert!(hold(&library).tell_broken_off().unwrap().is_empty(), "none of its images is in");
        hold(&library).redo().unwrap();
        let told = || hold(&library).tell_broken_off().unwrap().into_iter().map(|(_, images)| images).collect::<Vec<_>>();
        assert_eq!((told(), told()), (vec![report.imported], vec![]), "it is told once");
        assert!(hold(&library).health().unwrap().roots[0].is_broken_off);
        let rest = imported(&library, &place.images());
        assert_eq!(rest.imported, 90 - report.imported);
        assert!(told().is_empty() && !hold(&library).health().unwrap().roots[0].is_broken_off);
        assert_eq!(content(&library), whole);
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let place = Place::new(&["a/1.png", "a/2.png", "b/1.png", "b/2.png", "c/1.png"]);
    fs::copy(place.image("a/1.png"), place.image("c/2.png")).unwrap();
    let results: Vec<_> = [1, 2]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let library = Mutex::new(open(&place.dir.path().join(format!("{threads}.tessera")), Arc::new(InProcess::default())).unwrap());
            pool.install(|| imported(&library, &place.images()));
            let held = hold(&library);
            (view(held.state()), held.everything_learned(), Arc::clone(held.recogniser().ckm()))
        })
        .collect();
    assert!(results[0] == results[1]);
}

/// A decoder under whose hands files are replaced by another picture.
struct Swapping(InProcess, PathBuf);

impl Decoder for Swapping {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> tessera_core::Result<Picture> {
        if path.ends_with("1.png") {
            let aside = path.with_extension("aside");
            fs::rename(path, &aside).unwrap();
            fs::copy(&self.1, path).unwrap();
            let picture = self.0.decode(path, side, progress);
            fs::rename(&aside, path).unwrap();
            return picture;
        }
        self.0.decode(path, side, progress)
    }
}

#[test]
fn features_of_a_file_that_is_replaced_meanwhile_are_not_kept() {
    let place = Place::new(&["cat/1.png", "dog/2.png"]);
    let swapping = Swapping(InProcess::default(), place.image("dog/2.png"));
    let library = Mutex::new(open(&place.folder(), Arc::new(swapping)).unwrap());
    let report = place.import(&library);
    assert_eq!((report.imported, report.failed.len()), (1, 1), "{report:?}");
    assert!(report.failed[0].detail.contains("replaced meanwhile"), "{report:?}");
}

#[test]
fn a_file_that_was_taken_in_alone_is_followed_like_others() {
    let place = Place::new(&["cat/1.png"]);
    let library = place.open();
    place.import(&library);
    let folder = place.dir.path().join("elsewhere");
    let [pup, away, moved] = ["pup.png", "away.png", "inside/moved.png"].map(|name| folder.join(name));
    fs::create_dir_all(folder.join("inside")).unwrap();
    save(&pup, 40);
    let taken = import_file(&library, &pup, &class("dog"), &Progress::default()).unwrap().image;
    let image = || hold(&library).state().image(taken).unwrap().clone();
    let look = || imported_with(&library, &folder, &ImportOptions { exclude: vec!["*".into()], ..ImportOptions::default() });
    assert_eq!((look().found, look().unchanged), (1, 1));
    fs::rename(&pup, &away).unwrap();
    assert_eq!((look().missing, image().is_here()), (1, false));
    fs::rename(&away, &pup).unwrap();
    assert_eq!((look().missing, image().is_here()), (0, true));
    // Other bytes are read, another file is not taken in.
    let before = image().content.unwrap().hash;
    save(&pup, 41);
    save(&away, 42);
    let report = look();
    assert_eq!((report.imported, report.changed, image().label()), (1, 1, Some("dog")), "{report:?}");
    assert_ne!(image().content.unwrap().hash, before);
    fs::rename(&pup, &moved).unwrap();
    let bad = relocate(&library, &pup, &away, &Progress::default()).unwrap_err();
    assert!(bad.to_string().contains("other bytes"), "{bad}");
    let found = relocate(&library, &pup, &moved, &Progress::default()).unwrap();
    assert_eq!((found.found, found.missing, image().places.len()), (1, 0, 1));
    assert_eq!(hold(&library).path(taken).unwrap(), fs::canonicalize(&moved).unwrap());
    // Its folder goes with it.
    hold(&library).forget(&[taken], &Progress::default()).unwrap();
    sound(&library);
    assert!(hold(&library).state().roots().all(|(_, root)| !root.is_of_files() || root.path == fs::canonicalize(&folder).unwrap()));
    assert_eq!(hold(&library).state().roots().filter(|(_, root)| root.path.ends_with("inside")).count(), 0);
}

#[cfg(unix)]
#[test]
fn a_link_to_an_image_is_taken_in_under_its_own_name() {
    let place = Place::new(&["cat/1.png"]);
    std::os::unix::fs::symlink(place.image("cat/1.png"), place.image("cat/link.png")).unwrap();
    let library = place.open();
    place.import(&library);
    let roots = |library: &Mutex<Library>| hold(library).state().roots().count();
    let one = at(&library, "cat/1.png").id;
    let taken = import_file(&library, &place.image("cat/link.png"), &class("dog"), &Progress::default()).unwrap();
    assert_eq!((taken.image, taken.is_new, roots(&library)), (one, false, 1));
    // A removed image is refused before anything is entered.
    hold(&library).set_removed(&[one], true).unwrap();
    let copy = place.dir.path().join("copy.png");
    fs::copy(place.image("cat/1.png"), &copy).unwrap();
    import_file(&library, &copy, &class("dog"), &Progress::default()).unwrap_err();
    assert_eq!((roots(&library), hold(&library).state().image(one).unwrap().places.len()), (1, 2));
}

#[test]
fn no_labels_are_proposed_after_a_folder_without_and_else_what_names_tell() {
    let place = Place::new(&["one/a/1.png", "two/b/2.png", "three/c/3.png"]);
    let library = place.open();
    let proposed = |folder: &str| ImportOptions::proposed(hold(&library).state(), &place.image(folder)).labels;
    assert_eq!(proposed("one"), Labels::Auto);
    for (folder, labels, next) in [("one", Labels::FolderPaths, Labels::Auto), ("two", Labels::None, Labels::None)] {
        imported_with(&library, &place.image(folder), &ImportOptions { labels, ..ImportOptions::default() });
        assert_eq!((proposed(folder), proposed("three")), (labels, next));
    }
}

#[test]
fn a_class_named_for_a_folder_leaves_its_other_options() {
    let place = Place::new(&["a/1.png", "a/drafts/2.png"]);
    let library = place.open();
    let without = ImportOptions { labels: Labels::None, exclude: vec!["drafts/**".into()], masks: Masks::Keep, ..ImportOptions::default() };
    imported_with(&library, &place.image("a"), &without);
    let state = hold(&library).state().clone();
    let with = |labels| {
        let request = ImportRequest { labels, one_class: Some("cat".into()), ..ImportRequest::default() };
        request.options(Some(&state), &place.image("a")).unwrap()
    };
    let one_class = Some("cat".into());
    assert_eq!(with(None), ImportOptions { labels: Labels::WholeFolder, one_class: one_class.clone(), ..without });
    assert_eq!(with(Some(Labels::WholeFolder)), ImportOptions { labels: Labels::WholeFolder, one_class, ..ImportOptions::default() });
}

#[test]
fn undo_takes_back_how_a_folder_is_read() {
    let place = Place::new(&["pets/cat/1.png", "pets/dog/2.png"]);
    let library = place.open();
    let pets = place.image("pets");
    let one = |class: &str| ImportOptions { labels: Labels::WholeFolder, one_class: Some(class.into()), ..ImportOptions::default() };
    let again = || ImportOptions::earlier(Some(hold(&library).state()), &pets);
    imported_with(&library, &pets, &one("pte"));
    hold(&library).undo().unwrap().unwrap();
    assert_eq!((classes_in_use(&library), again()), (Vec::new(), ImportOptions::default()));
    assert!(kept(&library).is_of_files(), "a look for changes takes nothing in");
    assert_eq!(imported_with(&library, &pets, &ImportOptions::of(&kept(&library))).imported, 0);
    imported_with(&library, &pets, &again());
    assert_eq!(classes_in_use(&library), ["cat", "dog"]);
    assert_eq!(imported_with(&library, &pets, &one("pet")).relabelled, 2);
    assert_eq!((classes_in_use(&library), again()), (vec!["pet".into()], one("pet")));
    hold(&library).undo().unwrap().unwrap();
    assert_eq!((classes_in_use(&library), again()), (vec!["cat".into(), "dog".into()], ImportOptions::default()));
    assert_eq!(imported_with(&library, &pets, &again()).relabelled, 0, "it stays taken back");
    hold(&library).undo().unwrap_or_default();
    let library = replayed(&place, library);
    assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new());
    sound(&library);
}

#[test]
fn a_folder_inside_another_has_its_own_class() {
    let one = |class: &str| ImportOptions { labels: Labels::WholeFolder, one_class: Some(class.into()), ..ImportOptions::default() };
    for is_first in [true, false] {
        let place = Place::new(&["photos/dogs/1.png", "photos/cats/2.png"]);
        let library = place.open();
        let (photos, dogs) = (place.image("photos"), place.image("photos/dogs"));
        if !is_first {
            imported(&library, &photos);
        }
        imported_with(&library, &dogs, &one("hound"));
        for added in ["photos/dogs/3.png", "photos/dogs/4.png"] {
            imported(&library, &photos);
            assert_eq!(classes_in_use(&library), ["cats", "hound"]);
            place.put(added, added.len() as u64 + u64::from(added.as_bytes()[12]));
        }
        imported(&library, &photos);
        imported_with(&library, &dogs, &one("hound"));
        assert_eq!((classes_in_use(&library), hold(&library).state().images().count()), (vec!["cats".into(), "hound".into()], 4));
        let events = hold(&library).state().history().len();
        imported(&library, &photos);
        imported_with(&library, &dogs, &one("hound"));
        assert_eq!(hold(&library).state().history().len(), events, "nothing changes any more");
        assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new());
        // A plan tells what an import gives, and each folder's images are those that lie in it.
        let planned = plan(Some(hold(&library).state()), &photos, &ImportOptions::default(), &Progress::default()).unwrap();
        assert_eq!(planned.classes, [("cats".into(), 1), ("hound".into(), 3)]);
        assert_eq!((planned.of_folders_inside, planned.known), (3, 4));
        let held = hold(&library);
        let mut images: Vec<(PathBuf, usize)> = held.health().unwrap().roots.into_iter().map(|root| (root.path, root.images)).collect();
        images.sort();
        assert_eq!(images, [(photos.clone(), 4), (dogs.clone(), 3)]);
        let state = held.state();
        let around: Vec<&Path> = state.roots_around(&dogs.join("1.png")).into_iter().map(|(_, root)| root.path.as_path()).collect();
        assert_eq!(around, [photos.as_path(), &dogs]);
    }
    // Its files are those of the folder around it, also where it is moved.
    let place = Place::new(&["photos/dogs/1.png", "photos/cats/2.png"]);
    let library = place.open();
    let [photos, dogs, hunde] = ["photos", "photos/dogs", "photos/hunde"].map(|name| place.image(name));
    imported(&library, &photos);
    imported_with(&library, &dogs, &one("hound"));
    fs::rename(&dogs, &hunde).unwrap();
    let moved = relocate(&library, &dogs, &hunde, &Progress::default()).unwrap();
    assert_eq!((moved.found, moved.missing), (1, 0));
    imported(&library, &photos);
    assert_eq!(classes_in_use(&library), ["cats", "hound"]);
    // Asked for none, its images have none until the folder around it is looked at.
    imported_with(&library, &hunde, &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    assert_eq!(classes_in_use(&library), ["cats"]);
    imported(&library, &photos);
    assert_eq!(classes_in_use(&library), ["cats", "hunde"]);
    // A folder inside that tells no classes leaves them to the one around it.
    let place = Place::new(&["photos/dogs/1.png", "photos/cats/2.png"]);
    let library = place.open();
    imported_with(&library, &place.image("photos/dogs"), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    imported(&library, &place.image("photos"));
    assert_eq!(classes_in_use(&library), ["cats", "dogs"]);
    imported_with(&library, &place.image("photos/dogs"), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    assert_eq!(classes_in_use(&library), ["cats", "dogs"]);
}

#[test]
fn a_class_that_is_named_for_a_folder_is_that_class_and_follows_its_names() {
    let one = |class: &str| ImportOptions { labels: Labels::WholeFolder, one_class: Some(class.into()), ..ImportOptions::default() };
    let place = Place::new(&["a/1.png", "b/2.png", "c/3.png"]);
    let library = place.open();
    imported_with(&library, &place.image("a"), &one("dog"));
    hold(&library).rename_class("dog", "hound").unwrap();
    let again = ImportOptions::earlier(Some(hold(&library).state()), &place.image("a"));
    assert_eq!(again, one("hound"));
    place.put("a/4.png", 4);
    imported_with(&library, &place.image("a"), &ImportOptions::of(&kept(&library)));
    assert_eq!(classes_in_use(&library), ["hound"], "a look for changes follows the new name");
    let whole = plan(Some(hold(&library).state()), &place.images(), &ImportOptions::default(), &Progress::default()).unwrap();
    assert_eq!(whole.classes, [("b".into(), 1), ("c".into(), 1), ("hound".into(), 2)], "as does a plan");
    imported_with(&library, &place.image("b"), &one("dog"));
    assert_eq!(classes_in_use(&library), ["dog", "hound"]);
    hold(&library).delete_class("dog").unwrap();
    imported_with(&library, &place.image("c"), &one("dog"));
    assert_eq!(at(&library, "3.png").label(), Some("dog"));
    assert_eq!(at(&library, "2.png").label(), None);
    // A folder whose class was deleted tells none, also where the one around it is planned.
    let place = Place::new(&["a/1.png", "b/2.png"]);
    let library = place.open();
    imported_with(&library, &place.image("a"), &one("dog"));
    hold(&library).delete_class("dog").unwrap();
    let whole = plan(Some(hold(&library).state()), &place.images(), &ImportOptions::default(), &Progress::default()).unwrap();
    assert_eq!((whole.classes, whole.of_folders_inside, whole.unlabelled), (vec![("b".into(), 1)], 0, 1));
}

#[test]
fn dates_are_no_classes_after_they_were_one_class() {
    let place = Place::new(&["trip/2019/1.png", "trip/2020/2.png"]);
    let library = place.open();
    let trip = place.image("trip");
    imported_with(
        &library,
        &trip,
        &ImportOptions { labels: Labels::WholeFolder, one_class: Some("holidays".into()), ..ImportOptions::default() },
    );
    imported(&library, &trip);
    assert_eq!(classes_in_use(&library), Vec::<String>::new());
    let named = ImportOptions { labels: Labels::WholeFolder, one_class: Some("hound".into()), ..ImportOptions::default() };
    imported_with(&library, &place.image("trip/2020"), &named);
    imported(&library, &trip);
    assert_eq!(classes_in_use(&library), ["hound"]);
}

#[test]
fn the_class_of_a_folder_is_forgotten_with_its_images() {
    let place = Place::new(&["a/1.png", "b/2.png"]);
    let library = place.open();
    imported_with(&library, &place.image("a"), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    imported_with(&library, &place.image("b"), &ImportOptions::default());
    let named = ImportOptions { labels: Labels::WholeFolder, one_class: Some("zebrafinch".into()), ..ImportOptions::default() };
    imported_with(&library, &place.image("a"), &named);
    let [finch, other] = ["1.png", "2.png"].map(|name| at(&library, name).id);
    hold(&library).forget(&[other], &Progress::default()).unwrap();
    assert!(kept(&library).reading.labels.contains("zebrafinch"), "its images are there");
    hold(&library).forget(&[finch], &Progress::default()).unwrap();
    assert_eq!(kept(&library).reading.labels, "none");
    assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new());
    library.into_inner().unwrap().close().unwrap();
    for file in ["library.db", "journal.jsonl"] {
        let bytes = fs::read(place.folder().join(file)).unwrap();
        assert!(!bytes.windows(10).any(|part| part == b"zebrafinch"), "{file}");
    }
}
