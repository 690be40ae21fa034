//! Curves: how error, work and room of a memory change with its options and its size (figures 5 to 7 of Sun et al. 2019).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::RngExt;

use super::few_shot::{self, Tested, Training};
use crate::cmt::{Cmt, CmtOptions, LeafCap, Operations};
use crate::error::Result;
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
use crate::random::{self, Rng};
use crate::sparse::SparseVec;

/// The c of the budget's curve: the same work in more and smaller leaves finds more.
const SMALL: f64 = 0.5;

/// A class and a vector.
type Example = (ClassId, SparseVec);

/// A table of numbers, of which the first column is what was changed.
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
    fn new(name: &'static str, columns: &[&'static str]) -> Self {
        Self { name, columns: columns.to_vec(), rows: Vec::new() }
    }

    /// The values of a column; none if there is no such column.
    pub fn column(&self, name: &str) -> Vec<f64> {
        let at = self.columns.iter().position(|column| *column == name);
        at.map(|at| self.rows.iter().map(|row| row[at]).collect()).unwrap_or_default()
    }
}

/// The curves of few-shot classification:
/// - `reroutes`: self-consistency and test error against d, all memories inserted once (figure 5a);
/// - `passes`: the same against the passes with rewards (figure 5b);
/// - `leaves_c`: test error and time against c (figures 5c and 6);
/// - `shots`: the same against the examples of each class (figures 5d and 7);
/// - `budget`: test error against work, with trees and leaves looked at; leaves are small (c = 0.5), so that work is spent on trees;
/// - `yardsticks`: the error of the nearest by cosine, and the features that a scan, and the postings that an inverted index read for it.
///
/// # Errors
/// [`crate::Error::Option`], [`crate::Error::Cancelled`].
pub fn few_shot(train: &[Example], test: &[Example], options: &CmtOptions, progress: &Progress) -> Result<Vec<Curve>> {
    let run = |examples: &[Example], options: CmtOptions, supervised_passes: u32| -> Result<(Cmt<ClassId>, Tested)> {
        let training = Training { options, unsupervised_passes: 1, supervised_passes, online: false };
        let memory = few_shot::train(examples, &training, progress)?.memory;
        let tested = few_shot::test(&memory, test, 1, progress)?;
        Ok((memory, tested))
    };
    let mut curves = Vec::new();

    let mut curve = Curve::new("reroutes", &["reroutes", "self_consistency_error", "error", "test_ms"]);
    for reroutes in [0, 1, 2, 5, 10, 20] {
        let (memory, tested) = run(train, CmtOptions { reroutes, ..*options }, 0)?;
        curve.rows.push(vec![f64::from(reroutes), few_shot::self_consistency_error(&memory), tested.error, ms(tested.time)]);
    }
    curves.push(curve);

    let mut curve = Curve::new("passes", &["passes", "self_consistency_error", "error", "test_ms"]);
    for passes in 0..=5 {
        let (memory, tested) = run(train, *options, passes)?;
        curve.rows.push(vec![f64::from(passes), few_shot::self_consistency_error(&memory), tested.error, ms(tested.time)]);
    }
    curves.push(curve);

    let mut curve = Curve::new("leaves_c", &["c", "error", "test_ms", "memories_scored", "features_read"]);
    for c in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0] {
        let (_, tested) = run(train, CmtOptions { leaf_cap: LeafCap::Log { c }, ..*options }, 1)?;
        curve.rows.push(vec![c, tested.error, ms(tested.time), tested.work[1], tested.work[2]]);
    }
    curves.push(curve);

    let mut curve = Curve::new("shots", &["shots", "error", "test_ms", "memories_scored", "features_read", "memories"]);
    let most = shots(train, usize::MAX).1;
    for most in (1..=most).filter(|shots| *shots <= 5 || shots.is_multiple_of(5)) {
        let (few, _) = shots(train, most);
        let (memory, tested) = run(&few, *options, 1)?;
        curve.rows.push(vec![most as f64, tested.error, ms(tested.time), tested.work[1], tested.work[2], memory.len() as f64]);
    }
    curves.push(curve);

    let columns = ["trees", "leaves", "error", "test_ms", "routers_asked", "memories_scored", "features_read"];
    let mut curve = Curve::new("budget", &columns);
    for trees in [1, 2, 4, 8, 16] {
        let options = CmtOptions { trees, leaf_cap: LeafCap::Log { c: SMALL }, ..*options };
        let training = Training { options, unsupervised_passes: 1, supervised_passes: 0, online: false };
        let memory = few_shot::train(train, &training, progress)?.memory;
        for leaves in [1, 2, 4, 8, 16, 32] {
            let tested = few_shot::test(&memory, test, leaves, progress)?;
            let [nodes, memories, features] = tested.work;
            curve.rows.push(vec![f64::from(trees), leaves as f64, tested.error, ms(tested.time), nodes, memories, features]);
        }
    }
    curves.push(curve);

    let nearest = few_shot::nearest(train, test, progress)?;
    let mut curve = Curve::new("yardsticks", &["error", "scan_ms", "scan_features", "index_postings"]);
    curve.rows.push(vec![nearest.error, ms(nearest.time), nearest.work[2], few_shot::postings(train, test)]);
    curves.push(curve);
    Ok(curves)
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

/// The curve `growth`: depth, work, time and room with 1,000 memories, 2,154, 4,642, 10,000 and so on up to `memories`.
///
/// Memories are made captions: ten words of 20,000, of which the one of rank r comes in proportion to 1 / r. Times of insertions
/// have in them what is put in again; `insert_routers` are those on a new memory's own way.
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
            // A sample, for it costs time; the last ones, for it depends on the size.
            if aim - id <= QUERIES as u32 {
                routers += memory.query(&x, 0).operations.nodes;
                own.push(x.clone());
            }
            let start = Instant::now();
            memory.insert(ItemId(id), x, id)?;
            time += start.elapsed();
        }
        let queries: Vec<SparseVec> = (0..QUERIES).map(|_| caption(&mut rng)).collect();
        let mut work = Operations::default();
        queries.iter().for_each(|x| drop(memory.query(x, 1)));
        let start = Instant::now();
        for x in &queries {
            work += memory.query(x, 1).operations;
        }
        let query = start.elapsed();
        let lost = own.iter().filter(|x| memory.query(x, 1).hits.first().and_then(|hit| memory.get(hit.id)).is_none_or(|m| m.x != **x));
        let shape = memory.shapes().into_iter().max_by_key(|shape| shape.depth).unwrap_or_default();
        let each = |total: u64, n: usize| total as f64 / n.max(1) as f64;
        curve.rows.push(vec![
            f64::from(aim),
            shape.depth as f64,
            shape.fullest as f64,
            ms(time) / f64::from(new.max(1)),
            each(routers, own.len()),
            ms(query) / QUERIES as f64,
            each(work.nodes, QUERIES),
            each(work.memories, QUERIES),
            each(work.features, QUERIES),
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
