//! Advisers that look at all labelled examples: the nearest of each class, the nearest few of all,
//! and means of the nearest few of each class.
//!
//! Scores are minus the logarithms of distances where one can be had: how sure an adviser is, is
//! then how many times as far the next class is.

use super::advisers::Adviser;
use super::mixture::Opinion;
use crate::error::Result;
use crate::ids::ClassId;
use crate::learn::{check_class, check_query};
use crate::random::Rng;

/// Added to distances, so that those of copies have a logarithm.
const TINY: f64 = 1e-9;

/// Labelled examples.
#[derive(Clone, Debug)]
struct Labelled {
    dimension: usize,
    /// Row-major `(n, dimension)`.
    examples: Vec<f64>,
    classes: Vec<ClassId>,
    n_classes: usize,
}

impl Labelled {
    fn new(dimension: usize) -> Self {
        Self { dimension, examples: Vec::new(), classes: Vec::new(), n_classes: 0 }
    }

    fn learn(&mut self, x: &[f64], truth: ClassId) -> Result<()> {
        check_query(x, self.dimension)?;
        self.n_classes = self.n_classes.max(check_class(truth)? + 1);
        self.examples.extend_from_slice(x);
        self.classes.push(truth);
        Ok(())
    }

    fn row(&self, example: usize) -> &[f64] {
        &self.examples[example * self.dimension..(example + 1) * self.dimension]
    }

    /// The squared distance of each example, with its class and number.
    fn distances<'a>(&'a self, x: &'a [f64]) -> Result<impl Iterator<Item = (f64, usize, usize)> + 'a> {
        check_query(x, self.dimension)?;
        let rows = self.examples.chunks_exact(self.dimension.max(1)).zip(&self.classes);
        Ok(rows.enumerate().map(move |(number, (row, class))| (square(row, x), class.index(), number)))
    }
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Minus the logarithm of a distance whose square is known; minus infinity where there is none.
fn score(square: f64) -> f64 {
    if square < f64::INFINITY { -(square.sqrt() + TINY).ln() } else { f64::NEG_INFINITY }
}

/// Puts an example among the nearest `most`; of equals the first stays.
fn keep(nearest: &mut Vec<(f64, usize)>, most: usize, square: f64, tag: usize) {
    if nearest.len() < most || nearest.last().is_some_and(|last| square < last.0) {
        let at = nearest.partition_point(|other| other.0 <= square);
        nearest.insert(at, (square, tag));
        nearest.truncate(most);
    }
}

/// The nearest labelled example of each class.
#[derive(Clone, Debug)]
pub struct Nearest(Labelled);

impl Nearest {
    /// An adviser without examples.
    pub fn new(dimension: usize) -> Self {
        Self(Labelled::new(dimension))
    }
}

impl Adviser<[f64]> for Nearest {
    fn name(&self) -> &'static str {
        "nearest"
    }

    /// O(n d).
    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        let mut nearest = vec![f64::INFINITY; self.0.n_classes];
        self.0.distances(x)?.for_each(|(square, class, _)| nearest[class] = nearest[class].min(square));
        Ok(Opinion::Scores(nearest.into_iter().map(score).collect()))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, _: &mut Rng) -> Result<()> {
        self.0.learn(x, truth)
    }
}

/// The five nearest labelled examples, each with a weight of one over its distance; classes that
/// none of them has come after these, the nearest first.
#[derive(Clone, Debug)]
pub struct Neighbours(Labelled);

/// Neighbours that vote.
const VOTING: usize = 5;
/// What the nearest example of any class has besides, as a share of a vote.
const BESIDES: f64 = 1e-3;

impl Neighbours {
    /// An adviser without examples.
    pub fn new(dimension: usize) -> Self {
        Self(Labelled::new(dimension))
    }
}

impl Adviser<[f64]> for Neighbours {
    fn name(&self) -> &'static str {
        "neighbours"
    }

    /// O(n d).
    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        let mut nearest = vec![f64::INFINITY; self.0.n_classes];
        let mut voting = Vec::with_capacity(VOTING + 1);
        for (square, class, _) in self.0.distances(x)? {
            nearest[class] = nearest[class].min(square);
            keep(&mut voting, VOTING, square, class);
        }
        let vote = |square: f64| 1.0 / (square.sqrt() + TINY);
        let mut scores: Vec<f64> = nearest.into_iter().map(|square| BESIDES * vote(square)).collect();
        voting.into_iter().for_each(|(square, class)| scores[class] += vote(square));
        Ok(Opinion::Scores(scores.into_iter().map(|score| if score > 0.0 { score } else { f64::NEG_INFINITY }).collect()))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, _: &mut Rng) -> Result<()> {
        self.0.learn(x, truth)
    }
}

/// The mean of the three nearest examples of each class, by its distance: less led astray by single
/// examples than [`Nearest`].
#[derive(Clone, Debug)]
pub struct LocalMeans(Labelled);

/// Examples that a mean is of.
const AVERAGED: usize = 3;

impl LocalMeans {
    /// An adviser without examples.
    pub fn new(dimension: usize) -> Self {
        Self(Labelled::new(dimension))
    }
}

impl Adviser<[f64]> for LocalMeans {
    fn name(&self) -> &'static str {
        "local-means"
    }

    /// O(n d).
    fn opinion(&mut self, x: &[f64], _: &mut Rng) -> Result<Opinion> {
        let mut nearest: Vec<Vec<(f64, usize)>> = vec![Vec::new(); self.0.n_classes];
        for (square, class, number) in self.0.distances(x)? {
            keep(&mut nearest[class], AVERAGED, square, number);
        }
        let of_class = |those: Vec<(f64, usize)>| {
            let mut mean = vec![0.0; x.len()];
            those.iter().for_each(|(_, number)| mean.iter_mut().zip(self.0.row(*number)).for_each(|(sum, x)| *sum += x));
            mean.iter_mut().for_each(|sum| *sum /= those.len() as f64);
            if those.is_empty() { f64::NEG_INFINITY } else { score(square(&mean, x)) }
        };
        Ok(Opinion::Scores(nearest.into_iter().map(of_class).collect()))
    }

    fn learn(&mut self, x: &[f64], truth: ClassId, _: &mut Rng) -> Result<()> {
        self.0.learn(x, truth)
    }
}
