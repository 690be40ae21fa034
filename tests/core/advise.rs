//! The mixture of advisers: its regret against the bound, classes that come late, weights that mean
//! something.

use proptest::prelude::*;
use rand::RngExt;
use tessera_core::advise::{
    Adviser, AdviserKind, CalibrationRecord, CheckpointedEnsemble, ContextualAdviser, Ensemble, LearnedLabel, LinearAdviser, LocalMeans,
    MemoryAdviser, Mixture, Nearest, NeighbourVote, Opinion, Pool, Projector, Recognised, Recurrence, recognised,
};
use tessera_core::bytes::{Reader, Stored, Writer, restored, stored};
use tessera_core::ckm::Without;
use tessera_core::ckm::presets::Preset;
use tessera_core::cmt::{Cmt, CmtOptions};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::online_linear::Rule;
use tessera_core::random::{self, Rng};
use tessera_core::sparse::SparseVec;

/// An opinion that is right with this chance, with scores of any sureness.
fn opinion(truth: usize, k: usize, right: f64, rng: &mut Rng) -> Opinion {
    let says = if rng.random::<f64>() < right { truth } else { rng.random_range(0..k) };
    match rng.random_range(0..10) {
        0 => Opinion::None,
        1 => Opinion::Ranking(vec![ClassId(says as u32), ClassId(k as u32 + 3)]),
        _ => Opinion::Scores((0..k).map(|class| if class == says { 5.0 } else { 0.0 } + rng.random::<f64>()).collect()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// In every round the log loss is within the bound of every adviser's, and of the best two, one
    /// after the other, with one change.
    #[test]
    fn regret_is_within_its_bound(n in 2usize..6, favoured in 0usize..3, k in 2usize..8, seed in 0u64..10_000, change in 50usize..150, again in 0.0f64..1.0) {
        let mut rng = random::seeded(seed);
        let favourites: Vec<usize> = (0..favoured.min(n - 1)).rev().collect();
        let mut mixture = if favourites.is_empty() { Mixture::new(n) } else { Mixture::favouring(&favourites, n) }.unwrap();
        let skill: Vec<[f64; 2]> = (0..n).map(|_| [rng.random(), rng.random()]).collect();
        // Log losses of each expert before the change and after.
        let mut parts = vec![[0.0; 2]; 2 * n + 2];
        let mut truth = 0;
        let (mut corrected, mut last) = (0.0, None);
        for round in 0..200 {
            if rng.random::<f64>() > again {
                truth = rng.random_range(0..k);
            }
            let part = usize::from(round >= change);
            let opinions: Vec<Opinion> = skill.iter().map(|right| opinion(truth, k, right[part], &mut rng)).collect();
            let advice = mixture.combine(&opinions);
            prop_assert!(advice.chances.is_empty() || ((advice.chances.iter().map(|p| p.1).sum::<f64>() - 1.0).abs() < 1e-9 && advice.chances.iter().all(|p| p.1 > 0.0)));
            // While favourites lead, what one of them says is suggested, unless the last class is.
            let [own, mixed] = mixture.wrong();
            let told: Vec<_> = favourites.iter().filter_map(|favourite| advice.each[*favourite]).collect();
            let is_told = advice.suggestion().is_some_and(|class| told.contains(&class));
            prop_assert!(own > mixed || told.is_empty() || is_told || advice.suggestion() == last);
            // The best chance is that of the suggestion, and what suggestions cost is within its
            // bound.
            let best = advice.chances.iter().map(|p| p.1).fold(0.0, f64::max);
            prop_assert!(advice.ranking.is_sorted_by_key(|class| -advice.chances.iter().find(|p| p.0 == *class).unwrap().1));
            prop_assert!((advice.mixed.iter().map(|p| p.1).sum::<f64>() - 1.0).abs() < 1e-9 || advice.mixed.is_empty());
            prop_assert!(advice.chances.iter().all(|(class, p)| Some(*class) != advice.suggestion() || *p == best));
            let said = favourites.iter().any(|favourite| advice.each[*favourite].is_some());
            if said && mixture.classes().contains(&ClassId(truth as u32)) {
                corrected += f64::from(u8::from(advice.suggestion() != Some(ClassId(truth as u32))));
            }
            let before = mixture.log_losses().1.to_vec();
            mixture.learn(&advice, ClassId(truth as u32)).unwrap();
            last = Some(ClassId(truth as u32));
            let (log_loss, log_losses) = mixture.log_losses();
            parts.iter_mut().zip(log_losses.iter().zip(&before)).for_each(|(own, (now, before))| own[part] += now - before);
            let [own, mixed] = mixture.wrong();
            prop_assert!(corrected <= 2.0 * own.min(mixed) + 1.0);
            let single = log_losses.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(log_loss <= single + mixture.regret_bound(0) + 1e-9);
            let best = |part: usize| parts.iter().map(|own| own[part]).fold(f64::INFINITY, f64::min);
            prop_assert!(log_loss <= best(0) + best(1) + mixture.regret_bound(1) + 1e-9);
            prop_assert!((mixture.trust().iter().sum::<f64>() - 1.0).abs() < 1e-9 && mixture.trust().iter().all(|trust| *trust >= 0.0));
        }
    }
}

/// The adviser that is right gets the weight; when another becomes right, the weight moves.
#[test]
fn trust_follows_who_is_right() {
    let mut rng = random::seeded(3);
    let mut mixture = Mixture::new(3).unwrap();
    let mut wrong = [0; 2];
    for round in 0..600 {
        let truth = rng.random_range(0..4);
        let rights = if round < 300 { [0.95, 0.5, 0.1] } else { [0.1, 0.5, 0.95] };
        let opinions: Vec<Opinion> = rights.iter().map(|right| opinion(truth, 4, *right, &mut rng)).collect();
        let advice = mixture.combine(&opinions);
        wrong[usize::from(round >= 300)] += usize::from(advice.suggestion() != Some(ClassId(truth as u32)));
        mixture.learn(&advice, ClassId(truth as u32)).unwrap();
        if round == 299 {
            assert!(mixture.trust()[0] > 0.5, "{:?}", mixture.trust());
        }
    }
    assert!(mixture.trust()[2] > mixture.trust()[0], "{:?}", mixture.trust());
    // The best adviser alone errs in about 54 of 300 rounds, with the tenth in which it says
    // nothing.
    assert!(wrong[0] < 70 && wrong[1] < 100, "{wrong:?}");
}

#[test]
fn classes_come_late_and_nothing_is_impossible() {
    let mut mixture = Mixture::new(2).unwrap();
    let advice = mixture.combine(&[]);
    assert_eq!((advice.suggestion(), advice.chances.len()), (None, 0));
    mixture.learn(&advice, ClassId(0)).unwrap();
    let sure = |class: usize| Opinion::Scores((0..=class).map(|c| if c == class { 1.0 } else { f64::NEG_INFINITY }).collect());
    for truth in [0, 0, 0, 2, 2, 1, 2] {
        let advice = mixture.combine(&[sure(0), Opinion::None]);
        assert!(advice.chances.iter().all(|p| p.1 > 0.0));
        mixture.learn(&advice, ClassId(truth)).unwrap();
        assert!(mixture.log_losses().0.is_finite());
    }
    assert_eq!(mixture.classes(), [ClassId(0), ClassId(2), ClassId(1)]);
    assert!(mixture.learn(&mixture.combine(&[]).clone(), ClassId(5000)).is_err());
    assert!(
        Mixture::new(0).is_err()
            && Mixture::new(65).is_err()
            && [&[2][..], &[0, 1], &[0, 0], &[]].iter().all(|favourites| Mixture::favouring(favourites, 2).is_err())
            && Mixture::favouring(&[0], 1).is_err()
    );
    // Scores that are not finite count as unknown.
    let advice = mixture.combine(&[Opinion::Scores(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]), Opinion::Scores(vec![])]);
    assert!(advice.chances.iter().all(|p| p.1.is_finite()) && advice.each[1].is_none());
}

/// Chances match how often the adviser was right, and grow with the lead.
#[test]
fn records_are_calibrated() {
    let mut rng = random::seeded(4);
    let mut record = CalibrationRecord::default();
    let scores = |lead: f64| [lead, 0.0, -0.1];
    for _ in 0..2000 {
        let sure = rng.random::<bool>();
        let right = rng.random::<f64>() < if sure { 0.95 } else { 0.6 };
        record.learn(&scores(if sure { 2.0 } else { 0.5 }), 3, if right { 0 } else { 1 });
    }
    assert!((record.accuracy() - 0.775).abs() < 0.03, "{}", record.accuracy());
    let chance = |lead: f64| record.chances(&scores(lead), 3)[0];
    assert!((chance(2.0) - 0.95).abs() < 0.03 && (chance(0.5) - 0.6).abs() < 0.05, "{} {}", chance(2.0), chance(0.5));
    // An adviser that is mostly wrong still gives its first choice the largest chance.
    let mut unsure = CalibrationRecord::default();
    for round in 0..200 {
        unsure.learn(&[1.0, 0.5, 0.0], 3, if round % 5 == 0 { 0 } else { 1 });
    }
    let chances = unsure.chances(&[1.0, 0.5, 0.0], 3);
    assert!(chances[0] >= chances[1] && chances[1] > chances[2], "{chances:?}");
    // Where there is no choice there is nothing to learn.
    let before = record.clone();
    record.learn(&[1.0], 1, 0);
    assert_eq!(record, before);
    let rest = record.chances(&scores(0.5), 3);
    assert!(rest[1] > 10.0 * rest[2], "{rest:?}");
}

#[test]
fn a_mixture_goes_on_after_saving() {
    goes_on_after_saving(Mixture::new(3).unwrap());
    goes_on_after_saving(Mixture::favouring(&[2, 0], 3).unwrap());
    // Favourites that are none, and counts that are none.
    let mut mixture = Mixture::favouring(&[2, 1], 3).unwrap();
    let bytes = |mixture: &Mixture| {
        let mut out = Writer::default();
        mixture.write(&mut out);
        out.finish()
    };
    let sure = |class: usize| Opinion::Scores((0..2).map(|other| if other == class { 1.0 } else { 0.0 }).collect());
    for truth in [0, 1, 0, 1, 1, 0, 0, 1] {
        let advice = mixture.combine(&[sure(truth), sure(1 - truth), sure(1 - truth)]);
        mixture.learn(&advice, ClassId(truth as u32)).unwrap();
    }
    let (good, fresh) = (bytes(&mixture), bytes(&Mixture::favouring(&[2, 1], 3).unwrap()));
    assert_eq!(Mixture::read(&mut Reader::new("mixture", &good)).unwrap(), mixture);
    let [wrong, _] = mixture.wrong();
    let at = good.windows(8).position(|window| window == wrong.to_le_bytes()).expect("how often they were wrong");
    for value in [f64::NAN, 0.5, -1.0, 1e6] {
        let mut damaged = good.clone();
        damaged[at..at + 8].copy_from_slice(&value.to_le_bytes());
        assert!(Mixture::read(&mut Reader::new("mixture", &damaged)).is_err(), "{value}");
    }
    let pair = [2u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
    let at = fresh.windows(8).position(|window| window == pair).expect("the favourites");
    for value in [2u32, 7] {
        let mut damaged = fresh.clone();
        damaged[at + 4..at + 8].copy_from_slice(&value.to_le_bytes());
        assert!(Mixture::read(&mut Reader::new("mixture", &damaged)).is_err(), "{value}");
    }
}

fn goes_on_after_saving(mut mixture: Mixture) {
    let mut rng = random::seeded(6);
    for round in 0..100 {
        let truth = rng.random_range(0..3);
        let opinions: Vec<Opinion> = (0..3).map(|i| opinion(truth, 3, 0.3 * f64::from(i + 1), &mut rng)).collect();
        let advice = mixture.combine(&opinions);
        mixture.learn(&advice, ClassId(truth as u32)).unwrap();
        if round % 10 == 0 {
            let mut out = Writer::default();
            mixture.write(&mut out);
            let bytes = out.finish();
            let copy = Mixture::read(&mut Reader::new("mixture", &bytes)).unwrap();
            assert_eq!(copy, mixture);
            for end in 0..bytes.len() {
                assert!(Mixture::read(&mut Reader::new("mixture", &bytes[..end])).is_err());
            }
            mixture = copy;
        }
    }
}

/// Advisers learn: three groups of points, and items with words of their own.
#[test]
fn advisers_learn() {
    let mut rng = random::seeded(9);
    let d = 4;
    let mut dense: Vec<Box<dyn Adviser<[f64]>>> = vec![
        Box::new(ContextualAdviser::new(d).unwrap()),
        Box::new(Nearest::new(d)),
        Box::new(NeighbourVote::new(d)),
        Box::new(LocalMeans::new(d)),
        Box::new(LinearAdviser::new(Rule::PassiveAggressive { aggressiveness: 1.0 }, d)),
    ];
    let mut memory = MemoryAdviser::new(Cmt::new(&CmtOptions::default()).unwrap(), 2);
    let mut wrong = [0; 6];
    let best = |opinion: &Opinion| match opinion {
        Opinion::Scores(scores) => (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])),
        _ => None,
    };
    for round in 0..300 {
        let truth = rng.random_range(0..3usize);
        let mut x = vec![0.1; d];
        x[truth] = 0.6;
        x.iter_mut().for_each(|x| *x += 0.2 * (rng.random::<f64>() - 0.5));
        let words = SparseVec::from_pairs([(truth as u32, 1.0), (10 + rng.random_range(0..5), 0.5)]).unwrap();
        for (adviser, wrong) in dense.iter_mut().zip(&mut wrong) {
            let opinion = adviser.opinion(&x, &mut rng).unwrap();
            *wrong += usize::from(round >= 100 && best(&opinion) != Some(truth));
            adviser.learn(&x, ClassId(truth as u32), &mut rng).unwrap();
            assert!(adviser.opinion(&[0.1], &mut rng).is_err(), "{}", adviser.name());
        }
        let opinion = memory.opinion(&words, &mut rng).unwrap();
        wrong[5] += usize::from(round >= 100 && best(&opinion) != Some(truth));
        memory.learn(&words, ClassId(truth as u32), &mut rng).unwrap();
    }
    assert!(wrong.iter().all(|wrong| *wrong <= 4), "{wrong:?}");
}

