//! Approximate indexes of nearest neighbours, behind the trait of [`crate::nearest`].
//!
//! Problem: a scan compares a query with every point. Among many points the near ones can be found
//! at a fraction of that if a few may be missed. Both indexes here part the points by the centres
//! that they are nearest to, and compare a query with the points of the centres nearest to it; how
//! many are looked at is set for each index and decides between speed and recall.
//!
//! | index | points | parts them by | after |
//! |---|---|---|---|
//! | [`Ivf`] | vectors of f32 | one level of centres found by k-means | Jégou, Douze, Schmid, *Product Quantization for Nearest Neighbor Search*, 2011 (inverted file, without the quantiser of residuals) |
//! | [`HammingForest`] | 256 bits | trees of centres drawn among the points | Muja, Lowe, *Fast Matching of Binary Features*, 2012 |
//!
//! Both are [`crate::nearest::Dynamic`], give the same answers for the same points inserted and
//! removed in the same order on any number of threads, and are exact when all is looked at. Use a
//! scan below some ten thousands of points.
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

mod forest;
mod ivf;
mod kmeans;
mod rows;

pub use forest::{ForestOptions, HammingForest};
pub use ivf::{Ivf, IvfOptions};
