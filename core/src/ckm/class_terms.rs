//! What is added to the values of pieces: a term for each class that keeps it from winning by its
//! number of images or by their clutter, and the likeness of whole images.
//!
//! A score is a maximum over all training elements of a class, so it is larger for every query the
//! more images the class has, and the more there is on them. The terms are fitted to scores of
//! training images that were left out, so they see exactly this advantage: multinomial logistic
//! regression with one scale and one offset a class, in which every class counts the same however
//! many images it has. This is no part of the paper, whose sets have classes of equal size.
//!
//! The same regression has a second scale, for what the whole image says ([`super::whole`]): 0
//! where it tells left-out images apart no better than their pieces do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Scores;
use super::held_out::HeldOut;
use crate::ids::ClassId;

/// The strength of the prior that draws terms to 0, for a class with as many left-out images as the
/// mean; chosen on folds of training images.
const RIDGE: f64 = 1.0;
/// Bounds of the scale, in units of the scores' spread.
const SCALES: (f64, f64) = (0.1, 100.0);
/// Sweeps over all parameters at most, and the change in log odds at which they end.
const SWEEPS: usize = 200;
const SMALL: f64 = 1e-7;
/// The part of the fitted weight that whole images get: where views of one object are not known to
/// be such, its other views are left in, and the whole then reads too well. Chosen on folds of
/// training images.
const WHOLE: f64 = 0.5;
/// The longest step in log odds.
const LONGEST: f64 = 1.0;

/// What is added to each class's score, times the weight of the query's elements
/// ([`Scores::mass`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassTerms {
    terms: BTreeMap<String, f64>,
    /// How much the likeness of whole images counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    whole: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl ClassTerms {
    /// The term of the class of that name; 0 for a class that had no left-out image. The terms of
    /// all others have a mean of 0.
    pub fn of(&self, class: &str) -> f64 {
        self.terms.get(class).copied().unwrap_or(0.0)
    }

    /// How much the likeness of whole images counts beside the pieces, 0 or more: a score has this
    /// times [`Scores::mass`] times the value of the whole image.
    pub fn whole(&self) -> f64 {
        self.whole
    }

    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.whole == 0.0
    }

    /// Forgets a class.
    pub(super) fn remove(&mut self, class: &str) {
        self.terms.remove(class);
    }

    /// Whether all terms are numbers, and the whole counts 0 or more.
    pub fn are_valid(&self) -> bool {
        self.terms.values().all(|term| term.is_finite()) && self.whole.is_finite() && self.whole >= 0.0
    }

    /// Fits the terms of `classes`, in the order of their identifiers, to scores without terms of
    /// images that were left out. Classes without such an image get none. O(images * classes) for
    /// each of at most 200 sweeps.
    pub fn fit(classes: &[String], held_out: &[HeldOut]) -> Self {
        let mut counts = vec![0usize; classes.len()];
        for held in held_out {
            counts[held.class.index()] += 1;
        }
        let fitted: Vec<usize> = (0..classes.len()).filter(|&c| counts[c] > 0).collect();
        if fitted.len() < 2 {
            return Self::default();
        }
        let place: BTreeMap<usize, usize> = fitted.iter().enumerate().map(|(at, &c)| (c, at)).collect();
        let mean = held_out.len() as f64 / fitted.len() as f64;
        let rows: Vec<Row> = held_out
            .iter()
            .filter(|held| held.scores.mass > 0.0)
            .map(|held| Row {
                values: fitted.iter().map(|&c| held.scores.of[c].map(|score| score / held.scores.mass)).collect(),
                whole: fitted.iter().map(|&c| held.whole.get(c).copied().unwrap_or(0.0)).collect(),
                class: place[&held.class.index()],
                weight: mean / counts[held.class.index()] as f64,
            })
            .collect();
        let ridges: Vec<f64> = fitted.iter().map(|&c| RIDGE * (mean / counts[c] as f64).max(1.0)).collect();
        let (terms, whole) = Regression::new(&rows, ridges).fit();
        let centre = terms.iter().sum::<f64>() / terms.len() as f64;
        Self { terms: fitted.iter().zip(terms).map(|(&c, term)| (classes[c].clone(), term - centre)).collect(), whole }
    }

    /// Adds the terms to scores, and what the whole image says of each class, which may be nothing.
    pub(super) fn add<'a>(&self, classes: impl Iterator<Item = &'a str>, whole: &[f64], scores: &mut Scores) {
        if self.is_empty() {
            return;
        }
        for (c, (score, class)) in scores.of.iter_mut().zip(classes).enumerate() {
            let added = self.of(class) + self.whole * whole.get(c).copied().unwrap_or(0.0);
            *score = score.map(|score| score + scores.mass * added);
        }
    }

    /// Each left-out image scored with terms that were fitted without its object: what is measured
    /// on these scores holds for new images. The objects of each class are dealt to `folds` folds.
    pub(super) fn cross_fitted<G: Ord>(
        classes: &[String],
        held_out: &[HeldOut],
        object: impl Fn(&HeldOut) -> G,
        folds: usize,
    ) -> Vec<HeldOut> {
        let mut objects: Vec<BTreeMap<G, usize>> = (0..classes.len()).map(|_| BTreeMap::new()).collect();
        let mut fold_of = Vec::with_capacity(held_out.len());
        for held in held_out {
            let objects = &mut objects[held.class.index()];
            let next = objects.len();
            fold_of.push(*objects.entry(object(held)).or_insert(next) % folds);
        }
        let mut corrected = held_out.to_vec();
        for fold in 0..folds {
            let others: Vec<HeldOut> = held_out.iter().zip(&fold_of).filter(|(_, of)| **of != fold).map(|(held, _)| held.clone()).collect();
            let terms = Self::fit(classes, &others);
            for (held, _) in corrected.iter_mut().zip(&fold_of).filter(|(_, of)| **of == fold) {
                terms.add(classes.iter().map(String::as_str), &held.whole, &mut held.scores);
                held.predicted = held.scores.ranking().first().map_or(ClassId(0), |best| best.0);
            }
        }
        corrected
    }
}

