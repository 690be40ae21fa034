//! Images that look alike: equal to a scan written here, from a new cache or an old one, by an
//! index, and without forgotten images.

use proptest::collection::vec;
use proptest::prelude::*;
use tessera_core::library::brought_vector::BroughtVector;
use tessera_core::library::looks::{Look, LookQuery, grow};
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::thumbnail;

use super::*;

const NAMES: [&str; 5] = ["a/0.png", "a/1.png", "b/2.png", "b/3.png", "b/4.png"];

/// The appearance of an image by its file, made here.
fn look(library: &Mutex<Library>, id: ItemId) -> Appearance {
    let path = hold(library).path(id).unwrap();
    Appearance::of(&thumbnail::shrink(&image::open(path).unwrap().into_rgb8()))
}

fn by(appearance: &Appearance) -> LookQuery {
    LookQuery { also_few: true, ..LookQuery::new(appearance.clone(), None, None) }
}

/// The most alike images that a library finds, and how alike they are.
fn alike(library: &Mutex<Library>, query: &LookQuery, k: usize, fits: impl Fn(ItemId) -> bool) -> Vec<(ItemId, f64)> {
    let found = hold(library).look_alikes(query, k, fits);
    found.list.iter().map(|alike| (alike.image, alike.likeness)).collect()
}

fn brought(library: &Mutex<Library>, turn: usize) {
    while hold(library).load_appearances(turn).unwrap() > 0 {}
}

fn obvious(library: &Mutex<Library>, wanted: &Appearance) -> Vec<(ItemId, f64)> {
    let ids: Vec<ItemId> = hold(library).state().images().map(|image| image.id).collect();
    let mut all: Vec<(ItemId, f64)> = ids.into_iter().map(|id| (id, look(library, id).likeness(wanted))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

#[test]
fn look_alikes_are_those_of_an_exact_scan() {
    let place = Place::new(&NAMES);
    let library = place.open();
    place.import(&library);
    let first = at(&library, NAMES[0]).id;
    let wanted = look(&library, first);
    assert!(alike(&library, &by(&wanted), 5, |_| true).is_empty(), "nothing was brought yet");
    assert_eq!(hold(&library).load_appearances(2).unwrap(), 3);
    assert_eq!(alike(&library, &by(&wanted), 5, |_| true).len(), 2);
    brought(&library, 2);
    let all = obvious(&library, &wanted);
    assert!((all[0].1 - 1.0).abs() < 1e-3 && all[0].0 == first);
    for k in 0..=NAMES.len() {
        assert_eq!(alike(&library, &by(&wanted), k, |_| true), all[..k]);
    }
    let others: Vec<_> = all.iter().copied().filter(|(id, _)| *id != first).collect();
    assert_eq!(alike(&library, &by(&wanted), 9, |id| id != first), others);
    // The same from the cache.
    library.into_inner().unwrap().close().unwrap();
    let library = place.open();
    brought(&library, 100);
    assert_eq!(alike(&library, &by(&wanted), 9, |_| true), all);
    hold(&library).set_removed(&[first], true).unwrap();
    assert_eq!(alike(&library, &by(&wanted), 9, |_| true), others);
    hold(&library).undo().unwrap();
    hold(&library).forget(&[first], &Progress::default()).unwrap();
    brought(&library, 100);
    assert_eq!(alike(&library, &by(&wanted), 9, |_| true), others);
    library.into_inner().unwrap().close().unwrap();
    let library = place.open();
    brought(&library, 100);
    assert_eq!(alike(&library, &by(&wanted), 9, |_| true), others);
}

const MANY: usize = 150;

/// A library of many different images with an index of their appearances, and their identifiers.
fn indexed() -> (Place, Mutex<Library>, Vec<ItemId>) {
    let names: Vec<String> = (0..MANY).map(|i| format!("a/{i:03}.png")).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let library = place.open();
    place.import(&library);
    ready(&library);
    assert!(grow(&library, &Look::Appearance, &Progress::default()).unwrap());
    let ids = hold(&library).state().images().map(|image| image.id).collect();
    (place, library, ids)
}

fn ready(library: &Mutex<Library>) {
    while hold(library).load_looks(&Look::Appearance, 40).unwrap() > 0 {}
}

fn is_indexed(library: &Mutex<Library>, look: &Appearance) -> bool {
    hold(library).look_alikes(&by(look), 10, |_| true).search.recall.is_some()
}

#[test]
fn an_index_finds_most_of_what_a_scan_finds_and_keeps_its_order() {
    let (_place, library, ids) = indexed();
    let (mut found, mut compared, mut sure) = (0, 0, 0.0);
    for id in &ids {
        let query = LookQuery { of: Some(*id), ..by(&look(&library, *id)) };
        let truth = alike(&library, &LookQuery { recall: 1.0, ..query.clone() }, 10, |other| other != *id);
        let all: Vec<(ItemId, f64)> = obvious(&library, &query.appearance).into_iter().filter(|(other, _)| other != id).take(10).collect();
        assert_eq!(truth, all, "with a recall of 1 all images are compared");
        let answer = hold(&library).look_alikes(&query, 10, |other| other != *id);
        assert!(answer.search.recall.unwrap() >= 0.95, "{:?}", answer.search);
        let list: Vec<(ItemId, f64)> = answer.list.iter().map(|alike| (alike.image, alike.likeness)).collect();
        assert!(list.iter().all(|(id, likeness)| look(&library, *id).likeness(&query.appearance) == *likeness), "likenesses are exact");
        assert!(list.is_sorted_by(|a, b| a.1 > b.1 || (a.1 == b.1 && a.0 < b.0)));
        found += list.iter().filter(|one| truth.contains(one)).count();
        compared += answer.search.compared;
        sure += answer.list.iter().map(|alike| alike.probability).sum::<f64>();
    }
    let recall = found as f64 / (10 * ids.len()) as f64;
    assert!(recall >= 0.94, "{recall}");
    assert!((sure / (10 * ids.len()) as f64 - recall).abs() < 0.05, "{sure} {found}");
    assert!(compared < ids.len() * ids.len(), "fewer than all are compared");
}

#[test]
fn an_index_follows_every_event() {
    let (place, library, ids) = indexed();
    let wanted = look(&library, ids[7]);
    let nearest = || alike(&library, &by(&wanted), 1, |_| true)[0].0;
    assert_eq!(nearest(), ids[7]);
    hold(&library).set_removed(&[ids[7]], true).unwrap();
    assert_ne!(nearest(), ids[7], "what was removed is not found");
    hold(&library).undo().unwrap();
    assert_eq!(nearest(), ids[7], "and it is found again at once");
    ready(&library);
    assert_eq!(nearest(), ids[7]);
    save(&place.images().join("new.png"), 99_999);
    place.import(&library);
    let new = at(&library, "new.png").id;
    let query = by(&look(&library, new));
    hold(&library).load_looks(&Look::Appearance, 1).unwrap();
    assert_eq!(alike(&library, &query, 1, |_| true)[0].0, new);
    assert!(is_indexed(&library, &wanted));
    // Few that are admitted are all compared.
    let few = hold(&library).look_alikes(&query, 3, |id| ids[..5].contains(&id));
    assert_eq!((few.list.len(), few.search.compared, few.search.recall), (3, 5, None));
    hold(&library).forget(&[ids[7]], &Progress::default()).unwrap();
    assert!(!is_indexed(&library, &wanted), "an index that knew what was forgotten is gone");
    ready(&library);
    assert!(alike(&library, &by(&wanted), 200, |_| true).iter().all(|(id, _)| *id != ids[7]));
}

#[test]
fn an_index_is_kept_and_made_again_where_it_is_lost() {
    let (place, library, ids) = indexed();
    let wanted = look(&library, ids[3]);
    let before = hold(&library).look_alikes(&by(&wanted), 10, |_| true);
    library.into_inner().unwrap().close().unwrap();

    let library = place.open();
    assert_eq!(hold(&library).load_looks(&Look::Appearance, 1).unwrap(), 0, "no vector but those in the index is needed");
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 10, |_| true), before);
    library.into_inner().unwrap().close().unwrap();

    fs::remove_file(place.folder().join("cache.db")).unwrap();
    let library = place.open();
    ready(&library);
    let scanned = hold(&library).look_alikes(&by(&wanted), 10, |_| true);
    assert_eq!((scanned.search.recall, scanned.search.compared), (None, MANY));
    assert_eq!(scanned.list[0].image, ids[3]);
    grow(&library, &Look::Appearance, &Progress::default()).unwrap();
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 10, |_| true), before, "the same index is made");
}

