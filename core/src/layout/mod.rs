//! Points of many dimensions laid out in two: their principal components, and a layout that keeps
//! neighbours together.
//!
//! Problem: of n vectors find n places in the plane, so that points that are near each other lie
//! near each other. [`Components`] are linear and there at once, but keep only what two directions
//! can. [`Tsne`] is t-SNE: it begins at the components and is improved in rounds, between which it
//! can be looked at, stopped and gone on with. [`trustworthiness`] measures what either is worth.
//!
//! | step | time |
//! |---|---|
//! | [`Components`] | O(n d), 64 axes from at most 10,000 of the points |
//! | neighbours, exact, along these axes | O(n² d'), most of it products of bytes; d' is at most 64 |
//! | a round: attraction along the neighbours | O(n k) |
//! | a round: repulsion ([`repulsion`]) | O(n + g² log g) on a grid of g² nodes; O(n²) for few points |
//!
//! The same points, options and seed give the same layout on any number of threads: every sum has
//! its order.
//!
//! - van der Maaten, Hinton, *Visualizing Data using t-SNE*, 2008: the method.
//! - Linderman, Rachh, Hoskins, Steinerberger, Kluger, *Fast interpolation-based t-SNE for improved
//!   visualization of single-cell RNA-seq data*, 2019: repulsion by interpolation on a grid. Here
//!   the kernel of the force itself is interpolated, so that one transform of the density is enough
//!   for both of its components, and the sum of the other kernel follows by Parseval's theorem.
//! - Kobak, Berens, *The art of using t-SNE for single-cell transcriptomics*, 2019: components as
//!   the beginning; the learning rate grows with n.
//! - Venna, Kaski, *Neighborhood preservation in nonlinear projection methods*, 2001:
//!   trustworthiness.
//!
//! Crates that were looked at: `bhtsne` (0.7) is kept and fast, but its sums over threads have no
//! fixed order, and its rounds can be watched but not stopped; `umap-rs` (0.4) moves points from
//! several threads at once, so that no seed repeats a layout.

mod affinities;
mod among;
mod components;
pub mod fft;
pub mod repulsion;
mod trust;
mod tsne;

pub use among::place_among;
pub use components::Components;
pub use trust::{NEIGHBORS, trustworthiness};
pub use tsne::{Tsne, TsneOptions};

/// A place in the plane: x to the right, y down.
pub type PlanePoint = [f32; 2];

/// Points that one parallel task moves.
const TASK: usize = 1024;
