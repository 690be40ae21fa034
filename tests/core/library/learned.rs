//! Learned features of a library: their switch, and libraries that came without them.

use tessera_core::ckm::element::Elements;
use tessera_core::library::learned::{LearnedFeatures, compute};
use tessera_core::network::Network;
use tessera_core::picture::decode::SIDE;

use super::*;

const NAMES: [&str; 4] = ["cat/1.png", "cat/2.png", "dog/1.png", "loose.png"];

fn with_cells() -> CkmOptions {
    CkmOptions { kinds: [options().kinds, Preset::Network.options().kinds].concat(), ..options() }
}

pub(super) fn open_learned(place: &Place) -> Mutex<Library> {
    open_learned_with(place, usize::MAX)
}

pub(super) fn open_learned_with(place: &Place, elements_in_memory: usize) -> Mutex<Library> {
    let progress = Progress::default();
    let opening = LibraryOptions::new(Arc::clone(&place.decoder) as _, &progress);
    let opening = LibraryOptions { options: options(), learned: Some(with_cells()), elements_in_memory, ..opening };
    Mutex::new(Library::open_or_create(&place.folder(), &opening).unwrap())
}

fn closed(library: Mutex<Library>) {
    library.into_inner().unwrap().close().unwrap();
}

fn machine(library: &Mutex<Library>) -> Arc<tessera_core::ckm::Ckm> {
    Arc::clone(hold(library).recogniser().ckm())
}

fn switch(library: &Mutex<Library>, on: bool) {
    hold(library).set_learned_features(on, &Progress::default()).unwrap();
}

fn known(library: &Mutex<Library>) -> LearnedFeatures {
    hold(library).learned_features().unwrap()
}

#[test]
fn an_import_looks_with_the_network_and_the_switch_computes_nothing() {
    let place = Place::new(&NAMES);
    let library = open_learned(&place);
    place.import(&library);
    let (all, images) = (NAMES.len(), NAMES.len());
    assert_eq!(known(&library), LearnedFeatures { is_on: true, recognises: true, seen: all, images });
    let learned = machine(&library);
    assert_eq!(learned.examples().map(|(_, example)| example.elements.get().sets[1].len()).collect::<Vec<_>>(), [36; 3]);
    let loose = at(&library, "loose.png");
    let picture = InProcess::default().decode(&place.image("loose.png"), SIDE, &Progress::default()).unwrap();
    let obvious = Elements::of(&picture, 32, &with_cells().kinds).unwrap();
    assert_eq!(hold(&library).elements_of(&[loose.id]).unwrap(), [(loose.id, obvious)], "those kept are those of the picture");
    place.decoded();

    switch(&library, false);
    let plain = machine(&library);
    assert_eq!(*plain.options(), options());
    assert_eq!(known(&library), LearnedFeatures { is_on: false, recognises: false, seen: all, images });
    sound(&library);
    closed(library);
    let library = open_learned(&place);
    assert!(!known(&library).is_on, "the switch is kept");
    assert!(*machine(&library) == *plain);
    switch(&library, true);
    assert!(*machine(&library) == *learned, "back at once");
    closed(library);
    let library = open_learned(&place);
    assert!(*machine(&library) == *learned);
    assert_eq!((place.decoded(), compute(&library, &Progress::default()).unwrap()), (0, 0), "nothing is computed again");
    closed(library);

    // The library has nothing of the network where it was opened without.
    let other = Place { dir: TempDir::new().unwrap(), decoder: Arc::default() };
    fs::create_dir(other.images()).unwrap();
    for (name, seed) in NAMES.iter().zip(1..) {
        other.put(name, seed);
    }
    let library = other.open();
    other.import(&library);
    assert!(*machine(&library) == *plain);
    assert!(hold(&library).set_learned_features(true, &Progress::default()).is_err());
}

