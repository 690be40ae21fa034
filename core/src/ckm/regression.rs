//! Multinomial logistic regression of the class on the scores of left-out images, in which every
//! class counts the same however many images it has.
//!
//! It has a scale for each kind of elements, one for what whole images say, and an offset for each
//! class, and is fitted by cyclic Newton steps on one parameter at a time. Class terms
//! ([`super::class_terms`]) take all kinds as one; the weights of kinds ([`super::fit`]) are the
//! scales of several.

use std::collections::BTreeMap;

use super::Scores;
use crate::ids::ClassId;

/// The strength of the prior that draws offsets to 0, for a class with as many left-out images as
/// the mean, and the scale of whole images; chosen on folds of training images.
const RIDGE: f64 = 1.0;
/// Bounds of the scale of all kinds as one, in units of the scores' spread.
const SCALES: (f64, f64) = (0.1, 100.0);
/// The largest scale of one kind of several, which has a part of that spread; the least is 0.
const LARGEST: f64 = 1000.0;
/// Sweeps over all parameters at most, and the change in log odds at which they end.
const SWEEPS: usize = 200;
const SMALL: f64 = 1e-7;
/// The longest step in log odds.
const LONGEST: f64 = 1.0;

/// A left-out image.
pub(super) struct LeftOut<'a> {
    pub(super) class: ClassId,
    /// Its scores by each kind of elements.
    pub(super) kinds: Vec<&'a Scores>,
    /// What the whole image says of each class; nothing where whole images say nothing.
    pub(super) whole: &'a [f64],
}

impl LeftOut<'_> {
    fn mass(&self) -> f64 {
        self.kinds.iter().map(|scores| scores.mass).sum()
    }

    /// For each kind the scores of these classes, divided by the weight of all elements; `None`
    /// where the class had no image left.
    fn values(&self, classes: &[usize]) -> Vec<Vec<Option<f64>>> {
        let mass = self.mass();
        self.kinds.iter().map(|scores| classes.iter().map(|&c| scores.of[c].map(|score| score / mass)).collect()).collect()
    }

    fn whole(&self, classes: &[usize]) -> Vec<f64> {
        classes.iter().map(|&c| self.whole.get(c).copied().unwrap_or(0.0)).collect()
    }
}

/// What was fitted: the log odds of a class are `scales * values / unit + whole_scale * whole /
/// whole_unit + offset`, up to what all have in common.
pub(super) struct Fitted {
    /// The classes that have left-out images; offsets are in this order.
    pub(super) classes: Vec<usize>,
    /// One for each kind.
    pub(super) scales: Vec<f64>,
    /// How much the values of each kind differ from class to class.
    pub(super) spreads: Vec<f64>,
    pub(super) unit: f64,
    pub(super) whole_scale: f64,
    /// 0 where whole images say nothing.
    pub(super) whole_unit: f64,
    pub(super) offsets: Vec<f64>,
}

/// Fits to left-out images of `classes` classes; `None` where fewer than two of them have such
/// images. Whole images keep `whole_part` of their fitted weight ([`super::whole::kept_part`]).
/// O(images * classes * kinds^2) for each of at most 200 sweeps.
pub(super) fn fit(classes: usize, images: &[LeftOut<'_>], whole_part: f64) -> Option<Fitted> {
    let mut counts = vec![0usize; classes];
    for image in images {
        counts[image.class.index()] += 1;
    }
    let fitted: Vec<usize> = (0..classes).filter(|&c| counts[c] > 0).collect();
    if fitted.len() < 2 {
        return None;
    }
    let place: BTreeMap<usize, usize> = fitted.iter().enumerate().map(|(at, &c)| (c, at)).collect();
    let mean = images.len() as f64 / fitted.len() as f64;
    let rows: Vec<Row> = images
        .iter()
        .filter(|image| image.mass() > 0.0)
        .map(|image| Row {
            values: image.values(&fitted),
            whole: image.whole(&fitted),
            class: place[&image.class.index()],
            weight: mean / counts[image.class.index()] as f64,
        })
        .collect();
    let ridges = fitted.iter().map(|&c| RIDGE * (mean / counts[c] as f64).max(1.0)).collect();
    let kinds = images.first().map_or(1, |image| image.kinds.len());
    let fitted = Regression::new(&rows, ridges, kinds).fit(fitted);
    Some(Fitted { whole_scale: whole_part * fitted.whole_scale, ..fitted })
}

impl Fitted {
    /// The logarithm of 1 / the probability of an image's class; 0 for an image without elements or
    /// of a class without offset.
    pub(super) fn loss(&self, image: &LeftOut<'_>) -> f64 {
        let (Ok(class), true) = (self.classes.binary_search(&image.class.index()), image.mass() > 0.0) else { return 0.0 };
        let row = Row { values: image.values(&self.classes), whole: image.whole(&self.classes), class, weight: 1.0 };
        let logs = self.logs(&row);
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.iter().map(|log| (log - most).exp()).sum::<f64>().ln() - (logs[class] - most)
    }

    /// The log odds of each class; minus infinity for a class without a value.
    fn logs(&self, row: &Row) -> Vec<f64> {
        let of_class = |c: usize| {
            let mut log = self.whole_scale * row.whole(c, self.whole_unit) + self.offsets[c];
            for (scale, values) in self.scales.iter().zip(&row.values) {
                log += values[c].map_or(f64::NEG_INFINITY, |value| scale * value / self.unit);
            }
            log
        };
        (0..self.offsets.len()).map(of_class).collect()
    }
}

/// A left-out image with its values of the classes that are fitted.
struct Row {
    values: Vec<Vec<Option<f64>>>,
    whole: Vec<f64>,
    class: usize,
    weight: f64,
}

impl Row {
    /// What the whole image says of a class, in units of its spread.
    fn whole(&self, c: usize, unit: f64) -> f64 {
        if unit > 0.0 { self.whole[c] / unit } else { 0.0 }
    }
}

struct Regression<'a> {
    rows: &'a [Row],
    ridges: Vec<f64>,
    now: Fitted,
}

