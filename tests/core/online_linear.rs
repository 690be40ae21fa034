//! The online linear learner against a slow and obvious version of it, and in extremes.

use proptest::prelude::*;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::online_linear::{AdaptiveLinear, LinearOptions, OnlineRegressor};
use tessera_core::sparse::SparseVec;

/// The learner as the papers write it: dense, in f64, with features as they are and not in units of
/// their scale.
struct Obvious {
    options: LinearOptions,
    w: Vec<f64>,
    g: Vec<f64>,
    n: Vec<f64>,
    s: f64,
    total: f64,
}

impl Obvious {
    fn new(options: &LinearOptions, dim: usize) -> Self {
        Self { options: *options, w: vec![0.0; dim + 1], g: vec![0.0; dim + 1], n: vec![0.0; dim + 1], s: 0.0, total: 0.0 }
    }

    fn row(&self, x: &SparseVec) -> Vec<f64> {
        let mut row = vec![0.0; self.w.len()];
        for &(index, value) in x.entries() {
            row[index as usize] = f64::from(value);
        }
        *row.last_mut().unwrap() = if self.options.constant { 1.0 } else { 0.0 };
        row
    }

    fn predict(&self, x: &SparseVec) -> f64 {
        let p: f64 = self.row(x).iter().zip(&self.w).map(|(x, w)| x * w).sum();
        if self.options.clipped { p.clamp(-1.0, 1.0) } else { p }
    }

    fn update(&mut self, x: &SparseVec, y: f64, h: f64) {
        let p = self.predict(x);
        let row = self.row(x);
        let g2 = h * 4.0 * (p - y) * (p - y);
        if g2 < 1e-37 || row.iter().all(|x| *x == 0.0) {
            return;
        }
        let mut step = vec![0.0; row.len()];
        for i in (0..row.len()).filter(|i| row[*i] != 0.0) {
            self.g[i] += g2 * row[i] * row[i];
            if row[i].abs() > self.n[i] {
                self.w[i] *= self.n[i] / row[i].abs();
                self.n[i] = row[i].abs();
            }
            step[i] = 1.0 / (self.g[i].sqrt() * self.n[i]);
            self.s += h * row[i] * row[i] / (self.n[i] * self.n[i]);
        }
        self.total += h;
        let mult = (self.total / self.s).sqrt();
        let per_unit = mult * row.iter().zip(&step).map(|(x, s)| x * x * s).sum::<f64>();
        let eta = f64::from(self.options.rate);
        let u = (y - p) * (1.0 - (-2.0 * eta * h * per_unit).exp()) / per_unit;
        for i in 0..row.len() {
            self.w[i] += u * mult * step[i] * row[i];
        }
    }
}

fn example() -> impl Strategy<Value = (SparseVec, bool, f32)> {
    let value = prop::sample::select(vec![-3.0f32, -1.0, 0.25, 1.0, 8.0]);
    let x = prop::collection::btree_map(0u32..9, value, 0..6).prop_map(|map| SparseVec::from_pairs(map).unwrap());
    (x, any::<bool>(), prop::sample::select(vec![0.1f32, 0.5, 1.0, 3.0]))
}

fn bytes_of(learner: &AdaptiveLinear) -> Vec<u8> {
    let mut out = Writer::default();
    learner.write(&mut out);
    out.finish()
}