/// How often the class of the last item comes again is learned: nearly always in folders, by chance
/// in random order.
#[test]
fn the_order_is_learned() {
    let mut rng = random::seeded(12);
    for (again, low, high) in [(0.97, 0.9, 1.0), (0.0, 0.15, 0.4)] {
        let mut order = Recurrence::default();
        assert_eq!(order.chances(4), [0.25; 4]);
        let mut last = 0;
        for round in 0..400 {
            let class = if round < 4 {
                round
            } else if rng.random::<f64>() < again {
                last
            } else {
                rng.random_range(0..4)
            };
            order.learn(class);
            last = class;
            let chances = order.chances(4);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-12 && chances.iter().all(|p| *p > 0.0));
        }
        let chance = order.chances(4)[last];
        assert!(low < chance && chance < high, "{chance}");
        assert!(!order.is_young());
    }
}

/// Labels class after class: advisers that are wrong half of the time cost nothing, for the order
/// is right.
#[test]
fn a_mixture_follows_the_order_of_folders() {
    let mut rng = random::seeded(13);
    let mut mixture = Mixture::favouring(&[0], 3).unwrap();
    let mut wrong = 0;
    for truth in (0..8).flat_map(|class| [class; 40]) {
        let opinions: Vec<Opinion> = (0..3).map(|_| opinion(truth, 8, 0.5, &mut rng)).collect();
        let advice = mixture.combine(&opinions);
        wrong += usize::from(advice.suggestion() != Some(ClassId(truth as u32)));
        mixture.learn(&advice, ClassId(truth as u32)).unwrap();
    }
    // The first of each class is wrong in any case.
    assert!((8..=10).contains(&wrong), "{wrong}");
}

