//! Mixtures of clusters whose iterations take little longer with many clusters than with few: twice
//! to two and a half times as long with 2,000 as with 100.
//!
//! - Zaheer, Kottur, Ahmed, Moura and Smola, *Canopy: fast sampling with cover trees*, ICML 2017.
//! - Zaheer, Wick, Tristan, Smola and Steele, *Exponential stochastic cellular automata for
//!   massively parallel inference*, AISTATS 2016: ESCA.
//!
//! A mixture has clusters of one [`Covariance`], each with a share. An iteration of [`MixtureFit`]
//! matches points with clusters, by a [`MixtureMethod`], and gives each cluster the parameters that
//! are most probable for its points:
//!
//! | method | a point's clusters | densities computed |
//! |---|---|---|
//! | [`MixtureMethod::Em`] | shares in all | n k |
//! | [`MixtureMethod::Esca`] | one, drawn from the posterior | n k |
//! | [`MixtureMethod::Canopy1`] | proposals of the posterior at a surrogate, tested | k surrogates + 2 n |
//! | [`MixtureMethod::Canopy2`] | drawn among those probable at a surrogate, tested | k surrogates + n candidates |
//!
//! Surrogates are the means of groups of points below one node of a cover tree; `surrogates` of
//! them stand for n points. The test is that of Metropolis and Hastings, so that the law of a
//! point's cluster tends to its posterior whatever the surrogate is.
//!
//! ```
//! use tessera_core::canopy::{Constraints, MixtureData, MixtureFit, MixtureOptions};
//! use tessera_core::progress::Progress;
//!
//! let values: Vec<f32> = (0..100).map(|i| (i % 2 * 10) as f32 + i as f32 / 100.0).collect();
//! let options = MixtureOptions { clusters: 2, ..MixtureOptions::default() };
//! let data = MixtureData::new(&values, 1, options.covariance)?;
//! let mut fit = MixtureFit::new(data, options, &Constraints::default())?;
//! for _ in 0..10 {
//!     fit.step(&Progress::default())?;
//! }
//! let clusters = fit.assign();
//! assert!((2..100).all(|i| clusters[i] == clusters[i % 2]) && clusters[0] != clusters[1]);
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod alias;
mod choose;
mod components;
mod constraints;
mod data;
mod draw;
mod envelope;
mod family;
mod fit;
mod measures;
mod model;
mod most_probable;
mod options;
mod outcomes;
mod round;
mod start;
mod statistics;

pub use alias::AliasTable;
pub use choose::{ClusterCount, choose_clusters};
pub use constraints::Constraints;
pub use data::{MixtureData, hold_out, is_held_out};
pub use envelope::{ClusterTree, NaturalBox, PointLikelihoods};
pub use family::{Covariance, Family, Parameters, Prior};
pub use fit::{IterationReport, MixtureFit, MixtureState};
pub use measures::{normalised_mutual_information, purity};
pub use model::{MixtureLikelihood, MixtureModel};
pub use most_probable::MostProbable;
pub use options::{ClusterDraw, MixtureMethod, MixtureOptions};
pub use outcomes::{Frontier, Likelihoods, OutcomeTree};
pub use round::WholeSums;
pub use start::ClusterStart;
