//! A pair of encoders that finds images of a library by words: by what they look like, beside
//! texts, taught by thumbs, gone with the switch and with what is forgotten.

use std::collections::HashMap;

use image::{Rgb, RgbImage};
use tessera_core::library::pair::compute;
use tessera_core::library::search::{Engine, LibraryQuery, SearchHit, search};
use tessera_core::network::brought::explore;
use tessera_core::network::folder::look_in;
use tessera_core::network::{ImageWishes, NetworkFolder};
use tessera_core::text::TextQuery;

use super::learned::open_learned;
use super::*;
use crate::made::{means, sums, tokenizer, write};

/// A place with plain images of three colours, under names without words, and a folder of networks
/// with a pair of encoders that takes pictures of `side` pixels; with the hash of the pair.
pub(super) fn with_pair(side: u32) -> (Place, NetworkFolder, String) {
    let place = Place::new(&[]);
    let colours = [[250, 10, 20], [200, 30, 30], [10, 250, 30], [30, 190, 20], [10, 20, 250], [40, 30, 210]];
    for (colour, n) in colours.into_iter().zip(1..) {
        RgbImage::from_pixel(48, 48, Rgb(colour)).save(place.image(&format!("{n}.png"))).unwrap();
    }
    let folder = NetworkFolder::new(place.dir.path().join("networks"));
    look_in(folder.clone());
    let hash = add(&place, &folder, side);
    (place, folder, hash)
}

fn add(place: &Place, folder: &NetworkFolder, side: u32) -> String {
    let files = [
        write(place.dir.path(), "image.onnx", means(None).file()),
        write(place.dir.path(), "text.onnx", sums(3).file()),
        write(place.dir.path(), "tokenizer.json", tokenizer()),
    ];
    let wishes = ImageWishes { size: Some((side, side)), ..ImageWishes::default() };
    let (parts, network) = explore(&files, &wishes).unwrap();
    folder.add("pair", &parts, &network).unwrap();
    network.image.identity()
}

fn found(library: &Mutex<Library>, words: &str) -> Vec<SearchHit> {
    let mut library = hold(library);
    while library.load_guesses(3).unwrap() + library.load_image_vectors(3).unwrap() > 0 {}
    search(&library, &LibraryQuery::words(TextQuery::parse(words), 10))
}

/// The names of the images that look like the words, with what that adds to their scores.
fn by_look(library: &Mutex<Library>, words: &str) -> HashMap<String, f64> {
    let hits = found(library, words);
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
    let name = |hit: &SearchHit| hit.path.as_ref().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    hits.iter().filter_map(|hit| Some((name(hit), hit.likeness?.value))).collect()
}