/// The pool's log loss on what independent advisers say comes near that of the best exponents,
/// which are known: 1 each.
#[test]
fn a_pool_learns_its_exponents() {
    let mut rng = random::seeded(14);
    let mut pool = Pool::new(vec![0.1; 3]);
    let mut losses = [0.0; 2];
    for round in 0..3000 {
        let truth = rng.random_range(0..4usize);
        // The first two are right with the chances that they give, the third says anything.
        let mut says = |right: f64, knows: bool| -> Vec<f64> {
            let at = if knows && rng.random::<f64>() < right { truth } else { rng.random_range(0..4) };
            let own = if knows { right + (1.0 - right) / 4.0 } else { 0.7 };
            (0..4).map(|class| if class == at { own } else { (1.0 - own) / 3.0 }).collect()
        };
        let factors = [says(0.6, true), says(0.4, true), says(0.0, false)];
        let factors: Vec<&[f64]> = factors.iter().map(Vec::as_slice).collect();
        let pooled = pool.chances(&factors);
        let best: Vec<f64> = (0..4).map(|class| factors[0][class] * factors[1][class]).collect();
        if round >= 1000 {
            losses[0] -= pooled[truth].ln();
            losses[1] -= (best[truth] / best.iter().sum::<f64>()).ln();
        }
        pool.learn(&factors, &pooled, truth);
    }
    let exponents = pool.exponents();
    assert!((exponents[0] - 1.0).abs() < 0.15 && (exponents[1] - 1.0).abs() < 0.15 && exponents[2] < 0.1, "{exponents:?}");
    assert!(losses[0] < losses[1] * 1.01, "{losses:?}");
}

