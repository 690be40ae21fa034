//! The files of a library: the lock, moved image files, and damage.

use tessera_core::Error;
use tessera_core::data::Labels;
use tessera_core::library::import::import_file;
use tessera_core::library::relocate::relocate;

use super::*;

#[test]
fn one_program_at_a_time() {
    let place = Place::new(&["a/1.png"]);
    let library = place.open();
    let second = open(&place.folder(), Arc::new(InProcess::default()));
    assert!(matches!(second.err(), Some(Error::Busy { .. })));
    drop(library);
    place.open();
    let library = Library::open(&place.images(), &LibraryOptions::new(Arc::new(InProcess::default()), &Progress::default()));
    assert_eq!(library.err().unwrap().reason(), "data");
    assert_eq!(open(&place.images(), Arc::new(InProcess::default())).err().unwrap().reason(), "data");
}

#[test]
fn a_cache_is_not_precious_and_a_database_is() {
    let place = Place::new(&["a/1.png", "a/2.png", "b/1.png"]);
    let library = place.open();
    place.import(&library);
    let kept = hold(&library).everything_learned();
    let thumbnail = hold(&library).thumbnail(ItemId(1)).unwrap();
    library.into_inner().unwrap().close().unwrap();
    fs::write(place.folder().join("cache.db"), [0x5A; 9000]).unwrap();
    let library = place.open();
    assert_eq!(hold(&library).everything_learned(), kept);
    assert_eq!(hold(&library).thumbnail(ItemId(1)).unwrap(), thumbnail);
    sound(&library);
    drop(library);

    let database = place.folder().join("library.db");
    let db = rusqlite::Connection::open(&database).unwrap();
    db.execute("UPDATE event SET words = 'Import 4 images' WHERE id = 1", []).unwrap();
    drop(db);
    let refused = || open(&place.folder(), Arc::new(InProcess::default())).err().unwrap();
    assert!(refused().to_string().contains("event 1 with other bytes"), "{}", refused());

    fs::write(&database, [0x5A; 9000]).unwrap();
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(place.folder().join(format!("library.db{ending}")));
    }
    assert_eq!(refused().reason(), "data");
}

#[test]
fn tables_that_are_not_what_the_events_say_are_found() {
    let place = Place::new(&["a/1.png", "b/1.png"]);
    let library = place.open();
    place.import(&library);
    drop(library);
    let db = rusqlite::Connection::open(place.folder().join("library.db")).unwrap();
    db.execute("UPDATE image SET user_said = 'no class' WHERE id = 2", []).unwrap();
    drop(db);
    let refused = open(&place.folder(), Arc::new(InProcess::default())).err().unwrap().to_string();
    assert!(refused.contains("1 row of the table `image` is not as it was written; run `tessera check LIBRARY --repair`"), "{refused}");
}

#[test]
fn a_library_that_was_hardly_begun_is_begun() {
    let place = Place::new(&["a/1.png"]);
    fs::create_dir(place.folder()).unwrap();
    fs::write(place.folder().join("library.db"), b"").unwrap();
    let library = place.open();
    assert_eq!(place.import(&library).imported, 1);
}

#[test]
fn a_root_that_moved_is_found_again() {
    let place = Place::new(&["cat/1.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "cat/1.png").id;
    hold(&library).label(&[one], &class("tiger")).unwrap();
    place.decoded();
    let (old, new) = (place.images(), place.images().with_file_name("moved"));
    fs::rename(&old, &new).unwrap();
    let moved = relocate(&library, &old, &new, &Progress::default()).unwrap();
    assert_eq!((moved.found, moved.missing, place.decoded()), (2, 0, 0));
    assert_eq!(hold(&library).path(one), Some(new.join("cat/1.png")));
    assert_eq!(counts(&imported(&library, &new)), (0, 2, 0));
    assert_eq!(place.decoded(), 0);
    assert_eq!(at(&library, "cat/1.png").label(), Some("tiger"));
    sound(&library);
    hold(&library).undo().unwrap();
    assert_eq!(hold(&library).path(one), Some(old.join("cat/1.png")));
    sound(&library);
    assert_eq!(relocate(&library, &place.dir.path().join("never"), &new, &Progress::default()).unwrap_err().reason(), "option");
    assert_eq!(relocate(&library, &old, &place.dir.path().join("never"), &Progress::default()).unwrap_err().reason(), "io");
}

#[test]
fn a_folder_that_moved_out_of_its_root_keeps_its_labels() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let one = at(&library, "cat/1.png").id;
    hold(&library).caption(one, say(&["striped"])).unwrap();
    place.decoded();
    let new = place.images().with_file_name("walruses");
    fs::rename(place.image("cat"), &new).unwrap();
    let moved = relocate(&library, &place.image("cat"), &new, &Progress::default()).unwrap();
    assert_eq!((moved.found, moved.missing, place.decoded()), (2, 0, 0), "{moved:?}");
    let image = hold(&library).state().image(one).unwrap().clone();
    assert_eq!((image.label(), image.captions.clone(), image.places.len()), (Some("cat"), say(&["striped"]), 1));
    assert_eq!(hold(&library).path(one), Some(new.join("1.png")));
    sound(&library);
    taught_anew(&place, library);
}

#[test]
fn a_folder_that_moved_is_looked_through_as_its_root_was() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "cat/raw/3.png", "cat/cut.png", "dog/cut.png"]);
    let library = place.open();
    let exclude = ["cut.png", "cat/raw/**", "*/only.png", "dog/*"].map(str::to_owned).to_vec();
    imported_with(&library, &place.images(), &ImportOptions { labels: Labels::None, exclude, ..ImportOptions::default() });
    let new = place.images().with_file_name("walruses");
    fs::rename(place.image("cat"), &new).unwrap();
    save(&new.join("new.png"), 90);
    save(&new.join("only.png"), 91);
    save(&new.join("deep/only.png"), 92);
    fs::write(new.join("broken.png"), b"\x89PNG and no more").unwrap();
    let moved = relocate(&library, &place.image("cat"), &new, &Progress::default()).unwrap();
    assert_eq!((moved.found, moved.missing), (2, 0), "{moved:?}");
    assert_eq!(moved.failed.iter().map(|failed| failed.path.clone()).collect::<Vec<_>>(), [new.join("broken.png")]);
    let state = hold(&library).state().clone();
    let names: Vec<String> = state.images().map(|image| image.name()).collect();
    assert_eq!(names, ["1.png", "2.png", "deep/only.png", "new.png"]);
    assert!(state.images().all(|image| image.label().is_none()));
    assert_eq!(state.roots().last().unwrap().1.reading.labels, "none");
    sound(&library);
}

