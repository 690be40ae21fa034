//! What is kept of clusters: the mixture, and the cluster of each image.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::canopy::{ClusterCount, MixtureModel, MixtureState};
use crate::ids::ItemId;
use crate::library::Library;
use crate::library::looks::Look;
use crate::library::told_vectors::has_cells;
use crate::linalg::axes::Axes;

/// Clusters are to be fitted anew when one in so many of their images came or went.
const OUTGROWN: usize = 4;

/// Clusters of before that can be returned to, at most.
pub(super) const OTHERS: usize = 8;

/// What clusters are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterAim {
    /// The vectors that are compared; without, the usual ones of the library.
    pub look: Option<Look>,
    /// The number of clusters; without, the number that describes images best that took no part.
    pub clusters: Option<usize>,
    /// The seed.
    pub seed: u64,
}

/// Clusters of a library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptClusters {
    /// The name of the vectors, and whether the user brought them.
    look: (String, bool),
    /// Of which elements the vectors are told, where they are.
    #[serde(default)]
    pub(super) version: String,
    /// What is common to all vectors and taken off, where that is done.
    pub(super) common: Vec<f64>,
    pub(super) mean: Vec<f32>,
    axes: Vec<f32>,
    unit: f32,
    pub(super) model: MixtureModel,
    /// The seed that it was made with.
    pub(super) seed: u64,
    /// The number of clusters that was asked for.
    pub(super) asked: Option<usize>,
    /// Iterations so far.
    pub(super) iterations: u64,
    /// Numbers of clusters that were tried, with how well they describe images held out.
    pub(super) tried: Vec<(usize, f64)>,
    /// The cluster of each image, and the logarithm of its density there.
    pub(super) images: BTreeMap<u32, (u32, f64)>,
    /// What a fit goes on from: the images that it is of, in order, and their clusters.
    pub(super) drawn: Vec<(u32, u32)>,
    /// The mark of what was said of pairs of images when these were found.
    #[serde(default)]
    pub(super) said: u64,
    /// Such marks of the clusters that these came from, or that came from them and were taken back,
    /// the newest last. They are kept beside these.
    #[serde(default)]
    pub(super) others: Vec<u64>,
    /// Whether something was said of pairs since they were found that was not gone on with yet.
    #[serde(default)]
    pub(super) is_behind: bool,
}

impl KeptClusters {
    #[expect(clippy::too_many_arguments, reason = "made in one place, of all that is kept")]
    pub(super) fn new(
        aim: &ClusterAim,
        (look, version): (&Look, &str),
        common: Vec<f64>,
        axes: &Axes,
        state: MixtureState,
        ids: &[ItemId],
        tried: &[ClusterCount],
        images: BTreeMap<u32, (u32, f64)>,
        (said, others): (u64, Vec<u64>),
    ) -> Self {
        Self {
            look: (look.name().into(), matches!(look, Look::Brought(_))),
            version: version.to_owned(),
            common,
            mean: axes.mean().to_vec(),
            axes: axes.rows(),
            unit: axes.unit(),
            seed: aim.seed,
            asked: aim.clusters,
            iterations: state.iterations,
            tried: tried.iter().map(|own| (own.clusters, own.likelihood)).collect(),
            drawn: ids.iter().map(|id| id.0).zip(state.assigned).collect(),
            model: state.model,
            images,
            said,
            others,
            is_behind: false,
        }
    }

    /// The marks of clusters to return to of those that come from these once other things are said.
    pub(super) fn others_once(&self, said: u64) -> Vec<u64> {
        let mut others = self.others.clone();
        if said != self.said {
            others.retain(|other| ![said, self.said].contains(other));
            others.push(self.said);
            others.drain(..others.len().saturating_sub(OTHERS));
        }
        others
    }

    /// Whether the same was said of pairs of images when others were found.
    pub fn is_of_same_pairs(&self, other: &Self) -> bool {
        self.said == other.said
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        ron::to_string(self).unwrap_or_default().into_bytes()
    }

