//! Advisers that look at all labelled examples: the nearest of each class, the nearest few of all,
//! and means of the nearest few of each class.
//!
//! Scores are minus the logarithms of distances where one can be had: the lead of the first class
//! is then the logarithm of how many times as far away the second is.

use std::sync::Arc;

use super::advisers::Adviser;
use super::mixture::Opinion;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::{ClassId, ItemId, Neighbor};
use crate::learn::{MOST_CLASSES, check_class, check_query};
use crate::linalg::double::{add_scaled, squared_distance};
use crate::nearest::TopK;
use crate::random::Rng;

/// Added to distances, so that those of copies have a logarithm.
const TINY: f64 = 1e-9;

/// Labelled examples.
#[derive(Clone, Debug)]
pub(super) struct Labelled {
    dimension: usize,
    /// Of `dimension` values each, shared with whoever taught them and by clones, so that
    /// checkpoints take little memory.
    examples: Vec<Arc<[f64]>>,
    classes: Vec<ClassId>,
    n_classes: usize,
}

impl Labelled {
    fn new(dimension: usize) -> Self {
        Self { dimension, examples: Vec::new(), classes: Vec::new(), n_classes: 0 }
    }

    /// Learns an example, which may be kept elsewhere, too.
    pub(super) fn learn(&mut self, x: Arc<[f64]>, truth: ClassId) -> Result<()> {
        check_query(&x, self.dimension)?;
        self.n_classes = self.n_classes.max(check_class(truth)? + 1);
        self.examples.push(x);
        self.classes.push(truth);
        Ok(())
    }

    fn row(&self, example: ItemId) -> &[f64] {
        &self.examples[example.0 as usize]
    }

    fn class(&self, example: ItemId) -> usize {
        self.classes[example.0 as usize].index()
    }

    /// The squared distance of each example, known by its number. O(n d).
    fn distances<'a>(&'a self, x: &'a [f64]) -> Result<impl Iterator<Item = (ItemId, f64)> + 'a> {
        check_query(x, self.dimension)?;
        Ok((0..).zip(&self.examples).map(move |(number, row)| (ItemId(number), squared_distance(row, x))))
    }

    /// The `k` nearest examples of each class.
    fn nearest_of_each(&self, x: &[f64], k: usize) -> Result<Vec<Vec<Neighbor>>> {
        let mut nearest = vec![TopK::new(k); self.n_classes];
        self.distances(x)?.for_each(|(example, square)| nearest[self.class(example)].offer(example, square));
        Ok(nearest.into_iter().map(TopK::finish).collect())
    }
}

impl Stored for Labelled {
    fn write(&self, out: &mut Writer) {
        out.count(self.dimension);
        out.count(self.n_classes);
        out.put(&self.examples.iter().flat_map(|row| row.iter().copied()).collect::<Vec<f64>>());
        out.put(&self.classes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (dimension, n_classes): (u64, u64) = (from.get()?, from.get()?);
        let (examples, classes): (Vec<f64>, Vec<ClassId>) = (from.get()?, from.get()?);
        let [dimension, n_classes] = [dimension, n_classes].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let is_whole = dimension.checked_mul(classes.len()) == Some(examples.len()) && n_classes <= MOST_CLASSES;
        if !is_whole || classes.iter().any(|class| class.index() >= n_classes) {
            return Err(from.wrong("a row for each labelled example", format!("{} values of {}", examples.len(), classes.len())));
        }
        let examples = (0..classes.len()).map(|i| Arc::from(&examples[i * dimension..][..dimension])).collect();
        Ok(Self { dimension, examples, classes, n_classes })
    }
}

/// Minus the logarithm of a distance whose square is known; minus infinity where there is none.
fn score(square: Option<f64>) -> f64 {
    square.map_or(f64::NEG_INFINITY, |square| -(square.sqrt() + TINY).ln())
}

/// The nearest labelled example of each class.
#[derive(Clone, Debug)]
pub struct Nearest(pub(super) Labelled);

impl Nearest {
    /// An adviser without examples.
    pub fn new(dimension: usize) -> Self {
        Self(Labelled::new(dimension))
    }
}

impl Stored for Nearest {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.get().map(Self)
    }
}

impl Adviser<[f64]> for Nearest {
    fn name(&self) -> &'static str {
        "nearest"
    }

    /// O(n d).
    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        let nearest = self.0.nearest_of_each(x, 1)?;
        Ok(Opinion::Scores(nearest.iter().map(|nearest| score(nearest.first().map(|nearest| nearest.distance))).collect()))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, _: &mut Rng) -> Result<()> {
        self.0.learn(x.into(), truth)
    }
}

/// The five nearest labelled examples, each with a weight of one over its distance; classes that
/// none of them has come after these, the nearest first.
#[derive(Clone, Debug)]
pub struct NeighbourVote(pub(super) Labelled);

/// Neighbours that vote.
const VOTING: usize = 5;
/// What the nearest example of any class has besides, as a share of a vote.
const BESIDES: f64 = 1e-3;

impl NeighbourVote {
    /// An adviser without examples.
    pub fn new(dimension: usize) -> Self {
        Self(Labelled::new(dimension))
    }
}

impl Stored for NeighbourVote {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.get().map(Self)
    }
}

impl Adviser<[f64]> for NeighbourVote {
    fn name(&self) -> &'static str {
        "neighbours"
    }

    /// O(n d).
    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        let mut nearest = vec![f64::INFINITY; self.0.n_classes];
        let mut voting = TopK::new(VOTING);
        for (example, square) in self.0.distances(x)? {
            let class = self.0.class(example);
            nearest[class] = nearest[class].min(square);
            voting.offer(example, square);
        }
        let vote = |square: f64| 1.0 / (square.sqrt() + TINY);
        let mut scores: Vec<f64> = nearest.into_iter().map(|square| BESIDES * vote(square)).collect();
        voting.finish().into_iter().for_each(|voter| scores[self.0.class(voter.id)] += vote(voter.distance));
        Ok(Opinion::Scores(scores.into_iter().map(|score| if score > 0.0 { score } else { f64::NEG_INFINITY }).collect()))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, _: &mut Rng) -> Result<()> {
        self.0.learn(x.into(), truth)
    }
}

/// The mean of the three nearest examples of each class, by its distance: less led astray by single
/// examples than [`Nearest`].
#[derive(Clone, Debug)]
pub struct LocalMeans(pub(super) Labelled);

/// Examples that a mean is of.
const AVERAGED: usize = 3;

impl LocalMeans {
    /// An adviser without examples.
    pub fn new(dimension: usize) -> Self {
        Self(Labelled::new(dimension))
    }
}

impl Stored for LocalMeans {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.get().map(Self)
    }
}

impl Adviser<[f64]> for LocalMeans {
    fn name(&self) -> &'static str {
        "local-means"
    }

    /// O(n d).
    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        let of_class = |nearest: Vec<Neighbor>| {
            let mut mean = vec![0.0; x.len()];
            nearest.iter().for_each(|neighbor| add_scaled(&mut mean, 1.0, self.0.row(neighbor.id)));
            mean.iter_mut().for_each(|sum| *sum /= nearest.len() as f64);
            score((!nearest.is_empty()).then(|| squared_distance(&mean, x)))
        };
        Ok(Opinion::Scores(self.0.nearest_of_each(x, AVERAGED)?.into_iter().map(of_class).collect()))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, _: &mut Rng) -> Result<()> {
        self.0.learn(x.into(), truth)
    }
}