/// A recogniser orders its classes by name; an opinion has them by their numbers in the mixture.
#[test]
fn a_recogniser_advises() {
    let machine = crate::ckm::machine(Preset::Mixed.options(), 9);
    let elements = machine.elements(&crate::scenes::scene(4, 96, 80).into()).unwrap();
    let scores = machine.scores(&elements, Without::Nothing);
    assert_eq!(recognised(&scores, &[], |_| None), Recognised::default());
    let turned = |own: ClassId| Some(ClassId(scores.of.len() as u32 - 1 - own.0));
    let values: Vec<f64> = (0..scores.of.len()).map(|own| own as f64).collect();
    let Recognised { scores: Opinion::Scores(opinion), whole: Opinion::Scores(whole) } = recognised(&scores, &values, turned) else {
        panic!("no scores")
    };
    let own: Vec<f64> = scores.of.iter().rev().map(|score| score.unwrap()).collect();
    assert_eq!(opinion, own);
    assert!(whole.iter().rev().eq(&values), "{whole:?}");
    let some = recognised(&scores, &[], |own| (own.0 == 1).then_some(ClassId(4)));
    let Recognised { scores: Opinion::Scores(some), whole: Opinion::None } = some else { panic!("no scores") };
    assert_eq!((some.len(), some[4], some[0]), (5, scores.of[1].unwrap(), f64::NEG_INFINITY));
}

