//! One-against-all: a linear function for each label, all of them evaluated; the yardstick of
//! one-against-some.

use multiversion::multiversion;

use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::online_linear::{FeatureRows, check_rate};
use crate::sparse::SparseVec;

/// The most weights there may be, of 8 bytes each.
pub const MOST_WEIGHTS: usize = 1 << 29;

/// For each label a linear function that is above 0 where the label holds.
///
/// The functions learn as [`crate::online_linear::AdaptiveLinear`] does, but side by side: the
/// weights of one feature for all labels lie next to each other, and all are worked on at once. Two
/// things differ: a feature has one scale for all labels, and numbers are f32. 8 bytes a feature
/// and label.
#[derive(Clone, Debug)]
pub struct OneAgainstAll {
    rate: f32,
    n_labels: usize,
    rows: FeatureRows,
    /// By row: the largest size of the feature.
    scales: Vec<f32>,
    /// A row of labels for each feature; that of the constant one comes first.
    weights: Vec<f32>,
    gradients: Vec<f32>,
    /// By label: how often it learned, and the sum of squared lengths then.
    importance: Vec<f32>,
    scaled: Vec<f32>,
    room: Room,
}

/// By label, for one example.
#[derive(Clone, Debug, Default)]
struct Room {
    scores: Vec<f32>,
    gradient: Vec<f32>,
    spread: Vec<f32>,
    unit: Vec<f32>,
}

impl OneAgainstAll {
    /// Functions of `n_labels` labels that are zero everywhere and learn at the rate `rate`.
    ///
    /// # Errors
    /// [`Error::Option`] when the rate is out of range.
    pub fn new(n_labels: usize, rate: f32) -> Result<Self> {
        check_rate("label_rate", rate)?;
        let room =
            Room { scores: vec![0.0; n_labels], gradient: vec![0.0; n_labels], spread: vec![0.0; n_labels], unit: vec![0.0; n_labels] };
        Ok(Self {
            rate,
            n_labels,
            rows: FeatureRows::default(),
            scales: Vec::new(),
            weights: vec![0.0; n_labels],
            gradients: vec![0.0; n_labels],
            importance: vec![0.0; n_labels],
            scaled: vec![0.0; n_labels],
            room,
        })
    }

    /// Learns that exactly the labels in `truth` (ascending) hold for `x`. O(labels * features of
    /// x).
    ///
    /// # Errors
    /// [`Error::Value`] when there is no room for more features.
    pub fn learn(&mut self, x: &SparseVec, truth: &[ClassId]) -> Result<()> {
        let features = self.enter(x)?;
        let room = &mut self.room;
        room.scores.copy_from_slice(&self.weights[..self.n_labels]);
        for &(start, q) in &features {
            add(&mut room.scores, &self.weights[start..][..self.n_labels], q);
        }
        errors(&mut room.scores, truth);
        let square: f32 = 1.0 + features.iter().map(|(_, q)| q * q).sum::<f32>();
        begin(&room.scores, &mut room.gradient, &mut room.spread);
        collect(&room.gradient, 1.0, &mut self.gradients[..self.n_labels], &mut room.spread);
        for &(start, q) in &features {
            collect(&room.gradient, q * q, &mut self.gradients[start..][..self.n_labels], &mut room.spread);
        }
        steps(self.rate, square, room, &mut self.importance, &mut self.scaled);
        let n = self.n_labels;
        step(&room.unit, 1.0, &self.gradients[..n], &mut self.weights[..n]);
        for &(start, q) in &features {
            step(&room.unit, q, &self.gradients[start..][..n], &mut self.weights[start..][..n]);
        }
        Ok(())
    }

    /// The labels that score above 0, ascending. O(labels * features of x).
    pub fn predict(&self, x: &SparseVec) -> Vec<ClassId> {
        let scores = self.scores(x);
        scores.iter().zip(0..).filter(|(score, _)| **score > 0.0).map(|(_, label)| ClassId(label)).collect()
    }

