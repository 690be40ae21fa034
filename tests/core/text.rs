//! Search in texts against dense vectors made anew for every question.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;
use tessera_core::ids::ItemId;
use tessera_core::text::{NearWord, TextIndex, TextKey, TextQuery, composed, form, most_errors, words, words_at};

const CLOSE: f64 = 1e-6;

fn key(item: u32, part: u32) -> TextKey {
    TextKey { item: ItemId(item), part }
}

fn split(text: &str) -> Vec<String> {
    words(text).collect()
}

fn index_of(texts: &[&str]) -> TextIndex {
    let mut index = TextIndex::default();
    for (item, text) in (0..).zip(texts) {
        index.insert(key(item, 0), text);
    }
    index
}

/// The items found, best first.
#[track_caller]
fn found(index: &TextIndex, query: &TextQuery) -> Vec<u32> {
    index.search(query, usize::MAX).iter().map(|hit| hit.key.item.0).collect()
}

#[track_caller]
fn check_words(text: &str, expected: &[&str]) {
    assert_eq!(split(text), expected, "{text}");
}

#[track_caller]
fn check_query(query: &TextQuery, words: &[&str], phrases: &[&[&str]], unwanted: &[&[&str]], prefix: Option<&str>) {
    let own = |words: &[&str]| -> Vec<String> { words.iter().map(|word| word.to_string()).collect() };
    let lists = |lists: &[&[&str]]| -> Vec<Vec<String>> { lists.iter().map(|list| own(list)).collect() };
    let expected = TextQuery { words: own(words), phrases: lists(phrases), unwanted: lists(unwanted), prefix: prefix.map(str::to_owned) };
    assert_eq!(*query, expected);
}

#[test]
fn words_are_what_people_call_words() {
    check_words("", &[]);
    check_words(" ?! -- __ 🚚", &[]);
    check_words("A red Truck, seen in 1997.", &["a", "red", "truck", "seen", "in", "1997"]);
    check_words("truck_07-left", &["truck", "07", "left"]);
    check_words("__truck__07__left.side.JPG", &["truck", "07", "left", "side", "jpg"]);
    check_words("C:\\My Pictures\\a/b:c", &["c", "my", "pictures", "a", "b", "c"]);
    check_words("camelCase f/2.8 1,000", &["camelcase", "f", "2", "8", "1", "000"]);
    check_words("don't don’t 'left'", &["don't", "don't", "left"]);
    check_words("ÜBER straße ΟΔΟΣ", &["über", "straße", "οδος"]);
    check_words("a.\u{113b8}ড়", &["a", "\u{113b8}", "ড়"]);
    check_words("зелёный_ГРУЗОВИК", &["зелёный", "грузовик"]);
}

#[test]
fn texts_that_look_alike_have_the_same_words() {
    for (a, b) in [
        ("café", "cafe\u{301}"),
        ("Ｔｒｕｃｋ", "truck"),
        ("ﬁeld", "field"),
        ("ÅNGSTRÖM", "a\u{30a}ngstro\u{308}m"),
        ("가", "\u{1100}\u{1161}"),
    ] {
        assert_eq!(split(a), split(b));
    }
    assert_eq!(composed("cafe\u{301} ﬁeld"), "café ﬁeld");
    assert_ne!(split("café"), split("cafe"), "accents count");
    let text = "Cafe\u{301}_noir, a ’Dog’s’";
    let places: Vec<(usize, &str, String)> = words_at(text).collect();
    assert!(places.iter().all(|(at, written, _)| text[*at..].starts_with(written)));
    assert!(places.iter().map(|(.., word)| word.clone()).eq(words(text)));
}

