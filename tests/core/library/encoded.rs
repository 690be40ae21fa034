//! Vectors of a library's images by an encoder of the user's: a set like any other, for which only
//! new images are looked at, taken back in one act, and kept as far as they are when it is stopped.

use std::sync::atomic::AtomicBool;

use image::{Rgb, RgbImage};
use tessera_core::data::named_vectors::NamedVectors;
use tessera_core::library::encoded::{Encoded, bring};
use tessera_core::library::import::FailedFile;
use tessera_core::library::looks::{Look, rows};
use tessera_core::network::folder::image_encoder;

use super::learned::open_learned;
use super::pair::with_pair;
use super::*;
use crate::ckm::cancelled_after;

fn brought(library: &Mutex<Library>, hash: &str, set: &str) -> Encoded {
    bring(library, hash, set, &Progress::default()).unwrap()
}

/// Images that were looked at, that have another vector, and that have none.
fn done(encoded: &Encoded) -> (usize, usize, usize) {
    (encoded.looked, encoded.changed, encoded.failed.len())
}

/// The names of the files that failed, each with the reason.
fn failed(encoded: &Encoded) -> Vec<(&str, &str)> {
    let name = |file: &FailedFile| file.path.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(encoded.failed.iter().all(|file| file.detail.contains(&name(file))), "{encoded:?}");
    encoded.failed.iter().map(|file| (file.path.file_name().unwrap().to_str().unwrap(), file.reason)).collect()
}

/// Progress during whose first step something is done, by whoever has the library then.
fn meanwhile(act: impl Fn() + Send + Sync + 'static) -> Progress {
    let is_done = AtomicBool::new(false);
    Progress::watched(move |now| {
        if now.done > 0 && !is_done.swap(true, Ordering::Relaxed) {
            act();
        }
    })
}

#[test]
fn an_encoders_vectors_are_a_set_like_any_other() {
    let (place, _folder, hash) = with_pair(20);
    let library = open_learned(&place);
    place.import(&library);
    let all = brought(&library, &hash, "mine");
    assert!(Arc::ptr_eq(&image_encoder(&hash).unwrap(), &image_encoder(&hash[..16]).unwrap()), "it is loaded once");
    assert_eq!((all.images, all.dimension, all.set.as_str(), all.cancelled), (6, 3, "mine", false));
    assert!(done(&all) == (6, 6, 0) && all.act.is_some(), "{all:?}");
    let look = Look::Brought("mine".into());
    let found = rows(&library, &look, &Progress::default()).unwrap();
    assert_eq!((found.images.len(), found.dimension), (6, 3));
    let cosine = |a: usize, b: usize| (0..3).map(|d| found.values[3 * a + d] * found.values[3 * b + d]).sum::<f32>();
    // Two images of each of three colours.
    assert!((0..6).all(|a| (0..6).all(|b| a / 2 == b / 2 || cosine(a, b) < cosine(a, a ^ 1))), "{found:?}");

    // Nothing is computed again, nor is what an undo took off.
    place.decoded();
    assert_eq!((done(&brought(&library, &hash, "mine")), place.decoded()), ((0, 0, 0), 0));
    assert_eq!(brought(&library, &hash, "mine").act, None);
    hold(&library).undo().unwrap().unwrap();
    assert!(hold(&library).state().vector_sets().is_empty(), "one act");
    assert_eq!((done(&brought(&library, &hash, "mine")), place.decoded()), ((0, 6, 0), 0));
    RgbImage::from_pixel(48, 48, Rgb([220, 5, 5])).save(place.image("7.png")).unwrap();
    place.import(&library);
    place.decoded();
    assert_eq!((done(&brought(&library, &hash, "mine")), place.decoded()), ((1, 1, 0), 1));

    // The vectors are the user's own: the switch of learned features leaves them.
    hold(&library).set_learned_features(false, &Progress::default()).unwrap();
    assert_eq!(rows(&library, &look, &Progress::default()).unwrap().images.len(), 7);
    assert_eq!(done(&brought(&library, &hash, "mine")), (0, 0, 0));

    // A file that is away leaves its image out, and takes nothing off.
    library.into_inner().unwrap().close().unwrap();
    fs::remove_file(place.folder().join("cache.db")).unwrap();
    fs::remove_file(place.image("1.png")).unwrap();
    let library = place.open();
    let again = brought(&library, &hash, "mine");
    assert_eq!((done(&again), hold(&library).state().vector_sets()["mine"]), ((6, 0, 1), 7), "{again:?}");
    // Each is told with its reason; one with other bytes now, too.
    library.into_inner().unwrap().close().unwrap();
    fs::remove_file(place.folder().join("cache.db")).unwrap();
    fs::copy(place.image("2.png"), place.image("3.png")).unwrap();
    let library = place.open();
    assert_eq!(failed(&brought(&library, &hash, "mine")), [("1.png", "io"), ("3.png", "data")]);
    for (hash, set) in [(hash.as_str(), "edges"), (hash.as_str(), ""), (&*"f".repeat(32), "other")] {
        assert!(bring(&library, hash, set, &Progress::default()).is_err(), "{set}");
    }
}

#[test]
fn who_stops_it_keeps_what_was_looked_at() {
    let (place, _folder, hash) = with_pair(21);
    for n in 7..=40u8 {
        RgbImage::from_pixel(48, 48, Rgb([5 * n, 250 - n, n])).save(place.image(&format!("{n}.png"))).unwrap();
    }
    let library = open_learned(&place);
    place.import(&library);
    let stopped = bring(&library, &hash, "mine", &cancelled_after(20)).unwrap();
    assert!(stopped.cancelled && stopped.act.is_some() && (16..40).contains(&stopped.changed), "{stopped:?}");
    assert_eq!(hold(&library).state().vector_sets()["mine"], stopped.changed);
    let rest = brought(&library, &hash, "mine");
    assert_eq!((rest.looked, rest.changed), (40 - stopped.looked, 40 - stopped.changed), "{rest:?}");
    sound(&library);
}

#[test]
fn what_happens_meanwhile_counts() {
    let (place, _folder, hash) = with_pair(22);
    let library = Arc::new(open_learned(&place));
    place.import(&library);
    // An image that was forgotten is none that is missing.
    let (other, gone) = (Arc::clone(&library), at(&library, "4.png").id);
    let forget = meanwhile(move || {
        hold(&other).forget(&[gone], &Progress::default()).unwrap();
    });
    let rest = bring(&library, &hash, "mine", &forget).unwrap();
    assert_eq!((rest.images, rest.changed, done(&rest).2), (5, 5, 0), "{rest:?}");
    // Vectors of another size that came into the set are not mixed with its own.
    let file = place.dir.path().join("two.csv");
    fs::write(&file, "1.png,1,0\n2.png,0,1\n").unwrap();
    let (other, vectors) = (Arc::clone(&library), NamedVectors::read(&file).unwrap());
    let mixed = meanwhile(move || {
        hold(&other).bring_vectors("two", &vectors, &Progress::default()).unwrap();
    });
    let refused = bring(&library, &hash, "two", &mixed).unwrap_err().to_string();
    assert!(refused.contains("as many values as the set has"), "{refused}");
    assert_eq!(hold(&library).state().vector_sets()["two"], 2);
    sound(&library);
}
