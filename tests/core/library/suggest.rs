//! Suggestions: better than chance from few labels, never of rejected classes, and unlearned when a
//! label is undone.

use std::collections::{BTreeMap, BTreeSet};

use tessera_core::advise::AdviserKind;
use tessera_core::data::toys::{Category, ToyOptions, render};
use tessera_core::data::{Dataset, OpenOptions};
use tessera_core::eval::online::{DeskItems, StreamOrder, desks, draw};
use tessera_core::eval::recognition;
use tessera_core::library::suggest::{Doubt, LEARNED, LabelOrder, Review, Reviewed, Suggester, Suggestion};
use tessera_core::picture::Limits;

use super::*;

const CLASSES: [Category; 3] = [Category::Airplane, Category::House, Category::Truck];
const OBJECTS: u32 = 5;
const VIEWS: u32 = 3;

/// Toys in one folder, named by numbers, and the class of each.
fn toys() -> (Place, Mutex<Library>, BTreeMap<ItemId, &'static str>) {
    seen_from(VIEWS)
}

/// Of each object so many views.
fn seen_from(views: u32) -> (Place, Mutex<Library>, BTreeMap<ItemId, &'static str>) {
    let place = Place::new(&[]);
    let options = ToyOptions { side: 64, ..ToyOptions::default() };
    let mut classes = Vec::new();
    for (c, category) in CLASSES.into_iter().enumerate() {
        for (instance, view) in (0..OBJECTS).flat_map(|instance| (0..views).map(move |view| (instance, view))) {
            let name = format!("all/{:03}.png", (instance * views + view) as usize * CLASSES.len() + c);
            fs::create_dir_all(place.image(&name).parent().unwrap()).unwrap();
            render(category, instance, view, &options).picture.save(place.image(&name)).unwrap();
            classes.push((name, category.name()));
        }
    }
    let library = place.open();
    imported_with(&library, &place.images(), &ImportOptions { labels: tessera_core::data::Labels::None, ..ImportOptions::default() });
    while hold(&library).load_appearances(100).unwrap() > 0 {}
    let truths = classes.iter().map(|(name, class)| (at(&library, name).id, *class)).collect();
    (place, library, truths)
}

fn suggested(library: &Mutex<Library>, suggester: &mut Suggester, id: ItemId) -> Option<Suggestion> {
    let library = hold(library);
    let (moment, seen) = (suggester.news(&library), suggester.see(&library, &[id], &Progress::default()).unwrap());
    seen.first().and_then(|seen| suggester.suggest(&moment, seen).unwrap())
}

fn review_of(library: &Mutex<Library>, seed: u64) -> Review {
    let library = hold(library);
    Review::new(&library, &Review::chosen(library.state(), seed), seed)
}

fn followed(library: &Mutex<Library>, suggester: &mut Suggester) {
    suggester.follow(&hold(library), &Progress::default()).unwrap();
}

