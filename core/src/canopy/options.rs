//! What a mixture is fitted by.

use super::family::{Covariance, Prior};
use super::start::ClusterStart;

/// How clusters and points are matched in each iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MixtureMethod {
    /// Expectation maximisation: every point has a share in every cluster.
    Em,
    /// Each point is in one cluster, drawn from its posterior, all clusters compared: stochastic
    /// EM.
    Esca,
    /// Draws by tables of the posterior at surrogates.
    Canopy1,
    /// Draws by the few clusters that are probable at surrogates.
    Canopy2,
    /// [`MixtureMethod::Esca`] for few clusters, more of them in many dimensions, else
    /// [`MixtureMethod::Canopy2`].
    #[default]
    Auto,
}

/// How the two methods of Canopy draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterDraw {
    /// Canopy I: proposals, accepted by Metropolis and Hastings' test. Canopy II: lists of
    /// clusters, found by comparing each surrogate with all.
    #[default]
    Usual,
    /// Canopy II: lists of clusters, found by a tree of clusters with proven bounds of the rest.
    TreeLists,
    /// Canopy I: rejection instead of the test. Canopy II: proposals by rejection on a tree of
    /// clusters.
    Rejection,
}

/// How a mixture is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureOptions {
    /// The number of clusters, 1 or more.
    pub clusters: usize,
    /// The shape of clusters.
    pub covariance: Covariance,
    /// How points are drawn.
    pub method: MixtureMethod,
    /// How Canopy draws.
    pub draw: ClusterDraw,
    /// Where clusters start.
    pub start: ClusterStart,
    /// What is believed beforehand.
    pub prior: Prior,
    /// Points that share a surrogate, on average; else by the number of clusters.
    pub surrogate_points: Option<usize>,
    /// Clusters in the lists of Canopy II; else by the number of clusters.
    pub candidates: Option<usize>,
    /// Proposals for each point in an iteration of Canopy I.
    pub steps: usize,
    /// The seed of all draws.
    pub seed: u64,
}

impl Default for MixtureOptions {
    fn default() -> Self {
        Self {
            clusters: 10,
            covariance: Covariance::default(),
            method: MixtureMethod::default(),
            draw: ClusterDraw::default(),
            start: ClusterStart::default(),
            prior: Prior::default(),
            surrogate_points: None,
            candidates: None,
            steps: 1,
            seed: 0,
        }
    }
}

/// Clusters up to which comparing all is as quick as anything, as measured with 30 and 784
/// dimensions; in between a line.
fn few(dimension: usize) -> usize {
    (32 + dimension / 12).min(96)
}

/// The fewest and the most clusters in lists, where nothing else is asked for.
const LISTED: (usize, usize) = (32, 64);

impl MixtureOptions {
    /// The method for points of so many dimensions, with [`MixtureMethod::Auto`] resolved.
    pub fn chosen(&self, dimension: usize) -> MixtureMethod {
        match self.method {
            MixtureMethod::Auto if self.clusters <= few(dimension) => MixtureMethod::Esca,
            MixtureMethod::Auto => MixtureMethod::Canopy2,
            method => method,
        }
    }

    /// Points that share a surrogate: the more clusters, the more, so that comparing surrogates
    /// with all clusters costs no more than comparing points with their lists; Canopy I has none,
    /// and half as many surrogates.
    pub fn surrogate_points(&self) -> usize {
        let listed = if self.method == MixtureMethod::Canopy1 { LISTED.0 } else { LISTED.1 };
        self.surrogate_points.unwrap_or_else(|| (self.clusters / listed).clamp(16, 64)).max(1)
    }

    /// Clusters in the lists of Canopy II.
    pub fn candidates(&self) -> usize {
        self.candidates.unwrap_or_else(|| (self.clusters / 8).next_multiple_of(16).clamp(LISTED.0, LISTED.1)).max(1)
    }
}