/// A sleeping expert is trusted by its opinions when it has one, and keeps its record.
#[test]
fn silence_costs_no_trust() {
    let mut rng = random::seeded(12);
    let mut mixture = Mixture::favouring(&[0], 3).unwrap();
    for round in 0..400 {
        let truth = rng.random_range(0..4);
        let sure = |class: usize| Opinion::Scores((0..4).map(|other| if other == class { 1.0 } else { 0.0 }).collect());
        let rare = if round % 10 == 0 { sure(truth) } else { Opinion::None };
        let often = |rng: &mut Rng| sure(if rng.random::<f64>() < 0.6 { truth } else { rng.random_range(0..4) });
        let opinions = [rare.clone(), often(&mut rng), often(&mut rng)];
        let advice = mixture.combine(&opinions);
        if round > 200 && rare != Opinion::None {
            assert_eq!(advice.suggestion(), Some(ClassId(truth as u32)));
            assert!(advice.chances.iter().any(|p| p.1 > 0.9), "{:?}", advice.chances);
        }
        mixture.learn(&advice, ClassId(truth as u32)).unwrap();
    }
    let trust = mixture.trust();
    assert!(trust[0] > 2.0 * trust[1].max(trust[2]), "{trust:?}");
    let record = mixture.record(0).unwrap();
    assert!(record.accuracy() > 0.9 && record.rounds() < 45.0, "{} of {}", record.accuracy(), record.rounds());
    // Without the sleeping expert, the mixture is that of the others.
    let advice = mixture.combine(&[Opinion::None, Opinion::None, Opinion::Ranking(vec![ClassId(2)])]);
    assert_eq!(advice.by(0).to_vec(), advice.mixed.iter().map(|p| p.1).collect::<Vec<_>>());
}

