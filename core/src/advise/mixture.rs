//! The mixture: fixed share over the advisers and a pool of them.

use super::calibrate::Calibrated;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::ClassId;

/// What an adviser says in a round.
#[derive(Clone, Debug, PartialEq)]
pub enum Opinion {
    /// A score for each class by its number: the larger, the likelier.
    Scores(Vec<f64>),
    /// Classes, the likeliest first.
    Ranking(Vec<ClassId>),
    /// Nothing now.
    None,
}

impl Opinion {
    /// The scores of some classes, in their order.
    fn scores(&self, classes: &[ClassId]) -> Vec<f64> {
        let score = |class: &ClassId| match self {
            Self::Scores(scores) => scores.get(class.index()).copied().unwrap_or(f64::NEG_INFINITY),
            Self::Ranking(ranking) => ranking.iter().position(|own| own == class).map_or(f64::NEG_INFINITY, |place| -(place as f64)),
            Self::None => f64::NEG_INFINITY,
        };
        classes.iter().map(score).collect()
    }
}

/// What came of a round's opinions.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Classes by falling chance, of equals the one known for longer first.
    pub ranking: Vec<ClassId>,
    /// The chance of each known class, in the order in which they became known; they add up to 1.
    pub chances: Vec<(ClassId, f64)>,
    /// What each adviser alone would suggest.
    pub each: Vec<Option<ClassId>>,
    /// The chances by each adviser alone, and by the pool last, `(n_advisers + 1, k)`.
    experts: Vec<Vec<f64>>,
    scores: Vec<Vec<f64>>,
}

impl Advice {
    /// The class suggested; none where none is known.
    pub fn suggestion(&self) -> Option<ClassId> {
        self.ranking.first().copied()
    }

    /// The chances by one adviser alone, of the classes in [`Advice::chances`].
    pub fn by(&self, adviser: usize) -> &[f64] {
        self.experts.get(adviser).filter(|_| adviser + 1 < self.experts.len()).map_or(&[], Vec::as_slice)
    }
}

/// A mixture of advisers.
///
/// The pool of chances p_i is p ∝ Π p_i^θ_i; θ learns by gradient steps on its log loss, never below 0. It is one more expert, so no bound depends on it.
/// O(n k) a round, for n advisers, besides sorting.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    records: Vec<Calibrated>,
    /// Of each adviser and the pool; they add up to 1.
    weights: Vec<f64>,
    exponents: Vec<f64>,
    /// The least weight at the beginning.
    prior: f64,
    /// In the order in which they were first right.
    classes: Vec<ClassId>,
    rounds: f64,
    /// The sum of -ln of the truth's chance: of the mixture, and of each expert.
    log_loss: f64,
    log_losses: Vec<f64>,
}

impl Mixture {
    /// A mixture of `advisers` advisers, none trusted more than another.
    ///
    /// # Errors
    /// [`Error::Option`] for none or more than 64.
    pub fn new(advisers: usize) -> Result<Self> {
        if !(1..=64).contains(&advisers) {
            return Err(Error::Option { name: "advisers", found: advisers.to_string(), expected: "from 1 to 64" });
        }
        let experts = advisers + 1;
        Ok(Self {
            records: vec![Calibrated::default(); advisers],
            weights: vec![1.0 / experts as f64; experts],
            exponents: vec![1.0 / (advisers as f64).sqrt(); advisers],
            prior: 1.0 / experts as f64,
            classes: Vec::new(),
            rounds: 0.0,
            log_loss: 0.0,
            log_losses: vec![0.0; experts],
        })
    }

    /// A mixture that trusts one adviser most until it has seen more: weight 0.8, 0.1 for the pool, the rest shared by the others; exponents
    /// 1 and 0.1. For who is good from the first few examples on, as nearest neighbours are.
    ///
    /// # Errors
    /// [`Error::Option`] for fewer than 2 advisers or more than 64, or a favourite that is none of them.
    pub fn favouring(favourite: usize, advisers: usize) -> Result<Self> {
        if favourite >= advisers || advisers < 2 {
            return Err(Error::Option { name: "favourite", found: favourite.to_string(), expected: "one of 2 or more advisers" });
        }
        let mut mixture = Self::new(advisers)?;
        mixture.prior = 0.1 / (advisers - 1) as f64;
        for (number, (weight, exponent)) in mixture.weights.iter_mut().zip(&mut mixture.exponents).enumerate() {
            (*weight, *exponent) = if number == favourite { (0.8, 1.0) } else { (mixture.prior, 0.1) };
        }
        if let Some(pool) = mixture.weights.last_mut() {
            *pool = 0.1;
        }
        Ok(mixture)
    }

