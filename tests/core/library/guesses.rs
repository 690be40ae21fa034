//! Guessed words: found, told apart, rejected, undone, and gone with the switch.

use tessera_core::library::guess::Guess;
use tessera_core::library::search::{LibraryQuery, SearchHit, answer, search};
use tessera_core::text::TextQuery;

use super::learned::open_learned;
use super::*;

const NAMES: [&str; 4] = ["1.png", "2.png", "3.png", "4.png"];

fn found(library: &Mutex<Library>, words: &str) -> Vec<SearchHit> {
    let mut library = hold(library);
    while library.load_guesses(3).unwrap() > 0 {}
    search(&library, &LibraryQuery::words(TextQuery::parse(words), 10))
}

/// A noun of several words is asked for by all of them; by its last word alone all nouns that end
/// so are.
#[test]
fn nouns_are_guessed_in_full() {
    let place = Place::new(&NAMES);
    let library = open_learned(&place);
    place.import(&library);
    found(&library, "nothing");
    let guessable = |text: &str| hold(&library).guessable(&TextQuery::parse(text)).into_iter().collect::<Vec<_>>();
    assert_eq!(guessable("a golden retriever"), ["golden", "retriever"]);
    assert_eq!(guessable("golden-retrievers"), ["golden", "retrievers"]);
    assert_eq!(guessable("retriever golden"), ["retriever"]);
    assert_eq!(guessable("bicycle-built-for-two"), ["bicycle", "built", "for", "two"]);
    assert_eq!(guessable("golden"), [""; 0]);
    assert_eq!(guessable("\"golden\" \"retriever\""), ["retriever"], "no noun goes from one phrase to another");
    assert_eq!(guessable("\"golden retriever\""), ["golden", "retriever"]);
    let guesses: Vec<_> = NAMES.iter().map(|name| at(&library, name)).map(|image| (hold(&library).guesses(&image), image)).collect();
    let in_full = |guess: &Guess| guess.noun.split([' ', '-']).count() > 1;
    let all = guesses.into_iter().flat_map(|(guesses, image)| guesses.into_iter().map(move |guess| (guess, image.clone())));
    let some: Vec<_> = all.filter(|(guess, _)| in_full(guess)).collect();
    assert!(!some.is_empty());
    for (guess, image) in some {
        let guessed = hold(&library).guessed(&image, &TextQuery::parse(&guess.noun));
        assert_eq!(guessed.len(), 1, "{guessed:?}");
        assert!((guessed[0].value - 0.05 * guessed[0].guess.chance).abs() < 1e-12, "all words of the query stand for it");
    }
}

/// A noun that no text has is found though it is misspelled, and said to be read as another.
#[test]
fn misspelled_nouns_are_guessed() {
    let place = Place::new(&NAMES);
    let library = open_learned(&place);
    place.import(&library);
    found(&library, "nothing");
    let often = hold(&library).often_guessed(usize::MAX);
    assert!(hold(&library).often_guessed(3).iter().eq(often.iter().take(3)), "the first of one list");
    let last = |noun: &String| noun.split([' ', '-']).next_back().map(str::to_owned);
    let nouns: Vec<String> = often.iter().filter_map(last).filter(|last| last.len() >= 6).collect();
    let mut tried = 0;
    for noun in nouns {
        // Two letters in the middle have changed places.
        let mut wrong: Vec<char> = noun.chars().collect();
        wrong.swap(2, 3);
        let wrong: String = wrong.into_iter().collect();
        if wrong == noun || !hold(&library).guessable(&TextQuery::parse(&wrong)).is_empty() {
            continue;
        }
        tried += 1;
        let read = answer(&hold(&library), &LibraryQuery::words(TextQuery::parse(&wrong), 10));
        assert!(read.asked[0].is_corrected() && read.asked[0].readings[0].word != wrong, "{noun}: {:?}", read.asked);
        let meant = &read.asked[0].readings[0].word;
        let right = found(&library, meant);
        assert!(!read.hits.is_empty() && read.hits.len() == right.len(), "{wrong} is read as {meant}");
        assert!(read.hits.iter().zip(&right).all(|(read, right)| (read.image, read.score) == (right.image, right.score)));
    }
    assert!(tried > 0);
    // So is a plural in which two letters have changed places.
    for noun in often.iter().filter_map(last).filter(|last| last.len() >= 4 && !last.ends_with(['s', 'x', 'z', 'h', 'y'])) {
        let mut wrong: Vec<char> = format!("{noun}s").chars().collect();
        wrong.swap(1, 2);
        let wrong: String = wrong.into_iter().collect();
        if wrong[1..2] != noun[1..2] && hold(&library).guessable(&TextQuery::parse(&wrong)).is_empty() {
            let read = answer(&hold(&library), &LibraryQuery::words(TextQuery::parse(&wrong), 10));
            assert!(read.asked[0].is_corrected() && !read.hits.is_empty(), "{wrong}: {:?}", read.asked);
        }
    }
    // A short word with another letter is another word: a beach is no bench.
    for short in often.iter().filter_map(last).filter(|last| (4..=6).contains(&last.len())) {
        let other = format!("q{}", &short[1..]);
        let read = answer(&hold(&library), &LibraryQuery::words(TextQuery::parse(&other), 10));
        assert!(!read.asked[0].is_corrected(), "{other} is read as {:?}", read.asked[0].readings);
    }
    assert!(found(&library, "qwrtzpsdfg").is_empty(), "nothing is like it");
}

