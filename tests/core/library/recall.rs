//! The caption memory: what it finds, what it learns from feedback, and how that is taken back.

use tessera_core::library::event::Reward;
use tessera_core::library::models::recall::{Remembered, words_of};
use tessera_core::text::Query;

use super::*;

fn search(library: &Mutex<Library>, text: &str, k: usize) -> Vec<Remembered> {
    let query = Query::parse(text);
    let library = hold(library);
    let (found, _) = library.recall().search(library.words(), &query, k, 1, |_| true);
    for one in &found {
        let reasons = library.recall().explain(library.state(), library.words(), &query, one).unwrap();
        assert!((reasons.score - one.score).abs() < 1e-5, "{reasons:?} for {one:?}");
        let sum: f64 = reasons.words.iter().chain(&reasons.lessons).map(|(_, term)| term).sum();
        assert!((sum - one.score).abs() < 1e-5, "{reasons:?} for {one:?}");
    }
    found
}

fn captioned(texts: &[&str]) -> (Place, Mutex<Library>) {
    let names: Vec<String> = (0..texts.len()).map(|i| format!("thing/{i}.png")).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let library = place.open();
    place.import(&library);
    for (name, text) in names.iter().zip(texts) {
        let id = at(&library, name).id;
        hold(&library).caption(id, say(&[text])).unwrap();
    }
    (place, library)
}

const TEXTS: [&str; 6] = [
    "a red truck on a wet road",
    "a blue truck in the garage",
    "a dog runs through deep snow",
    "two dogs on a lawn",
    "an owl in a tree at night",
    "a red barn under a grey sky",
];

#[test]
fn captions_are_found_and_gone_when_they_change() {
    let (place, library) = captioned(&TEXTS);
    assert_eq!(search(&library, "red truck", 6)[0].image, at(&library, "thing/0.png").id);
    assert_eq!(search(&library, "\"a blue\"", 6).len(), 1);
    assert!(search(&library, "truck -red", 6).iter().all(|found| found.image != at(&library, "thing/0.png").id));
    assert!(search(&library, "walrus", 6).is_empty() && search(&library, "", 6).is_empty());
    let first = at(&library, "thing/0.png").id;
    hold(&library).caption(first, say(&["a walrus"])).unwrap();
    assert_eq!(search(&library, "walrus", 6)[0].image, first);
    hold(&library).set_removed(&[first], true).unwrap();
    assert!(search(&library, "walrus", 6).is_empty());
    hold(&library).undo().unwrap();
    hold(&library).undo().unwrap();
    assert_eq!(search(&library, "red truck", 6)[0].image, first);
    taught_anew(&place, library);
}

#[test]
fn a_lesson_counts_at_once_is_durable_and_can_be_taken_back() {
    let (place, library) = captioned(&TEXTS);
    let barn = at(&library, "thing/5.png").id;
    let truck = at(&library, "thing/0.png").id;
    let before = search(&library, "red truck", 6);
    let learned = hold(&library).everything_learned();
    hold(&library).reward("Red  truck", barn, Some(1.0)).unwrap().unwrap();
    hold(&library).reward("red truck", truck, Some(-1.0)).unwrap().unwrap();
    assert_eq!(hold(&library).reward("red truck", truck, Some(-1.0)).unwrap(), None);
    let after = search(&library, "red truck", 6);
    assert_eq!((after[0].image, after[0].taught), (barn, Some(Reward(1000))));
    assert!(after.iter().find(|found| found.image == truck).is_none_or(|found| found.score < before[0].score - 0.5), "{after:?}");
    let library = taught_anew(&place, library);
    assert_eq!(search(&library, "red truck", 6), after);
    assert_eq!(hold(&library).check().unwrap(), Vec::<String>::new());
    hold(&library).undo().unwrap();
    hold(&library).reward("red truck", barn, None).unwrap().unwrap();
    assert_eq!(search(&library, "red truck", 6), before);
    assert_eq!(words_of(&Query::parse("Red  truck")), "red truck");
    // However it is written, what was said of a question is found with it.
    for text in ["red truck -blue", "\"red truck\" wet", "\"a red\" truck"] {
        hold(&library).reward(text, truck, Some(1.0)).unwrap().unwrap();
        for query in [Query::parse(text), Query::typing(text)] {
            assert!(hold(&library).state().image(truck).unwrap().rewards.contains_key(&words_of(&query)), "{query:?}");
        }
        hold(&library).undo().unwrap();
    }
    assert!(learned.len() == hold(&library).everything_learned().len());
    for (query, reward) in [("?!", 1.0), ("x", 2.0)] {
        assert_eq!(hold(&library).reward(query, barn, Some(reward)).unwrap_err().reason(), "option");
    }
    // Forgetting takes the lessons with the image.
    hold(&library).reward("quaggafinch", barn, Some(1.0)).unwrap().unwrap();
    hold(&library).forget(&[barn], &Progress::default()).unwrap();
    let library = library.into_inner().unwrap();
    library.close().unwrap();
    for entry in fs::read_dir(place.folder()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = fs::read(entry.path()).unwrap();
        assert!(!bytes.windows(11).any(|part| part == b"quaggafinch"), "{} has it", entry.path().display());
    }
}

