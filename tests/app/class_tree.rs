//! Classes as a tree, what of it is shown, and the confusions of a report on many classes, each
//! against a slow and obvious version.

use std::collections::{BTreeMap, BTreeSet};

use tessera::session::class_tree::{ClassRow, ClassTree, NameFilter, is_below};
use tessera::session::confusions::{Confusion, chosen, worst};
use tessera_core::eval::report::Report;

use crate::dice::Dice;

/// Names of up to three parts, some the beginnings of others, some not to be parted.
fn classes(dice: &mut Dice) -> Vec<(String, usize)> {
    let n = dice.below(30);
    let mut names = BTreeMap::new();
    for _ in 0..n {
        let parts: Vec<&str> = (0..=dice.below(3)).map(|_| ["a", "b", "Dog", "dogs", "1", ""][dice.below(6)]).collect();
        names.insert(parts.join("/"), dice.below(5));
    }
    names.into_iter().filter(|(name, _)| !name.is_empty()).collect()
}

#[test]
fn every_class_stands_once_in_the_tree_and_counts_are_summed() {
    for seed in 0..300 {
        let classes = classes(&mut Dice(seed));
        let tree = ClassTree::new(classes.iter().map(|(name, images)| (name.as_str(), *images)));
        let there: Vec<(String, usize)> =
            tree.nodes().iter().filter(|node| node.is_class).map(|node| (node.path.clone(), node.own)).collect();
        assert_eq!(there.iter().collect::<BTreeSet<_>>(), classes.iter().collect(), "{classes:?}");
        assert_eq!(there.len(), classes.len());
        for (i, node) in tree.nodes().iter().enumerate() {
            let below = &tree.nodes()[i + 1..=i + node.below];
            assert!(below.iter().all(|other| is_below(&other.path, &node.path) && other.depth > node.depth), "{classes:?}");
            assert!(tree.nodes().get(i + node.below + 1).is_none_or(|next| next.depth <= node.depth));
            // What a node stands for is what a filter by it shows.
            let shown: usize = classes.iter().filter(|(name, _)| is_below(name, &node.path)).map(|(_, images)| images).sum();
            assert_eq!(node.images, shown, "{} of {classes:?}", node.path);
            assert!(tree.has(&node.path));
            assert!(node.is_class || below.iter().filter(|other| other.depth == node.depth + 1).count() > 1, "joined with its only one");
        }
        assert!(!tree.has("nothing of the kind"));
    }
}

#[test]
fn rows_are_what_is_open_or_fits() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let classes = classes(&mut dice);
        let tree = ClassTree::new(classes.iter().map(|(name, images)| (name.as_str(), *images)));
        let paths = |rows: &[ClassRow]| -> Vec<&str> {
            rows.iter()
                .filter_map(|row| match row {
                    ClassRow::Node(i) => Some(tree.nodes()[*i].path.as_str()),
                    ClassRow::Own(_) => None,
                })
                .collect()
        };
        let closed = tree.rows(&NameFilter::default(), &BTreeSet::new());
        assert!(closed.iter().all(|row| matches!(row, ClassRow::Node(i) if tree.nodes()[*i].depth == 0)));
        let all: BTreeSet<String> = tree.nodes().iter().map(|node| node.path.clone()).collect();
        let open = tree.rows(&NameFilter::default(), &all);
        assert_eq!(paths(&open).len(), tree.nodes().len());
        let own = |row: &&ClassRow| matches!(row, ClassRow::Own(_));
        assert_eq!(open.iter().filter(own).count(), tree.nodes().iter().filter(|node| node.is_class && node.below > 0).count());
        for text in ["a", "DOG", "dog a", "1/", "zebra"] {
            let filter = NameFilter::new(text);
            let fits = |name: &str| text.to_lowercase().split(' ').all(|word| name.to_lowercase().contains(word));
            let obvious = |path: &str| classes.iter().any(|(name, _)| is_below(name, path) && (fits(name) || fits(path)));
            let wanted: Vec<&str> = tree.nodes().iter().map(|node| node.path.as_str()).filter(|path| obvious(path)).collect();
            assert_eq!(paths(&tree.rows(&filter, &BTreeSet::new())), wanted, "{text:?} of {classes:?}");
        }
    }
}

#[test]
fn names_that_are_no_paths_stay_whole() {
    let tree = ClassTree::new([("animal/dog", 2), ("n/a", 1), ("/odd", 1), ("animal/cat", 3), ("animal", 4), ("a//b", 1)]);
    let shown: Vec<(&str, usize, usize)> = tree.nodes().iter().map(|node| (node.name.as_str(), node.depth, node.images)).collect();
    assert_eq!(
        shown,
        [("animal", 0, 9), ("dog", 1, 2), ("cat", 1, 3), ("n/a", 0, 1), ("/odd", 0, 1), ("a//b", 0, 1)],
        "one that no other is beside is not parted"
    );
    let begins = |text: &str, name: &str| NameFilter::new(text).begins_parts(name);
    assert!(begins("Dog ter", "animal/dog/terrier") && begins("ter", "animal/dog/terrier") && !begins("dog", "dog"));
    assert!(begins("ter", "animal/welsh-terrier") && !begins("rier", "animal/welsh-terrier"));
    assert!(!begins("og", "animal/dog/terrier") && !begins("", "animal/dog") && !begins("b", "a//b"));
    assert!(is_below("animal/dog", "animal") && is_below("animal", "animal") && !is_below("animals", "animal"));
}

#[test]
fn the_worst_confusions_come_first_and_fill_the_matrix() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let n = 1 + dice.below(12);
        let report = Report {
            classes: (0..n).map(|i| format!("{}{i}", ["a", "b"][i % 2])).collect(),
            confusion: (0..n).map(|_| (0..n).map(|_| dice.below(4) as u32).collect()).collect(),
            ..Report::default()
        };
        let found = worst(&report);
        let wrong: u32 = found.iter().map(|one| one.images).sum();
        let all: u32 = report.confusion.iter().flatten().sum();
        assert_eq!(wrong, all - (0..n).map(|i| report.confusion[i][i]).sum::<u32>());
        assert!(found.iter().all(|one| one.truth != one.given && report.confusion[one.truth][one.given] == one.images));
        let share = |one: &Confusion| f64::from(one.images) / f64::from(one.of);
        assert!(
            found.windows(2).all(|two| (two[0].images, share(&two[0])) >= (two[1].images, share(&two[1])) || two[0].images > two[1].images)
        );
        for (text, most) in [("", 5), ("a", 3), ("", 20), ("nothing", 4)] {
            let filter = NameFilter::new(text);
            let classes = chosen(&report, &found, &filter, most);
            let fits = report.classes.iter().filter(|name| name.contains(text)).count();
            assert_eq!(classes.len(), fits.min(most));
            assert!(classes.windows(2).all(|two| two[0] < two[1]) && classes.iter().all(|i| report.classes[*i].contains(text)));
            let first = found.iter().find(|one| filter.fits(&report.classes[one.truth]) && filter.fits(&report.classes[one.given]));
            assert!(first.is_none_or(|one| classes.contains(&one.truth) && classes.contains(&one.given)), "the worst is in");
        }
    }
}