    /// None for bytes that are no clusters.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut kept: Self = ron::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        kept.model = kept.model.checked().ok()?;
        let (d, clusters) = (kept.model.centre().len(), kept.model.clusters());
        let finite = [&kept.mean, &kept.axes].into_iter().flatten().chain([&kept.unit]).all(|value| value.is_finite());
        let is_sound = finite
            && kept.unit > 0.0
            && kept.mean.len().checked_mul(d) == Some(kept.axes.len())
            && kept.images.values().all(|(cluster, _)| (*cluster as usize) < clusters)
            && kept.drawn.iter().all(|(_, cluster)| (*cluster as usize) < clusters);
        is_sound.then_some(kept)
    }

    /// The vectors that are compared.
    pub fn look(&self) -> Look {
        let (name, is_brought) = &self.look;
        let built_in = Look::BUILT_IN.into_iter().find(|look| !is_brought && look.name() == name);
        built_in.unwrap_or_else(|| Look::Brought(Arc::from(name.as_str())))
    }

    /// Whether images were compared by anything of the network that comes with the program: what it
    /// sees in them, or the recogniser's elements with its cells among them.
    pub fn takes_network(&self) -> bool {
        self.look() == Look::Network || has_cells(&self.version)
    }

    /// The number of clusters.
    pub fn count(&self) -> usize {
        self.model.clusters()
    }

    /// The number of clusters that was asked for; none where it was left open.
    pub fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Numbers of clusters that were tried, each with the mean logarithm of the densities of images
    /// held out.
    pub fn tried(&self) -> &[(usize, f64)] {
        &self.tried
    }

    /// The number of an image's cluster, counted from 1.
    pub fn cluster_of(&self, image: ItemId) -> Option<usize> {
        self.images.get(&image.0).map(|(cluster, _)| *cluster as usize + 1)
    }

    /// The images that have a cluster.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    /// Whether no image has a cluster.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// Whether so many images came or went since it was fitted that it should be fitted anew: a
    /// quarter of those then. O(images).
    pub fn is_outgrown(&self) -> bool {
        let stayed = self.images_fitted().filter(|id| self.images.contains_key(&id.0)).count();
        let (came, gone) = (self.images.len() - stayed, self.drawn.len() - stayed);
        OUTGROWN * (came + gone) >= self.drawn.len() && came + gone > 0
    }

    /// What it was made of.
    pub fn aim(&self) -> ClusterAim {
        ClusterAim { look: Some(self.look()), clusters: self.asked, seed: self.seed }
    }

    /// What coordinates along the axes are in units of.
    pub(super) fn unit(&self) -> f32 {
        self.unit
    }

    pub(super) fn axes(&self) -> Axes {
        let columns: Vec<Vec<f32>> = self.axes.chunks_exact(self.mean.len().max(1)).map(<[f32]>::to_vec).collect();
        Axes::with(self.mean.clone(), &columns, self.unit)
    }

    /// The images that the mixture was fitted to.
    pub(super) fn images_fitted(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.drawn.iter().map(|(id, _)| ItemId(*id))
    }

    /// Leaves out images that are gone. O(images).
    pub fn leave_out_gone(&mut self, library: &Library) {
        self.images.retain(|id, _| library.state().image(ItemId(*id)).is_some_and(|image| image.is_live()));
    }

    /// Leaves out images that are gone, and assigns those that came, as far as their vectors are in
    /// memory or in an index. O(images + those that came * clusters).
    pub fn follow(&mut self, library: &Library) {
        self.leave_out_gone(library);
        let came = library.state().images().map(|image| image.id).filter(|id| !self.images.contains_key(&id.0));
        let (fresh, rows) = self.projected(library, &self.axes(), came);
        if let Ok(best) = self.model.best(&rows) {
            self.images.extend(fresh.iter().zip(best).map(|(id, found)| (id.0, found)));
        }
    }

    /// Those of the images whose vectors are known and as long as the others', and their
    /// coordinates along the axes, one image after the other.
    pub(super) fn projected(&self, library: &Library, axes: &Axes, images: impl Iterator<Item = ItemId>) -> (Vec<ItemId>, Vec<f32>) {
        let look = self.look();
        if library.look_version(&look) != self.version {
            return Default::default();
        }
        let (mut known, mut rows, mut projected) = (Vec::new(), Vec::new(), Vec::new());
        for id in images {
            if let Some(vector) = library.cluster_vector(&look, &self.common, id).filter(|vector| vector.len() == self.mean.len()) {
                axes.project(&vector, &mut projected);
                known.push(id);
                rows.extend_from_slice(&projected);
            }
        }
        (known, rows)
    }
}
