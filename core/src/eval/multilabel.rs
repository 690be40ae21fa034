//! Memory trees that find few labels for linear functions to choose from (Sun et al. 2019, section
//! 4.3).

use std::time::{Duration, Instant};

use super::one_against_all::OneAgainstAll;
use crate::cmt::CmtOptions;
use crate::cmt::oas::OneAgainstSome;
use crate::data::multilabel::MultiLabel;
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::sparse::SparseVec;

/// A vector and its labels, ascending.
type Example = (SparseVec, Vec<ClassId>);

/// How memories and functions of labels are trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MultiLabelTraining {
    /// How trees are grown and taught.
    pub options: CmtOptions,
    /// The rate at which functions of labels learn: above 0, at most 100.
    pub label_rate: f32,
    /// Passes in which labels are predicted and the answer rewarded, after the one in which
    /// examples are inserted.
    pub supervised_passes: u32,
    /// In tests, only the linear functions of labels that at least so many memories of a leaf have
    /// are evaluated. The paper has 1.
    pub votes: u32,
}

/// Trains one-against-some on examples, in their order. Also the time for an example and a pass.
///
/// # Errors
/// [`crate::Error::Option`], [`crate::Error::Cancelled`].
pub fn train_some(examples: &[Example], training: &MultiLabelTraining, progress: &Progress) -> Result<(OneAgainstSome, Duration)> {
    let passes = 1 + training.supervised_passes;
    progress.begin("Training one against some", examples.len() as u64 * u64::from(passes));
    let mut some = OneAgainstSome::new(&training.options, training.label_rate)?;
    let start = Instant::now();
    for ((x, labels), i) in examples.iter().zip(0..) {
        progress.step()?;
        some.insert(ItemId(i), x.clone(), labels.clone())?;
    }
    for _ in 0..training.supervised_passes {
        for (_, i) in examples.iter().zip(0..) {
            progress.step()?;
            for tree in 0..some.memories().n_trees() {
                some.replay(tree, ItemId(i), 1.0)?;
            }
        }
    }
    Ok((some, start.elapsed() / examples.len().max(1) as u32 / passes))
}

/// Trains one-against-all on the same examples in as many passes. Also the time for an example and
/// a pass.
///
/// # Errors
/// As [`train_some`]; [`crate::Error::Value`] when there are too many labels and features.
pub fn train_all(data: &MultiLabel, training: &MultiLabelTraining, progress: &Progress) -> Result<(OneAgainstAll, Duration)> {
    let passes = 1 + training.supervised_passes;
    progress.begin("Training one against all", data.examples.len() as u64 * u64::from(passes));
    let mut all = OneAgainstAll::new(data.n_labels, training.label_rate)?;
    let start = Instant::now();
    for _ in 0..passes {
        for (x, labels) in &data.examples {
            progress.step()?;
            all.learn(x, labels)?;
        }
    }
    Ok((all, start.elapsed() / data.examples.len().max(1) as u32 / passes))
}

/// The scores of predicted labels on examples of known labels; means over the examples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabellingScores {
    /// Labels that were predicted and do not hold, or hold and were not predicted: the paper's
    /// Hamming loss.
    pub hamming: f64,
    /// Twice the labels rightly predicted over the labels predicted and those that hold; 1 where
    /// both are none.
    pub f1: f64,
    /// Labels predicted.
    pub predicted: f64,
    /// Time of a prediction.
    pub time: Duration,
}

/// A rule that predicts labels, in ascending order.
pub type LabelRule<'a> = &'a dyn Fn(&SparseVec) -> Vec<ClassId>;

/// Predicts labels for each example by each rule. The rules take turns, round by round: first a
/// round to warm up, then nine more, of which the median time counts.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn test<const N: usize>(examples: &[Example], progress: &Progress, rules: [LabelRule<'_>; N]) -> Result<[LabellingScores; N]> {
    let (mut times, mut answers) = (vec![Vec::new(); N], vec![Vec::with_capacity(examples.len()); N]);
    for _ in 0..10 {
        progress.begin("Testing", (examples.len() * N) as u64);
        for ((predict, times), answers) in rules.iter().zip(&mut times).zip(&mut answers) {
            answers.clear();
            let start = Instant::now();
            for (x, _) in examples {
                progress.step()?;
                answers.push(predict(x));
            }
            times.push(start.elapsed() / examples.len().max(1) as u32);
        }
    }
    Ok(std::array::from_fn(|rule| {
        times[rule][1..].sort_unstable();
        LabellingScores { time: times[rule][5], ..judge(&answers[rule], examples) }
    }))
}

fn judge(answers: &[Vec<ClassId>], examples: &[Example]) -> LabellingScores {
    let mut tested = LabellingScores::default();
    for (answer, (_, truth)) in answers.iter().zip(examples) {
        let right = answer.iter().filter(|label| truth.binary_search(label).is_ok()).count();
        let both = answer.len() + truth.len();
        tested.hamming += (both - 2 * right) as f64;
        tested.f1 += if both == 0 { 1.0 } else { 2.0 * right as f64 / both as f64 };
        tested.predicted += answer.len() as f64;
    }
    let n = examples.len().max(1) as f64;
    LabellingScores { hamming: tested.hamming / n, f1: tested.f1 / n, predicted: tested.predicted / n, ..tested }
}
