//! Approximate indexes of nearest neighbours, behind the trait of [`crate::nearest`].
//!
//! Problem: a scan compares a query with every point. Among many points the near ones can be found
//! at a fraction of that if a few may be missed. An [`InvertedFile`] parts the points by the
//! centres that they are nearest to, and compares a query with the points of the centres nearest
//! to it; how many of these are looked at decides between speed and recall.
//!
//! | index | points | centres |
//! |---|---|---|
//! | [`Ivf`] | vectors of f32, by Euclidean distance | means |
//! | [`BinaryIvf`] | 256 bits, by Hamming distance | the majority for each bit |
//!
//! Two more are tuned for a recall that is asked for: a [`cells::CellIndex`], which is the fastest
//! for vectors and whose points come and go, and a [`candidates::CandidateIndex`], which learns
//! from the neighbours of points and gives candidates probabilities.
//!
//! After Jégou, Douze, Schmid, *Product Quantization for Nearest Neighbor Search*, 2011 (their
//! inverted file, without the quantiser of residuals). On corners of photographs trees of centres
//! (Muja, Lowe, *Fast Matching of Binary Features*, 2012) were slower at every recall.
//!
//! The first two are [`crate::nearest::Dynamic`], give the same answers for the same points
//! inserted and removed in the same order on any number of threads, and are exact when all is
//! looked at. Use a scan below some ten thousands of points.
//!
//! ```
//! use tessera_core::ann::{Ivf, IvfOptions};
//! use tessera_core::ids::ItemId;
//! use tessera_core::nearest::{Dynamic, NeighborIndex, everything};
//!
//! let mut index = Ivf::new(2, IvfOptions { probes: 4, ..IvfOptions::default() })?;
//! for i in 0..3000u32 {
//!     let angle = f64::from(i) as f32 * 0.1;
//!     index.insert(ItemId(i), &[i as f32 * angle.cos(), i as f32 * angle.sin()])?;
//! }
//! let found = index.nearest(&[0.0, 0.0], 3, &everything)?;
//! assert_eq!(found.list[0].id, ItemId(0));
//! assert!(found.cost.points < 1000);
//! # Ok::<(), tessera_core::Error>(())
//! ```

pub mod candidates;
pub mod cells;
mod corpus;
mod ivf;
mod kmeans;
mod pool;
mod rows;
mod tuning;
mod vectors;

pub use corpus::{PointSet, codes};
pub use ivf::{BinaryIvf, InvertedFile, Ivf, IvfOptions};
pub use tuning::{Measured, cheapest, frontier, within};
pub use vectors::Vectors;
