//! Models that catch up while a library is in use.

use std::collections::BTreeSet;

use super::*;
use tessera_core::Error;
use tessera_core::library::first_images;

/// A library with five pictures, captions and a lesson, closed.
fn closed() -> Place {
    let place = Place::new(&["cat/a.png", "cat/b.png", "dog/c.png", "dog/d.png", "e.png"]);
    let library = place.open();
    place.import(&library);
    let mut library = library.into_inner().unwrap();
    let images: Vec<ItemId> = library.state().images().map(|image| image.id).collect();
    for (image, text) in images.iter().zip(["a red cat", "a blue cat", "a dog", "two dogs", "nothing"]) {
        library.caption(*image, vec![Caption { text: text.into(), by_user: true }]).unwrap();
    }
    library.reward("dog", images[2], Some(1.0)).unwrap();
    library.close().unwrap();
    place
}

fn open_first(place: &Place) -> Library {
    let progress = Progress::default();
    let decoder = Arc::clone(&place.decoder) as _;
    let opening = LibraryOptions { options: options(), learned: None, later: true, ..LibraryOptions::new(decoder, &progress) };
    Library::open(&place.folder(), &opening).unwrap()
}

fn everything(library: &Library) -> Vec<(String, Vec<u8>)> {
    library.models().everything(library.state())
}

/// Labels, captions, rewards, removes and takes one back.
fn act(library: &mut Library) {
    let images: Vec<ItemId> = library.state().images().map(|image| image.id).collect();
    library.label(&[images[4]], &UserLabel::Class("dog".into())).unwrap();
    library.caption(images[0], vec![Caption { text: "a green parrot".into(), by_user: true }]).unwrap();
    library.reward("parrot", images[0], Some(1.0)).unwrap();
    library.set_removed(&[images[1]], true).unwrap();
    library.label(&[images[0]], &UserLabel::Class("bird".into())).unwrap();
    library.undo().unwrap();
}

#[test]
fn what_is_done_meanwhile_is_learned_as_ever() {
    let place = closed();
    let mut first = open_first(&place);
    assert!(!first.has_caught_up());
    assert_eq!(first.state().images().count(), 5, "the state is there at once");
    assert_eq!(first.recogniser().ckm().examples().count(), 0, "models know nothing yet");
    let begun = first.begin_to_catch_up().unwrap().unwrap();
    act(&mut first);
    first.end_catching_up(begun.learn(&Progress::default()), &Progress::default()).unwrap();
    assert!(first.has_caught_up());
    assert!(first.begin_to_catch_up().unwrap().is_none());
    let meanwhile = everything(&first);
    first.close().unwrap();
    let again = place.open().into_inner().unwrap();
    assert_eq!(meanwhile, everything(&again), "opened as ever");

    let other = closed();
    let mut usual = other.open().into_inner().unwrap();
    act(&mut usual);
    assert_eq!(meanwhile, everything(&usual), "one after another");
}

#[test]
fn files_that_moved_meanwhile_are_known_by_their_new_names() {
    let place = closed();
    let first = Mutex::new(open_first(&place));
    let begun = hold(&first).begin_to_catch_up().unwrap().unwrap();
    fs::create_dir(place.image("zebra")).unwrap();
    fs::rename(place.image("e.png"), place.image("zebra/z.png")).unwrap();
    import(&first, &place.images(), &ImportOptions::default(), &Progress::default()).unwrap();
    let mut first = first.into_inner().unwrap();
    first.end_catching_up(begun.learn(&Progress::default()), &Progress::default()).unwrap();
    assert!(first.words().knows("zebra"));
    let meanwhile = everything(&first);
    first.close().unwrap();
    assert_eq!(meanwhile, everything(&place.open().into_inner().unwrap()));
}

#[test]
fn it_can_be_put_off_and_what_was_done_is_not_lost() {
    let place = closed();
    let mut first = open_first(&place);
    let progress = Progress::default();
    progress.cancel();
    let begun = first.begin_to_catch_up().unwrap().unwrap();
    act(&mut first);
    let stopped = first.end_catching_up(begun.learn(&progress), &Progress::default());
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert!(!first.has_caught_up());
    let begun = first.begin_to_catch_up().unwrap().unwrap();
    first.end_catching_up(begun.learn(&Progress::default()), &Progress::default()).unwrap();
    drop(first);
    // Closed without having caught up, too.
    let mut first = open_first(&place);
    let image = first.state().images().next().unwrap().id;
    first.label(&[image], &UserLabel::Class("lynx".into())).unwrap();
    first.close().unwrap();
    let again = place.open().into_inner().unwrap();
    assert!(again.has_caught_up() && again.words().knows("lynx") && again.words().knows("parrot"));
}

#[test]
fn the_first_images_are_read_alone_and_only_sound_rows() {
    let place = closed();
    let first = first_images(&place.folder(), 2, false).unwrap();
    let names: Vec<String> = first.state.images().map(|image| image.name()).collect();
    assert_eq!((names, first.images), (vec!["cat/a.png".to_owned(), "cat/b.png".to_owned()], 5));
    // Without a file beside it they are the same.
    let beside = || fs::read_dir(place.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<BTreeSet<_>>();
    let before = beside();
    let alone = first_images(&place.folder(), 2, true).unwrap();
    assert_eq!((alone.state, alone.images, beside()), (first.state.clone(), first.images, before));
    let whole = place.open().into_inner().unwrap();
    for image in first.state.images() {
        let known = whole.state().image(image.id).unwrap();
        assert_eq!((image.content, image.label(), &image.places), (known.content, known.label(), &known.places));
    }
    whole.close().unwrap();

    let library = place.open();
    let image = hold(&library).state().images().next().unwrap().id;
    hold(&library).set_removed(&[image], true).unwrap();
    library.into_inner().unwrap().close().unwrap();
    let first = first_images(&place.folder(), 2, false).unwrap();
    assert!(first.state.image(image).is_none(), "one that was removed is not shown");
    assert_eq!((first.state.images().count(), first.images), (2, 4));

    let db = rusqlite::Connection::open(place.folder().join("library.db")).unwrap();
    db.execute("UPDATE place SET shown = 'other' WHERE path = CAST('cat/b.png' AS BLOB)", []).unwrap();
    let names: Vec<String> = first_images(&place.folder(), 1, false).unwrap().state.images().map(|image| image.name()).collect();
    assert_eq!(names, ["dog/c.png"], "a row that is not as it was written is passed over");
    db.execute("CREATE TABLE foreign_table (a)", []).unwrap();
    assert!(first_images(&place.folder(), 1, false).is_none());
    assert!(first_images(&place.images(), 1, false).is_none());
}

#[test]
fn a_damaged_cache_is_made_anew_while_the_library_is_open() {
    let place = closed();
    let whole = everything(&place.open().into_inner().unwrap());
    let first = open_first(&place);
    let begun = first.begin_to_catch_up().unwrap().unwrap();
    let damage = Error::data(&place.folder().join("cache.db"), "a sound cache", "another", "open it again");
    drop(begun);
    let mut first = first;
    first.end_catching_up(Err(damage), &Progress::default()).unwrap();
    assert!(first.has_caught_up());
    assert_eq!(everything(&first), whole);
    assert!(place.folder().join("cache.db.damaged").is_file());
}
