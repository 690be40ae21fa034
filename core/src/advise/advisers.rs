//! Advisers: the learners of other modules, behind one trait.

use super::mixture::Opinion;
use super::views::Recognised;
use crate::bytes::{Reader, Stored, Writer};
use crate::ckm::Scores;
use crate::cmt::Cmt;
use crate::contextual::{ContextualOptions, EllipsoidLadder, Served, ServedRound};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::learn::{OnlineClassifier, Prediction, check_query};
use crate::online_linear::{Multiclass, Rule};
use crate::random::Rng;
use crate::sparse::SparseVec;

/// Predicts the class of an item, and learns from its label.
pub trait Adviser<X: ?Sized> {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Its opinion on the class of x.
    ///
    /// # Errors
    /// When x does not fit, such as a vector of another dimension.
    fn opinion(&mut self, x: &X, rng: &mut Rng) -> Result<Opinion>;

    /// Learns the class of x.
    ///
    /// # Errors
    /// As [`Adviser::opinion`].
    fn learn(&mut self, x: &X, truth: ClassId, rng: &mut Rng) -> Result<()>;
}

/// Contextual search, or the averaged Perceptron while that errs less.
#[derive(Clone, Debug)]
pub struct ContextualAdviser {
    served: Served<EllipsoidLadder>,
    /// The last query and its prediction, which learning its label needs.
    last: Option<(Vec<f64>, ServedRound)>,
}

impl ContextualAdviser {
    /// An adviser that knows no class.
    ///
    /// # Errors
    /// [`crate::Error::Option`].
    pub fn new(dimension: usize) -> Result<Self> {
        Ok(Self { served: Served::new(&ContextualOptions::unit(dimension))?, last: None })
    }

    fn round(&mut self, x: &[f64], rng: &mut Rng) -> Result<ServedRound> {
        match self.last.take() {
            Some((q, round)) if q == x => Ok(round),
            _ => self.served.predict(x, rng),
        }
    }
}

impl Adviser<[f64]> for ContextualAdviser {
    fn name(&self) -> &'static str {
        "contextual"
    }

    fn opinion(&mut self, x: &[f64], rng: &mut Rng) -> Result<Opinion> {
        let round = self.served.predict(x, rng)?;
        self.last = Some((x.to_vec(), round));
        if self.served.trusts_contextual() {
            return Ok(Opinion::Scores(self.served.contextual_scores(x, rng)?));
        }
        Ok(Opinion::Scores(self.served.averaged().scores(x)))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, rng: &mut Rng) -> Result<()> {
        let round = self.round(x, rng)?;
        self.served.learn(x, &round, truth, rng)
    }
}

impl Stored for ContextualAdviser {
    /// The last query is not kept: a label comes with its own.
    fn write(&self, out: &mut Writer) {
        out.put(&self.served);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { served: from.get()?, last: None })
    }
}

/// A classical linear rule.
#[derive(Clone, Debug)]
pub struct LinearAdviser {
    name: &'static str,
    learner: Multiclass,
}

impl LinearAdviser {
    /// An adviser that knows no class.
    pub fn new(rule: Rule, dimension: usize) -> Self {
        Self { name: name_of(rule), learner: Multiclass::new(rule, dimension) }
    }
}

impl Stored for LinearAdviser {
    fn write(&self, out: &mut Writer) {
        out.put(&self.learner);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let learner: Multiclass = from.get()?;
        Ok(Self { name: name_of(learner.rule()), learner })
    }
}

fn name_of(rule: Rule) -> &'static str {
    match rule {
        Rule::Perceptron => "perceptron",
        Rule::Averaged => "averaged",
        Rule::CrammerSinger => "crammer-singer",
        Rule::PassiveAggressive { .. } => "pa",
        Rule::SecondOrder { .. } => "second-order",
    }
}

impl Adviser<[f64]> for LinearAdviser {
    fn name(&self) -> &'static str {
        self.name
    }

    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        check_query(x, self.learner.dimension())?;
        Ok(Opinion::Scores(self.learner.scores(x)))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, rng: &mut Rng) -> Result<()> {
        // These rules need no prediction of before: they make their own.
        self.learner.learn(x, &Prediction::default(), truth, rng)
    }
}

/// A memory tree of labelled items.
#[derive(Clone, Debug)]
pub struct MemoryAdviser {
    memory: Cmt<ClassId>,
    leaves: usize,
    next: u32,
}

impl MemoryAdviser {
    /// An adviser over an empty memory, which searches `leaves` leaves for each query.
    pub fn new(memory: Cmt<ClassId>, leaves: usize) -> Self {
        Self { memory, leaves, next: 0 }
    }
}

impl Stored for MemoryAdviser {
    fn write(&self, out: &mut Writer) {
        out.put(&self.memory);
        out.count(self.leaves);
        out.put(&self.next);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (memory, leaves, next): (_, u64, _) = (from.get()?, from.get()?, from.get()?);
        Ok(Self { memory, leaves: usize::try_from(leaves).unwrap_or(usize::MAX), next })
    }
}

impl Adviser<SparseVec> for MemoryAdviser {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn opinion(&mut self, x: &SparseVec, _: &mut Rng) -> Result<Opinion> {
        let mut scores: Vec<f64> = Vec::new();
        for hit in self.memory.query_budget(x, 32, self.leaves).hits {
            let Some(class) = self.memory.get(hit.id).map(|memory| memory.value.index()) else { continue };
            if scores.len() <= class {
                scores.resize(class + 1, f64::NEG_INFINITY);
            }
            scores[class] = scores[class].max(hit.score);
        }
        Ok(if scores.is_empty() { Opinion::None } else { Opinion::Scores(scores) })
    }

    fn learn(&mut self, x: &SparseVec, truth: ClassId, _: &mut Rng) -> Result<()> {
        crate::learn::check_class(truth)?;
        while self.memory.get(ItemId(self.next)).is_some() {
            self.next += 1;
        }
        self.memory.insert(ItemId(self.next), x.clone(), truth)
    }
}

/// A recogniser's scores and values of whole images, of which there may be none, as opinions. Its
/// classes are in the order of their names, which changes as they come; `class_of` gives the number
/// of each in the mixture. On a class without training images there is no opinion.
pub fn recognised(scores: &Scores, whole: &[f64], class_of: impl Fn(ClassId) -> Option<ClassId>) -> Recognised {
    let numbers: Vec<Option<ClassId>> = (0..scores.of.len()).map(|own| class_of(ClassId(own as u32))).collect();
    let whole = scores.of.iter().zip(whole).map(|(score, value)| score.map(|_| *value));
    Recognised { scores: opinion(&numbers, scores.of.iter().copied()), whole: opinion(&numbers, whole) }
}

/// The opinion by a value for each class, where there is one, with the number of each class.
fn opinion(numbers: &[Option<ClassId>], values: impl Iterator<Item = Option<f64>>) -> Opinion {
    let mut opinion: Vec<f64> = Vec::new();
    for (class, value) in numbers.iter().zip(values) {
        if let (Some(class), Some(value)) = (class, value) {
            if opinion.len() <= class.index() {
                opinion.resize(class.index() + 1, f64::NEG_INFINITY);
            }
            opinion[class.index()] = value;
        }
    }
    if opinion.is_empty() { Opinion::None } else { Opinion::Scores(opinion) }
}