    /// The number of advisers.
    pub fn n_advisers(&self) -> usize {
        self.records.len()
    }

    /// The known classes: those that were right once, in the order in which they first were.
    pub fn classes(&self) -> &[ClassId] {
        &self.classes
    }

    /// How much each adviser is trusted now, `(n_advisers)`: not negative, with the sum 1. What the pool is trusted counts for its advisers
    /// by their exponents.
    pub fn trust(&self) -> Vec<f64> {
        let sum: f64 = self.exponents.iter().sum();
        let pool = self.weights.last().copied().unwrap_or(0.0);
        let share = |exponent: f64| if sum > 0.0 { exponent / sum } else { 1.0 / self.records.len() as f64 };
        self.exponents.iter().zip(&self.weights).map(|(exponent, weight)| weight + pool * share(*exponent)).collect()
    }

    /// The record of an adviser.
    pub fn record(&self, adviser: usize) -> Option<&Calibrated> {
        self.records.get(adviser)
    }

    /// The log loss of the mixture so far, and that of each adviser with the pool as the last, `(n_advisers + 1)`.
    pub fn log_losses(&self) -> (f64, &[f64]) {
        (self.log_loss, &self.log_losses)
    }

    /// By how much the log loss may exceed that of the best sequence of experts that changes so often: see [`super`].
    pub fn regret_bound(&self, changes: u32) -> f64 {
        let (n, t) = (self.weights.len() as f64, self.rounds.max(1.0));
        -self.prior.ln() + t.ln() + f64::from(changes) * ((n - 1.0) * t).ln()
    }

    /// Combines opinions, one of each adviser in their order; what is missing counts as [`Opinion::None`].
    pub fn combine(&self, opinions: &[Opinion]) -> Advice {
        let k = self.classes.len();
        let scores: Vec<Vec<f64>> =
            (0..self.records.len()).map(|i| opinions.get(i).unwrap_or(&Opinion::None).scores(&self.classes)).collect();
        let mut experts: Vec<Vec<f64>> = self.records.iter().zip(&scores).map(|(record, scores)| record.chances(scores, k)).collect();
        experts.push(self.pool(&experts));
        let mut chances = vec![0.0; k];
        for (weight, expert) in self.weights.iter().zip(&experts) {
            chances.iter_mut().zip(expert).for_each(|(sum, p)| *sum += weight * p);
        }
        let class = |place: usize| self.classes.get(place).copied();
        let mut places: Vec<usize> = (0..k).collect();
        places.sort_by(|&a, &b| chances[b].total_cmp(&chances[a]));
        let best = |scores: &Vec<f64>| {
            let known = (0..k).filter(|&place| scores[place] > f64::NEG_INFINITY);
            known.fold(None, |best, place| if best.is_none_or(|best: usize| scores[place] > scores[best]) { Some(place) } else { best })
        };
        Advice {
            ranking: places.into_iter().filter_map(class).collect(),
            each: scores.iter().map(|scores| best(scores).and_then(class)).collect(),
            chances: self.classes.iter().copied().zip(chances).collect(),
            experts,
            scores,
        }
    }

    fn pool(&self, experts: &[Vec<f64>]) -> Vec<f64> {
        let mut pooled = vec![0.0; self.classes.len()];
        for (exponent, expert) in self.exponents.iter().zip(experts) {
            pooled.iter_mut().zip(expert).for_each(|(sum, p)| *sum += exponent * p.ln());
        }
        let most = pooled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        pooled.iter_mut().for_each(|x| *x = (*x - most).exp());
        let sum: f64 = pooled.iter().sum();
        // No class is impossible.
        let floor = 1e-6 / self.classes.len().max(1) as f64;
        pooled.iter_mut().for_each(|x| *x = (1.0 - 1e-6) * *x / sum + floor);
        pooled
    }