#[test]
fn forms_of_a_word_are_told() {
    for (a, b) in [
        ("dog", "dogs"),
        ("dog's", "dogs"),
        ("dogs'", "dog"),
        ("bicycle", "bicycles"),
        ("man", "men"),
        ("snowman", "snowmen"),
        ("women", "woman"),
        ("person", "people"),
        ("child", "children"),
        ("leaves", "leaf"),
        ("running", "runs"),
        ("café", "cafés"),
        ("naïve", "naive"),
        ("straße", "strasse"),
        ("Œuvre", "oeuvre"),
        ("søren", "soren"),
        ("ой", "ои"),
        ("specimen", "specimens"),
    ] {
        let lower = |word: &str| words(word).next().unwrap();
        assert_eq!(form(&lower(a)), form(&lower(b)), "{a} {b}");
    }
    for (a, b) in
        [("dog", "dot"), ("man", "mane"), ("women", "men"), ("children", "chill"), ("カ", "キ"), ("ด", "ต"), ("का", "की"), ("バス", "パス")]
    {
        assert_ne!(form(a), form(b), "{a} {b}");
    }
    let index = index_of(&["a dog", "two dogs, dogs", "dogs", "the dog's"]);
    assert_eq!(index.forms("dog"), ["dogs", "dog's"]);
    assert_eq!(index.forms("dogs'"), ["dogs", "dog", "dog's"]);
    assert_eq!(index.forms("cat"), [""; 0]);
}

#[test]
fn words_of_scripts_without_blanks_are_found() {
    check_words("红色卡车", &["红", "色", "卡", "车"]);
    check_words("赤いトラック", &["赤", "い", "トラック"]);
    check_words("ภาพ1", &["ภ", "า", "พ", "1"]);
    let index = index_of(&["红色卡车", "蓝色卡车", "赤いトラック", "รถบรรทุกสีแดง"]);
    assert_eq!(found(&index, &TextQuery::parse("\"红色\"")), [0]);
    assert_eq!(found(&index, &TextQuery::parse("卡车 -蓝色")), [0]);
    assert_eq!(found(&index, &TextQuery::typing("トラ")), [2]);
    assert_eq!(found(&index, &TextQuery::parse("\"สีแดง\"")), [3]);
}

#[test]
fn queries_say_what_is_wanted_and_what_is_not() {
    let query = TextQuery::parse("red truck -boat \"left side\"");
    check_query(&query, &["red", "truck"], &[&["left", "side"]], &[&["boat"]], None);
    check_query(&TextQuery::parse("truck_07-left"), &["truck", "07", "left"], &[], &[], None);
    check_query(&TextQuery::parse("-truck_07 -\"left side\""), &[], &[], &[&["truck", "07"], &["left", "side"]], None);
    check_query(&TextQuery::parse("“Left side”a\"b\" --c"), &["a"], &[&["left", "side"], &["b"]], &[&["c"]], None);
}

#[test]
fn odd_queries_are_still_queries() {
    for nothing in ["", "  ", "-", "- -- -", "\"", "\"\"", "-\"", "-\"\"", "?!", "\" -"] {
        check_query(&TextQuery::parse(nothing), &[], &[], &[], None);
        check_query(&TextQuery::typing(nothing), &[], &[], &[], None);
        assert!(TextQuery::parse(nothing).is_empty());
    }
    check_query(&TextQuery::parse("- boat"), &["boat"], &[], &[], None);
    check_query(&TextQuery::parse("red \"left side"), &["red", "left", "side"], &[], &[], None);
    check_query(&TextQuery::parse("red -\"left side"), &["red"], &[], &[&["left", "side"]], None);
    check_query(&TextQuery::parse("\"a b\" \"c"), &["c"], &[&["a", "b"]], &[], None);
    assert!(TextQuery::parse("-boat").is_empty());
    assert!(!TextQuery::typing("b").is_empty());
}

#[test]
fn only_a_wanted_word_at_the_very_end_is_unfinished() {
    check_query(&TextQuery::typing("red tru"), &["red"], &[], &[], Some("tru"));
    check_query(&TextQuery::typing("TRUCK_0"), &["truck"], &[], &[], Some("0"));
    check_query(&TextQuery::typing("\"left si"), &["left"], &[], &[], Some("si"));
    check_query(&TextQuery::typing("red truck "), &["red", "truck"], &[], &[], None);
    check_query(&TextQuery::typing("red truck_"), &["red", "truck"], &[], &[], None);
    check_query(&TextQuery::typing("red -boa"), &["red"], &[], &[&["boa"]], None);
    check_query(&TextQuery::typing("\"left side\""), &[], &[&["left", "side"]], &[], None);
}

