//! Clusters of a library's images: groups that look alike, found without labels.
//!
//! Images are compared by one kind of their vectors ([`Look`]), brought to length 1 and told along
//! their principal axes; a mixture of round Gaussians ([`crate::canopy`]) has its clusters there.
//! [`ClusterRun`] fits it iteration by iteration, while the library is free; what it has found is
//! kept in the cache ([`KeptClusters`]) and follows the library: images that come are assigned by
//! the mixture, images that go leave. What was asked for is kept in the library itself, so that a
//! lost cache is made again by fitting again ([`Library::cluster_aim`]).
//!
//! Clusters that take anything of the network are told of only while learned features are on. They
//! stay in the cache, and are back once these are on again.
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
use crate::hash::hash64;
use crate::ids::ItemId;
use crate::linalg::single::direction;

/// The name of the checkpoint.
const MODEL: &str = "clusters";

/// Facts in the store, of the clusters that were kept last: the number that was asked for, 0 where
/// it was left open; the seed; and by what images are compared, as [`number_of`] tells it.
pub(super) const AIM: [&str; 3] = ["clusters asked", "clusters seed", "clusters by"];

/// What a library knows of the clusters that were kept last.
#[derive(Debug, Default)]
pub struct KnownClusters {
    /// As [`Library::clusters`].
    pub kept: Option<KeptClusters>,
    /// As [`Library::hides_clusters`].
    pub is_hidden: bool,
    /// As [`Library::cluster_aim`].
    pub aim: Option<ClusterAim>,
}

impl Library {
    /// All that is known of the clusters that were kept last, for which they are read once.
    /// O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the library cannot be read.
    pub fn known_clusters(&self) -> Result<KnownClusters> {
        let kept = self.clusters_in_cache()?;
        if self.is_hiding(kept.as_ref())? {
            return Ok(KnownClusters { is_hidden: true, ..KnownClusters::default() });
        }
        Ok(KnownClusters { kept: kept.map(|kept| self.followed(kept)), is_hidden: false, aim: self.aim_in_store()? })
    }

    /// The clusters that were kept, of the images that are there now: images that came since are
    /// assigned to the most probable cluster as far as their vectors are in memory or in an index.
    /// None where none were kept, or learned features are off and these take them
    /// ([`Library::hides_clusters`]). O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn clusters(&self) -> Result<Option<KeptClusters>> {
        let found = self.clusters_in_cache()?.filter(|kept| self.has_learned_features() || !kept.takes_network());
        Ok(found.map(|kept| self.followed(kept)))
    }

    fn followed(&self, mut kept: KeptClusters) -> KeptClusters {
        kept.follow(self);
        kept
    }

    /// Whether the clusters that were kept last are told of only while learned features are on,
    /// and these are off.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the library cannot be read.
    pub fn hides_clusters(&self) -> Result<bool> {
        // With learned features on nothing need be read.
        Ok(!self.has_learned_features() && self.is_hiding(self.clusters_in_cache()?.as_ref())?)
    }

    /// Whether these, as the cache has them, are told of only while learned features are on, and
    /// these are off.
    fn is_hiding(&self, kept: Option<&KeptClusters>) -> Result<bool> {
        match kept {
            _ if self.has_learned_features() => Ok(false),
            Some(kept) => Ok(kept.takes_network()),
            None => Ok(self.store.fact(AIM[2])? == Some(number_of(&Look::Network))),
        }
    }

    fn clusters_in_cache(&self) -> Result<Option<KeptClusters>> {
        Ok(self.cache.checkpoint(MODEL)?.and_then(|(_, bytes)| KeptClusters::from_bytes(&bytes)))
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
        self.cache.put_checkpoint(MODEL, self.state.last_event().unwrap_or(EventId(0)), kept.to_bytes())?;
        let values = [kept.asked().unwrap_or(0) as i64, kept.seed as i64, number_of(&kept.look())];
        for (name, value) in AIM.into_iter().zip(values) {
            if self.read_only.is_none() && self.store.fact(name)? != Some(value) {
                self.store.set_fact(name, value)?;
            }
        }
        Ok(())
    }

    /// What was asked for of the clusters that were kept last, also where these are lost with the
    /// cache. Vectors that the user brought and took away since are not told. None where no
    /// clusters were ever kept, or learned features are off and these take them.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the library cannot be read.
    pub fn cluster_aim(&self) -> Result<Option<ClusterAim>> {
        if self.hides_clusters()? { Ok(None) } else { self.aim_in_store() }
    }

    fn aim_in_store(&self) -> Result<Option<ClusterAim>> {
        let [asked, seed, by] = AIM.map(|name| self.store.fact(name));
        let (Some(asked), Some(seed), by) = (asked?, seed?, by?) else { return Ok(None) };
        let look = Look::all(&self.state).find(|look| Some(number_of(look)) == by);
        Ok(Some(ClusterAim { look, clusters: usize::try_from(asked).ok().filter(|asked| *asked > 0), seed: seed as u64 }))
    }

    /// The vector of an image by which it is compared, of length 1; none where it is not known.
    fn cluster_vector(&self, look: &Look, common: &[f64], id: ItemId) -> Option<Vec<f32>> {
        let image = self.state.image(id).filter(|image| image.is_live())?;
        Some(direction(&self.seen_anywhere(look, image)?.vector(look, common)))
    }
}

/// What stands for vectors in a fact: a hash of their name.
fn number_of(look: &Look) -> i64 {
    let kind = if matches!(look, Look::Brought(_)) { "brought" } else { "built in" };
    hash64(format!("{kind} {}", look.name()).as_bytes()) as i64
}
