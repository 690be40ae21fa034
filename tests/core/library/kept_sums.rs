//! The sums by which whole images are compared are kept with a library, and are those of its
//! images.

use tessera_core::ckm::{Ckm, Scores, Without};

use super::*;

/// Values of the features of a whole image.
const FEATURES: usize = 1152;

/// The library's machine, whose scores compare whole images.
fn comparing(library: &Mutex<Library>) -> Ckm {
    let mut ckm = Ckm::clone(hold(library).recogniser().ckm());
    ckm.set_terms(ron::from_str("(terms: {}, whole: 0.5)").unwrap());
    ckm
}

fn scores(ckm: &Ckm) -> Vec<Scores> {
    (0..3).map(|seed| ckm.scores(&ckm.elements(&scene(seed, 48, 48).into()).unwrap(), Without::Nothing)).collect()
}

/// A machine that has just learned the same images.
fn anew(ckm: &Ckm) -> Ckm {
    let mut anew = Ckm::new(ckm.options().clone()).unwrap();
    for class in ckm.classes() {
        for example in &class.examples {
            anew.add(&class.name, Arc::clone(example)).unwrap();
        }
    }
    anew.set_terms(ckm.terms().clone());
    anew
}

/// Whether sums are there, which give the scores of a machine that has just learned the images.
fn are_there(library: &Mutex<Library>) -> bool {
    let ckm = comparing(library);
    let are_there = !ckm.is_to_be_prepared();
    assert_eq!(scores(&ckm), scores(&anew(&ckm)));
    are_there
}

#[test]
fn sums_over_whole_images_are_kept_and_follow_the_images() {
    let names: Vec<String> = (0..1003).map(|i| format!("{}/{i}.png", ["ant", "bee"][i % 2])).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let reopened = |library: Mutex<Library>| {
        library.into_inner().unwrap().close().unwrap();
        place.open()
    };
    let library = place.open();
    place.import(&library);
    let library = reopened(library);
    assert!(comparing(&library).is_to_be_prepared(), "nobody has asked for them");
    comparing(&library).prepare();
    let library = reopened(library);
    assert!(are_there(&library));
    // They follow acts before they are asked for anew, and are kept as they are then.
    let image = |name: &str| at(&library, name).id;
    let (labelled, removed, forgotten) = (image("ant/0.png"), image("bee/1.png"), image("ant/2.png"));
    hold(&library).label(&[labelled], &class("cow")).unwrap();
    hold(&library).set_removed(&[removed], true).unwrap();
    assert!(are_there(&library));
    let library = reopened(library);
    assert!(are_there(&library));
    // A library that was not closed is read from its events: its images are not those of the sums.
    hold(&library).label(&[labelled], &class("ant")).unwrap();
    drop(library);
    let library = place.open();
    assert!(!are_there(&library));
    let library = reopened(library);
    assert!(are_there(&library));
    // They are there for one who only reads the library.
    drop(library);
    let progress = Progress::default();
    let usual = LibraryOptions::new(Arc::clone(&place.decoder) as _, &progress);
    let usual = LibraryOptions { options: options(), learned: None, ..usual };
    assert!(are_there(&Mutex::new(Library::open_read_only(&place.folder(), &usual).unwrap())));
    // Damaged sums are as none.
    let damage = "UPDATE checkpoint SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE model LIKE 'whole-sums-%'";
    let damaged = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap().execute(damage, []).unwrap();
    assert_eq!(damaged, 1);
    let library = place.open();
    assert!(!are_there(&library));
    hold(&library).forget(&[forgotten], &Progress::default()).unwrap();
    assert!(!are_there(&library), "nothing of what was forgotten is left");
}

#[test]
fn sums_of_other_machines_are_refused() {
    let place = Place::new(&["ant/1.png", "ant/2.png", "bee/3.png", "bee/4.png"]);
    let library = place.open();
    place.import(&library);
    let ckm = comparing(&library);
    assert_eq!(ckm.whole_sums(), None);
    let expected = scores(&ckm);
    let sums = ckm.whole_sums().unwrap();
    let other = anew(&ckm);
    assert!(other.is_to_be_prepared() && other.take_whole_sums(&sums) && !other.is_to_be_prepared());
    assert_eq!(scores(&other), expected);
    let mut fewer = ckm.clone();
    fewer.remove(at(&library, "bee/3.png").id);
    let mut without_images = sums.clone();
    // The images of the last class, before its features and their number.
    let at = without_images.len() - 8 * (FEATURES + 2);
    assert_eq!(std::mem::take(&mut without_images[at]), 2);
    let mut beyond = sums.clone();
    // The highest byte of the first product.
    beyond[15] = 0x7f;
    for (ckm, bytes) in [(&fewer, &sums[..]), (&ckm, &without_images), (&ckm, &beyond), (&ckm, &sums[..sums.len() - 1]), (&ckm, &[])] {
        assert!(!ckm.take_whole_sums(bytes));
    }
}