/// A left-out image: the mean score of its elements for each class, `None` where the class had no
/// image left.
struct Row {
    values: Vec<Option<f64>>,
    /// What the whole image says of each class.
    whole: Vec<f64>,
    class: usize,
    weight: f64,
}

/// Multinomial logistic regression of the class on `scale * value / unit + whole_scale * whole /
/// whole_unit + offset`, by cyclic Newton steps on one parameter at a time.
struct Regression<'a> {
    rows: &'a [Row],
    ridges: Vec<f64>,
    /// The spread of the values around the mean of their row.
    unit: f64,
    scale: f64,
    /// The same for what whole images say; 0 where they say nothing.
    whole_unit: f64,
    whole_scale: f64,
    offsets: Vec<f64>,
}

impl<'a> Regression<'a> {
    fn new(rows: &'a [Row], ridges: Vec<f64>) -> Self {
        let unit = spread(rows.iter().map(|row| row.values.iter().flatten().copied().collect()));
        let whole_unit = spread(rows.iter().map(|row| row.whole.clone()));
        Self { rows, offsets: vec![0.0; ridges.len()], ridges, unit: unit.max(f64::MIN_POSITIVE), scale: 1.0, whole_unit, whole_scale: 0.0 }
    }

    /// What the whole image says of a class, in units of its spread.
    fn whole(&self, row: &Row, c: usize) -> f64 {
        if self.whole_unit > 0.0 { row.whole[c] / self.whole_unit } else { 0.0 }
    }

    /// The odds of each class for each row; 0 for a class without a value.
    fn odds(&self) -> Vec<Odds> {
        let of_row = |row: &Row| {
            let logs: Vec<f64> = row
                .values
                .iter()
                .enumerate()
                .map(|(c, value)| {
                    let others = self.whole_scale * self.whole(row, c) + self.offsets[c];
                    value.map_or(f64::NEG_INFINITY, |value| self.scale * value / self.unit + others)
                })
                .collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let classes: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
            Odds { sum: classes.iter().sum(), classes }
        };
        self.rows.iter().map(of_row).collect()
    }