#[test]
fn suggestions_get_better_with_every_label_and_heed_what_is_said() {
    let (_place, library, truths) = toys();
    let mut suggester = Suggester::new(0, LEARNED).unwrap();
    let first = *truths.keys().next().unwrap();
    assert_eq!(suggested(&library, &mut suggester, first), None, "no class is known");
    let mut right = Vec::new();
    for (id, truth) in &truths {
        let suggestion = suggested(&library, &mut suggester, *id);
        right.push(suggestion.as_ref().is_some_and(|suggestion| suggestion.ranking[0].0 == *truth));
        if let Some(suggestion) = suggestion {
            let sum: f64 = suggestion.ranking.iter().map(|(_, chance)| chance).sum();
            let trust: f64 = suggestion.advisers.iter().map(|vote| vote.trust).sum();
            assert!((sum - 1.0).abs() < 1e-9 && (trust - 1.0).abs() < 1e-9, "{suggestion:?}");
            assert_eq!(suggestion.advisers.len(), AdviserKind::SERVED.len());
        }
        hold(&library).label(&[*id], &class(truth)).unwrap();
        followed(&library, &mut suggester);
    }
    assert_eq!(suggester.n_learned(), truths.len());
    let late = right[right.len() / 2..].iter().filter(|right| **right).count() as f64 / (right.len() - right.len() / 2) as f64;
    assert!(late > 0.5, "{late:.2} of the second half were right, where chance is 0.33: {right:?}");
    // A rejected class is not suggested.
    let best = suggested(&library, &mut suggester, first).unwrap().ranking[0].0.clone();
    hold(&library).reject(&[first], &best, true).unwrap();
    assert!(suggested(&library, &mut suggester, first).unwrap().ranking.iter().all(|(class, _)| *class != best));
    // A deleted class is not suggested any more, and a renamed one under its new name.
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
    let mut suggester = Suggester::new(3, LEARNED).unwrap();
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
    // Suggesters that learn the same labels at once agree with each other.
    let [mut one, mut other] = [0, 1].map(|_| {
        let mut suggester = Suggester::new(3, LEARNED).unwrap();
        followed(&library, &mut suggester);
        suggester
    });
    assert_eq!((one.n_learned(), other.n_learned()), (2, 2));
    assert_eq!(suggested(&library, &mut one, *probe), suggested(&library, &mut other, *probe));
    // An image that is removed takes its label along.
    hold(&library).set_removed(&[rest[1]], true).unwrap();
    followed(&library, &mut suggester);
    assert_eq!(suggester.n_learned(), 1);
    assert_eq!(suggested(&library, &mut suggester, *probe), stands[1]);
    assert_eq!(suggested(&library, &mut suggester, rest[1]), None, "nothing is suggested for what is removed");
}

#[test]
fn what_is_labelled_next_is_unsure_and_unlike() {
    let (_place, library, truths) = toys();
    let ids: Vec<ItemId> = truths.keys().copied().collect();
    let mut suggester = Suggester::new(5, LEARNED).unwrap();
    let mut ask = |order: LabelOrder, images: &[ItemId]| {
        let (moment, seen) = {
            let library = hold(&library);
            (suggester.follow(&library, &Progress::default()).unwrap(), suggester.glance(&library, images))
        };
        suggester.order(&moment, &seen, order, &Progress::default()).unwrap()
    };
    // Before the first label no two views of one object come first, for they are similar.
    let first: Vec<ItemId> = ask(LabelOrder::Useful, &ids).into_iter().map(|(id, _)| id).collect();
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ids, "each image once");
    let name = |id: &ItemId| hold(&library).state().image(*id).unwrap().file_name();
    let object = |id: &ItemId| {
        let number: u32 = name(id).trim_end_matches(".png").parse().unwrap();
        (number as usize % CLASSES.len(), number / CLASSES.len() as u32 / VIEWS)
    };
    let objects: BTreeSet<_> = first[..6].iter().map(&object).collect();
    assert!(objects.len() >= 5, "{objects:?}");
    for id in first.iter().take(15) {
        hold(&library).label(&[*id], &class(truths[id])).unwrap();
    }
    let rest: Vec<ItemId> = first[15..].to_vec();
    let useful = ask(LabelOrder::Useful, &rest);
    let most = useful.iter().map(|(_, suggestion)| suggestion.as_ref().unwrap().uncertainty()).fold(0.0, f64::max);
    assert_eq!(useful[0].1.as_ref().unwrap().uncertainty(), most);
    let disagreed = ask(LabelOrder::Disagreement, &rest);
    let bits: Vec<f64> = disagreed.iter().map(|(_, suggestion)| suggestion.as_ref().unwrap().disagreement()).collect();
    assert!(bits.is_sorted_by(|a, b| a >= b) && bits[0] <= (CLASSES.len() as f64).log2() + 1e-9, "{bits:?}");
    let mut by_path = rest.clone();
    LabelOrder::Folder.arrange(hold(&library).state(), &mut by_path, 0);
    let names: Vec<String> = by_path.iter().map(&name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let unasked: Vec<ItemId> = ask(LabelOrder::Folder, &by_path).into_iter().map(|(id, _)| id).collect();
    assert_eq!(unasked, by_path);
}

