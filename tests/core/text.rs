//! Words: queries as people type them, and the index against tf-idf vectors written out in full.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tessera_core::ids::ItemId;
use tessera_core::text::{Query, TextIndex, TextKey, words};

fn key(n: u32) -> TextKey {
    TextKey { item: ItemId(n / 2), part: n % 2 }
}

fn parts(text: &str) -> Vec<String> {
    words(text).collect()
}

#[test]
fn texts_are_cut_into_words() {
    assert_eq!(parts("A red-tailed HAWK's nest, img_0042!"), ["a", "red", "tailed", "hawk's", "nest", "img", "0042"]);
    assert_eq!(parts("Straße ΣΊΣΥΦΟΣ"), ["straße", "σίσυφος"]);
    assert_eq!(parts("赤い車"), ["赤", "い", "車"]);
    assert_eq!(parts(" \n_-!"), Vec::<String>::new());
}

#[test]
fn queries_are_read_as_they_are_meant() {
    let query = Query::parse("red truck -boat \"left side\" \"one\"");
    assert_eq!(query.wanted, ["red", "truck", "left", "side", "one"]);
    assert_eq!(query.unwanted, ["boat"]);
    assert_eq!(query.phrases, [vec!["left".to_owned(), "side".into()]]);
    assert_eq!(Query::parse("\"left side").phrases.len(), 1, "a quote that is not closed goes to the end");
    assert!(Query::parse("").is_empty() && Query::parse(" - \"\" !").is_empty());
    assert_eq!(Query::parse("red-tailed").wanted, ["red", "tailed"]);
    let typing = Query::typing("red tru");
    assert_eq!((typing.wanted, typing.prefix), (vec!["red".to_owned()], Some("tru".into())));
    for whole in ["red tru ", "red -tru", "red \"tru", "red \"tru\""] {
        assert_eq!(Query::typing(whole), Query::parse(whole), "{whole}");
    }
}

/// The cosine of each text that fits, by vectors over all words.
fn by_hand(texts: &BTreeMap<TextKey, String>, query: &Query) -> Vec<(TextKey, f64)> {
    let all: BTreeMap<TextKey, Vec<String>> = texts.iter().map(|(key, text)| (*key, parts(text))).collect();
    let vocabulary: BTreeSet<String> = all.values().flatten().chain(&query.wanted).cloned().collect();
    let idf = |word: &String| {
        let with = all.values().filter(|words| words.contains(word)).count();
        ((1.0 + all.len() as f64) / (1.0 + with as f64)).ln() + 1.0
    };
    let vector = |words: &[String]| -> Vec<f64> {
        let count = |word: &String| words.iter().filter(|other| *other == word).count();
        vocabulary.iter().map(|word| if count(word) > 0 { (1.0 + (count(word) as f64).ln()) * idf(word) } else { 0.0 }).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut hits = Vec::new();
    for (key, words) in &all {
        let excluded = query.unwanted.iter().any(|word| words.contains(word));
        let has_phrases = query.phrases.iter().all(|phrase| words.windows(phrase.len()).any(|part| part == phrase));
        if excluded || !has_phrases {
            continue;
        }
        let text = vector(words);
        let mut queries = vec![query.wanted.clone()];
        if let Some(prefix) = &query.prefix {
            let completions: BTreeSet<&String> = words.iter().filter(|word| word.starts_with(prefix.as_str())).collect();
            let whole: Vec<Vec<String>> =
                completions.into_iter().map(|word| query.wanted.iter().chain([word]).cloned().collect()).collect();
            if !whole.is_empty() {
                queries = whole;
            }
        }
        let cosine = |words: &Vec<String>| {
            let asked = vector(words);
            let product = dot(&text, &asked);
            if product > 0.0 { product / (dot(&text, &text) * dot(&asked, &asked)).sqrt() } else { 0.0 }
        };
        let best = queries.iter().map(cosine).fold(0.0, f64::max);
        if best > 0.0 {
            hits.push((*key, best));
        }
    }
    hits
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["red", "Red", "reed", "truck", "boat", "left", "side", "赤", "σίσυφος", "a_red", "", "42"]);
    prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "))
}

fn query() -> impl Strategy<Value = String> {
    let piece =
        prop::sample::select(vec!["red", "re", "truck", "-boat", "\"left side\"", "left", "赤", "42", "nowhere", "-reed", "\"red", "s"]);
    prop::collection::vec(piece, 0..4).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_index_agrees_with_vectors(
        changes in prop::collection::vec((0..12u32, prop::option::weighted(0.8, text())), 0..30),
        queries in prop::collection::vec(query(), 1..4),
        k in 0..14usize,
    ) {
        let (mut index, mut texts) = (TextIndex::new(), BTreeMap::new());
        for (n, text) in changes {
            match text {
                Some(text) => {
                    index.insert(key(n), &text);
                    texts.insert(key(n), text);
                }
                None => prop_assert_eq!(index.remove(key(n)), texts.remove(&key(n)).is_some()),
            }
        }
        prop_assert_eq!(index.len(), texts.len());
        prop_assert!(index.texts().eq(texts.iter().map(|(key, text)| (*key, text.as_str()))));
        // What came and went leaves nothing behind, in whatever order.
        let mut fresh = TextIndex::new();
        texts.iter().rev().for_each(|(key, text)| fresh.insert(*key, text));
        for text in queries {
            for query in [Query::parse(&text), Query::typing(&text)] {
                let found = index.search(&query, usize::MAX);
                prop_assert_eq!(&found, &fresh.search(&query, usize::MAX));
                let expected: BTreeMap<TextKey, f64> = by_hand(&texts, &query).into_iter().collect();
                prop_assert_eq!(found.iter().map(|hit| hit.key).collect::<BTreeSet<_>>(), expected.keys().copied().collect());
                for hit in &found {
                    prop_assert!((hit.score - expected[&hit.key]).abs() < 1e-9, "{} {:?} {:?}", text, hit, expected[&hit.key]);
                    let own = parts(&texts[&hit.key]);
                    prop_assert!(!hit.words.is_empty() && hit.words.iter().all(|word| own.contains(word)));
                }
                let falls = found.windows(2).all(|two| (-two[0].score, two[0].key) <= (-two[1].score, two[1].key));
                prop_assert!(falls);
                prop_assert_eq!(&index.search(&query, k)[..], &found[..k.min(found.len())]);
            }
        }
    }
}