    /// The terms and the weight of the whole, in units of the values.
    fn fit(mut self) -> (Vec<f64>, f64) {
        for _ in 0..SWEEPS {
            let mut most = self.step_scale(&self.odds());
            if self.whole_unit > 0.0 {
                most = most.max(self.step_whole_scale(&self.odds()));
            }
            let mut odds = self.odds();
            for class in 0..self.offsets.len() {
                most = most.max(self.step_offset(class, &mut odds));
            }
            if most < SMALL {
                break;
            }
        }
        let one = self.unit / self.scale;
        let whole = if self.whole_unit > 0.0 { WHOLE * one * self.whole_scale / self.whole_unit } else { 0.0 };
        (self.offsets.iter().map(|offset| offset * one).collect(), whole)
    }

    /// A Newton step on the scale; returns its length.
    fn step_scale(&mut self, odds: &[Odds]) -> f64 {
        let (slope, curvature) = self.slope(odds, |row, c| row.values[c].unwrap_or(0.0) / self.unit);
        let curvature = curvature + 1e-9;
        // A step of more than half the scale would overshoot where the curve is flat.
        let step = (-slope / curvature).clamp(-0.5 * self.scale, self.scale);
        let before = self.scale;
        self.scale = (before + step).clamp(SCALES.0, SCALES.1);
        (self.scale - before).abs()
    }

    /// A Newton step on the scale of the whole, which is drawn to 0; returns its length.
    fn step_whole_scale(&mut self, odds: &[Odds]) -> f64 {
        let (slope, curvature) = self.slope(odds, |row, c| self.whole(row, c));
        let step = -(slope + RIDGE * self.whole_scale) / (curvature + RIDGE);
        let before = self.whole_scale;
        self.whole_scale = (before + step.clamp(-LONGEST, LONGEST)).clamp(0.0, SCALES.1);
        (self.whole_scale - before).abs()
    }

    /// The slope and the curvature of the loss in the factor of `value`.
    fn slope(&self, odds: &[Odds], value: impl Fn(&Row, usize) -> f64) -> (f64, f64) {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (row, odds) in self.rows.iter().zip(odds) {
            let moment = |power: i32| (0..row.values.len()).map(|c| odds.of(c) * value(row, c).powi(power)).sum::<f64>();
            let mean = moment(1);
            slope += row.weight * (mean - value(row, row.class));
            curvature += row.weight * (moment(2) - mean * mean).max(0.0);
        }
        (slope, curvature)
    }

    /// A Newton step on the offset of a class, which `odds` follow; returns its length.
    fn step_offset(&mut self, class: usize, odds: &mut [Odds]) -> f64 {
        let mut slope = self.ridges[class] * self.offsets[class];
        let mut curvature = self.ridges[class];
        for (row, odds) in self.rows.iter().zip(&*odds) {
            let p = odds.of(class);
            slope += row.weight * (p - if row.class == class { 1.0 } else { 0.0 });
            curvature += row.weight * p * (1.0 - p);
        }
        let step = (-slope / curvature).clamp(-LONGEST, LONGEST);
        self.offsets[class] += step;
        for odds in odds {
            let before = odds.classes[class];
            odds.classes[class] *= step.exp();
            odds.sum += odds.classes[class] - before;
        }
        step.abs()
    }
}

/// The root of the mean squared difference of values from the mean of their row.
fn spread(rows: impl Iterator<Item = Vec<f64>>) -> f64 {
    let (mut squares, mut n) = (0.0, 0);
    for row in rows {
        let mean = row.iter().sum::<f64>() / row.len().max(1) as f64;
        squares += row.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        n += row.len();
    }
    (squares / n.max(1) as f64).sqrt()
}

/// The odds of each class, up to a factor that all have in common, and their sum.
struct Odds {
    classes: Vec<f64>,
    sum: f64,
}

impl Odds {
    /// The probability of a class.
    fn of(&self, class: usize) -> f64 {
        self.classes[class] / self.sum
    }
}