#[test]
fn wrong_labels_are_doubted_first() {
    let (_place, library, truths) = seen_from(8);
    let ids: Vec<ItemId> = truths.keys().copied().collect();
    let wrong: BTreeSet<ItemId> = [3, 16, 22, 40, 61, 77, 90, 111].map(|at| ids[at]).into();
    for id in &ids {
        let truth = CLASSES.iter().position(|category| category.name() == truths[id]).unwrap();
        let said = CLASSES[(truth + usize::from(wrong.contains(id))) % CLASSES.len()].name();
        hold(&library).label(&[*id], &class(said)).unwrap();
    }
    let review = |progress: &Progress| review_of(&library, 0).judge(progress).unwrap();
    let reviewed = review(&Progress::default());
    assert_eq!((reviewed.judged, reviewed.passed, reviewed.left), (ids.len(), 0, 0));
    // How often a wrong label comes before a right one; those that are not doubted come last
    // together.
    let place = |id: &ItemId| reviewed.doubts.iter().position(|doubt| doubt.image == *id).unwrap_or(ids.len());
    let mut before = 0.0;
    for (wrong, right) in wrong.iter().flat_map(|wrong| ids.iter().map(move |id| (wrong, id))).filter(|(_, id)| !wrong.contains(*id)) {
        before += match place(wrong).cmp(&place(right)) {
            std::cmp::Ordering::Less => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.0,
        };
    }
    let share = before / (wrong.len() * (ids.len() - wrong.len())) as f64;
    assert!(share > 0.8, "{share:.3}, where chance is 0.5: {:?}", reviewed.doubts);
    for doubt in &reviewed.doubts {
        let (_, own) = doubt.label;
        assert!(doubt.instead.iter().all(|(class, chance)| *chance > own && *class != doubt.label.0));
        assert!(
            doubt.advisers.len() == AdviserKind::SERVED.len()
                && !doubt.alike.is_empty()
                && doubt.alike.iter().all(|(id, _)| *id != doubt.image)
        );
    }
    assert_eq!(review(&Progress::default()), reviewed, "the same seed, the same answer");
    hold(&library).keep_review(&reviewed).unwrap();
    assert_eq!(hold(&library).kept_review().unwrap().as_ref(), Some(&reviewed));
    assert!(reviewed.is_of(hold(&library).state()));
    // Doubts are there to be corrected; another label makes it a review of other labels.
    let other = ids.iter().find(|id| reviewed.doubts.iter().all(|doubt| doubt.image != **id)).unwrap();
    for (id, is_of) in [(reviewed.doubts[0].image, true), (*other, false)] {
        hold(&library).label(&[id], &class("griffin")).unwrap();
        assert_eq!(reviewed.is_of(hold(&library).state()), is_of);
        hold(&library).undo().unwrap();
    }
    // A rejected class is not given in place of the label.
    let doubt = &reviewed.doubts[0];
    hold(&library).reject(&[doubt.image], &doubt.instead[0].0, true).unwrap();
    let again = review(&Progress::default());
    let same = again.doubts.iter().find(|other| other.image == doubt.image);
    assert!(same.is_none_or(|same| same.instead.iter().all(|(class, _)| *class != doubt.instead[0].0)));
    // A class in a tree is not contradicted by the one above it, nor by one below.
    for id in &wrong {
        hold(&library).label(&[*id], &class(&format!("{}/small", truths[id]))).unwrap();
    }
    let of_trees = review(&Progress::default());
    assert!(of_trees.passed < wrong.len() && !of_trees.doubts.is_empty());
    for doubt in &of_trees.doubts {
        let root = |class: &str| class.split('/').next().map(str::to_owned);
        assert!(doubt.instead.iter().all(|(class, _)| root(class) != root(&doubt.label.0)), "{doubt:?}");
    }
    // Cancelled, it returns what it reached; a class of one image cannot be judged.
    let cancelled = Progress::default();
    cancelled.cancel();
    let reviewed = review(&cancelled);
    assert_eq!((reviewed.judged, reviewed.left), (0, ids.len()));
    hold(&library).label(&[ids[0]], &class("unicorn")).unwrap();
    assert_eq!(review(&Progress::default()).passed, of_trees.passed + 1);
}

