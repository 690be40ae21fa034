//! The caption memory: what it finds, what it learns from rewards, and that undo unlearns it.

use std::collections::BTreeMap;

use tessera_core::data::Labels;
use tessera_core::library::event::Reward;
use tessera_core::library::models::caption_memory::{ReadAs, RecallHit, words_of};
use tessera_core::text::TextQuery;

use super::*;

fn search(library: &Mutex<Library>, text: &str, k: usize) -> Vec<RecallHit> {
    let query = TextQuery::parse(text);
    let library = hold(library);
    let question = library.caption_memory().ask(library.words(), &query);
    let (mut found, _) = question.search(1, |_| true);
    for one in &found {
        let weighed = question.explain(one.image).weighed;
        assert_eq!(weighed.score.to_bits(), one.score.to_bits(), "{weighed:?} for {one:?}");
        let sum: f64 = weighed.terms.iter().map(|term| term.value).chain(weighed.lessons.iter().map(|(_, value)| *value)).sum();
        assert!((sum - one.score).abs() < 1e-5, "{weighed:?} for {one:?}");
    }
    found.truncate(k);
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
    assert_eq!(words_of(&TextQuery::parse("Red  truck")), "red truck");
    // A lesson applies to its query however that is written.
    for text in ["red truck -blue", "\"red truck\" wet", "\"a red\" truck"] {
        hold(&library).reward(text, truck, Some(1.0)).unwrap().unwrap();
        for query in [TextQuery::parse(text), TextQuery::typing(text)] {
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

/// A library of two captions an image, drawn from few words, with a class each.
fn drawn(seed: u64, n: usize) -> (Place, Mutex<Library>) {
    let mut rng = tessera_core::random::seeded(seed);
    let mut draw = |n: usize| rand::RngExt::random_range(&mut rng, 0..n);
    let names: Vec<String> = (0..n).map(|i| format!("{}/{i}_{}.png", THINGS[draw(3)], THINGS[draw(6)])).collect();
    let place = Place::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let library = place.open();
    place.import(&library);
    for name in &names {
        let mut text = || (0..3).map(|_| THINGS[draw(6)]).collect::<Vec<_>>().join(" ");
        let texts = [text(), text()];
        let id = at(&library, name).id;
        hold(&library).caption(id, say(&[&texts[0], &texts[1]])).unwrap();
    }
    (place, library)
}

const THINGS: [&str; 6] = ["ash", "birch", "cedar", "date", "elm", "fir"];

/// The words of all texts of an image.
fn all_words(image: &Image) -> Vec<String> {
    let texts = image.captions.iter().map(|caption| caption.text.clone());
    let texts: Vec<String> = texts.chain([image.label().unwrap_or_default().to_owned(), image.name()]).collect();
    texts.iter().flat_map(|text| tessera_core::text::words(text)).collect()
}

#[test]
fn what_must_not_be_there_is_in_no_text_of_an_answer() {
    let (_place, library) = drawn(3, 40);
    let library = hold(&library);
    for (wanted, unwanted) in THINGS.iter().flat_map(|a| THINGS.iter().map(move |b| (*a, *b))) {
        let query = TextQuery::parse(&format!("{wanted} -{unwanted}"));
        let right = |image: &&Arc<Image>| {
            let words = all_words(image);
            words.iter().any(|word| word == wanted) && !words.iter().any(|word| word == unwanted)
        };
        let expected: Vec<ItemId> = library.state().images().filter(right).map(|image| image.id).collect();
        let (by_memory, _) = library.caption_memory().ask(library.words(), &query).search(64, |_| true);
        let mut by_memory: Vec<ItemId> = by_memory.iter().map(|found| found.image).collect();
        let mut by_index: Vec<ItemId> = library.words().search(&query).iter().map(|found| found.image).collect();
        by_memory.sort_unstable();
        by_index.sort_unstable();
        assert_eq!((&by_memory, &by_index), (&expected, &expected), "{query:?}");
    }
}

#[test]
fn an_image_has_one_score_and_each_word_counts_from_where_it_counts_most() {
    let (_place, library) = drawn(4, 60);
    let first = hold(&library).state().images().next().unwrap().id;
    hold(&library).reward("elm fir", first, Some(0.5)).unwrap();
    let library = hold(&library);
    for text in ["ash birch", "elm fir 7", "cedar", "date elm ash birch"] {
        let (query, words) = (TextQuery::parse(text), tessera_core::text::words(text).collect::<Vec<_>>());
        let question = library.caption_memory().ask(library.words(), &query);
        let mut fewer = BTreeMap::new();
        for leaves in [1, 2, 5, 64] {
            let found: BTreeMap<ItemId, u64> =
                question.search(leaves, |_| true).0.iter().map(|found| (found.image, found.score.to_bits())).collect();
            assert!(fewer.iter().all(|(image, score)| found.get(image) == Some(score)), "{text} in {leaves} leaves");
            fewer = found;
        }
        for &image in fewer.keys() {
            let weighed = question.weigh(image);
            // As if each word, and each pair of words, were asked of one text alone.
            let state = library.state().image(image).unwrap();
            let has: Vec<&String> = weighed.terms.iter().map(|term| &term.word).collect();
            assert!(words.iter().all(|word| has.contains(&word) == all_words(state).contains(word)), "{weighed:?} of {state:?}");
            assert!(weighed.terms.iter().all(|term| term.value > 0.0 && term.how == ReadAs::Written));
        }
    }
}

#[test]
fn words_in_class_and_caption_add_up() {
    let (_place, library) = captioned(&["a bike", "a lamp", "a thing and a bike"]);
    let scores = search(&library, "thing bike", 3);
    let of = |name: &str| scores.iter().find(|found| found.image == at(&library, name).id).unwrap().score;
    assert!(of("thing/0.png") > of("thing/1.png") + 0.1, "{scores:?}");
}

#[test]
fn what_is_good_stands_before_its_equals_and_says_so() {
    let (_place, library) = captioned(&["a dog", "a dog", "a dog", "a cat"]);
    let second = at(&library, "thing/1.png").id;
    let before = search(&library, "dog", 4);
    assert_eq!(before[0].score, before[2].score);
    hold(&library).reward("dog", second, Some(1.0)).unwrap();
    let after = search(&library, "dog", 4);
    assert!(after[0].image == second && after[0].score > before[0].score && after[1].score == after[2].score, "{after:?}");
    // So it does where the question is only like the one that was taught.
    for text in ["dog", "a dog"] {
        let query = TextQuery::parse(text);
        let held = hold(&library);
        let weighed = held.caption_memory().ask(held.words(), &query).weigh(second);
        assert!(weighed.lessons.len() == 1 && weighed.lessons[0].0 == "dog" && weighed.lessons[0].1 > 0.0, "{weighed:?}");
        drop(held);
        assert_eq!(search(&library, text, 4)[0].image, second);
    }
}

/// The last word of a text that is typed may be unfinished, but is itself where it is a word
/// already, or can become none.
#[test]
fn a_question_is_answered_alike_while_it_is_typed_and_when_it_is_done() {
    let (_place, library) = captioned(&TEXTS);
    let barn = at(&library, "thing/5.png").id;
    hold(&library).reward("brown zebra", barn, Some(1.0)).unwrap();
    let library = hold(&library);
    let answer = |query: TextQuery| library.caption_memory().ask(library.words(), &query).search(64, |_| true).0;
    for text in ["zebra", "brown zebra", "red zebra", "dog", "red truck", "zebras", "walrus", "red walrus", "a"] {
        assert_eq!(answer(TextQuery::typing(text)), answer(TextQuery::parse(text)), "{text}");
    }
    assert!(answer(TextQuery::typing("zebra")).iter().any(|found| found.image == barn));
    assert_eq!(answer(TextQuery::typing("brown zeb"))[0].score, answer(TextQuery::parse("brown zebra"))[0].score);
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
    assert_eq!(hold(&library).caption_memory().forest().check(), Ok(()));
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
    let query = TextQuery::parse("ash birch cedar date elm fir");
    let (among, _) = held.caption_memory().ask(held.words(), &query).search(1, only);
    assert_eq!(among.len(), rare.len());
}

fn having_at(state: &State, word: &str) -> Vec<ItemId> {
    state.images().filter(|image| image.captions.iter().any(|caption| caption.text.contains(word))).map(|image| image.id).collect()
}

/// `bicycle` and `barefoot` have one feature.
#[test]
fn no_word_is_claimed_that_is_not_there() {
    assert_eq!(tessera_core::text::hashing::feature("bicycle"), tessera_core::text::hashing::feature("barefoot"));
    let (_place, library) = captioned(&["a barefoot man", "a man on a bicycle", "a barefoot boy by a bicycle"]);
    let images = |text: &str| search(&library, text, 9).iter().map(|found| found.image.0).collect::<Vec<_>>();
    assert_eq!((images("bicycle"), images("barefoot")), (vec![2, 3], vec![1, 3]));
    assert_eq!(images("bicycle barefoot")[0], 3, "it has both");
    let first = ItemId(1);
    hold(&library).reward("barefoot", first, Some(1.0)).unwrap();
    assert_eq!(images("bicycle"), [2, 3], "a lesson of another word is no lesson of this one");
}

#[test]
fn an_image_with_all_words_stands_before_one_with_some() {
    let long = "a boat and a cart and an elm, a fir, a gate, a hill, an inn, a jar, a kite, a lamp by a mill";
    let (_place, library) = captioned(&[long, "cart", "boat", "a boat", "gate"]);
    let found = search(&library, "boat cart", 9);
    assert_eq!((found[0].image.0, found[0].has_all), (1, true));
    assert!(found[0].score < found[1].score && !found[1].has_all, "short texts score higher: {found:?}");
    assert_eq!(search(&library, "boat cart unheardof", 9)[0].image.0, 1, "what nothing has is nothing to lack");
    // What was taught comes first all the same, and what was called bad does not.
    hold(&library).reward("boat cart", ItemId(3), Some(1.0)).unwrap();
    assert_eq!(search(&library, "boat cart", 9)[0].image.0, 3);
    hold(&library).reward("boat cart", ItemId(1), Some(-0.05)).unwrap();
    let found = search(&library, "boat cart", 9);
    assert!(found.iter().position(|one| one.image.0 == 1).unwrap() > 2, "{found:?}");
}

/// An error of typing in a caption does not hide the word that nearly all captions have.
#[test]
fn a_rare_word_near_a_usual_one_is_doubted() {
    let (_place, library) = captioned(&["a mountian", "a lake", "a bird", "a boat"]);
    let mountains: Vec<String> = (0..120).map(|n| format!("mountain number{n}")).collect();
    hold(&library).caption(ItemId(3), say(&mountains.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
    let meant = |text: &str| {
        let query = TextQuery::parse(text);
        let held = hold(&library);
        let question = held.caption_memory().ask(held.words(), &query);
        let (found, _) = question.search(64, |_| true);
        (question.asked()[0].meant.clone(), found.iter().map(|one| one.image.0).collect::<Vec<_>>())
    };
    let usual = Some("mountain".to_owned());
    assert_eq!(meant("mountian"), (usual.clone(), vec![1]), "it is offered, and nothing else is found by it");
    assert_eq!(meant("mountians"), (usual, vec![1]), "a form of it is there");
    assert_eq!(meant("mountain"), (None, vec![3]));
    assert_eq!(meant("lake").0, None);
    // A word that is being typed, once nothing else begins so.
    let query = TextQuery::typing("mountian");
    assert_eq!(hold(&library).ask(&query).asked()[0].meant, Some("mountain".to_owned()));
    // Another error of typing, nearer to it, is no better reading.
    hold(&library).caption(ItemId(2), say(&["a lake", "a moutian"])).unwrap();
    assert_eq!(meant("mountian").0, Some("mountain".to_owned()));
    assert_eq!(meant("\"mountian\"").0, None, "what stands in quotes is meant");
    hold(&library).label(&[ItemId(4)], &UserLabel::Class("mountian".into())).unwrap();
    assert_eq!(meant("mountian").0, None, "whoever names a class means it");
}

#[test]
fn words_are_read_as_forms_and_as_what_was_meant() {
    let texts = ["a snowboard in the snow", "two snowboards", "a dog", "two dogs", "a café", "ein Haus", "some people"];
    let (_place, library) = captioned(&texts);
    let read = |text: &str| {
        let query = TextQuery::parse(text);
        let held = hold(&library);
        let question = held.caption_memory().ask(held.words(), &query);
        let (found, _) = question.search(64, |_| true);
        let terms = |image: ItemId| question.weigh(image).terms.into_iter().map(|term| (term.word, term.how)).collect::<Vec<_>>();
        found.iter().map(|one| (one.image.0, terms(one.image))).collect::<Vec<_>>()
    };
    let one = |image: u32, word: &str, how: ReadAs| (image, vec![(word.to_owned(), how)]);
    let images = |found: &[(u32, Vec<(String, ReadAs)>)]| found.iter().map(|(image, _)| *image).collect::<Vec<_>>();
    assert_eq!(read("dog"), [one(3, "dog", ReadAs::Written), one(4, "dogs", ReadAs::Form)]);
    assert_eq!(read("dogs"), [one(4, "dogs", ReadAs::Written), one(3, "dog", ReadAs::Form)]);
    assert_eq!(images(&read("dog's")), [3, 4]);
    assert_eq!(read("cafe"), [one(5, "café", ReadAs::Form)]);
    assert_eq!(read("cafe\u{301}"), [one(5, "café", ReadAs::Written)]);
    assert_eq!(read("person"), [one(7, "people", ReadAs::Form)]);
    let corrected = read("snowbord");
    assert!(corrected.len() == 2 && corrected.contains(&one(1, "snowboard", ReadAs::Corrected)), "{corrected:?}");
    assert!(corrected.contains(&one(2, "snowboards", ReadAs::Corrected)), "{corrected:?}");
    let score = |text: &str| search(&library, text, 1)[0].score;
    assert!(score("snowbord") < score("snowboards") && score("snowbord") < score("snowboard"));
    // A word that is there, or a form of it, is meant; so is what stands in quotes.
    assert_eq!(images(&read("dig")), [3, 4]);
    hold(&library).caption(ItemId(6), say(&["ein Haus", "dig"])).unwrap();
    assert_eq!(images(&read("dig")), [6]);
    assert!(read("\"snowbord\"").is_empty());
    assert_eq!(read("caffe"), [one(5, "café", ReadAs::Corrected)], "an accent is no error of typing");
    // A reward for what was typed wrongly does not make it right: the same is meant by it.
    hold(&library).reward("snowbord", ItemId(3), Some(1.0)).unwrap();
    assert_eq!(search(&library, "snowbord", 1)[0].image.0, 3);
    let taught = read("snowbord");
    assert!(corrected.iter().all(|one| taught.contains(one)) && taught.len() == 3, "{taught:?}");
}

#[test]
fn short_words_are_no_other_names_of_folders() {
    let place = Place::new(&["rex/1.png", "rex/2.png"]);
    let library = place.open();
    imported_with(&library, &place.images(), &ImportOptions { labels: Labels::None, ..ImportOptions::default() });
    let found = |text: &str| {
        let query = TextQuery::parse(text);
        hold(&library).ask(&query).search(5, |_| true).0.len()
    };
    assert_eq!(["rex", "rxe", "rx", "red", "rez"].map(found), [2, 2, 0, 0, 0], "a letter may have changed its place");
    let first = at(&library, "rex/1.png").id;
    hold(&library).label(&[first], &class("rex")).unwrap();
    assert!(found("rez") > 0, "the name of a class may be meant");
}