#[test]
fn images_are_found_by_guesses_that_can_be_rejected() {
    let place = Place::new(&NAMES);
    let library = open_learned(&place);
    place.import(&library);
    found(&library, "nothing");
    let image = at(&library, NAMES[0]);
    let guesses = hold(&library).guesses(&image);
    assert!(!guesses.is_empty() && guesses.is_sorted_by(|a, b| a.chance >= b.chance), "{guesses:?}");
    let noun = guesses[0].noun.clone();
    let last = noun.split([' ', '-']).next_back().unwrap();
    let hit = |library: &Mutex<Library>| found(library, last).into_iter().find(|hit| hit.image == image.id);
    let first = hit(&library).unwrap();
    assert_eq!(first.guessed.len(), 1);
    assert!(first.guessed[0].guess.chance >= guesses[0].chance - 1e-9 && first.words.is_empty() && first.caption.is_none());
    assert!((first.score - first.guessed.iter().map(|word| word.value).sum::<f64>()).abs() < 1e-12 && first.score <= 0.05);
    let begun: String = last.chars().take(2).collect();
    assert!(hold(&library).may_guess_from(&begun));
    assert!(![last, "qqq"].into_iter().any(|word| hold(&library).may_guess_from(word)), "a whole word, and none");
    let half = found(&library, &format!("{last} qqq")).into_iter().find(|hit| hit.image == image.id).unwrap();
    assert!((half.score - first.score / 2.0).abs() < 1e-12, "a guess counts for its share of the words");
    let words = TextQuery::parse(&format!("{last} qqq"));
    assert!(answer(&hold(&library), &LibraryQuery::words(words, 3)).guessed.iter().eq([last]), "words that an image is found by");
    assert!(found(&library, &format!("{last} -1")).iter().all(|hit| hit.image != image.id), "unwanted words keep images out");

    // The user's own words count for more, and what is guessed is added to them.
    let other = at(&library, NAMES[1]).id;
    hold(&library).caption(other, say(&[&format!("a quite long caption in which there is a {last} too")])).unwrap();
    let hits = found(&library, last);
    assert_eq!(hits[0].image, other);
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));

    hold(&library).reject_guess(&[image.id], &noun.to_uppercase(), true).unwrap().unwrap();
    sound(&library);
    assert!(hit(&library).is_none_or(|hit| hit.guessed[0].guess.noun != noun), "it is not guessed there again");
    let now = at(&library, NAMES[0]);
    assert!(hold(&library).guesses(&now).iter().all(|guess| guess.noun != noun));
    assert!(hold(&library).reject_guess(&[image.id], &noun, true).unwrap().is_none());
    assert!(hold(&library).reject_guess(&[image.id], "no such noun", true).is_err());
    library.into_inner().unwrap().close().unwrap();
    let library = open_learned(&place);
    assert!(hit(&library).is_none_or(|hit| hit.guessed[0].guess.noun != noun), "it survives");
    sound(&library);
    hold(&library).undo().unwrap();
    assert_eq!(hit(&library).map(|hit| hit.guessed), Some(first.guessed));

    hold(&library).set_learned_features(false, &Progress::default()).unwrap();
    assert!(hit(&library).is_none() && hold(&library).guesses(&image).is_empty());
    hold(&library).set_learned_features(true, &Progress::default()).unwrap();
    assert!(hit(&library).is_some());
}