#[test]
fn a_folder_without_any_of_the_files_is_not_where_they_moved() {
    let place = Place::new(&["photos/cats/1.png", "photos/dogs/2.png"]);
    let library = place.open();
    let [photos, cats, dogs] = ["photos", "photos/cats", "photos/dogs"].map(|name| place.image(name));
    imported(&library, &photos);
    let one = ImportOptions { labels: Labels::WholeFolder, one_class: Some("hound".into()), ..ImportOptions::default() };
    imported_with(&library, &dogs, &one);
    let other = place.images().with_file_name("other");
    save(&other.join("deep/9.png"), 90);
    let before = hold(&library).state().clone();
    for old in [&cats, &dogs, &photos] {
        let error = relocate(&library, old, &other, &Progress::default()).unwrap_err();
        assert!(error.to_string().contains("none of the files of"), "{error}");
        assert_eq!(*hold(&library).state(), before, "nothing is changed");
    }
    // A file of a folder inside is told by its bytes where it has another name.
    fs::rename(cats.join("1.png"), other.join("deep/tiger.png")).unwrap();
    let moved = relocate(&library, &cats, &other, &Progress::default()).unwrap();
    assert_eq!((moved.found, moved.missing), (1, 0));
    assert_eq!(at(&library, "deep/tiger.png").label(), Some("cats"));
    sound(&library);
}

#[test]
fn images_are_those_of_each_folder_that_they_lie_in() {
    let place = Place::new(&["a/1.png", "a/b/2.png", "a/b/c/3.png", "a/b/c/4.png"]);
    let library = place.open();
    let [a, b, c] = ["a", "a/b", "a/b/c"].map(|name| place.image(name));
    // The outer ones are folders of single files at first.
    for file in ["a/1.png", "a/b/2.png", "a/b/c/3.png"] {
        import_file(&library, &place.image(file), &class("cat"), &Progress::default()).unwrap();
    }
    for folder in [&c, &b, &a] {
        imported(&library, folder);
        let roots = hold(&library).health().unwrap().roots;
        let images = |path: &Path| roots.iter().find(|root| root.path == path).map(|root| root.images);
        assert_eq!((images(&a), images(&c).unwrap_or(2)), (Some(4), 2), "{roots:?}");
        assert_eq!(images(&b).unwrap_or(3), 3, "{roots:?}");
    }
    let held = hold(&library);
    let around: Vec<&Path> = held.state().roots_around(&c.join("3.png")).into_iter().map(|(_, root)| root.path.as_path()).collect();
    assert!(around.is_sorted_by_key(|path| path.components().count()), "{around:?}");
    assert_eq!(around.first(), Some(&a.as_path()));
}

#[test]
fn relocating_can_be_stopped() {
    let place = Place::new(&["cat/1.png", "dog/1.png"]);
    place.import(&place.open());
    let new = place.images().with_file_name("walruses");
    fs::rename(place.image("cat"), &new).unwrap();
    (0..100).for_each(|i| save(&new.join(format!("new{i}.png")), 90 + i));
    let progress = Progress::default();
    let stops = Counting { cancel: Some((1, progress.clone())), ..Counting::default() };
    let library = Mutex::new(open(&place.folder(), Arc::new(stops)).unwrap());
    let stopped = relocate(&library, &place.image("cat"), &new, &progress);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    drop(library);
    let moved = relocate(&place.open(), &place.image("cat"), &new, &Progress::default()).unwrap();
    assert_eq!((moved.found, moved.missing), (1, 0), "{moved:?}");
}
