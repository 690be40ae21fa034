//! Candidate selection as multilabel classification: nearest neighbours by trees that were trained
//! on the neighbours of points.
//!
//! Problem: compare a query with as few points of a corpus as possible and yet find a wanted share
//! of its nearest neighbours. The nearest neighbours of a query are its *labels*; of training
//! points they are known ([`KnnGraph`]). Trees part space ([`Trees`], of each [`TreeKind`]), and
//! what the training points in a query's leaves have as labels tells which points of the corpus to
//! compare it with ([`SelectionRule`]).
//!
//! - V. Hyvonen, E. Jaasaari and T. Roos, *A Multilabel Classification Framework for Approximate
//!   Nearest Neighbor Search*, NeurIPS 2022: natural classifier, lookup, voting, kinds of trees.
//! - E. Jaasaari, V. Hyvonen and T. Roos, *Efficient Autotuning of Hyperparameters in Approximate
//!   Nearest Neighbor Search*, PAKDD 2019: a whole grid measured in one sweep ([`sweep`]).
//!
//! Beyond the papers: the exact graph of neighbours and the comparison of candidates look at values
//! of seven bits first, with a bound of the error, so that most distances need not be computed and
//! nothing is lost; scores are probabilities for all kinds of trees; costs are counted in
//! operations, so that tuning chooses the same on every machine.
//!
//! Growing an index takes O(n^2 d) for the graph and is worth it where a corpus is asked often; an
//! [`super::Ivf`] needs no graph. Trees and answers are the same for a seed on any number of
//! threads.
//!
//! ```
//! use tessera_core::ann::PointSet;
//! use tessera_core::ann::candidates::{CandidateIndex, KnnGraph, SelectionRule, TreeOptions, Trees};
//! use tessera_core::ids::ItemId;
//! use tessera_core::nearest::{Metric, NeighborIndex as _, everything};
//! use tessera_core::progress::Progress;
//!
//! let mut points = PointSet::new(2, Metric::Euclidean);
//! for i in 0..2000 {
//!     let angle = i as f32 * 0.1;
//!     points.push(&[i as f32 * angle.cos(), i as f32 * angle.sin()])?;
//! }
//! let progress = Progress::default();
//! let graph = KnnGraph::exact(&points, &points, 10, true, &progress)?;
//! let trees = Trees::grow(&points, &graph, TreeOptions { depth: 7, ..TreeOptions::default() }, &progress)?;
//! let selector = trees.selector(&graph, SelectionRule::Natural, 20, 7, 10, 0.1);
//! let index = CandidateIndex::new(points, (0..2000).map(ItemId).collect(), selector)?;
//! let found = index.nearest(&[3.0, 4.0], 3, &everything)?;
//! assert_eq!(found.list.len(), 3);
//! assert!(found.cost.points < 200);
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod forest;
mod graph;
mod ground;
mod index;
mod select;
mod tables;
mod tree;
mod tune;

pub use graph::KnnGraph;
pub use ground::TreeKind;
pub use index::{CandidateIndex, Scored};
pub use select::{SelectionRule, Selector, TreeOptions, Trees, Votes};
pub use tune::{SelectionGrid, TreeWay, reliability, sweep};