proptest! {
    #[test]
    fn it_learns_as_the_papers_say(examples in prop::collection::vec(example(), 0..40), constant: bool, clipped: bool, rate in prop::sample::select(vec![0.05f32, 0.3])) {
        let options = LinearOptions { rate, constant, clipped };
        let (mut learner, mut obvious) = (AdaptiveLinear::new(&options), Obvious::new(&options, 9));
        for (x, label, importance) in &examples {
            // Where a label is met to the last bit, rounding decides what comes next; these labels
            // and rates stay away from it.
            let y = if *label { 0.9 } else { -0.7 };
            let (got, wanted) = (learner.predict(x), obvious.predict(x));
            prop_assert!((got - wanted).abs() < 1e-3 * (1.0 + wanted.abs()), "{got} and {wanted}");
            learner.update(x, y, *importance);
            obvious.update(x, f64::from(y), f64::from(*importance));
        }
    }

    #[test]
    fn a_step_ends_in_the_prediction_it_says(examples in prop::collection::vec(example(), 1..40)) {
        let mut learner = AdaptiveLinear::new(&LinearOptions::default());
        for (x, label, importance) in &examples {
            let before = learner.predict(x);
            let y = if *label { 1.0 } else { -1.0 };
            let mut seen = f64::NAN;
            let after = learner.step(x, |p| { seen = p; (y, *importance) });
            prop_assert_eq!(seen, before);
            prop_assert_eq!(after, learner.predict(x));
            let terms: f64 = learner.terms(x).map(|(_, term)| term).sum();
            prop_assert!(((learner.constant() + terms).clamp(-1.0, 1.0) - after).abs() < 1e-9);
            prop_assert!((-1.0..=1.0).contains(&after));
        }
    }

    #[test]
    fn bytes_give_the_learner_back(examples in prop::collection::vec(example(), 0..40), more in prop::collection::vec(example(), 1..10)) {
        let mut learner = AdaptiveLinear::new(&LinearOptions::default());
        for (x, label, importance) in &examples {
            learner.update(x, if *label { 1.0 } else { -1.0 }, *importance);
        }
        let bytes = bytes_of(&learner);
        let mut back: AdaptiveLinear = Reader::new("learner", &bytes).get().unwrap();
        prop_assert_eq!(bytes_of(&back), &bytes[..]);
        for (x, label, importance) in &more {
            let y = if *label { 1.0 } else { -1.0 };
            prop_assert_eq!(learner.step(x, |_| (y, *importance)), back.step(x, |_| (y, *importance)));
        }
        prop_assert_eq!(bytes_of(&back), bytes_of(&learner));
        for cut in 0..bytes.len() {
            prop_assert!(Reader::new("learner", &bytes[..cut]).get::<AdaptiveLinear>().is_err());
        }
    }

    #[test]
    fn nothing_overflows(values in prop::collection::vec(any::<f32>(), 1..30), labels in prop::collection::vec(any::<f32>(), 30), clipped: bool) {
        let mut learner = AdaptiveLinear::new(&LinearOptions { rate: 100.0, constant: clipped, clipped });
        for (i, (value, label)) in values.iter().zip(&labels).enumerate() {
            let Ok(x) = SparseVec::from_pairs([(i as u32 % 3, *value), (7, 1e-45), (8, f32::MAX)]) else { continue };
            let after = learner.step(&x, |_| (*label, label.abs()));
            prop_assert!(after.is_finite(), "{after} for {value} labelled {label}");
            prop_assert!(Reader::new("learner", &bytes_of(&learner)).get::<AdaptiveLinear>().is_ok());
        }
    }

    #[test]
    fn a_step_function_parts_exactly(threshold in any::<f32>(), values in prop::collection::vec(any::<f32>(), 1..9)) {
        prop_assume!(threshold.is_finite());
        let mut values: Vec<f32> = values.into_iter().filter(|value| value.is_finite() && *value != 0.0).collect();
        values.extend([threshold, threshold.next_up(), threshold.next_down()].into_iter().filter(|v| v.is_finite() && *v != 0.0));
        let scale = values.iter().fold(0.0f32, |scale, value| scale.max(value.abs()));
        let learner = AdaptiveLinear::step_at(&LinearOptions::default(), 5, threshold, scale);
        for value in values {
            let x = SparseVec::from_pairs([(5, value), (6, 1.0)]).unwrap();
            prop_assert_eq!(learner.predict(&x) > 0.0, value > threshold, "{} at {}", value, threshold);
        }
    }
}

#[test]
fn importance_is_repetition() {
    let x = SparseVec::new(&[0, 3], &[1.0, 0.5]).unwrap();
    let options = LinearOptions { rate: 0.001, ..LinearOptions::default() };
    let (mut once, mut often) = (AdaptiveLinear::new(&options), AdaptiveLinear::new(&options));
    let first = |learner: &mut AdaptiveLinear| learner.update(&x, 1.0, 1.0);
    first(&mut once);
    first(&mut often);
    once.update(&x, -1.0, 3.0);
    (0..3).for_each(|_| often.update(&x, -1.0, 1.0));
    assert!((once.predict(&x) - often.predict(&x)).abs() < 2e-3, "{} and {}", once.predict(&x), often.predict(&x));
}

#[test]
fn scale_of_a_feature_does_not_matter() {
    let run = |scale: f32| {
        let mut learner = AdaptiveLinear::new(&LinearOptions::default());
        let mut said = Vec::new();
        for i in 0..40u32 {
            let x = SparseVec::from_pairs([(i % 3, scale), (3 + i % 5, 1.0)]).unwrap();
            said.push(learner.step(&x, |_| (if i % 3 == 1 { 1.0 } else { -1.0 }, 1.0)));
        }
        said
    };
    for (a, b) in run(1.0).iter().zip(run(1e6)) {
        assert!((a - b).abs() < 1e-5, "{a} and {b}");
    }
}

#[test]
fn what_teaches_nothing_changes_nothing() {
    let x = SparseVec::new(&[1], &[2.0]).unwrap();
    let mut learner = AdaptiveLinear::new(&LinearOptions::default());
    learner.update(&x, 1.0, 1.0);
    let before = bytes_of(&learner);
    for (y, importance) in [(f32::NAN, 1.0), (1.0, f32::NAN), (1.0, 0.0), (1.0, -1.0), (f32::INFINITY, 1.0), (1.0, f32::INFINITY)] {
        learner.update(&x, y, importance);
    }
    assert_eq!(bytes_of(&learner), before);
    let mut without = AdaptiveLinear::new(&LinearOptions { constant: false, ..LinearOptions::default() });
    without.update(&SparseVec::default(), 1.0, 1.0);
    assert_eq!(without.predict(&SparseVec::default()), 0.0);
}

#[test]
fn rates_out_of_range_are_refused() {
    for rate in [0.0, -1.0, f32::NAN, f32::INFINITY, 101.0] {
        assert!(LinearOptions { rate, ..LinearOptions::default() }.check().is_err(), "{rate}");
    }
}