/// The favourite is right from the start and the others are wrong with large leads: hardly anything
/// is lost to them.
#[test]
fn a_favourite_is_not_overruled_at_once() {
    let mut lost = 0.0;
    for seed in 0..20 {
        let mut rng = random::seeded(100 + seed);
        let mut mixture = Mixture::favouring(&[0], 6).unwrap();
        let (mut wrong, mut own) = (0.0, 0.0);
        for _ in 0..150 {
            let truth = rng.random_range(0..6);
            let rights = [0.9, 0.3, 0.3, 0.3, 0.3, 0.3];
            let opinions: Vec<Opinion> = rights.iter().map(|right| opinion(truth, 6, *right, &mut rng)).collect();
            let advice = mixture.combine(&opinions);
            if mixture.classes().contains(&ClassId(truth as u32)) {
                wrong += f64::from(u8::from(advice.suggestion() != Some(ClassId(truth as u32))));
                own += f64::from(u8::from(advice.each[0] != Some(ClassId(truth as u32))));
            }
            mixture.learn(&advice, ClassId(truth as u32)).unwrap();
        }
        lost += (wrong - own) / 20.0;
    }
    assert!(lost < 2.0, "{lost} of 150 more than the favourite");
}

/// What is chosen among favourites is wrong at most as often as all of them together, and as the
/// mixture and the best of them.
#[test]
fn favourites_are_followed_within_their_bounds() {
    for seed in 0..30 {
        let mut rng = random::seeded(200 + seed);
        let rights: Vec<f64> = (0..5).map(|_| rng.random()).collect();
        let mut mixture = Mixture::favouring(&[3, 0, 2], 5).unwrap();
        let mut wrong = [0.0; 5];
        for _ in 0..200 {
            let truth = rng.random_range(0..6);
            let opinions: Vec<Opinion> = rights
                .iter()
                .map(|right| {
                    let says = if rng.random::<f64>() < *right { truth } else { rng.random_range(0..6) };
                    Opinion::Scores((0..6).map(|class| if class == says { 1.0 } else { rng.random::<f64>() / 2.0 }).collect())
                })
                .collect();
            let advice = mixture.combine(&opinions);
            let truth = ClassId(truth as u32);
            if mixture.classes().contains(&truth) {
                let is_wrong = advice.each.iter().map(|said| f64::from(u8::from(*said != Some(truth))));
                wrong.iter_mut().zip(is_wrong).for_each(|(sum, wrong)| *sum += wrong);
            }
            mixture.learn(&advice, truth).unwrap();
        }
        let own = [3, 0, 2].map(|i: usize| wrong[i]);
        let least = own.into_iter().fold(f64::INFINITY, f64::min);
        let [chosen, mixed] = mixture.wrong();
        assert!(chosen <= own.iter().sum::<f64>() && chosen <= mixed + least, "{chosen}, {mixed} and {wrong:?}");
    }
}

