//! Suggestions: better than chance from few labels, never what was rejected, and unlearned with a label that is taken back.

use std::collections::BTreeMap;

use tessera_core::data::toys::{Category, ToyOptions, render};
use tessera_core::library::suggest::{ADVISERS, Suggester, Suggestion};

use super::*;

const CLASSES: [Category; 3] = [Category::Airplane, Category::House, Category::Truck];
const OBJECTS: u32 = 5;
const VIEWS: u32 = 3;

/// Toys in one folder, named by numbers, and the class of each.
fn toys() -> (Place, Mutex<Library>, BTreeMap<ItemId, &'static str>) {
    let place = Place::new(&[]);
    let options = ToyOptions { side: 64, ..ToyOptions::default() };
    let mut classes = Vec::new();
    for (c, category) in CLASSES.into_iter().enumerate() {
        for (instance, view) in (0..OBJECTS).flat_map(|instance| (0..VIEWS).map(move |view| (instance, view))) {
            let name = format!("all/{:03}.png", (instance * VIEWS + view) as usize * CLASSES.len() + c);
            fs::create_dir_all(place.image(&name).parent().unwrap()).unwrap();
            render(category, instance, view, &options).picture.save(place.image(&name)).unwrap();
            classes.push((name, category.name()));
        }
    }
    let library = place.open();
    imported_with(&library, &place.images(), &ImportOptions { labels: tessera_core::data::Labels::None, ..ImportOptions::default() });
    while hold(&library).bring_appearances(100).unwrap() > 0 {}
    let truths = classes.iter().map(|(name, class)| (at(&library, name).id, *class)).collect();
    (place, library, truths)
}

fn suggested(library: &Mutex<Library>, suggester: &mut Suggester, id: ItemId) -> Option<Suggestion> {
    suggester.suggest(&hold(library), id, &Progress::default()).unwrap()
}

fn followed(library: &Mutex<Library>, suggester: &mut Suggester) {
    suggester.follow(&hold(library), &Progress::default()).unwrap();
}

#[test]
fn suggestions_get_better_with_every_label_and_heed_what_is_said() {
    let (_place, library, truths) = toys();
    let mut suggester = Suggester::new(&hold(&library), 0, &Progress::default()).unwrap();
    let first = *truths.keys().next().unwrap();
    assert_eq!(suggested(&library, &mut suggester, first), None, "no class is known");
    let mut right = Vec::new();
    for (id, truth) in &truths {
        let suggestion = suggested(&library, &mut suggester, *id);
        right.push(suggestion.as_ref().is_some_and(|suggestion| suggestion.ranking[0].0 == *truth));
        if let Some(suggestion) = suggestion {
            let sum: f64 = suggestion.ranking.iter().map(|(_, chance)| chance).sum();
            let trust: f64 = suggestion.advisers.iter().map(|(.., trust)| trust).sum();
            assert!((sum - 1.0).abs() < 1e-9 && (trust - 1.0).abs() < 1e-9, "{suggestion:?}");
            assert_eq!(suggestion.advisers.len(), ADVISERS.len());
        }
        hold(&library).label(&[*id], &class(truth)).unwrap();
        followed(&library, &mut suggester);
    }
    assert_eq!(suggester.n_learned(), truths.len());
    let late = right[right.len() / 2..].iter().filter(|right| **right).count() as f64 / (right.len() - right.len() / 2) as f64;
    assert!(late > 0.5, "{late:.2} of the second half were right, where chance is 0.33: {right:?}");
    // What an image is not is not suggested for it.
    let best = suggested(&library, &mut suggester, first).unwrap().ranking[0].0.clone();
    hold(&library).reject(&[first], &best, true).unwrap();
    assert!(suggested(&library, &mut suggester, first).unwrap().ranking.iter().all(|(class, _)| *class != best));
    // A class that is no more is suggested no more, and one that is renamed under its new name.
    hold(&library).rename_class("truck", "lorry").unwrap();
    hold(&library).delete_class("house").unwrap();
    followed(&library, &mut suggester);
    let names: Vec<String> = suggested(&library, &mut suggester, first).unwrap().ranking.into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| ["airplane", "lorry"].contains(&name.as_str())) && !names.is_empty(), "{names:?}");
}

#[test]
fn what_is_taken_back_was_never_learned() {
    let (_place, library, truths) = toys();
    let ids: Vec<ItemId> = truths.keys().copied().collect();
    let mut suggester = Suggester::new(&hold(&library), 3, &Progress::default()).unwrap();
    let (probe, rest) = ids.split_last().unwrap();
    let mut stands = Vec::new();
    for id in rest {
        stands.push(suggested(&library, &mut suggester, *probe));
        hold(&library).label(&[*id], &class(truths[id])).unwrap();
        followed(&library, &mut suggester);
    }
    // One by one, and many at a time.
    for n in (rest.len() - 5..rest.len()).rev() {
        hold(&library).undo().unwrap();
        followed(&library, &mut suggester);
        assert_eq!(suggested(&library, &mut suggester, *probe), stands[n], "after {n} labels");
        assert_eq!(suggester.n_learned(), n);
    }
    for _ in 2..rest.len() - 5 {
        hold(&library).undo().unwrap();
    }
    followed(&library, &mut suggester);
    assert_eq!(suggested(&library, &mut suggester, *probe), stands[2]);
    // Others who are told the same at once agree with each other.
    let [mut one, mut other] = [0, 1].map(|_| Suggester::new(&hold(&library), 3, &Progress::default()).unwrap());
    assert_eq!((one.n_learned(), other.n_learned()), (2, 2));
    assert_eq!(suggested(&library, &mut one, *probe), suggested(&library, &mut other, *probe));
    // An image that is removed takes its label along.
    hold(&library).set_removed(&[rest[1]], true).unwrap();
    followed(&library, &mut suggester);
    assert_eq!(suggester.n_learned(), 1);
    assert_eq!(suggested(&library, &mut suggester, *probe), stands[1]);
    assert_eq!(suggested(&library, &mut suggester, rest[1]), None, "nothing is suggested for what is removed");
}
