//! What clusters are called, no two alike; and those that are kept aside, to which undo leads.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tessera_core::library::bonds::Bond;
use tessera_core::library::clusters::{ClusterAim, ClusterRun, ImageCluster, KeptClusters, titles};
use tessera_core::library::looks::Look;

use super::*;

fn cluster(number: usize, name: Option<&str>, is_named: bool) -> ImageCluster {
    let name = name.map(str::to_owned);
    ImageCluster { number, images: Vec::new(), outliers: 0, spread: 0.0, name, is_named, classes: Vec::new(), words: Vec::new() }
}

proptest! {
    #[test]
    fn titles_differ_and_begin_with_the_names(
        named in vec((option::of(prop::sample::select(vec!["Apple", "Apple 2", "Apple 3", "Pear", "like Pear", "Cluster 2"])), any::<bool>()), 0..20),
    ) {
        let clusters: Vec<ImageCluster> =
            named.iter().zip(1..).map(|((name, is_named), number)| cluster(number, *name, *is_named && name.is_some())).collect();
        let titles = titles(&clusters);
        prop_assert_eq!(titles.iter().collect::<BTreeSet<_>>().len(), clusters.len(), "{:?}", titles);
        for (at, (cluster, title)) in clusters.iter().zip(&titles).enumerate() {
            let plain = cluster.title();
            let is_first = clusters[..at].iter().all(|before| before.title() != plain);
            prop_assert!(if is_first { *title == plain } else { title.starts_with(&format!("{plain} ")) }, "{:?}", titles);
            prop_assert_eq!(plain.starts_with("like ") && cluster.name.as_ref() != Some(&plain), cluster.name.is_some() && !cluster.is_named);
        }
    }
}

const NAMES: [&str; 8] = ["a/0.png", "a/1.png", "a/2.png", "b/3.png", "b/4.png", "b/5.png", "c/6.png", "c/7.png"];

fn imported() -> (Place, Mutex<Library>) {
    let place = Place::new(&NAMES);
    let library = place.open();
    place.import(&library);
    (place, library)
}

fn load(library: &Mutex<Library>) {
    while hold(library).load_looks(&Look::Appearance, 100).unwrap() > 0 {}
}

/// Four clusters of a library, found and kept.
fn four(library: &Mutex<Library>) -> KeptClusters {
    load(library);
    let aim = ClusterAim { look: Some(Look::Appearance), clusters: Some(4), seed: 1 };
    let mut run = ClusterRun::new(library, aim, None, &Progress::default()).unwrap();
    run.step(&Progress::default()).unwrap();
    hold(library).keep_clusters(&run.found()).unwrap();
    run.found()
}

/// Makes the largest cluster and another one, with something in between that is said and is kept.
fn merge(library: &Mutex<Library>, kept: &KeptClusters, between: impl FnOnce(&Library)) -> tessera_core::Result<KeptClusters> {
    let largest = kept.describe(&hold(library))[0].number;
    let change = kept.merged(&[largest, if largest == 1 { 2 } else { 1 }]).unwrap();
    let say = |library: &mut Library| library.say_bond(&change.images, change.bond).inspect(|_| between(library));
    hold(library).go_over_to(kept, change.clusters, say).map(|(_, kept)| kept)
}

/// A second connection to a library's cache.
fn cache(place: &Place) -> rusqlite::Connection {
    rusqlite::Connection::open(place.folder().join("cache.db")).unwrap()
}

/// Lets the cache fail to keep checkpoints until it is told to `accept` them: what an index is of
/// cannot be written piece by piece. (Libraries run no trigger of a file.)
fn refuse(place: &Place) {
    cache(place).execute_batch("CREATE INDEX refused ON checkpoint (bytes)").unwrap();
}

fn accept(place: &Place) {
    cache(place).execute_batch("DROP INDEX refused").unwrap();
}

/// What the cache has of clusters, in no order.
fn rows(place: &Place) -> Vec<String> {
    let cache = cache(place);
    let mut query = cache.prepare("SELECT bytes FROM checkpoint WHERE model LIKE 'clusters%'").unwrap();
    let bytes: Vec<Vec<u8>> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    bytes.into_iter().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
}

fn count(library: &Mutex<Library>) -> usize {
    hold(library).clusters().unwrap().unwrap().count()
}

#[test]
fn undo_leads_back_also_where_nothing_can_be_written() {
    let (place, library) = imported();
    merge(&library, &four(&library), |_| ()).unwrap();
    hold(&library).undo().unwrap();
    drop(library);
    let progress = Progress::default();
    let usual = LibraryOptions::new(Arc::clone(&place.decoder) as _, &progress);
    let options = LibraryOptions { options: options(), learned: None, ..usual };
    for _ in 0..2 {
        let library = Library::open_read_only(&place.folder(), &options).unwrap();
        assert_eq!(library.known_clusters().unwrap().kept.unwrap().count(), 4);
    }
    let library = place.open();
    refuse(&place);
    let kept = rows(&place);
    assert_eq!(count(&library), 4, "reading does not fail because nothing is kept");
    assert_eq!(rows(&place), kept);
    accept(&place);
    assert_eq!(count(&library), 4);
    assert_ne!(rows(&place), kept);
    hold(&library).redo().unwrap();
    assert_eq!(count(&library), 3);
}