#[test]
fn scores_are_those_worked_out_by_hand() {
    let index = index_of(&["red truck", "red red boat", ""]);
    let (common, rare) = (f64::ln(4.0 / 3.0) + 1.0, f64::ln(2.0) + 1.0);
    let hits = index.search(&TextQuery::parse("red"), 9);
    let twice = (1.0 + f64::ln(2.0)) * common;
    assert_eq!(hits.iter().map(|hit| hit.key).collect::<Vec<_>>(), [key(1, 0), key(0, 0)]);
    assert!((f64::from(hits[0].score) - twice / twice.hypot(rare)).abs() < CLOSE);
    assert!((f64::from(hits[1].score) - common / common.hypot(rare)).abs() < CLOSE);
    assert_eq!(index.search(&TextQuery::parse("truck red"), 1)[0].score, 1.0);
    assert_eq!(index.search(&TextQuery::parse("truck red"), 1)[0].words, ["red", "truck"]);
}

#[test]
fn equals_come_in_the_order_of_their_keys() {
    let mut index = TextIndex::default();
    for at in [key(3, 0), key(1, 1), key(2, 5), key(1, 0)] {
        index.insert(at, "red truck");
    }
    let keys: Vec<TextKey> = index.search(&TextQuery::parse("truck"), 3).iter().map(|hit| hit.key).collect();
    assert_eq!(keys, [key(1, 0), key(1, 1), key(2, 5)]);
    assert!(index.search(&TextQuery::parse("truck"), 0).is_empty());
}

#[test]
fn phrases_stand_in_a_row_in_one_text() {
    let mut index = index_of(&["left side", "side left", "left front side", "its LEFT-side, seen"]);
    index.insert(key(9, 0), "left");
    index.insert(key(9, 1), "side");
    assert_eq!(found(&index, &TextQuery::parse("\"left side\"")), [0, 3]);
    assert_eq!(found(&index, &TextQuery::parse("side -\"left side\"")), [9, 1, 2]);
    assert!(found(&index, &TextQuery::parse("left \"left boat\"")).is_empty());
    assert_eq!(found(&index, &TextQuery::parse("seen -\"left boat\"")), [3]);
}

