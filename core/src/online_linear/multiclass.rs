//! Linear functions of dense vectors, one for each class, by the classical rules for online
//! classification.
//!
//! - Rosenblatt 1958 and, for many classes, Duda and Hart 1973 (Kesler's construction): the
//!   Perceptron.
//! - Freund and Schapire, *Large margin classification using the perceptron algorithm*, 1999: the
//!   averaged Perceptron.
//! - Crammer and Singer, *Ultraconservative online algorithms for multiclass problems*, JMLR 2003:
//!   a mistake moves all classes that scored no less than the truth, here by equal shares (their
//!   figure 1 with uniform τ).
//! - Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, *Online passive-aggressive algorithms*,
//!   JMLR 2006: PA-I, section 8.
//! - Cesa-Bianchi, Conconi and Gentile, *A second-order Perceptron algorithm*, 2005.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ClassId;
use crate::learn::{MOST_CLASSES, OnlineClassifier, Prediction, check_class, check_classes, check_query};
use crate::linalg::double::dot;
use crate::random::Rng;

/// The rule by which the functions of classes are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// A mistake adds the query to the truth and takes it from the guess. With two classes, the
    /// usual Perceptron.
    Perceptron,
    /// The same; predictions are those of the mean of all weights so far.
    Averaged,
    /// A mistake adds the query to the truth and takes it in equal shares from all that scored no
    /// less.
    CrammerSinger,
    /// The least step after which the truth leads by 1, but never longer than C.
    PassiveAggressive {
        /// C, above 0.
        aggressiveness: f64,
    },
    /// A Perceptron on queries whitened by those of mistakes so far.
    SecondOrder {
        /// a, the weight of the unit matrix beside them, above 0.
        ridge: f64,
    },
}

/// Linear functions of dense vectors, one for each class.
///
/// Memory O(k d), with [`Rule::SecondOrder`] O(d^2) more, which is also its time for a round;
/// otherwise that is O(k d).
#[derive(Clone, Debug, PartialEq)]
pub struct Multiclass {
    rule: Rule,
    dimension: usize,
    /// Row-major `(k, dimension)`.
    weights: Vec<f64>,
    /// Of [`Rule::Averaged`]: the sum of all steps, each times the rounds before it.
    steps: Vec<f64>,
    rounds: f64,
    /// Of [`Rule::SecondOrder`]: the inverse of a I + Σ q q', row-major.
    inverse: Vec<f64>,
}

impl Multiclass {
    /// A learner without classes.
    pub fn new(rule: Rule, dimension: usize) -> Self {
        let mut inverse = Vec::new();
        if let Rule::SecondOrder { ridge } = rule {
            inverse = vec![0.0; dimension * dimension];
            inverse.iter_mut().step_by(dimension + 1).for_each(|x| *x = 1.0 / ridge);
        }
        Self { rule, dimension, weights: Vec::new(), steps: Vec::new(), rounds: 0.0, inverse }
    }

    /// Components of a query.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How it learns.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The number of classes.
    pub fn n_classes(&self) -> usize {
        self.weights.len() / self.dimension.max(1)
    }

    /// The score of each class, `(k)`: the class of the largest is predicted. O(k d), with
    /// [`Rule::SecondOrder`] O(d^2) more.
    pub fn scores(&self, q: &[f64]) -> Vec<f64> {
        match self.rule {
            Rule::Averaged => {
                let rows = self.rows(&self.weights).zip(self.rows(&self.steps));
                rows.map(|(now, steps)| dot(now, q) * self.rounds.max(1.0) - dot(steps, q)).collect()
            }
            Rule::SecondOrder { .. } => {
                let whitened: Vec<f64> = self.rows(&self.inverse).map(|row| dot(row, q)).collect();
                self.rows(&self.weights).map(|row| dot(row, &whitened)).collect()
            }
            _ => self.rows(&self.weights).map(|row| dot(row, q)).collect(),
        }
    }

    fn rows<'a>(&self, matrix: &'a [f64]) -> std::slice::ChunksExact<'a, f64> {
        matrix.chunks_exact(self.dimension.max(1))
    }

    /// Adds a multiple of the query to a class.
    fn step(&mut self, class: usize, factor: f64, q: &[f64]) {
        let at = class * self.dimension;
        for (weight, q) in self.weights.iter_mut().skip(at).zip(q) {
            *weight += factor * q;
        }
        let rounds = self.rounds;
        for (sum, q) in self.steps.iter_mut().skip(at).zip(q) {
            *sum += factor * rounds * q;
        }
    }
}

/// The position of the largest number, the first of several.
fn largest(scores: &[f64], among: impl Fn(usize) -> bool) -> Option<usize> {
    let those = (0..scores.len()).filter(|&i| among(i));
    those.fold(None, |best, i| if best.is_none_or(|best: usize| scores[i] > scores[best]) { Some(i) } else { best })
}

impl OnlineClassifier for Multiclass {
    type Round = Prediction;