#[test]
fn a_kept_review_that_is_damaged_unsound_or_of_a_forgotten_image_is_none() {
    let place = Place::new(&["cat/1.png", "cat/2.png", "dog/1.png"]);
    let library = place.open();
    place.import(&library);
    let [image, alike] = ["cat/1.png", "cat/2.png"].map(|name| at(&library, name).id);
    let review = |chance: f64, left: usize| {
        let mut reviewed = Reviewed::default();
        (reviewed.judged, reviewed.left) = (3, left);
        let (label, instead) = (("cat".to_owned(), 0.1), vec![("dog".to_owned(), chance)]);
        reviewed.doubts = vec![Doubt { image, label, instead, advisers: Vec::new(), alike: vec![(alike, "cat".to_owned())] }];
        reviewed
    };
    let kept = |reviewed: &Reviewed| {
        hold(&library).keep_review(reviewed).unwrap();
        hold(&library).kept_review().unwrap()
    };
    let sound = review(0.9, 0);
    assert_eq!(kept(&sound).as_ref(), Some(&sound));
    for unsound in [review(1.5, 0), review(-0.5, 0), review(f64::NAN, 0), review(0.9, usize::MAX)] {
        assert_eq!(kept(&unsound), None, "{unsound:?}");
    }
    assert_eq!(kept(&sound).as_ref(), Some(&sound));
    let cache = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap();
    assert_eq!(cache.execute("UPDATE checkpoint SET bytes = x'00' WHERE model LIKE 'review%'", []).unwrap(), 1);
    drop(cache);
    assert_eq!(hold(&library).kept_review().unwrap(), None);
    assert_eq!(kept(&sound).as_ref(), Some(&sound));
    hold(&library).forget(&[alike], &Progress::default()).unwrap();
    assert_eq!(hold(&library).kept_review().unwrap(), None, "it is forgotten with the image");
    assert_eq!(kept(&sound), None, "it names an image that was forgotten");
}

#[test]
fn of_too_many_labels_some_are_passed_over_and_none_that_comes_later() {
    let (_place, library, truths) = toys();
    let ids: Vec<ItemId> = truths.keys().copied().collect();
    let (last, first) = ids.split_last().unwrap();
    for id in first {
        hold(&library).label(&[*id], &class(truths[id])).unwrap();
    }
    let mut suggester = Suggester::new(1, 10).unwrap();
    for _ in 0..3 {
        followed(&library, &mut suggester);
        assert_eq!(suggester.n_learned(), 10, "those that were passed over stay so");
    }
    hold(&library).label(&[*last], &class(truths[last])).unwrap();
    followed(&library, &mut suggester);
    assert_eq!(suggester.n_learned(), 11);
    hold(&library).undo().unwrap();
    followed(&library, &mut suggester);
    assert_eq!(suggester.n_learned(), 10);
}

#[test]
fn an_object_does_not_vouch_for_its_own_label() {
    // Two classes of four objects; all views of one object have the label of the other class.
    let place = Place::new(&[]);
    let options = ToyOptions { side: 64, ..ToyOptions::default() };
    for (c, category) in [Category::Airplane, Category::Truck].into_iter().enumerate() {
        for (instance, view) in (0..4).flat_map(|instance| (0..6).map(move |view| (instance, view))) {
            let said = if (c, instance) == (0, 0) { "truck" } else { category.name() };
            let name = format!("all/{said}/{}/{view}.png", instance as usize + 4 * c);
            fs::create_dir_all(place.image(&name).parent().unwrap()).unwrap();
            render(category, instance, view, &options).picture.save(place.image(&name)).unwrap();
        }
    }
    let library = place.open();
    place.import(&library);
    while hold(&library).load_appearances(100).unwrap() > 0 {}
    let groups: BTreeSet<String> = hold(&library).state().images().filter_map(|image| image.folder.group.clone()).collect();
    assert_eq!(groups.len(), 8, "{groups:?}");
    let wrong =
        |doubt: &Doubt| at(&library, "all/truck/0/0.png").folder.group == hold(&library).state().image(doubt.image).unwrap().folder.group;
    // Of 48 labels advisers know little, so a single view may be taken for a truck.
    let mut found = 0;
    let mut last = None;
    for seed in 0..8 {
        let reviewed = review_of(&library, seed).judge(&Progress::default()).unwrap();
        assert_eq!((reviewed.judged, reviewed.objects_unknown), (48, 0));
        found += reviewed.doubts.iter().filter(|doubt| wrong(doubt)).count();
        last = Some(reviewed);
    }
    assert!(found >= 36, "three of four views of it, for none is judged by the others: {found} of 48");
    let reviewed = last.unwrap();
    for doubt in reviewed.doubts.iter().filter(|doubt| wrong(doubt)) {
        assert!(doubt.alike.iter().all(|(id, _)| !wrong(&Doubt { image: *id, ..doubt.clone() })), "other objects look like it");
    }
}