#[test]
fn a_prefix_counts_as_its_best_completion() {
    let index = index_of(&["trumpet", "truck", "truck truck boat", "tr", "boat"]);
    let hits = index.search(&TextQuery::typing("tru"), 9);
    assert_eq!(hits.iter().map(|hit| hit.key.item.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(hits[0].words, ["trumpet"]);
    assert_eq!((hits[0].score, hits[1].score), (1.0, 1.0));
    assert_eq!(index.search(&TextQuery::typing("boat tru"), 1)[0].words, ["boat", "truck"]);
    assert_eq!(found(&index, &TextQuery::typing("xylo")), [0u32; 0]);
}

#[test]
fn an_emptied_index_is_as_new() {
    let mut index = index_of(&["red truck", "red boat", ""]);
    assert!(index.contains_word("TRUCK") && !index.contains_word("red truck") && !index.contains_word(""));
    assert_eq!((index.len(), index.n_words()), (3, 3));
    assert!(index.remove(key(0, 0)) && !index.remove(key(0, 0)));
    assert!(!index.contains_word("truck"));
    assert_eq!((index.len(), index.n_words()), (2, 2));
    assert!(index.remove(key(1, 0)) && index.remove(key(2, 0)));
    assert!(index.is_empty());
    assert_eq!(format!("{index:?}"), format!("{:?}", TextIndex::default()));
}

/// What a slow search says of one text.
struct Expected {
    score: f64,
    /// The lists of matched words that are right: more than one when completions fit equally well.
    words: Vec<Vec<String>>,
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths == 0.0 { 0.0 } else { dot(a, b) / lengths }
}

fn by_dense_vectors(texts: &BTreeMap<TextKey, String>, query: &TextQuery) -> BTreeMap<TextKey, Expected> {
    let split_texts: BTreeMap<TextKey, Vec<String>> = texts.iter().map(|(&key, text)| (key, split(text))).collect();
    let base: Vec<String> = query.words.iter().chain(query.phrases.iter().flatten()).cloned().collect();
    let known: BTreeSet<String> = split_texts.values().flatten().cloned().collect();
    let vocabulary: BTreeSet<String> = known.iter().chain(&base).chain(&query.prefix).cloned().collect();
    let vector = |words: &[String]| -> Vec<f64> {
        let weight = |word: &String| {
            let count = words.iter().filter(|other| *other == word).count();
            let df = split_texts.values().filter(|words| words.contains(word)).count();
            let idf = ((1 + texts.len()) as f64 / (1 + df) as f64).ln() + 1.0;
            if count == 0 { 0.0 } else { (1.0 + (count as f64).ln()) * idf }
        };
        vocabulary.iter().map(weight).collect()
    };
    let mut completions: Vec<Option<&String>> = match &query.prefix {
        Some(prefix) => known.iter().filter(|word| word.starts_with(prefix.as_str())).map(Some).collect(),
        None => vec![None],
    };
    if completions.is_empty() {
        completions.push(query.prefix.as_ref());
    }
    let queries: Vec<(Option<&String>, Vec<f64>)> = completions
        .into_iter()
        .map(|completion| (completion, vector(&base.iter().chain(completion).cloned().collect::<Vec<_>>())))
        .collect();

    let mut found = BTreeMap::new();
    for (&key, words) in &split_texts {
        let has = |phrase: &Vec<String>| (0..words.len()).any(|start| words[start..].starts_with(phrase));
        if !query.phrases.iter().all(has) || query.unwanted.iter().any(has) {
            continue;
        }
        let own = vector(words);
        let scores: Vec<(Option<&String>, f64)> = queries.iter().map(|(completion, query)| (*completion, cosine(query, &own))).collect();
        let score = scores.iter().map(|(_, score)| *score).fold(0.0, f64::max);
        if score == 0.0 {
            continue;
        }
        let matched: BTreeSet<String> = base.iter().filter(|word| words.contains(word)).cloned().collect();
        let present: Vec<(&String, f64)> = scores
            .iter()
            .filter_map(|(completion, score)| completion.filter(|word| words.contains(word)).map(|word| (word, *score)))
            .collect();
        let best = present.iter().map(|(_, score)| *score).fold(0.0, f64::max);
        let mut lists: Vec<Vec<String>> = present
            .iter()
            .filter(|(_, score)| best - score < CLOSE)
            .map(|(word, _)| matched.iter().chain([*word]).collect::<BTreeSet<_>>().into_iter().cloned().collect())
            .collect();
        if lists.is_empty() {
            lists.push(matched.into_iter().collect());
        }
        found.insert(key, Expected { score, words: lists });
    }
    found
}

/// Texts with each word.
fn word_counts(texts: &BTreeMap<TextKey, String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for word in texts.values().flat_map(|text| split(text).into_iter().collect::<BTreeSet<_>>()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Words near another, by the distance to each word of all texts, without accents.
fn near(texts: &BTreeMap<TextKey, String>, word: &str) -> Vec<NearWord> {
    let has_digit = |word: &str| word.chars().any(|c| c.is_alphanumeric() && !c.is_alphabetic());
    if has_digit(word) {
        return Vec::new();
    }
    let bare = |word: &str| word.replace(['ü', 'ù'], "u").replace('é', "e").replace('à', "a");
    let most = most_errors(word.chars().count());
    let is_other = |other: &str| !has_digit(other) && form(other) != form(word);
    let all = word_counts(texts).into_iter().filter(|(other, _)| is_other(other) && most > 0);
    let mut all: Vec<NearWord> = all
        .map(|(other, texts)| NearWord { errors: errors(&bare(word), &bare(&other)), word: other, texts })
        .filter(|near| near.errors <= most)
        .collect();
    if all.is_empty() && word.chars().count() >= 4 {
        let letters = |word: &str| {
            let mut letters: Vec<char> = form(word).chars().collect();
            letters.sort_unstable();
            letters
        };
        let is_swapped = |other: &str| letters(word) == letters(other);
        let is_long = |other: &str| word.chars().count().min(other.chars().count()) >= 6;
        let is_alike = |other: &str| (is_long(other) || is_swapped(other)) && bare(other).chars().next() == bare(word).chars().next();
        let others = word_counts(texts).into_iter().filter(|(other, _)| is_other(other) && is_alike(other));
        let by_form = others.filter(|(other, _)| errors(&form(word), &form(other)) == 1);
        all = by_form.map(|(other, texts)| NearWord { errors: if is_swapped(&other) { 1 } else { 2 }, word: other, texts }).collect();
    }
    let least = all.iter().map(|near| near.errors).min();
    all.retain(|near| Some(near.errors) == least);
    all.sort_by(|a, b| b.texts.cmp(&a.texts).then_with(|| a.word.cmp(&b.word)));
    all
}

/// The optimal string alignment of two words, by its recursion.
fn errors(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let mut least = if i.min(j) == 0 { i.max(j) } else { usize::MAX };
            if i > 0 && j > 0 {
                let other = usize::from(a[i - 1] != b[j - 1]);
                least = (table[i - 1][j] + 1).min(table[i][j - 1] + 1).min(table[i - 1][j - 1] + other);
            }
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = least;
        }
    }
    table[a.len()][b.len()]
}

/// The forms of a word among all words of all texts.
fn forms(texts: &BTreeMap<TextKey, String>, word: &str) -> Vec<String> {
    let counts = word_counts(texts);
    let mut all: Vec<(&String, &usize)> = counts.iter().filter(|(other, _)| *other != word && form(other) == form(word)).collect();
    all.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    all.into_iter().map(|(other, _)| other.clone()).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Insert(TextKey, String),
    Remove(TextKey),
}

fn a_key() -> impl Strategy<Value = TextKey> {
    (0u32..5, 0u32..2).prop_map(|(item, part)| key(item, part))
}

fn a_word() -> impl Strategy<Value = &'static str> {
    select(vec![
        "red",
        "Red",
        "truck",
        "tru",
        "trucks",
        "truck_07",
        "boat",
        "left",
        "side",
        "left.side",
        "7",
        "07",
        "红色",
        "色红",
        "รถ",
        "über",
        "Ü",
        "déjà",
        "don’t",
        "?!",
        "トラック",
    ])
}

fn a_text() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec((a_word(), select(vec![" ", "-", "_", ", "])), 0..7);
    parts.prop_map(|parts| parts.into_iter().map(|(word, gap)| format!("{word}{gap}")).collect())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (a_key(), a_text()).prop_map(|(key, text)| Step::Insert(key, text)),
        1 => a_key().prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 0..24)
}

