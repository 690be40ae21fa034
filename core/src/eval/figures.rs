//! Curves: how error, work and size of a memory change with its options and its size (figures 5 to
//! 7 of Sun et al. 2019).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::RngExt;

use super::few_shot::{self, FewShotTraining};
use crate::cmt::{Cmt, CmtOptions, LeafCap};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::nearest::Cost;
use crate::progress::Progress;
use crate::random::{self, Rng};
use crate::sparse::SparseVec;

/// The c of the budget's curve: the same work in more and smaller leaves finds more.
const SMALL: f64 = 0.5;

/// A class and a vector.
type Example = (ClassId, SparseVec);

/// A table of numbers; its first column is the quantity that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it shows, in a word.
    pub name: &'static str,
    /// The columns; `_ms` is milliseconds, errors are shares, the rest are counts.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<Vec<f64>>,
}

impl Curve {
    pub(super) fn new(name: &'static str, columns: &[&'static str]) -> Self {
        Self { name, columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: the values that vary, and the means of several runs, of times the medians; the
    /// first mean is followed by its standard deviation.
    fn push(&mut self, changed: &[f64], runs: impl Iterator<Item = Result<Vec<f64>>>) -> Result<()> {
        let runs = runs.collect::<Result<Vec<_>>>()?;
        let n = runs.len() as f64;
        let mut row = changed.to_vec();
        for at in 0..runs.first().map_or(0, Vec::len) {
            let mean = runs.iter().map(|run| run[at]).sum::<f64>() / n;
            let is_time = self.columns.get(row.len()).is_some_and(|name| name.ends_with("_ms"));
            row.push(if is_time { median(runs.iter().map(|run| run[at]).collect()) } else { mean });
            if at == 0 {
                let squares: f64 = runs.iter().map(|run| (run[0] - mean) * (run[0] - mean)).sum();
                row.push((squares / (n - 1.0).max(1.0)).sqrt());
            }
        }
        self.rows.push(row);
        Ok(())
    }

    /// The values of a column; none if there is no such column.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let at = self.columns.iter().position(|column| *column == name);
        at.map(|at| self.rows.iter().map(|row| row[at]).collect()).unwrap_or_default()
    }
}

/// The curves of few-shot classification, means (of times medians) over `runs` trees or forests
/// that differ in their seeds; `error_deviation` is the standard deviation of the test error over
/// them:
/// - `reroutes`: self-consistency and test error against d, all memories inserted once (figure 5a);
/// - `passes`: the same against the passes with rewards, and the error on the training examples
///   with one of each class (figure 5b);
/// - `leaves_c`: test error and time against c (figures 5c and 6);
/// - `shots`: the same against the examples of each class (figures 5d and 7);
/// - `budget`: test error against work, with the trees and leaves searched; leaves are small (c =
///   0.5), so that work is spent on trees;
/// - `yardsticks`: the error of the nearest by cosine, the features that a scan reads for it, and
///   the postings that an inverted index reads.
///
/// # Errors
/// [`crate::Error::Option`], [`crate::Error::Cancelled`].
pub fn few_shot(train: &[Example], test: &[Example], options: &CmtOptions, runs: u32, progress: &Progress) -> Result<Vec<Curve>> {
    let grow = |examples: &[Example], options: CmtOptions, supervised_passes: u32| -> Result<Cmt<ClassId>> {
        let training = FewShotTraining { options, unsupervised_passes: 1, supervised_passes, online: false };
        Ok(few_shot::train(examples, &training, progress)?.memory)
    };
    let tested = |memory: &Cmt<ClassId>, leaves: usize| few_shot::test(memory, test, leaves, progress);
    let seeds = || (0..u64::from(runs.max(1))).map(|run| options.seed.wrapping_add(run));
    let mut curves = Vec::new();

    let mut curve = Curve::new("reroutes", &["reroutes", "error", "error_deviation", "self_consistency_error", "test_ms"]);
    for reroutes in [0, 1, 2, 5, 10, 20] {
        let rows = seeds().map(|seed| {
            let memory = grow(train, CmtOptions { reroutes, seed, ..*options }, 0)?;
            let tested = tested(&memory, 1)?;
            Ok(vec![tested.error, few_shot::self_consistency_error(&memory), ms(tested.time)])
        });
        curve.push(&[f64::from(reroutes)], rows)?;
    }
    curves.push(curve);

    let columns = ["passes", "error", "error_deviation", "self_consistency_error", "one_shot_train_error", "test_ms"];
    let mut curve = Curve::new("passes", &columns);
    let (one, _) = shots(train, 1);
    for passes in 0..=5 {
        let rows = seeds().map(|seed| {
            let options = CmtOptions { seed, ..*options };
            let memory = grow(train, options, passes)?;
            let tested = tested(&memory, 1)?;
            let own = few_shot::test(&grow(&one, options, passes)?, &one, 1, progress)?;
            Ok(vec![tested.error, few_shot::self_consistency_error(&memory), own.error, ms(tested.time)])
        });
        curve.push(&[f64::from(passes)], rows)?;
    }
    curves.push(curve);

    let mut curve = Curve::new("leaves_c", &["c", "error", "error_deviation", "test_ms", "memories_scored", "features_read"]);
    for c in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0] {
        let rows = seeds().map(|seed| {
            let tested = tested(&grow(train, CmtOptions { leaf_cap: LeafCap::Log { c }, seed, ..*options }, 1)?, 1)?;
            Ok(vec![tested.error, ms(tested.time), tested.work[1], tested.work[2]])
        });
        curve.push(&[c], rows)?;
    }
    curves.push(curve);

    let columns = ["shots", "memories", "error", "error_deviation", "test_ms", "memories_scored", "features_read"];
    let mut curve = Curve::new("shots", &columns);
    let most = shots(train, usize::MAX).1;
    for most in (1..=most).filter(|shots| *shots <= 5 || shots.is_multiple_of(5)) {
        let (few, _) = shots(train, most);
        let rows = seeds().map(|seed| {
            let tested = tested(&grow(&few, CmtOptions { seed, ..*options }, 1)?, 1)?;
            Ok(vec![tested.error, ms(tested.time), tested.work[1], tested.work[2]])
        });
        curve.push(&[most as f64, few.len() as f64], rows)?;
    }
    curves.push(curve);

    let columns = ["trees", "leaves", "error", "error_deviation", "test_ms", "routers_asked", "memories_scored", "features_read"];
    let mut curve = Curve::new("budget", &columns);
    for trees in [1, 2, 4, 8, 16] {
        let options = |seed| CmtOptions { trees, leaf_cap: LeafCap::Log { c: SMALL }, seed, ..*options };
        let forests = seeds().map(|seed| grow(train, options(seed), 0)).collect::<Result<Vec<_>>>()?;
        for leaves in [1, 2, 4, 8, 16, 32] {
            let rows = forests.iter().map(|memory| {
                let tested = tested(memory, leaves)?;
                let [nodes, memories, features] = tested.work;
                Ok(vec![tested.error, ms(tested.time), nodes, memories, features])
            });
            curve.push(&[f64::from(trees), leaves as f64], rows)?;
        }
    }
    curves.push(curve);

    let nearest = few_shot::nearest(train, test, progress)?;
    let mut curve = Curve::new("yardsticks", &["error", "scan_ms", "scan_features", "index_postings"]);
    curve.rows.push(vec![nearest.error, ms(nearest.time), nearest.work[2], few_shot::postings(train, test)]);
    curves.push(curve);
    Ok(curves)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The first examples of each class, at most so many; and how many a class has at most.