#[test]
fn edges_and_colours_are_compared_alone() {
    let (_place, library, ids) = indexed();
    let wanted = look(&library, ids[0]);
    for (by_look, part) in [(Look::Edges, 0..324), (Look::Colours, 324..372)] {
        let own = &wanted.values()[part.clone()];
        for (image, likeness) in alike(&library, &LookQuery { by: Some(by_look.clone()), ..by(&wanted) }, 20, |_| true) {
            let other = &look(&library, image).values()[part.clone()];
            let cosine = 2.0 * own.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            assert!((cosine - likeness).abs() < 1e-9, "{by_look:?}: {cosine} {likeness}");
        }
    }
}

proptest! {
    /// Steps of 1 in 32,767 change a cosine by little, and bytes bring a vector back.
    #[test]
    fn a_brought_vector_keeps_its_direction(
        (a, b) in (1..60usize).prop_flat_map(|n| (vec(-9.0f32..9.0, n), vec(-9.0f32..9.0, n))),
        scale in -20i32..20,
    ) {
        let scaled: Vec<f32> = a.iter().map(|value| value * 10f32.powi(scale)).collect();
        let (Some(kept), Some(other)) = (BroughtVector::of(&scaled), BroughtVector::of(&b)) else {
            prop_assert!(a.iter().all(|value| *value == 0.0) || b.iter().all(|value| *value == 0.0));
            return Ok(());
        };
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let cosine = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
        prop_assert!((kept.cosine(&other) - cosine).abs() < 1e-3, "{} {cosine}", kept.cosine(&other));
        let text = serde_json::to_string(&kept).unwrap();
        prop_assert_eq!(serde_json::from_str::<BroughtVector>(&text).unwrap(), kept);
        prop_assert!(serde_json::from_str::<BroughtVector>(&text[..text.len() - 2]).is_err());
    }
}