#[test]
fn an_act_that_fails_is_not_done_and_one_that_is_done_does_not_fail() {
    let (place, library) = imported();
    let (found, acts) = (four(&library), hold(&library).state().history().len());
    refuse(&place);
    assert!(merge(&library, &found, |_| ()).is_err());
    assert_eq!(hold(&library).state().history().len(), acts);
    accept(&place);
    assert_eq!(merge(&library, &found, |_| refuse(&place)).unwrap().count(), 3);
    assert_eq!(hold(&library).state().history().len(), acts + 1);
    accept(&place);
    assert_eq!(count(&library), 4, "those of it could not be kept");
    hold(&library).undo().unwrap();
    assert_eq!(count(&library), 4);
}

#[test]
fn clusters_aside_that_cannot_be_read_are_none_to_return_to() {
    let (place, library) = imported();
    let merged = merge(&library, &four(&library), |_| ()).unwrap();
    hold(&library).undo().unwrap();
    assert!(hold(&library).has_clusters_to_return_to(&merged).unwrap());
    let damaged = cache(&place).execute("UPDATE checkpoint SET bytes = x'00' WHERE model LIKE 'clusters when%'", []).unwrap();
    assert_eq!(damaged, 1);
    assert!(!hold(&library).has_clusters_to_return_to(&merged).unwrap());
    assert_eq!(count(&library), 3);
}

#[test]
fn a_run_that_begins_after_undo_goes_on_from_the_clusters_before() {
    let (place, library) = imported();
    let found = four(&library);
    let merged = merge(&library, &found, |_| ()).unwrap();
    hold(&library).undo().unwrap();
    let run = ClusterRun::new(&library, merged.aim(), Some(&merged), &Progress::default()).unwrap();
    assert_eq!((run.found().count(), run.found().asked(), run.iterations()), (4, Some(4), 1));
    hold(&library).keep_clusters(&run.found()).unwrap();
    hold(&library).redo().unwrap();
    assert_eq!(count(&library), 3);
    // Clusters of another time take nothing away that is kept aside.
    let before = rows(&place).len();
    hold(&library).keep_clusters(&found).unwrap();
    assert_eq!((before, rows(&place).len()), (3, 3));
}

#[test]
fn nothing_of_a_forgotten_image_is_kept_aside() {
    let (place, library) = imported();
    let mut found = four(&library);
    // One that came later only follows them.
    place.put("c/8.png", 40);
    place.import(&library);
    load(&library);
    found.follow(&hold(&library));
    let late = at(&library, "c/8.png").id;
    assert!(found.cluster_of(late).is_some());
    merge(&library, &found, |_| ()).unwrap();
    let has = |row: &String, id: ItemId| [',', '{'].iter().any(|before| row.contains(&format!("{before}{}:(", id.0)));
    assert!(rows(&place).len() == 2 && rows(&place).iter().all(|row| has(row, late)));
    hold(&library).undo().unwrap();
    hold(&library).forget(&[late], &Progress::default()).unwrap();
    assert!(rows(&place).is_empty());
    // They may still be held in memory, with it.
    let two = [2, 3].map(|n: usize| at(&library, NAMES[n]).id);
    hold(&library).say_with_clusters(Some(found.clone()), |library| library.say_bond(&two, Bond::Together)).unwrap();
    let first = at(&library, NAMES[1]).id;
    assert!(rows(&place).len() == 2 && rows(&place).iter().all(|row| has(row, first) && !has(row, late)));
    sound(&library);
    // Where it was fitted to, nothing is kept.
    hold(&library).forget(&[first], &Progress::default()).unwrap();
    hold(&library).keep_clusters(&found).unwrap();
    assert!(rows(&place).is_empty());
}

#[test]
fn a_merge_is_told_by_numbers_and_whether_others_change() {
    let (_place, library) = imported();
    let found = four(&library);
    let words = |clusters: &[usize]| found.merged(clusters).unwrap().words;
    assert_eq!(words(&[4, 1]), "Merged clusters 1 and 4 into cluster 1");
    assert_eq!(words(&[1, 2]), "Merged clusters 1 and 2 into cluster 1; later ones moved up");
    assert_eq!(words(&[1, 2, 4]), "Merged clusters 1, 2 and 4 into cluster 1; later ones moved up");
    let refused = found.merged(&[1, 9]).unwrap_err().to_string();
    assert!(refused.contains("clusters to merge: expected two or more of 1 to 4, found 1 and 9"), "{refused}");
    let change = found.merged(&[4, 1]).unwrap();
    let (event, merged) = hold(&library).change_clusters(&found, change).unwrap();
    let library = hold(&library);
    let last = library.state().history().last().unwrap().clone();
    assert_eq!((Some(last.id), last.words.as_str()), (event, "Merged clusters 1 and 4 into cluster 1"));
    assert!(library.follows_pairs(&merged) && !library.follows_pairs(&found));
}

#[test]
fn clusters_follow_what_is_said_of_pairs_once_they_are_gone_on_with() {
    let (_place, library) = imported();
    let found = four(&library);
    assert!(hold(&library).follows_pairs(&found));
    let two = [0, 1].map(|n: usize| at(&library, NAMES[n]).id);
    let (_, said) = hold(&library).say_with_clusters(Some(found), |library| library.say_bond(&two, Bond::Apart)).unwrap();
    let again = hold(&library).clusters().unwrap().unwrap();
    assert!([said.as_ref().unwrap(), &again].into_iter().all(|kept| !hold(&library).follows_pairs(kept)));
    let mut run = ClusterRun::new(&library, said.as_ref().unwrap().aim(), said.as_ref(), &Progress::default()).unwrap();
    run.step(&Progress::default()).unwrap();
    assert!(hold(&library).follows_pairs(&run.found()));
}
