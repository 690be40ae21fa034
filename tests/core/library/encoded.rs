//! Vectors of a library's images by an encoder of the user's: a set like any other, for which only
//! new images are looked at, taken back in one act, and kept as far as they are when it is stopped.

use image::{Rgb, RgbImage};
use tessera_core::library::encoded::{Encoded, bring};
use tessera_core::library::looks::{Look, rows};

use super::learned::open_learned;
use super::pair::with_pair;
use super::*;
use crate::ckm::cancelled_after;

fn brought(library: &Mutex<Library>, hash: &str, set: &str) -> Encoded {
    bring(library, hash, set, &Progress::default()).unwrap()
}

/// Images that were looked at, that have another vector, and that have none.
fn done(encoded: &Encoded) -> (usize, usize, usize) {
    (encoded.looked, encoded.changed, encoded.missing)
}

#[test]
fn an_encoders_vectors_are_a_set_like_any_other() {
    let (place, _folder, hash) = with_pair(20);
    let library = open_learned(&place);
    place.import(&library);
    let all = brought(&library, &hash, "mine");
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
