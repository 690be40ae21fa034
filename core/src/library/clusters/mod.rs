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
//!
//! What is said of pairs of images, by merging and splitting too, is an act of the library, and
//! clusters go with it: those before such an act are kept beside those that came of it, so that
//! undoing it brings them back and redoing it the others. Clusters that are found anew, with
//! another number or start, have none to return to.

mod describe;
mod kept;
mod merge;
mod run;
mod split;

pub use describe::{ImageCluster, titles, unused, usual_clusters};
use kept::OTHERS;
pub use kept::{ClusterAim, KeptClusters};
pub use run::ClusterRun;

use super::Library;
use super::event::{Bond, EventId};
use super::looks::Look;
use crate::error::Result;
use crate::hash::hash64;
use crate::ids::ItemId;
use crate::linalg::single::direction;

/// The name of the checkpoint.
const MODEL: &str = "clusters";

/// What the names of checkpoints of clusters that are returned to begin with.
const ASIDE: &str = "clusters when ";

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

/// What comes of clusters when some are merged or one is split, and what that says of images.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterChange {
    /// The clusters that come of it.
    pub clusters: KeptClusters,
    /// The images of which something is said, so that later fits keep the change.
    pub images: Vec<ItemId>,
    /// What is said of them.
    pub bond: Bond,
    /// The act in words.
    pub words: String,
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
        let kept = kept.map(|kept| self.followed(kept)).transpose()?;
        Ok(KnownClusters { kept, is_hidden: false, aim: self.aim_in_store()? })
    }

    /// The clusters that were kept, of the images that are there now: images that came since are
    /// assigned to the most probable cluster as far as their vectors are in memory or in an index.
    /// None where none were kept, or learned features are off and these take them
    /// ([`Library::hides_clusters`]). O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn clusters(&self) -> Result<Option<KeptClusters>> {
        let found = self.clusters_in_cache()?.filter(|kept| self.can_show(kept));
        found.map(|kept| self.followed(kept)).transpose()
    }

    fn followed(&self, kept: KeptClusters) -> Result<KeptClusters> {
        let mut kept = self.clusters_returned(&kept)?.unwrap_or(kept);
        kept.follow(self);
        Ok(kept)
    }

    /// Whether these may be told of: not those that take learned features while these are off.
    pub fn can_show(&self, kept: &KeptClusters) -> bool {
        self.has_learned_features() || !kept.takes_network()
    }

    /// Whether images have vectors now of the kind that these clusters were found by.
    pub fn has_vectors_of(&self, kept: &KeptClusters) -> bool {
        self.look_version(&kept.look()) == kept.version
    }

    /// Whether these were found with all that is said of pairs of images now. O(images).
    pub fn follows_pairs(&self, kept: &KeptClusters) -> bool {
        // Older programs did not tell what was said, and had no way back.
        !kept.is_behind && (kept.said == 0 || kept.said == self.state.bonds().mark())
    }

    /// Whether what was said of pairs of images since was taken back, or said again, and other
    /// clusters than these are kept of that time.
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn has_clusters_to_return_to(&self, kept: &KeptClusters) -> Result<bool> {
        Ok(self.clusters_aside(kept)?.is_some())
    }

    /// The clusters to which undo or redo leads from these, if it does
    /// ([`Library::has_clusters_to_return_to`]), as they were then. They are kept in the place of
    /// these, and these beside them, where that can be written. O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be read.
    pub fn clusters_returned(&self, kept: &KeptClusters) -> Result<Option<KeptClusters>> {
        let Some(mut found) = self.clusters_aside(kept)? else { return Ok(None) };
        found.others = kept.others_once(found.said);
        // Where it cannot be written, the next reading finds the same.
        let _ = self.put_aside(kept.said, kept).and_then(|()| self.keep_clusters(&found));
        Ok(Some(found))
    }

    /// The clusters beside these to which what is said of pairs now leads, unless they cannot be
    /// read or shown.
    fn clusters_aside(&self, kept: &KeptClusters) -> Result<Option<KeptClusters>> {
        if kept.others.is_empty() {
            return Ok(None);
        }
        let said = self.state.bonds().mark();
        if said == kept.said || !kept.others.contains(&said) {
            return Ok(None);
        }
        let found = self.cache.checkpoint(&aside(said))?.and_then(|(_, bytes)| KeptClusters::from_bytes(&bytes));
        let mut shown = found.filter(|found| self.can_show(found));
        shown.iter_mut().for_each(|found| found.said = said);
        Ok(shown)
    }

    /// Merges or splits clusters, which is an act that says something of images. Both those before
    /// and those that come of it are kept, so that undoing it brings back the first, and redoing it
    /// the others. Returns its event, where it says anything new, and the clusters to go on from,
    /// also where these cannot be kept. O(images).
    ///
    /// # Errors
    /// As [`Library::say_bond`], and [`crate::Error::Io`], before anything is done.
    pub fn change_clusters(&mut self, before: &KeptClusters, change: ClusterChange) -> Result<(Option<EventId>, KeptClusters)> {
        let ClusterChange { clusters, images, bond, words } = change;
        self.go_over_to(before, clusters, |library| library.say_bond_for(&images, bond, words))
    }

    /// Says something of pairs of images, as `say` does, by which other clusters come than those
    /// `before`; both are kept as by [`Library::change_clusters`]. O(images).
    ///
    /// # Errors
    /// Those of `say`; [`crate::Error::Io`] before anything is said.
    pub fn go_over_to<T>(
        &mut self,
        before: &KeptClusters,
        mut changed: KeptClusters,
        say: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, KeptClusters)> {
        let was = self.state.bonds().mark();
        // First: once something is said, an error would tell of it as not done.
        self.put_checkpoint_of(&aside(was), before)?;
        let outcome = say(self)?;
        let said = self.state.bonds().mark();
        changed.is_behind = changed.is_behind && (said != was || before.is_behind);
        changed.said = was;
        (changed.others, changed.said) = (changed.others_once(said), said);
        let _ = self.cache.drop_checkpoints(ASIDE, OTHERS).and_then(|()| self.keep_clusters(&changed));
        Ok((outcome, changed))
    }

    /// Says something of pairs of images, as `say` does, to clusters that a later fit brings into
    /// line with it; both are kept as by [`Library::change_clusters`]. Where there are no clusters
    /// it is only said. O(images).
    ///
    /// # Errors
    /// Those of `say`; [`crate::Error::Io`] before anything is said.
    pub fn say_with_clusters<T>(
        &mut self,
        kept: Option<KeptClusters>,
        say: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Option<KeptClusters>)> {
        let Some(kept) = kept else { return Ok((say(self)?, None)) };
        let mut behind = kept.clone();
        behind.is_behind = true;
        self.go_over_to(&kept, behind, say).map(|(outcome, kept)| (outcome, Some(kept)))
    }

    /// Keeps clusters to return to, under the mark of what was said of pairs then.
    fn put_aside(&self, said: u64, kept: &KeptClusters) -> Result<()> {
        self.put_checkpoint_of(&aside(said), kept)?;
        self.cache.drop_checkpoints(ASIDE, OTHERS)
    }

    /// Keeps clusters under a name, unless an image took part that was forgotten since. Forgotten
    /// images that only followed them are left out. Whether they are kept.
    fn put_checkpoint_of(&self, name: &str, kept: &KeptClusters) -> Result<bool> {
        let is_there = |id| self.state.image(id).is_some_and(|image| image.content.is_some());
        if !kept.images_fitted().all(is_there) {
            return Ok(false);
        }
        let mut kept = kept.clone();
        kept.images.retain(|id, _| is_there(ItemId(*id)));
        self.cache.put_checkpoint(name, self.state.last_event().unwrap_or(EventId(0)), kept.to_bytes())?;
        Ok(true)
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
            Some(kept) => Ok(!self.can_show(kept)),
            None => Ok(!self.has_learned_features() && self.store.fact(AIM[2])? == Some(number_of(&Look::Network))),
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
    pub fn keep_clusters(&self, kept: &KeptClusters) -> Result<()> {
        if !self.put_checkpoint_of(MODEL, kept)? {
            return Ok(());
        }
        // Those of another time have no say in what is kept of now.
        if kept.others.is_empty() && kept.said == self.state.bonds().mark() {
            self.cache.drop_checkpoints(ASIDE, 0)?;
        }
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

/// The name of the checkpoint of clusters that were found when this was said of pairs of images.
fn aside(said: u64) -> String {
    format!("{ASIDE}{said:016x}")
}

/// What stands for vectors in a fact: a hash of their name.
fn number_of(look: &Look) -> i64 {
    let kind = if matches!(look, Look::Brought(_)) { "brought" } else { "built in" };
    hash64(format!("{kind} {}", look.name()).as_bytes()) as i64
}