fn names(found: &HashMap<String, f64>) -> Vec<&str> {
    let mut names: Vec<&str> = found.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn choose(library: &Mutex<Library>, hash: Option<&str>) {
    hold(library).set_words_network(hash).unwrap();
}

fn seen(library: &Mutex<Library>) -> usize {
    hold(library).words_network().unwrap().unwrap().seen
}

#[test]
fn words_find_images_by_what_they_look_like() {
    let (place, _folder, hash) = with_pair(9);
    let library = open_learned(&place);
    place.import(&library);
    assert!(by_look(&library, "red").is_empty());
    assert!(hold(&library).set_words_network(Some("0123")).is_err());
    assert!(hold(&library).set_words_network(Some(&"f".repeat(32))).is_err(), "no such pair");
    assert!(hold(&library).words_network().unwrap().is_none());

    choose(&library, Some(&hash));
    assert_eq!((seen(&library), by_look(&library, "red").len()), (0, 0), "answers by what is there");
    assert_eq!(compute(&library, &Progress::default()).unwrap(), 6);
    assert_eq!(compute(&library, &Progress::default()).unwrap(), 0);
    for (word, wanted) in [("red", ["1.png", "2.png"]), ("sea", ["3.png", "4.png"]), ("sky", ["5.png", "6.png"])] {
        assert_eq!(names(&by_look(&library, word)), wanted, "{word}");
    }
    let hit = found(&library, "red").into_iter().find(|hit| hit.likeness.is_some()).unwrap();
    let (likeness, guesses) = (hit.likeness.unwrap(), hit.guessed.iter().map(|guess| guess.value).sum::<f64>());
    assert!(likeness.cosine > 0.9 && likeness.cosine <= 1.0 && likeness.value <= 0.2, "{likeness:?}");
    assert!((hit.score - guesses - likeness.value).abs() < 1e-12);
    assert!(names(&by_look(&library, "red -1")) == ["2.png"], "unwanted words keep images out");
    let query = LibraryQuery { engine: Engine::Index, ..LibraryQuery::words(TextQuery::parse("red"), 10) };
    assert!(search(&hold(&library), &query).is_empty());

    // A text that has the word counts more, and both are added up.
    let other = at(&library, "4.png").id;
    hold(&library).caption(other, say(&["a red boat"])).unwrap();
    assert_eq!(found(&library, "red")[0].image, other);
    let both = at(&library, "2.png").id;
    hold(&library).caption(both, say(&["a red boat"])).unwrap();
    assert_eq!(found(&library, "red")[0].image, both);

    // New images are looked at when they are imported.
    RgbImage::from_pixel(48, 48, Rgb([220, 5, 5])).save(place.image("7.png")).unwrap();
    place.import(&library);
    assert_eq!((seen(&library), names(&by_look(&library, "red"))), (7, vec!["1.png", "2.png", "7.png"]));

    // With the switch of learned features it is gone, and back.
    hold(&library).set_learned_features(false, &Progress::default()).unwrap();
    assert!(by_look(&library, "red").is_empty());
    hold(&library).set_learned_features(true, &Progress::default()).unwrap();
    assert_eq!(by_look(&library, "red").len(), 3);
    library.into_inner().unwrap().close().unwrap();
    let library = open_learned(&place);
    assert_eq!(by_look(&library, "red").len(), 3, "the choice is kept");
    choose(&library, None);
    assert!(by_look(&library, "red").is_empty() && hold(&library).words_network().unwrap().is_none());
    sound(&library);
}

#[test]
fn thumbs_teach_how_much_looks_count() {
    let (place, _folder, hash) = with_pair(10);
    let library = open_learned(&place);
    choose(&library, Some(&hash));
    place.import(&library);
    assert_eq!(seen(&library), 6);
    let before = by_look(&library, "sky");
    let id = |name: &str| at(&library, name).id;
    let reward = |name: &str, reward: Option<f64>| {
        let image = id(name);
        hold(&library).reward("red", image, reward).unwrap();
    };
    reward("1.png", Some(1.0));
    let liked = by_look(&library, "sky");
    assert!(liked.iter().all(|(name, value)| *value > before[name]), "{liked:?} {before:?}");
    reward("1.png", Some(-1.0));
    let disliked = by_look(&library, "sky");
    assert!(disliked.iter().all(|(name, value)| *value < before[name]), "{disliked:?} {before:?}");
    hold(&library).undo().unwrap();
    assert_eq!(by_look(&library, "sky"), liked);
    reward("1.png", None);
    assert_eq!(by_look(&library, "sky"), before, "taking it back takes it back exactly");
    // A bad answer that a text gave speaks for looks.
    let other = id("4.png");
    hold(&library).caption(other, say(&["red"])).unwrap();
    reward("4.png", Some(-1.0));
    assert!(by_look(&library, "sky").iter().all(|(name, value)| *value > before[name]));
    sound(&library);
}

#[test]
fn forgetting_takes_vectors_too_and_a_missing_pair_is_told() {
    let (place, folder, hash) = with_pair(11);
    let library = open_learned(&place);
    choose(&library, Some(&hash));
    place.import(&library);
    let gone = at(&library, "1.png").id;
    let content = at(&library, "1.png").content.unwrap().hash;
    hold(&library).forget(&[gone], &Progress::default()).unwrap();
    assert_eq!((seen(&library), names(&by_look(&library, "red"))), (5, vec!["2.png"]));
    library.into_inner().unwrap().close().unwrap();
    let rows = |hash: Option<[u8; 16]>| -> i64 {
        let cache = rusqlite::Connection::open(place.folder().join("cache.db")).unwrap();
        let sql = "SELECT count(*) FROM feature WHERE version LIKE 'pair-%' AND (?1 IS NULL OR hash = ?1)";
        cache.query_row(sql, [hash.map(Vec::from)], |row| row.get(0)).unwrap()
    };
    assert_eq!((rows(None), rows(Some(content.0.to_be_bytes()))), (5, 0));

    folder.remove("pair").unwrap();
    let library = open_learned(&place);
    let told = hold(&library).words_network().unwrap().unwrap();
    assert!(told.name.is_none() && hash.starts_with(&told.hash) && told.seen == 5, "{told:?}");
    assert!(by_look(&library, "red").is_empty());
    place.import(&library);
    assert_eq!(compute(&library, &Progress::default()).unwrap(), 0);
    add(&place, &folder, 11);
    assert_eq!(by_look(&library, "red").len(), 1, "added again, it finds");
    assert_eq!(hold(&library).words_network().unwrap().unwrap().name.as_deref(), Some("pair"));
}
