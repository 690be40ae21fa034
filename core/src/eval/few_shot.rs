//! Memory trees as classifiers: few examples of each of many classes, one memory an example (Sun et
//! al. 2019, section 4.2).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::cmt::{Cmt, CmtOptions};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::nearest::{Cost, Dynamic as _, Metric, NeighborIndex as _, SparseScan, everything};
use crate::progress::Progress;
use crate::sparse::SparseVec;

/// How a memory is trained.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FewShotTraining {
    /// How trees are grown and taught.
    pub options: CmtOptions,
    /// Passes in which examples are inserted (the first) and put in again (the others).
    pub unsupervised_passes: u32,
    /// Passes in which each example is queried and the answer rewarded.
    pub supervised_passes: u32,
    /// Whether each example is queried and rewarded before it is inserted, without other passes.
    pub online: bool,
}

/// A memory of examples.
#[derive(Debug)]
pub struct FewShotMemory {
    /// The memory; a value is a class, an identifier the position of an example.
    pub memory: Cmt<ClassId>,
    /// The share of examples that were answered wrongly just before they were inserted.
    pub progressive_error: f64,
    /// Training time for an example and a pass, without the queries for the progressive error.
    pub time: Duration,
}

/// Trains a memory on examples, in their order.
///
/// In a supervised pass a memory may be its own answer: leaving it out meanwhile, so that another
/// has to answer, was tried on captions and leaves 3 points more error, for hardly any answer is
/// right then.
///
/// # Errors
/// [`crate::Error::Option`], [`crate::Error::Cancelled`].
pub fn train(examples: &[(ClassId, SparseVec)], training: &FewShotTraining, progress: &Progress) -> Result<FewShotMemory> {
    let mut memory: Cmt<ClassId> = Cmt::new(&training.options)?;
    let passes = if training.online { 1 } else { training.unsupervised_passes.max(1) + training.supervised_passes };
    progress.begin("Training", examples.len() as u64 * u64::from(passes));
    let (mut wrong, mut time) = (0, Duration::ZERO);
    for (i, (class, x)) in examples.iter().enumerate() {
        progress.step()?;
        wrong += usize::from(answer(&memory, x, 1, &mut Cost::default()) != Some(*class));
        let start = Instant::now();
        if training.online {
            for tree in 0..memory.n_trees() {
                let explored = memory.explore(tree, x, 1, 1.0)?;
                let rewards: Vec<f32> =
                    explored.hits.iter().filter_map(|hit| memory.get(hit.id)).map(|m| reward(m.value, *class)).collect();
                memory.update(x, &explored, &rewards)?;
            }
        }
        memory.insert(ItemId(i as u32), x.clone(), *class)?;
        time += start.elapsed();
    }
    let start = Instant::now();
    if !training.online {
        for _ in 1..training.unsupervised_passes {
            for _ in examples {
                progress.step()?;
                memory.reroute(1 + training.options.reroutes as usize);
            }
        }
        for _ in 0..training.supervised_passes {
            for i in 0..examples.len() {
                progress.step()?;
                for tree in 0..memory.n_trees() {
                    memory.replay(tree, ItemId(i as u32), 1, 1.0, |own, found| reward(*found, *own))?;
                }
            }
        }
    }
    time += start.elapsed();
    let n = examples.len().max(1);
    Ok(FewShotMemory { memory, progressive_error: wrong as f64 / n as f64, time: time / n as u32 / passes })
}

fn reward(found: ClassId, truth: ClassId) -> f32 {
    if found == truth { 1.0 } else { 0.0 }
}

fn answer(memory: &Cmt<ClassId>, x: &SparseVec, leaves: usize, cost: &mut Cost) -> Option<ClassId> {
    let answer = memory.query_budget(x, 1, leaves);
    *cost += answer.cost;
    Some(memory.get(answer.hits.first()?.id)?.value)
}

/// The scores of a classifier on examples of known classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FewShotScores {
    /// The share of examples answered wrongly.
    pub error: f64,
    /// Time of an answer.
    pub time: Duration,
    /// Mean work of a query: routers, memories scored, features read.
    pub work: [f64; 3],
}

