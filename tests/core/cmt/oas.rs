//! One-against-some against one-against-all.

use rand::RngExt;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::cmt::oas::{LabelScores, OneAgainstSome};
use tessera_core::cmt::{CmtOptions, LeafCap};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random;
use tessera_core::sparse::SparseVec;

const LABELS: u32 = 60;

/// Vectors of topics: each topic has three labels that come together, and words of its own.
fn topics(n: usize, seed: u64) -> Vec<(SparseVec, Vec<ClassId>)> {
    let mut rng = random::seeded(seed);
    let mut one = || {
        let topic = rng.random_range(0..LABELS / 3);
        let labels: Vec<ClassId> = (0..3).filter(|_| rng.random_bool(0.9)).map(|part| ClassId(topic * 3 + part)).collect();
        let words: Vec<u32> = labels.iter().map(|label| label.0).chain((0..3).map(|_| 200 + rng.random_range(0..50u32))).collect();
        (SparseVec::from_pairs(words.into_iter().map(|word| (word, 1.0))).unwrap(), labels)
    };
    (0..n).map(|_| one()).collect()
}

/// The mean number of labels that are in one of two sets only.
fn hamming<'a>(pairs: impl Iterator<Item = (Vec<ClassId>, &'a Vec<ClassId>)>) -> f64 {
    let (mut sum, mut n) = (0, 0);
    for (a, b) in pairs {
        let both = a.iter().filter(|label| b.contains(label)).count();
        sum += a.len() + b.len() - 2 * both;
        n += 1;
    }
    f64::from(sum as u32) / f64::from(n)
}

fn taught(train: &[(SparseVec, Vec<ClassId>)]) -> OneAgainstSome {
    let options = CmtOptions { leaf_cap: LeafCap::Fixed(12), ..CmtOptions::default() };
    let mut oas = OneAgainstSome::new(&options, 0.5).unwrap();
    for ((x, labels), i) in train.iter().zip(0..) {
        oas.insert(ItemId(i), x.clone(), labels.clone()).unwrap();
    }
    for _ in 0..2 {
        for i in 0..train.len() as u32 {
            assert!(oas.replay(0, ItemId(i), 1.0).unwrap());
        }
    }
    assert_eq!(oas.memories().check(), Ok(()));
    oas
}

#[test]
fn few_candidates_are_nearly_as_good_as_all_labels() {
    let (train, test) = (topics(800, 71), topics(300, 72));
    let oas = taught(&train);
    let mut all = LabelScores::new(0.5).unwrap();
    let labels: Vec<ClassId> = (0..LABELS).map(ClassId).collect();
    for _ in 0..3 {
        train.iter().for_each(|(x, truth)| all.learn(x, &labels, truth));
    }
    let some = hamming(test.iter().map(|(x, truth)| (oas.predict(x, 1), truth)));
    let all = hamming(test.iter().map(|(x, truth)| (all.predict_all(x), truth)));
    let none = hamming(test.iter().map(|(_, truth)| (Vec::new(), truth)));
    let asked: usize = test.iter().map(|(x, _)| oas.candidates(x, 1).len()).sum();
    assert!(asked < test.len() * LABELS as usize / 2, "{asked} candidates");
    assert!(some < 0.6 * none && all < 0.2 * none, "some {some}, all {all}, none {none}");
    let more = hamming(test.iter().map(|(x, truth)| (oas.predict(x, 8), truth)));
    assert!(more < some, "{more} with eight leaves, {some} with one");
}

#[test]
fn all_leaves_ask_all_labels() {
    let train = topics(200, 73);
    let oas = taught(&train);
    for (x, _) in topics(50, 74) {
        assert_eq!(oas.candidates(&x, usize::MAX), oas.scores().labels());
        assert_eq!(oas.predict(&x, usize::MAX), oas.scores().predict_all(&x));
        assert!(oas.predict(&x, 1).iter().all(|label| oas.candidates(&x, 1).contains(label)));
    }
}

#[test]
fn bytes_give_it_back() {
    let train = topics(150, 75);
    let mut oas = taught(&train);
    let bytes = |oas: &OneAgainstSome| {
        let mut out = Writer::default();
        oas.write(&mut out);
        out.finish()
    };
    let mut back: OneAgainstSome = Reader::new("labels", &bytes(&oas)).get().unwrap();
    for (x, labels) in topics(30, 76) {
        oas.update(0, &x, &labels, 1.0).unwrap();
        back.update(0, &x, &labels, 1.0).unwrap();
        assert_eq!(oas.predict(&x, 2), back.predict(&x, 2));
    }
    assert_eq!(bytes(&oas), bytes(&back));
}

#[test]
fn empty_and_unordered_labels() {
    let mut oas: OneAgainstSome = OneAgainstSome::new(&CmtOptions::default(), 0.5).unwrap();
    let x = SparseVec::new(&[1], &[1.0]).unwrap();
    assert!(oas.predict(&x, 1).is_empty() && oas.scores().predict_all(&x).is_empty());
    oas.insert(ItemId(0), x.clone(), Vec::new()).unwrap();
    oas.update(0, &x, &[], 1.0).unwrap();
    let error = oas.insert(ItemId(1), x.clone(), vec![ClassId(2), ClassId(2)]).unwrap_err().to_string();
    assert_eq!(error, "labels: expected ascending, each once, found 2 after 2");
    assert!(oas.insert(ItemId(0), x.clone(), vec![ClassId(2)]).is_err(), "it is there already");
    assert!(oas.scores().labels().is_empty(), "a refused memory teaches nothing");
    assert!(oas.remove(ItemId(0)) && !oas.remove(ItemId(0)));
    assert!(OneAgainstSome::<tessera_core::online_linear::AdaptiveLinear>::new(&CmtOptions::default(), 0.0).is_err());
}