/// The mean reward of the first hits by a user who means the colour and nothing else.
fn mean_reward(library: &Mutex<Library>, questions: &[String]) -> f64 {
    let right =
        questions.iter().filter(|text| search(library, text, 3).first().is_some_and(|found| wanted(library, text, found.image) > 0.0));
    right.count() as f64 / questions.len() as f64
}

fn wanted(library: &Mutex<Library>, text: &str, image: ItemId) -> f64 {
    let colour = text.split(' ').next().unwrap();
    let library = hold(library);
    let image = library.state().image(image).unwrap();
    if image.captions[0].text.starts_with(colour) { 1.0 } else { -1.0 }
}

#[test]
fn what_is_taught_helps_with_questions_that_were_not() {
    let colours = ["red", "blue", "green", "white", "brown", "pink"];
    let things = ["truck", "boat", "barn", "kite", "ladder", "bridge", "lamp", "fence"];
    let mut rng = tessera_core::random::seeded(5);
    let mut text = || {
        let draw = |rng: &mut tessera_core::random::Rng, n: usize| rand::RngExt::random_range(rng, 0..n);
        let words: Vec<&str> = (0..3).map(|_| things[draw(&mut rng, things.len())]).collect();
        format!("{} {}", colours[draw(&mut rng, colours.len())], words.join(" "))
    };
    let texts: Vec<String> = (0..40).map(|_| text()).collect();
    let (place, library) = captioned(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let taught: Vec<String> = (0..48).map(|_| text()).collect();
    let held_out: Vec<String> = (0..60).map(|_| text()).collect();
    let mut rounds = vec![mean_reward(&library, &held_out)];
    for round in taught.chunks(16) {
        for question in round {
            for found in search(&library, question, 2) {
                let reward = wanted(&library, question, found.image);
                hold(&library).reward(question, found.image, Some(reward)).unwrap();
            }
        }
        rounds.push(mean_reward(&library, &held_out));
    }
    assert!(rounds.iter().all(|mean| *mean >= rounds[0]) && rounds[3] > rounds[0] + 0.05, "{rounds:?}");
    taught_anew(&place, library);
}

#[test]
fn a_growing_library_is_remembered_alike_after_any_restart() {
    let texts: Vec<String> = (0..90).map(|i| format!("word{} thing{} place{}", i % 7, i % 11, i % 13)).collect();
    let (place, library) = captioned(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(hold(&library).recall().forest().check(), Ok(()));
    let found = search(&library, "word3 thing4 place5", 5);
    let library = library.into_inner().unwrap();
    library.close().unwrap();
    let library = place.open();
    assert_eq!(search(&library, "word3 thing4 place5", 5), found);
    taught_anew(&place, library);
}

/// A few leaves suffice for nothing to be missing where few texts have a word, whatever the filter.
#[test]
fn a_short_list_has_everything_that_answers() {
    let words = ["ash", "birch", "cedar", "date", "elm", "fir"];
    let mut rng = tessera_core::random::seeded(8);
    let mut draw = |n: usize| rand::RngExt::random_range(&mut rng, 0..n);
    let mut texts: Vec<String> = (0..120).map(|_| (0..4).map(|_| words[draw(6)]).collect::<Vec<_>>().join(" ")).collect();
    for at in [3, 40, 99] {
        texts[at].push_str(" zelkova");
    }
    let (_place, library) = captioned(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let found = |text: &str, k: usize| {
        let mut ids: Vec<u32> = search(&library, text, k).iter().map(|found| found.image.0).collect();
        ids.sort_unstable();
        ids
    };
    let having = |word: &str| having_at(hold(&library).state(), word).iter().map(|id| id.0).collect::<Vec<_>>();
    assert_eq!(found("zelkova", 10), having("zelkova"));
    assert_eq!(found("elm", 1000), having("elm"));
    let held = hold(&library);
    let rare: Vec<ItemId> = having_at(held.state(), "zelkova");
    let only = |id: ItemId| rare.contains(&id);
    let (among, _) = held.recall().search(held.words(), &Query::parse("ash birch cedar date elm fir"), 1000, 1, only);
    assert_eq!(among.len(), rare.len());
}

fn having_at(state: &State, word: &str) -> Vec<ItemId> {
    state.images().filter(|image| image.captions.iter().any(|caption| caption.text.contains(word))).map(|image| image.id).collect()
}