    /// Learns which class was right in the round of an advice. A class that was not known is known from now on, and teaches nothing else.
    ///
    /// # Errors
    /// [`Error::Value`] for a class number that is too large.
    pub fn learn(&mut self, advice: &Advice, truth: ClassId) -> Result<()> {
        crate::learn::check_class(truth)?;
        let k = advice.chances.len();
        if !self.classes.contains(&truth) {
            self.classes.push(truth);
        }
        let given = advice.chances.iter().position(|(class, _)| *class == truth);
        let Some(truth) = given.filter(|_| advice.experts.len() == self.weights.len()) else { return Ok(()) };
        let (_, mixed) = advice.chances[truth];
        self.rounds += 1.0;
        self.log_loss -= mixed.min(1.0).ln();
        let given: Vec<f64> = advice.experts.iter().map(|expert| expert[truth]).collect();
        self.log_losses.iter_mut().zip(&given).for_each(|(sum, p)| *sum -= p.min(1.0).ln());
        // Fixed share.
        let sum: f64 = self.weights.iter().zip(&given).map(|(w, p)| w * p).sum();
        let rate = 1.0 / (self.rounds + 1.0);
        let others = (self.weights.len() - 1) as f64;
        for (weight, p) in self.weights.iter_mut().zip(&given) {
            let posterior = *weight * p / sum;
            *weight = (1.0 - rate) * posterior + rate * (1.0 - posterior) / others;
        }
        // The pool's exponents.
        if let Some(pooled) = advice.experts.last() {
            let step = 0.125 / self.rounds.sqrt();
            for (exponent, expert) in self.exponents.iter_mut().zip(&advice.experts) {
                let mean: f64 = pooled.iter().zip(expert).map(|(p, own)| p * own.ln()).sum();
                // Within what a step can carry however unlikely the truth was.
                let slope = (mean - expert[truth].ln()).clamp(-4.0, 4.0);
                *exponent = (*exponent - step * slope).clamp(0.0, 4.0);
            }
        }
        for (record, scores) in self.records.iter_mut().zip(&advice.scores) {
            record.learn(scores, k, truth);
        }
        Ok(())
    }
}

impl Stored for Mixture {
    fn write(&self, out: &mut Writer) {
        out.put(&self.records);
        out.put(&self.weights);
        out.put(&self.exponents);
        out.put(&self.prior);
        out.put(&self.classes.iter().map(|class| class.0).collect::<Vec<u32>>());
        out.put(&self.rounds);
        out.put(&self.log_loss);
        out.put(&self.log_losses);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (records, weights, exponents): (Vec<Calibrated>, Vec<f64>, Vec<f64>) = (from.get()?, from.get()?, from.get()?);
        let prior: f64 = from.get()?;
        let classes: Vec<ClassId> = from.get::<Vec<u32>>()?.into_iter().map(ClassId).collect();
        let mut numbers: Vec<ClassId> = classes.clone();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() != classes.len() || numbers.last().is_some_and(|last| crate::learn::check_class(*last).is_err()) {
            return Err(from.wrong("classes, each once", format!("{} of them", classes.len())));
        }
        let (rounds, log_loss, log_losses): (f64, f64, Vec<f64>) = (from.get()?, from.get()?, from.get()?);
        let n = records.len();
        let fits = (1..=64).contains(&n) && weights.len() == n + 1 && exponents.len() == n && log_losses.len() == n + 1;
        let is_count = |x: &f64| x.is_finite() && *x >= 0.0;
        let counts =
            [&weights, &exponents, &log_losses].iter().all(|list| list.iter().all(is_count)) && [rounds, log_loss].iter().all(is_count);
        let sum: f64 = weights.iter().sum();
        let is_prior = prior > 0.0 && prior <= 1.0;
        if !fits || !counts || !is_prior || (sum - 1.0).abs() > 1e-6 {
            return Err(from.wrong("a weight and a record for each adviser", format!("{n} records and {} weights", weights.len())));
        }
        Ok(Self { records, weights, exponents, prior, classes, rounds, log_loss, log_losses })
    }
}
