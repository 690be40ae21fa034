//! Clusters of a library's images: groups that look alike, found without labels.
//!
//! Images are compared by one kind of their vectors ([`Look`]), brought to length 1 and told along
//! their principal axes; a mixture of round Gaussians ([`crate::canopy`]) has its clusters there.
//! [`ClusterRun`] fits it iteration by iteration, while the library is free; what it has found is
//! kept in the cache ([`KeptClusters`]) and follows the library: images that come are assigned by
//! the mixture, images that go leave. A lost cache is made again by fitting again.
//!
//! A cluster is named by its images' labels: labelling them is naming it, so a name outlives any
//! fit.

mod describe;
mod kept;
mod merge;
mod run;
mod split;

pub use describe::{ImageCluster, usual_clusters};
pub use kept::{ClusterAim, KeptClusters};
pub use run::ClusterRun;

use super::Library;
use super::event::EventId;
use super::looks::Look;
use crate::error::Result;
use crate::ids::ItemId;
use crate::linalg::single::direction;

/// The name of the checkpoint.
const MODEL: &str = "clusters";

impl Library {
    /// The clusters that were kept, of the images that are there now: images that came since are
    /// assigned to the most probable cluster as far as their vectors are in memory or in an index.
    /// None where none were kept. O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn clusters(&self) -> Result<Option<KeptClusters>> {
        let found = self.cache.checkpoint(MODEL)?.and_then(|(_, bytes)| KeptClusters::from_bytes(&bytes));
        Ok(found.map(|mut kept| {
            kept.follow(self);
            kept
        }))
    }

    /// Keeps clusters in the place of those kept before. Does nothing in a library that is only
    /// read, nor for clusters in which an image took part that was forgotten since.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn keep_clusters(&mut self, kept: &KeptClusters) -> Result<()> {
        if kept.images_fitted().any(|id| self.state.image(id).is_none_or(|image| image.content.is_none())) {
            return Ok(());
        }
        self.cache.put_checkpoint(MODEL, self.state.last_event().unwrap_or(EventId(0)), kept.to_bytes())
    }

    /// The vector of an image by which it is compared, of length 1; none where it is not known.
    fn cluster_vector(&self, look: &Look, common: &[f64], id: ItemId) -> Option<Vec<f32>> {
        let image = self.state.image(id).filter(|image| image.is_live())?;
        Some(direction(&self.seen_anywhere(look, image)?.vector(look, common)))
    }
}
