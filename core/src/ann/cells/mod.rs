//! Nearest neighbours by cells of k-means and short codes.
//!
//! Problem: compare a query with as few values as possible and yet find a wanted share of its
//! nearest neighbours, of points that come and go. Vectors are projected to their principal axes
//! and parted by the centres of k-means. Of the points in the cells nearest to a query their inner
//! products with it are estimated by codes of 8 bits a value, and a [`CellIndex`] compares it with
//! the best of these. Two kinds of codes ([`CellCodes`]): coordinates along the first axes, and for
//! each cell a regression of low rank, which predicts the inner products of its points.
//!
//! - E. Jaasaari, V. Hyvonen and T. Roos, *LoRANN: Low-Rank Matrix Factorization for Approximate
//!   Nearest Neighbor Search*, NeurIPS 2024, the successor of [`super::candidates`]: the linear
//!   classifier in each cell.
//! - H. Jégou, M. Douze and C. Schmid, *Product Quantization for Nearest Neighbor Search*, 2011:
//!   the inverted file.
//!
//! Beyond the papers: points come and go ([`crate::nearest::Dynamic`]), as the regression also maps
//! points that it was not learned for; candidates are compared by their rounded values first, with
//! a bound of the error that hardly one point of ten thousands passes, and points of whole numbers
//! up to 255, as pixels are, are read from bytes; how many cells are looked at and how many
//! candidates compared follows from a recall that is asked for ([`CellIndex::tune`]).

mod candidates;
mod cell;
mod graph;
mod index;
mod partition;
mod shortlist;
mod stored;
mod tune;

pub use candidates::{CandidateCurve, CellCandidates};
pub use graph::approximate_graph;
pub use index::CellIndex;
pub use tune::CellWay;

use serde::{Deserialize, Serialize};

/// What estimates inner products in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CellCodes {
    /// So many coordinates along the axes of most variance.
    Axes(usize),
    /// A regression of this rank in each cell.
    Regression(usize),
}

/// How a [`CellIndex`] is made and searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellOptions {
    /// Principal axes that vectors are projected to, 1 or more.
    pub axes: usize,
    /// Cells for each square root of the number of points, above 0.
    pub cells: f64,
    /// What estimates inner products, of 1 value or more.
    pub codes: CellCodes,
    /// Points for each cell, drawn at random, that its centre is found by, 1 or more; axes are
    /// found from 128 times as many.
    pub sample: usize,
    /// Iterations of k-means.
    pub iterations: usize,
    /// Points from which on there are cells.
    pub first: usize,
    /// Cells that a query looks at, 1 or more.
    pub probes: usize,
    /// Candidates that a query is compared with, 1 or more.
    pub shortlist: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for CellOptions {
    fn default() -> Self {
        Self {
            axes: 128,
            cells: 2.0,
            codes: CellCodes::Regression(32),
            sample: 64,
            iterations: 8,
            first: 512,
            probes: 8,
            shortlist: 40,
            seed: 0,
        }
    }
}