/// A simulated desk with the advisers of a library counts the corrections that a library's
/// suggestions need.
#[test]
fn a_simulated_desk_needs_as_many_corrections_as_a_library() {
    let place = Place::new(&[]);
    let toys = ToyOptions { side: 64, ..ToyOptions::default() };
    for (category, instance, view) in CLASSES.into_iter().flat_map(|c| (0..4).flat_map(move |i| (0..4).map(move |v| (c, i, v)))) {
        let path = place.image(&format!("{}/{instance}_{view}.png", category.name()));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        render(category, instance, view, &toys).picture.save(path).unwrap();
    }
    let progress = Progress::default();
    let data = Dataset::open(&place.images(), &OpenOptions::default(), &progress).unwrap();
    let decoder = InProcess::new(Limits::default());
    let learned = recognition::learn(&data, |_| true, &options(), &decoder, &progress).unwrap();
    let things = DeskItems::of_images(&data, None, Some(learned.ckm), None, &decoder, 4, &progress).unwrap();
    let library = place.open();
    imported_with(&library, &place.images(), &ImportOptions { labels: tessera_core::data::Labels::None, ..ImportOptions::default() });
    while hold(&library).load_appearances(100).unwrap() > 0 {}
    for order in [StreamOrder::Random, StreamOrder::Runs] {
        let found = desks(&things, Some(&AdviserKind::SERVED), &[order], 1, 4, &progress).unwrap().remove(0);
        let names: Vec<&str> = found.advisers.iter().map(|adviser| adviser.name).collect();
        assert_eq!(names, ["contextual", "pa", "nearest", "recogniser", "whole-images"], "nobody wrote captions");
        let mut suggester = Suggester::new(4, LEARNED).unwrap();
        let (mut corrections, mut each) = (0.0, vec![0.0; AdviserKind::SERVED.len()]);
        for number in draw(&things, order, 1, 4).unwrap().concat() {
            let item = &data.items[number];
            let truth = data.class_name(item.class);
            let path = item.path().strip_prefix(place.images()).unwrap().to_str().unwrap().to_owned();
            let id = at(&library, &path).id;
            let suggestion = suggested(&library, &mut suggester, id);
            let is_wrong = |class: Option<&String>| f64::from(u8::from(class.is_none_or(|class| class != truth)));
            corrections += is_wrong(suggestion.as_ref().map(|suggestion| &suggestion.ranking[0].0));
            for (at, sum) in each.iter_mut().enumerate() {
                *sum += is_wrong(suggestion.as_ref().and_then(|suggestion| suggestion.advisers[at].class.as_ref()));
            }
            hold(&library).label(&[id], &class(truth)).unwrap();
            followed(&library, &mut suggester);
        }
        each.remove(3);
        assert_eq!(corrections, found.mixture.of[0], "{order:?}");
        assert_eq!(each, found.advisers.iter().map(|adviser| adviser.of[0]).collect::<Vec<_>>(), "{order:?}");
        for _ in 0..things.all.len() {
            hold(&library).undo().unwrap();
        }
    }
}
