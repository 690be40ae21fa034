//! Search by appearance: equal to a scan written here, from a new cache or an old one, and without
//! forgotten images.

use tessera_core::library::search::AppearanceQuery;
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::thumbnail;

use super::*;

const NAMES: [&str; 5] = ["a/0.png", "a/1.png", "b/2.png", "b/3.png", "b/4.png"];

/// The appearance of an image by its thumbnail, made here.
fn look(library: &Mutex<Library>, id: ItemId) -> Appearance {
    let jpeg = hold(library).thumbnail(id).unwrap().unwrap();
    Appearance::of(&thumbnail::decode(&jpeg).unwrap())
}

fn by(appearance: &Appearance) -> AppearanceQuery {
    AppearanceQuery { appearance: appearance.clone(), glimpse: None, of: None }
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
    assert!(hold(&library).look_alikes(&by(&wanted), 5, |_| true).is_empty(), "nothing was brought yet");
    assert_eq!(hold(&library).load_appearances(2).unwrap(), 3);
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 5, |_| true).len(), 2);
    brought(&library, 2);
    let all = obvious(&library, &wanted);
    assert!((all[0].1 - 1.0).abs() < 1e-3 && all[0].0 == first);
    for k in 0..=NAMES.len() {
        assert_eq!(hold(&library).look_alikes(&by(&wanted), k, |_| true), all[..k]);
    }
    let others: Vec<_> = all.iter().copied().filter(|(id, _)| *id != first).collect();
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 9, |id| id != first), others);
    // The same from the cache.
    library.into_inner().unwrap().close().unwrap();
    let library = place.open();
    brought(&library, 100);
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 9, |_| true), all);
    hold(&library).set_removed(&[first], true).unwrap();
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 9, |_| true), others);
    hold(&library).undo().unwrap();
    hold(&library).forget(&[first], &Progress::default()).unwrap();
    brought(&library, 100);
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 9, |_| true), others);
    library.into_inner().unwrap().close().unwrap();
    let library = place.open();
    brought(&library, 100);
    assert_eq!(hold(&library).look_alikes(&by(&wanted), 9, |_| true), others);
}