    fn announce(&mut self, classes: usize) -> Result<()> {
        check_classes(classes)?;
        if classes > self.n_classes() {
            self.weights.resize(classes * self.dimension, 0.0);
            if self.rule == Rule::Averaged {
                self.steps.resize(classes * self.dimension, 0.0);
            }
        }
        Ok(())
    }

    fn predict(&mut self, q: &[f64], _: &mut Rng) -> Result<Prediction> {
        check_query(q, self.dimension)?;
        Ok(Prediction::certain(largest(&self.scores(q), |_| true)))
    }

    fn learn(&mut self, q: &[f64], _: &Prediction, truth: ClassId, _: &mut Rng) -> Result<()> {
        check_query(q, self.dimension)?;
        let truth = check_class(truth)?;
        self.announce(truth + 1)?;
        // The averaged Perceptron learns from the mistakes of its weights as they are now.
        let scores: Vec<f64> =
            if self.rule == Rule::Averaged { self.rows(&self.weights).map(|row| dot(row, q)).collect() } else { self.scores(q) };
        self.rounds += 1.0;
        let Some(rival) = largest(&scores, |class| class != truth) else { return Ok(()) };
        // The guess is the first of several with the largest score.
        let is_wrong = scores[rival] > scores[truth] || (scores[rival] == scores[truth] && rival < truth);
        match self.rule {
            Rule::Perceptron | Rule::Averaged if is_wrong => {
                self.step(truth, 1.0, q);
                self.step(rival, -1.0, q);
            }
            Rule::CrammerSinger if is_wrong => {
                let above: Vec<usize> = (0..scores.len()).filter(|&class| class != truth && scores[class] >= scores[truth]).collect();
                self.step(truth, 1.0, q);
                for class in &above {
                    self.step(*class, -1.0 / above.len() as f64, q);
                }
            }
            Rule::PassiveAggressive { aggressiveness } => {
                let loss = (1.0 - (scores[truth] - scores[rival])).max(0.0);
                let square = dot(q, q);
                if loss > 0.0 && square > 0.0 {
                    let step = aggressiveness.min(loss / (2.0 * square));
                    self.step(truth, step, q);
                    self.step(rival, -step, q);
                }
            }
            Rule::SecondOrder { .. } if is_wrong => {
                self.step(truth, 1.0, q);
                self.step(rival, -1.0, q);
                // (A + q q')^-1 = A^-1 - p p' / (1 + q'p) with p = A^-1 q.
                let p: Vec<f64> = self.rows(&self.inverse).map(|row| dot(row, q)).collect();
                let share = 1.0 / (1.0 + dot(&p, q));
                for (row, own) in self.inverse.chunks_exact_mut(self.dimension).zip(&p) {
                    for (x, p) in row.iter_mut().zip(&p) {
                        *x -= share * own * p;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Stored for Multiclass {
    fn write(&self, out: &mut Writer) {
        let (kind, number) = match self.rule {
            Rule::Perceptron => (0u8, 0.0),
            Rule::Averaged => (1, 0.0),
            Rule::CrammerSinger => (2, 0.0),
            Rule::PassiveAggressive { aggressiveness } => (3, aggressiveness),
            Rule::SecondOrder { ridge } => (4, ridge),
        };
        out.put(&kind);
        out.put(&number);
        out.count(self.dimension);
        out.put(&self.rounds);
        out.put(&self.weights);
        out.put(&self.steps);
        out.put(&self.inverse);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (kind, number): (u8, f64) = (from.get()?, from.get()?);
        let rule = match kind {
            0 => Rule::Perceptron,
            1 => Rule::Averaged,
            2 => Rule::CrammerSinger,
            3 => Rule::PassiveAggressive { aggressiveness: number },
            4 => Rule::SecondOrder { ridge: number },
            other => return Err(from.wrong("a rule of learning, 0 to 4", other.to_string())),
        };
        let dimension: u64 = from.get()?;
        let dimension = usize::try_from(dimension).ok().filter(|d| (1..=1 << 20).contains(d));
        let dimension = dimension.ok_or_else(|| from.wrong("a dimension", "one that is none"))?;
        let rounds: f64 = from.get()?;
        let (weights, steps, inverse): (Vec<f64>, Vec<f64>, Vec<f64>) = (from.get()?, from.get()?, from.get()?);
        let has_steps = if rule == Rule::Averaged { weights.len() } else { 0 };
        let has_inverse = if matches!(rule, Rule::SecondOrder { .. }) { dimension * dimension } else { 0 };
        let fits = weights.len().is_multiple_of(dimension) && weights.len() / dimension <= MOST_CLASSES;
        let all = || weights.iter().chain(&steps).chain(&inverse).chain([&rounds, &number]);
        if !fits || steps.len() != has_steps || inverse.len() != has_inverse || !all().all(|x| x.is_finite()) {
            return Err(from.wrong("finite weights of their dimension", format!("{} weights", weights.len())));
        }
        Ok(Self { rule, dimension, weights, steps, rounds, inverse })
    }
}