impl<'a> Regression<'a> {
    fn new(rows: &'a [Row], ridges: Vec<f64>, kinds: usize) -> Self {
        let sum = |row: &Row| (0..ridges.len()).filter_map(|c| row.values.iter().map(|values| values[c]).sum::<Option<f64>>()).collect();
        let unit = spread(rows.iter().map(sum)).max(f64::MIN_POSITIVE);
        let of_kind = |kind: usize| spread(rows.iter().map(|row| row.values[kind].iter().flatten().copied().collect()));
        let spreads = (0..kinds).map(of_kind).collect();
        let whole_unit = spread(rows.iter().map(|row| row.whole.clone()));
        let (scales, offsets) = (vec![1.0; kinds], vec![0.0; ridges.len()]);
        Self { rows, ridges, now: Fitted { classes: Vec::new(), scales, spreads, unit, whole_scale: 0.0, whole_unit, offsets } }
    }

    /// The odds of each class for each row; 0 for a class without a value.
    fn odds(&self) -> Vec<Odds> {
        let of_row = |row: &Row| {
            let logs = self.now.logs(row);
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let classes: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
            Odds { sum: classes.iter().sum(), classes }
        };
        self.rows.iter().map(of_row).collect()
    }

    fn fit(mut self, classes: Vec<usize>) -> Fitted {
        for _ in 0..SWEEPS {
            let mut most = 0.0f64;
            for kind in 0..self.now.scales.len() {
                most = most.max(self.step_scale(kind, &self.odds()));
            }
            if self.now.whole_unit > 0.0 {
                most = most.max(self.step_whole_scale(&self.odds()));
            }
            let mut odds = self.odds();
            for class in 0..self.now.offsets.len() {
                most = most.max(self.step_offset(class, &mut odds));
            }
            if most < SMALL {
                break;
            }
        }
        Fitted { classes, ..self.now }
    }

    /// A Newton step on the scale of a kind; returns its length.
    fn step_scale(&mut self, kind: usize, odds: &[Odds]) -> f64 {
        let (slope, flat) = self.slope(odds, |row, c| row.values[kind][c].unwrap_or(0.0) / self.now.unit);
        let curvature = flat + 1e-9;
        let scales = &mut self.now.scales;
        let before = scales[kind];
        if let [scale] = scales.as_mut_slice() {
            // A step of more than half the scale would overshoot where the curve is flat.
            let step = (-slope / curvature).clamp(-0.5 * before, before);
            *scale = (before + step).clamp(SCALES.0, SCALES.1);
        } else {
            let longest = LONGEST.max(before);
            scales[kind] = (before + (-slope / curvature).clamp(-longest, longest)).clamp(0.0, LARGEST);
        }
        (self.now.scales[kind] - before).abs()
    }

    /// A Newton step on the scale of the whole, which is drawn to 0; returns its length.
    fn step_whole_scale(&mut self, odds: &[Odds]) -> f64 {
        let (slope, curvature) = self.slope(odds, |row, c| row.whole(c, self.now.whole_unit));
        let step = -(slope + RIDGE * self.now.whole_scale) / (curvature + RIDGE);
        let before = self.now.whole_scale;
        self.now.whole_scale = (before + step.clamp(-LONGEST, LONGEST)).clamp(0.0, SCALES.1);
        (self.now.whole_scale - before).abs()
    }

    /// The slope and the curvature of the loss in the factor of `value`.
    fn slope(&self, odds: &[Odds], value: impl Fn(&Row, usize) -> f64) -> (f64, f64) {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for (row, odds) in self.rows.iter().zip(odds) {
            let moment = |power: i32| (0..self.ridges.len()).map(|c| odds.of(c) * value(row, c).powi(power)).sum::<f64>();
            let mean = moment(1);
            slope += row.weight * (mean - value(row, row.class));
            curvature += row.weight * (moment(2) - mean * mean).max(0.0);
        }
        (slope, curvature)
    }

    /// A Newton step on the offset of a class, which `odds` follow; returns its length.
    fn step_offset(&mut self, class: usize, odds: &mut [Odds]) -> f64 {
        let offset = &mut self.now.offsets[class];
        let mut slope = self.ridges[class] * *offset;
        let mut curvature = self.ridges[class];
        for (row, odds) in self.rows.iter().zip(&*odds) {
            let p = odds.of(class);
            slope += row.weight * (p - if row.class == class { 1.0 } else { 0.0 });
            curvature += row.weight * p * (1.0 - p);
        }
        let step = (-slope / curvature).clamp(-LONGEST, LONGEST);
        *offset += step;
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
