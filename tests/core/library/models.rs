//! The contract of models that follow events, tried on every model in the registry.

use std::collections::BTreeSet;

use tessera_core::ckm::{Ckm, Search, Without};
use tessera_core::library::models::Models;
use tessera_core::progress::Progress;

use super::*;

/// A library with acts of each kind, and checkpoints from the middle of its history.
fn lived() -> (Place, Mutex<Library>) {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png", "owl/1.png"]);
    let library = place.open();
    place.import(&library);
    let [cat, dog, owl] = ["cat/1.png", "dog/1.png", "owl/1.png"].map(|name| at(&library, name).id);
    hold(&library).label(&[dog], &class("wolf")).unwrap();
    hold(&library).caption(cat, say(&["a grey cat on a mat", "asleep"])).unwrap();
    hold(&library).reward("grey cat", cat, Some(1.0)).unwrap();
    hold(&library).set_removed(&[owl], true).unwrap();
    hold(&library).save_checkpoints().unwrap();
    hold(&library).caption(dog, say(&["a wolf in the snow"])).unwrap();
    hold(&library).rename_class("cat", "lynx").unwrap();
    hold(&library).reward("snow", dog, Some(-0.5)).unwrap();
    hold(&library).undo().unwrap();
    hold(&library).undo().unwrap();
    hold(&library).redo().unwrap();
    hold(&library).set_removed(&[owl], false).unwrap();
    (place, library)
}

#[test]
fn every_model_is_a_function_of_the_events() {
    let (place, library) = lived();
    let stepped = hold(&library).everything_learned();
    let names: BTreeSet<&String> = stepped.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), hold(&library).models().all().len(), "two models of one name");
    let began = Models::new(&options()).unwrap().everything(&State::default());
    for ((name, learned), (_, nothing)) in stepped.iter().zip(&began) {
        assert!(learned != nothing, "{name} has learned nothing");
    }
    let same = |library: &Mutex<Library>, way: &str| {
        for ((name, expected), (_, found)) in stepped.iter().zip(hold(library).everything_learned()) {
            assert!(found == *expected, "{name} is another one {way}");
        }
    };
    // The checkpoints are from the middle, not from the end.
    drop(library);
    let library = place.open();
    same(&library, "from a checkpoint and the events after it");
    library.into_inner().unwrap().close().unwrap();
    let library = place.open();
    same(&library, "from a checkpoint alone");
    let library = replayed(&place, library);
    same(&library, "from the first event");
    let library = taught_anew(&place, library);
    same(&library, "from the images and the log alone");
    // What is done and taken back leaves no trace in a model that learns all of it anew.
    let dog = at(&library, "dog/1.png").id;
    hold(&library).label(&[dog], &class("fox")).unwrap();
    for ((name, before), (_, after)) in stepped.iter().zip(hold(&library).everything_learned()) {
        assert!(after != *before, "{name} does not tell a label");
    }
    replayed(&place, library);
}

/// The weights of the elements of an image in a machine.
fn weights_of(ckm: &Ckm, image: ItemId) -> Vec<f32> {
    let held = ckm.examples().find(|(_, example)| example.id == image).unwrap().1;
    held.elements.get().sets.iter().flat_map(|set| (0..set.len()).map(|i| set.weight(i))).collect()
}

#[test]
fn learned_weights_follow_the_images_until_one_is_forgotten() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png"]);
    let library = place.open();
    place.import(&library);
    let [cat, dog, other] = ["cat/1.png", "dog/1.png", "dog/2.png"].map(|name| at(&library, name).id);
    let held = hold(&library).recogniser().ckm().clone();
    let kept = |image| &held.examples().find(|(_, example)| example.id == image).unwrap().1.elements;
    let weights = |image| (image, kept(image).counts().map(|count| vec![-0.1; count]).collect::<Vec<_>>());
    assert!(hold(&library).set_weights(Some(&[(cat, vec![vec![0.5]])])).is_err());
    assert!(hold(&library).recogniser().weighted().is_none());
    hold(&library).set_weights(Some(&[weights(cat), weights(dog)])).unwrap();
    let weighted = |image| weights_of(hold(&library).recogniser().weighted().unwrap(), image);
    assert!(weighted(cat).iter().all(|weight| *weight == -0.1) && weighted(other).iter().all(|weight| *weight == 0.0));
    // An image of another class is a new one; the others keep theirs.
    hold(&library).label(&[dog], &class("wolf")).unwrap();
    assert!(weighted(dog).iter().all(|weight| *weight == 0.0) && weighted(cat).iter().all(|weight| *weight == -0.1));
    hold(&library).set_removed(&[other], true).unwrap();
    let plain = hold(&library).recogniser().ckm().clone();
    let with = hold(&library).recogniser().weighted().unwrap().clone();
    let ids = |ckm: &Ckm| ckm.examples().map(|(class, example)| (class, example.id)).collect::<Vec<_>>();
    assert_eq!(ids(&plain), ids(&with));
    assert!(weights_of(&plain, cat).iter().all(|weight| *weight == 0.0), "the other machine has none");
    // What an image did to the weights of others goes with it.
    hold(&library).forget(&[other], &Progress::default()).unwrap();
    assert!(hold(&library).recogniser().weighted().is_none());
}

#[test]
fn what_is_compared_stays_as_it_was_set() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png"]);
    let library = place.open();
    place.import(&library);
    let search = |library: &Mutex<Library>| hold(library).recogniser().ckm().search();
    assert_eq!(search(&library), Search::Exact);
    hold(&library).set_search(Some(Search::INDEX), &Progress::default()).unwrap();
    let dog = at(&library, "dog/2.png").id;
    hold(&library).label(&[dog], &class("wolf")).unwrap();
    assert_eq!(search(&library), Search::INDEX);
    let query = scene(5, 48, 48).into();
    let scores = |ckm: &Ckm| ckm.scores(&ckm.elements(&query).unwrap(), Without::Nothing);
    let found = scores(hold(&library).recogniser().ckm());
    hold(&library).set_search(Some(Search::Exact), &Progress::default()).unwrap();
    hold(&library).set_search(Some(Search::INDEX), &Progress::default()).unwrap();
    assert_eq!(found, scores(hold(&library).recogniser().ckm()), "an index made anew");
    let refused = hold(&library).set_search(Some(Search::Index { probes: 0 }), &Progress::default());
    assert!(refused.is_err() && search(&library) == Search::INDEX);
    hold(&library).set_search(None, &Progress::default()).unwrap();
    assert_eq!(search(&library), Search::Exact);
}