/// Queries a memory for the class of each example, searching `leaves` leaves in each tree.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn test(memory: &Cmt<ClassId>, examples: &[(ClassId, SparseVec)], leaves: usize, progress: &Progress) -> Result<FewShotScores> {
    progress.begin("Testing", examples.len() as u64);
    let mut work = Cost::default();
    measure(examples, progress, &mut work, |x, work| Ok(answer(memory, x, leaves, work)))
}

/// Predicts the class of the nearest example by cosine, by an exact scan: the yardstick.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn nearest(train: &[(ClassId, SparseVec)], examples: &[(ClassId, SparseVec)], progress: &Progress) -> Result<FewShotScores> {
    progress.begin("Testing nearest neighbours", examples.len() as u64);
    let mut work = Cost::default();
    let mut scan = SparseScan::new(Metric::Cosine);
    for ((_, x), i) in train.iter().zip(0..) {
        scan.insert(ItemId(i), x)?;
    }
    measure(examples, progress, &mut work, |x, work| {
        let found = scan.nearest(x, 1, &everything)?;
        *work += found.cost;
        Ok(found.list.first().map(|nearest| train[nearest.id.0 as usize].0))
    })
}

/// Postings that an inverted index reads for an answer, on average: for each feature of an example,
/// the training examples that have it.
pub fn postings(train: &[(ClassId, SparseVec)], examples: &[(ClassId, SparseVec)]) -> f64 {
    let mut having: BTreeMap<u32, u64> = BTreeMap::new();
    for (feature, _) in train.iter().flat_map(|(_, x)| x.entries()) {
        *having.entry(*feature).or_default() += 1;
    }
    let read: u64 = examples.iter().flat_map(|(_, x)| x.entries()).filter_map(|(feature, _)| having.get(feature)).sum();
    read as f64 / examples.len().max(1) as f64
}

fn measure(
    examples: &[(ClassId, SparseVec)],
    progress: &Progress,
    work: &mut Cost,
    mut answer: impl FnMut(&SparseVec, &mut Cost) -> Result<Option<ClassId>>,
) -> Result<FewShotScores> {
    // The first answer warms the machine and is not timed.
    if let Some((_, x)) = examples.first() {
        answer(x, &mut Cost::default())?;
    }
    let start = Instant::now();
    let mut wrong = 0;
    for (class, x) in examples {
        progress.step()?;
        wrong += usize::from(answer(x, work)? != Some(*class));
    }
    let n = examples.len().max(1);
    let each = |total: u64| total as f64 / n as f64;
    Ok(FewShotScores {
        error: wrong as f64 / n as f64,
        time: start.elapsed() / n as u32,
        work: [each(work.nodes), each(work.points), each(work.values)],
    })
}

/// Memories that are not the answer to their own vector, nor another with the same vector, as a
/// share.
pub fn self_consistency_error<V>(memory: &Cmt<V>) -> f64 {
    let lost = memory.iter().filter(|m| {
        let answer = memory.query(&m.x, 1);
        !answer.hits.first().and_then(|hit| memory.get(hit.id)).is_some_and(|found| found.x == m.x)
    });
    lost.count() as f64 / memory.len().max(1) as f64
}

/// The entropy reduction over always answering with the most frequent class of `train`, in bits:
/// log2 of the accuracy over that of the constant answer, on `test`. Minus infinity with no right
/// answer.
pub fn entropy_reduction(error: f64, train: &[(ClassId, SparseVec)], test: &[(ClassId, SparseVec)]) -> f64 {
    let mut counts = BTreeMap::new();
    for (class, _) in train {
        *counts.entry(*class).or_insert(0u32) += 1;
    }
    let constant = counts.iter().max_by_key(|(class, n)| (**n, std::cmp::Reverse(**class))).map(|(class, _)| *class);
    let right = test.iter().filter(|(class, _)| Some(*class) == constant).count().max(1);
    ((1.0 - error) / (right as f64 / test.len().max(1) as f64)).log2()
}
