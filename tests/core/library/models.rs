//! The contract of models that follow events, tried on every model in the registry.

use std::collections::BTreeSet;

use tessera_core::library::models::Models;

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