fn shots(examples: &[Example], most: usize) -> (Vec<Example>, usize) {
    let mut counts: BTreeMap<ClassId, usize> = BTreeMap::new();
    let few = examples.iter().filter(|(class, _)| {
        let count = counts.entry(*class).or_default();
        *count += 1;
        *count <= most
    });
    let few = few.cloned().collect();
    (few, counts.into_values().max().unwrap_or(0))
}

/// Words there are, and in a caption.
const VOCABULARY: u32 = 20_000;
const WORDS: usize = 10;
/// Queries at each size.
const QUERIES: usize = 1000;

/// The curve `growth`: depth, work, time and size with 1,000 memories, 2,154, 4,642, 10,000 and so
/// on up to `memories`.
///
/// Memories are made captions: ten words of 20,000, of which the one of rank r comes in proportion
/// to 1 / r. Times of insertions include reroutes; those of queries are medians of five rounds;
/// `insert_routers` are those on the path of the new memory itself.
///
/// # Errors
/// [`crate::Error::Option`], [`crate::Error::Cancelled`].
pub fn growth(memories: u32, options: &CmtOptions, progress: &Progress) -> Result<Curve> {
    let columns = [
        "memories",
        "depth",
        "leaf_max",
        "insert_ms",
        "insert_routers",
        "query_ms",
        "query_routers",
        "query_memories",
        "query_features",
        "bytes_per_memory",
        "self_consistency_error",
    ];
    let mut curve = Curve::new("growth", &columns);
    let mut memory: Cmt<u32> = Cmt::new(options)?;
    let mut rng = random::seeded(options.seed);
    progress.begin("Growing", u64::from(memories));
    let mut size = 1000f64;
    loop {
        let aim = (size.round() as u32).min(memories);
        let (mut time, mut routers, mut own) = (Duration::ZERO, 0, Vec::new());
        let new = aim - memory.len() as u32;
        for _ in 0..new {
            progress.step()?;
            let (id, x) = (memory.len() as u32, caption(&mut rng));
            // Only a sample, because it costs time; the last ones, because it depends on the size.
            if aim - id <= QUERIES as u32 {
                routers += memory.query(&x, 0).cost.nodes;
                own.push(x.clone());
            }
            let start = Instant::now();
            memory.insert(ItemId(id), x, id)?;
            time += start.elapsed();
        }
        let queries: Vec<SparseVec> = (0..QUERIES).map(|_| caption(&mut rng)).collect();
        let mut work = Cost::default();
        queries.iter().for_each(|x| work += memory.query(x, 1).cost);
        let rounds = (0..5).map(|_| {
            let start = Instant::now();
            queries.iter().for_each(|x| drop(memory.query(x, 1)));
            ms(start.elapsed())
        });
        let query = median(rounds.collect());
        let lost = own.iter().filter(|x| memory.query(x, 1).hits.first().and_then(|hit| memory.get(hit.id)).is_none_or(|m| m.x != **x));
        let shape = memory.shapes().into_iter().max_by_key(|shape| shape.depth).unwrap_or_default();
        let each = |total: u64, n: usize| total as f64 / n.max(1) as f64;
        curve.rows.push(vec![
            f64::from(aim),
            shape.depth as f64,
            shape.fullest as f64,
            ms(time) / f64::from(new.max(1)),
            each(routers, own.len()),
            query / QUERIES as f64,
            each(work.nodes, QUERIES),
            each(work.points, QUERIES),
            each(work.values, QUERIES),
            memory.bytes() as f64 / f64::from(aim),
            each(lost.count() as u64, own.len()),
        ]);
        if aim == memories {
            return Ok(curve);
        }
        size *= 10f64.cbrt();
    }
}

fn caption(rng: &mut Rng) -> SparseVec {
    let words = (0..WORDS).map(|_| (f64::from(VOCABULARY).powf(rng.random::<f64>()) as u32, 1.0));
    SparseVec::from_pairs(words).unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