fn a_query() -> impl Strategy<Value = TextQuery> {
    let term = prop_oneof![
        5 => a_word().prop_map(str::to_owned),
        1 => a_word().prop_map(|word| format!("-{word}")),
        1 => (a_word(), a_word()).prop_map(|(a, b)| format!("\"{a} {b}\"")),
        1 => (a_word(), a_word()).prop_map(|(a, b)| format!("-\"{a} {b}\"")),
        1 => Just("unheard".to_owned()),
        1 => select(vec!["-", "\"", "\"\""]).prop_map(str::to_owned),
    ];
    let end = select(vec!["", " ", " t", " tr", " truc", " r", " le", " 0", " ü", " 红", " unhea"]);
    (prop::collection::vec(term, 0..4), end, any::<bool>()).prop_map(|(terms, end, typing)| {
        let text = terms.join(" ") + end;
        if typing { TextQuery::typing(&text) } else { TextQuery::parse(&text) }
    })
}

fn run(steps: &[Step]) -> (TextIndex, BTreeMap<TextKey, String>) {
    let (mut index, mut texts) = (TextIndex::default(), BTreeMap::new());
    for step in steps {
        match step {
            Step::Insert(key, text) => {
                index.insert(*key, text);
                texts.insert(*key, text.clone());
            }
            Step::Remove(key) => assert_eq!(index.remove(*key), texts.remove(key).is_some()),
        }
    }
    (index, texts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn search_finds_what_dense_vectors_find(steps in steps(), queries in prop::collection::vec(a_query(), 1..5), k in 0usize..8) {
        let (index, texts) = run(&steps);
        for query in &queries {
            let expected = by_dense_vectors(&texts, query);
            let hits = index.search(query, usize::MAX);
            let keys: BTreeSet<TextKey> = hits.iter().map(|hit| hit.key).collect();
            prop_assert_eq!(keys.len(), hits.len());
            prop_assert!(keys.iter().eq(expected.keys()), "found {:?}, expected {:?}", keys, expected.keys());
            for hit in &hits {
                let right = &expected[&hit.key];
                prop_assert!((f64::from(hit.score) - right.score).abs() < CLOSE, "{:?}, expected {}", hit, right.score);
                prop_assert!(hit.score > 0.0 && hit.score <= 1.0);
                prop_assert!(right.words.contains(&hit.words), "{:?}, expected one of {:?}", hit, right.words);
            }
            prop_assert!(hits.is_sorted_by(|a, b| a.score > b.score || (a.score == b.score && a.key < b.key)));
            prop_assert_eq!(&index.search(query, k), &hits[..k.min(hits.len())]);
        }
    }

    #[test]
    fn an_item_is_scored_by_all_its_texts_and_left_out_for_any(steps in steps(), queries in prop::collection::vec(a_query(), 1..5)) {
        let (index, texts) = run(&steps);
        for query in &queries {
            let plain = TextQuery { words: query.words.iter().chain(query.phrases.iter().flatten()).cloned().collect(), prefix: query.prefix.clone(), ..TextQuery::default() };
            let of_texts = by_dense_vectors(&texts, &plain);
            let mut expected = BTreeMap::<ItemId, Vec<f64>>::new();
            for (key, one) in &of_texts {
                expected.entry(key.item).or_default().push(one.score);
            }
            let has = |item: ItemId, phrase: &Vec<String>| {
                texts.iter().filter(|(key, _)| key.item == item).any(|(_, text)| split(text).windows(phrase.len()).any(|words| words == phrase))
            };
            expected.retain(|item, _| query.phrases.iter().all(|phrase| has(*item, phrase)) && !query.unwanted.iter().any(|phrase| has(*item, phrase)));
            let hits = index.search_items(query);
            let items: BTreeSet<ItemId> = hits.iter().map(|hit| hit.item).collect();
            prop_assert!(items.len() == hits.len() && items.iter().eq(expected.keys()), "{:?} of {:?}", hits, expected);
            prop_assert!(hits.is_sorted_by(|a, b| a.score > b.score || (a.score == b.score && a.item < b.item)));
            for hit in &hits {
                let best = expected[&hit.item].iter().fold(0.0f64, |best, score| best.max(*score));
                let sum: f64 = hit.terms.iter().map(|(_, value)| value).sum();
                prop_assert!((sum - hit.score).abs() < CLOSE && hit.score > best - CLOSE, "{:?}: {}", hit, best);
                prop_assert!(expected[&hit.item].len() > 1 || hit.score < best + CLOSE, "{:?}: {}", hit, best);
                prop_assert_eq!(hit.texts.len(), expected[&hit.item].len());
            }
        }
    }

    #[test]
    fn the_past_does_not_matter(steps in steps(), queries in prop::collection::vec(a_query(), 1..5)) {
        let (mut index, texts) = run(&steps);
        let mut anew = TextIndex::default();
        for (&key, text) in texts.iter().rev() {
            anew.insert(key, text);
        }
        for query in &queries {
            prop_assert_eq!(index.search(query, 9), anew.search(query, 9));
        }
        prop_assert!(index.texts().eq(anew.texts()));
        let of_text = |(key, words): (TextKey, Vec<&str>)| (key, words.into_iter().map(str::to_owned).collect::<Vec<String>>());
        prop_assert!(index.texts().map(of_text).eq(texts.iter().map(|(&key, text)| (key, words(text).collect()))));
        let vocabulary: BTreeSet<String> = texts.values().flat_map(|text| split(text)).collect();
        prop_assert_eq!((index.len(), index.n_words()), (texts.len(), vocabulary.len()));
        for word in vocabulary.iter().map(String::as_str).chain(["truk", "tuck", "turcks", "obxes", "lfet", "bot", "deja", "djea", "ubber", "dont", "o7", "xyz"]) {
            prop_assert_eq!(index.near(word, 1), near(&texts, word), "{}", word);
            prop_assert_eq!(index.forms(word), forms(&texts, word), "{}", word);
        }
        prop_assert!(vocabulary.iter().all(|word| index.contains_word(word)));
        for &key in texts.keys() {
            index.remove(key);
        }
        prop_assert_eq!(format!("{index:?}"), format!("{:?}", TextIndex::default()));
    }

    #[test]
    fn any_text_can_be_put_in_and_asked_for(text in any::<String>(), other in any::<String>()) {
        let index = index_of(&[&text, &other]);
        let query = TextQuery::parse(&text);
        prop_assert!(index.search(&query, 9).len() <= 2);
        TextQuery::typing(&other);
        for word in words(&text) {
            prop_assert!(index.contains_word(&word), "{:?}", word);
            let query = TextQuery { words: vec![word], ..TextQuery::default() };
            prop_assert!(index.search(&query, 9).iter().any(|hit| hit.key == key(0, 0)));
        }
    }
}
