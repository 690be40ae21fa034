//! The points of a mixture, as fits work on them: around their mean, and in groups of points that
//! are near to one another.

use rayon::prelude::*;

use super::family::Covariance;
use crate::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::linalg::single::direction;
use crate::nearest::{Distance as _, Metric};
use crate::progress::Progress;

/// Points that are looked at together where there are no groups.
const GROUP: usize = 64;

/// The points of a mixture. Memory: one copy of them.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureData {
    pub(super) covariance: Covariance,
    pub(super) d: usize,
    /// What was taken off every point; zeros for directions.
    pub(super) centre: Vec<f64>,
    /// Row by row, in the order of `order`.
    pub(super) rows: Vec<f32>,
    /// The number of each row's point.
    pub(super) order: Vec<u32>,
    /// The end of each group.
    pub(super) ends: Vec<u32>,
    /// What stands for the points of each group: their mean, row by row. A deviation: the paper has
    /// the node of the tree, which lies at the rim of its group where nodes are chosen
    /// farthest-first, so that a third more proposals are refused.
    pub(super) surrogates: Vec<f32>,
}

impl MixtureData {
    /// Takes over the rows of a matrix of `d` columns. Directions are brought to length 1; from
    /// other points their mean is taken off, so that sums of squares keep their digits. O(n d).
    ///
    /// # Errors
    /// [`Error::Value`] when the values are no such matrix, a value is not finite or beyond 1e15,
    /// or there are more than 4 billion points.
    pub fn new(values: &[f32], d: usize, covariance: Covariance) -> Result<Self> {
        Self::check(values, d)?;
        let centre = if covariance == Covariance::Directions { vec![0.0; d] } else { mean(values, d) };
        Ok(Self::around(values, centre, covariance))
    }

    /// The rows of a matrix as [`MixtureData::new`] takes them over, around a point.
    pub(super) fn around(values: &[f32], centre: Vec<f64>, covariance: Covariance) -> Self {
        let d = centre.len();
        let n = values.len() / d;
        let ends = (1..=n.div_ceil(GROUP)).map(|group| (group * GROUP).min(n) as u32).collect();
        let order = (0..n as u32).collect();
        let mut data = Self { covariance, d, centre, rows: Vec::with_capacity(values.len()), order, ends, surrogates: Vec::new() };
        for row in values.chunks_exact(d) {
            let row = data.taken_over(row);
            data.rows.extend(row);
        }
        data
    }

    /// Checks that values are a matrix of `d` columns of which mixtures can be made.
    pub(super) fn check(values: &[f32], d: usize) -> Result<()> {
        if d == 0 || !values.len().is_multiple_of(d) {
            let found = format!("{} values", values.len());
            return Err(Error::value("points", format!("rows of {d} values, one or more each"), found));
        }
        let n = values.len() / d;
        if n > u32::MAX as usize - 1 {
            return Err(Error::value("points", "at most 4 billion", n.to_string()));
        }
        values.par_chunks(d).try_for_each(|row| Metric::Euclidean.check(row, None))
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Values of a point.
    pub fn dimension(&self) -> usize {
        self.d
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.ends.len()
    }

    /// Makes groups: the points below each of at least `surrogates` nodes of a cover tree of the
    /// points. Equal on any number of threads. See [`crate::cover_tree`] for the time that takes.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]: the data is lost then.
    pub fn group(&mut self, surrogates: usize, progress: &Progress) -> Result<()> {
        let n = self.len();
        if n == 0 {
            return Ok(());
        }
        let places: Vec<ItemId> = (0..n as u32).map(ItemId).collect();
        let points = DensePoints::new(self.d, std::mem::take(&mut self.rows))?;
        let tree = DenseTree::watched(points, &places, Metric::Euclidean, CoverTreeOptions::default(), progress)?;
        let surrogates = tree.surrogates(surrogates);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); surrogates.nodes.len()];
        // A surrogate comes before the nodes below it.
        surrogates.of.iter().zip(0..).for_each(|(group, node)| members[*group as usize].push(node));
        let mut order = Vec::with_capacity(n);
        self.ends.clear();
        for nodes in &members {
            for node in nodes {
                for place in tree.ids(*node) {
                    order.push(self.order[place.0 as usize]);
                    self.rows.extend_from_slice(tree.point(*node));
                }
            }
            self.ends.push(order.len() as u32);
        }
        self.order = order;
        self.surrogates =
            (0..self.groups()).flat_map(|group| mean(self.rows_of(self.group_range(group)), self.d)).map(|value| value as f32).collect();
        Ok(())
    }

    /// Whether there are groups of points that are near to one another.
    pub fn is_grouped(&self) -> bool {
        !self.surrogates.is_empty()
    }

    pub(super) fn surrogate(&self, group: usize) -> &[f32] {
        &self.surrogates[group * self.d..][..self.d]
    }

    pub(super) fn row(&self, place: usize) -> &[f32] {
        &self.rows[place * self.d..][..self.d]
    }

    /// The rows of a group.
    pub(super) fn group_range(&self, group: usize) -> std::ops::Range<usize> {
        let start = if group == 0 { 0 } else { self.ends[group - 1] as usize };
        start..self.ends[group] as usize
    }

    pub(super) fn rows_of(&self, range: std::ops::Range<usize>) -> &[f32] {
        &self.rows[range.start * self.d..range.end * self.d]
    }

    /// A point in the terms of these: around their centre, or brought to length 1.
    pub(super) fn taken_over(&self, row: &[f32]) -> Vec<f32> {
        if self.covariance == Covariance::Directions {
            return direction(row);
        }
        row.iter().zip(&self.centre).map(|(value, mean)| (f64::from(*value) - mean) as f32).collect()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.rows[..]) + size_of_val(&self.order[..]) + size_of_val(&self.ends[..]) + size_of_val(&self.surrogates[..])
    }
}

/// Whether a row takes no part in a fit, of which every `every`-th takes none; 0: none is left out.
pub fn is_held_out(row: usize, every: usize) -> bool {
    every > 0 && row % every == every - 1
}

/// The rows of a matrix of `d` columns that are fitted, and those that are held out
/// ([`is_held_out`]). O(n d).
pub fn hold_out(values: &[f32], d: usize, every: usize) -> (Vec<f32>, Vec<f32>) {
    let part = |wanted: bool| -> Vec<f32> {
        values
            .chunks_exact(d.max(1))
            .enumerate()
            .filter(|(i, _)| is_held_out(*i, every) == wanted)
            .flat_map(|(_, row)| row)
            .copied()
            .collect()
    };
    (part(false), part(true))
}

/// A row in double precision.
pub(super) fn wide(row: &[f32]) -> Vec<f64> {
    row.iter().map(|value| f64::from(*value)).collect()
}

fn mean(values: &[f32], d: usize) -> Vec<f64> {
    let n = (values.len() / d).max(1) as f64;
    let mut sums = vec![0.0f64; d];
    for row in values.chunks_exact(d) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    sums.into_iter().map(|sum| sum / n).collect()
}