/// Things of three groups, every second one with words and every third one recognised.
fn lessons(n: u32) -> Vec<LearnedLabel> {
    let mut rng = random::seeded(15);
    let projector = Projector::new(40, 2);
    let lesson = |number: u32| {
        let class = ClassId(rng.random_range(0..3));
        let mut whole: Vec<f64> = (0..40).map(|_| rng.random::<f64>() - 0.5).collect();
        whole[class.index()] += 1.5;
        let words = SparseVec::from_pairs([(class.0, 1.0), (10 + number % 5, 0.5)]).unwrap();
        let mut views = projector.views(whole, if number.is_multiple_of(2) { words } else { SparseVec::default() });
        if number.is_multiple_of(3) {
            views.recognised.scores = Opinion::Ranking(vec![class]);
        }
        LearnedLabel { item: ItemId(number), class, views }
    };
    (0..n).map(lesson).collect()
}

#[test]
fn views_are_no_longer_than_1() {
    for dimension in [1, 32, 33, 100] {
        let projector = Projector::new(dimension, 1);
        for length in [0.0, 0.3, 1.0, 7.0] {
            let views = projector.views(vec![length / (dimension as f64).sqrt(); dimension], SparseVec::default());
            assert_eq!((views.whole.len(), views.small.len()), (dimension, dimension.min(32) + 1));
            for (view, most) in [(&views.whole[..], length.min(1.0)), (&views.small[..], 1.0)] {
                assert!(view.iter().map(|x| x * x).sum::<f64>().sqrt() <= most + 1e-12, "{view:?}");
            }
            assert_eq!(
                views.small[dimension.min(32)],
                projector.views(vec![0.0; dimension], SparseVec::default()).small[dimension.min(32)]
            );
        }
    }
}

/// Every kind of adviser in one ensemble; one that goes back to a checkpoint and learns again gives
/// the same advice as one that learned those labels alone.
#[test]
fn an_ensemble_learns_and_unlearns() {
    let lessons = lessons(300);
    let fresh = || Ensemble::new(&AdviserKind::ALL, 40, random::stream(1, 1)).unwrap();
    let advice =
        |history: &mut CheckpointedEnsemble| lessons[..9].iter().map(|lesson| history.advise(&lesson.views).unwrap()).collect::<Vec<_>>();
    let learned = |n: usize| {
        let mut history = CheckpointedEnsemble::new(fresh());
        lessons[..n].iter().for_each(|lesson| history.learn(lesson.clone()).unwrap());
        history
    };
    let mut history = learned(300);
    let wrong = advice(&mut history).iter().zip(&lessons).filter(|(advice, lesson)| advice.suggestion() != Some(lesson.class)).count();
    assert_eq!(wrong, 0);
    for n in [290, 200, 64, 63, 1, 0] {
        let forgotten = history.go_back(n);
        let from = history.lessons().len();
        assert!(from <= n && forgotten[0].item == lessons[from].item);
        forgotten.into_iter().take(n - from).for_each(|lesson| history.learn(lesson).unwrap());
        assert_eq!(advice(&mut history), advice(&mut learned(n)), "{n}");
    }
    // Old checkpoints are dropped, not the newest.
    let mut history = learned(300);
    assert!(history.go_back(299).len() <= 32);
    assert!(Ensemble::new(&[], 40, random::seeded(1)).is_err());
    assert!(Ensemble::new(&[AdviserKind::Recogniser], 40, random::seeded(1)).is_ok());
}

#[test]
fn an_ensemble_goes_on_after_saving() {
    let mut ensemble = Ensemble::new(&AdviserKind::ALL, 40, random::stream(1, 1)).unwrap();
    let lessons = lessons(60);
    for lesson in &lessons[..30] {
        ensemble.learn(&lesson.views, lesson.class).unwrap();
    }
    let bytes = stored(&ensemble);
    let mut again: Ensemble = restored("ensemble", &bytes).unwrap();
    assert_eq!(stored(&again), bytes);
    for lesson in &lessons[30..] {
        let [ours, theirs] = [&mut ensemble, &mut again].map(|own| own.learn(&lesson.views, lesson.class).unwrap());
        assert_eq!(ours, theirs);
    }
    assert_eq!(stored(&again), stored(&ensemble));
    for cut in [0, 5, bytes.len() / 2, bytes.len() - 1] {
        assert!(restored::<Ensemble>("ensemble", &bytes[..cut]).is_err());
    }
}