    /// How much each label fits. O(labels * features of x).
    pub fn scores(&self, x: &SparseVec) -> Vec<f32> {
        let mut scores = self.weights[..self.n_labels].to_vec();
        for &(index, value) in x.entries() {
            if let Some(row) = self.rows.get(index) {
                add(&mut scores, &self.weights[(row + 1) * self.n_labels..][..self.n_labels], value / self.scales[row]);
            }
        }
        scores
    }

    /// Where the rows of the features begin, with the features in units of their scales; rows are
    /// made for new ones.
    fn enter(&mut self, x: &SparseVec) -> Result<Vec<(usize, f32)>> {
        let n = self.n_labels;
        let mut features = Vec::with_capacity(x.len());
        for &(index, value) in x.entries() {
            let (row, is_new) = self.rows.enter(index);
            let start = (row + 1) * n;
            if is_new {
                if start + n > MOST_WEIGHTS {
                    let expected = format!("at most {MOST_WEIGHTS} labels times features");
                    return Err(Error::value("one against all", expected, format!("{} and more", start + n)));
                }
                self.weights.resize(start + n, 0.0);
                self.gradients.resize(start + n, 0.0);
                self.scales.push(value.abs());
            }
            let scale = &mut self.scales[row];
            if value.abs() > *scale {
                let shrink = *scale / value.abs();
                self.gradients[start..][..n].iter_mut().for_each(|gradient| *gradient *= shrink * shrink);
                *scale = value.abs();
            }
            features.push((start, value / *scale));
        }
        Ok(features)
    }
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn add(scores: &mut [f32], weights: &[f32], q: f32) {
    for (score, weight) in scores.iter_mut().zip(weights) {
        *score += weight * q;
    }
}

/// Scores become errors.
fn errors(scores: &mut [f32], truth: &[ClassId]) {
    for score in scores.iter_mut() {
        *score = -1.0 - score.clamp(-1.0, 1.0);
    }
    for label in truth {
        scores[label.index()] += 2.0;
    }
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn begin(errors: &[f32], gradient: &mut [f32], spread: &mut [f32]) {
    for ((gradient, spread), error) in gradient.iter_mut().zip(spread).zip(errors) {
        *gradient = 4.0 * error * error;
        *spread = 0.0;
    }
}

/// Adds to the sums of squared gradients of a feature, and to the spreads.
#[multiversion(targets("x86_64+avx2+fma"))]
fn collect(gradient: &[f32], square: f32, sums: &mut [f32], spread: &mut [f32]) {
    for ((sum, spread), gradient) in sums.iter_mut().zip(spread).zip(gradient) {
        *sum += gradient * square;
        *spread += square / sum.max(f32::MIN_POSITIVE).sqrt();
    }
}

/// The steps of all labels, for a feature of size 1 and a sum of squared gradients of 1.
fn steps(rate: f32, square: f32, room: &mut Room, importance: &mut [f32], scaled: &mut [f32]) {
    for (label, unit) in room.unit.iter_mut().enumerate() {
        *unit = 0.0;
        if room.gradient[label] < f32::MIN_POSITIVE {
            continue;
        }
        importance[label] += 1.0;
        scaled[label] += square;
        let own = (importance[label] / scaled[label]).sqrt();
        let per_unit = own * room.spread[label];
        let exponent = 2.0 * rate * per_unit;
        let share = if exponent < 1e-6 { exponent } else { -(-exponent).exp_m1() };
        *unit = room.scores[label] * share / per_unit * own;
    }
}

/// Moves the weights of a feature.
#[multiversion(targets("x86_64+avx2+fma"))]
fn step(unit: &[f32], q: f32, sums: &[f32], weights: &mut [f32]) {
    for ((weight, sum), unit) in weights.iter_mut().zip(sums).zip(unit) {
        *weight += unit * q / sum.max(f32::MIN_POSITIVE).sqrt();
    }
}