#[test]
fn a_library_of_before_is_looked_at_later_and_answers_meanwhile() {
    let place = Place::new(&NAMES);
    let library = place.open();
    place.import(&library);
    closed(library);
    place.decoded();
    let library = open_learned(&place);
    assert_eq!(place.decoded(), 0, "opening computes nothing");
    assert_eq!(known(&library), LearnedFeatures { is_on: true, recognises: false, seen: 0, images: 4 });
    assert_eq!(*machine(&library).options(), options());

    let stopped = Progress::default();
    stopped.cancel();
    assert_eq!(compute(&library, &stopped).unwrap_err().reason(), "cancelled");
    // One file is gone: its image has no cells, and everything else of it still counts.
    fs::remove_file(place.image("dog/1.png")).unwrap();
    assert_eq!(compute(&library, &Progress::default()).unwrap(), 3);
    assert_eq!(known(&library), LearnedFeatures { is_on: true, recognises: false, seen: 3, images: 4 }, "two thirds are not enough");
    place.put("dog/1.png", 3);
    assert_eq!(compute(&library, &Progress::default()).unwrap(), 1);
    assert!(known(&library).recognises);
    let learned = machine(&library);
    assert!(learned.examples().all(|(_, example)| example.elements.get().sets[1].len() == 36));
    sound(&library);

    // Images that come while they are off are looked at afterwards.
    switch(&library, false);
    place.put("cat/3.png", 9);
    place.import(&library);
    assert_eq!(known(&library).seen, 4);
    switch(&library, true);
    assert!(!known(&library).recognises, "three of four have cells");
    assert_eq!(compute(&library, &Progress::default()).unwrap(), 1);
    assert!(known(&library).recognises);
    let id = at(&library, "cat/3.png").id;
    hold(&library).forget(&[id], &Progress::default()).unwrap();
    assert!(*machine(&library) == *learned);
    sound(&library);
}

#[test]
fn a_glimpse_is_the_whole_picture_in_short() {
    use tessera_core::library::Glimpse;
    let seen = |seed| Network::shipped().unwrap().look_at(&scene(seed, 60, 50)).unwrap();
    let (one, other) = (seen(1), seen(2));
    let (a, b) = (Glimpse::of(&one), Glimpse::of(&other));
    let cosine: f64 = one.vector().iter().zip(other.vector()).map(|(x, y)| f64::from(x * y)).sum();
    let kept = |a: &Glimpse, b: &Glimpse| a.values().iter().zip(b.values()).map(|(x, y)| x * y).sum::<f64>();
    assert!((kept(&a, &b) - cosine).abs() < 0.01 && (kept(&a, &a) - 1.0).abs() < 1e-9);
    let mut chances: Vec<f32> = one.classes().to_vec();
    chances.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(a.classes().count(), 10);
    let view = a.view();
    assert!(view.len() == Glimpse::VIEW && (view.iter().map(|value| value * value).sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(
        view[tessera_core::network::CHANNELS..].iter().filter(|value| **value > 0.0).count(),
        a.classes().filter(|(_, chance)| *chance > 0.0).count()
    );
    for ((class, chance), wanted) in a.classes().zip(chances) {
        assert!((chance - f64::from(wanted)).abs() < 1e-4 && (f64::from(one.classes()[class]) - chance).abs() < 1e-4);
    }
}

#[test]
fn likeness_leaves_out_what_all_images_have_in_common() {
    use tessera_core::library::{Glimpse, GlimpseLikeness};
    let glimpses: Vec<Glimpse> =
        (1..9).map(|seed| Glimpse::of(&Network::shipped().unwrap().look_at(&scene(seed, 60, 50)).unwrap())).collect();
    let one = &glimpses[0];
    let (few, all) = (GlimpseLikeness::new(one, [].into_iter()), GlimpseLikeness::new(one, glimpses.iter()));
    assert_eq!(all, GlimpseLikeness::new(one, glimpses.iter().rev()), "the order of images does not matter");
    for other in &glimpses[1..] {
        let [few, all] = [&few, &all].map(|likeness| likeness.of(other));
        assert!((0.0..1.0).contains(&all) && all < few, "{all} {few}");
        assert!((all - GlimpseLikeness::new(other, glimpses.iter()).of(one)).abs() < 1e-12);
    }
    assert!((all.of(one) - 1.0).abs() < 1e-12 && (few.of(one) - 1.0).abs() < 1e-12);
}
