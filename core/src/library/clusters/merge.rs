//! Making several clusters one.

use std::collections::BTreeSet;

use super::ClusterChange;
use super::kept::KeptClusters;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::library::event::Bond;
use crate::plural::listed;

impl KeptClusters {
    /// These clusters with some of them, by their numbers, made one, which has the lowest number;
    /// higher ones move up. Where a number of clusters was asked for, so many fewer are. Of all
    /// images of the one it is said that they belong together. O(images).
    ///
    /// # Errors
    /// [`Error::Value`] when these are not two clusters or more, or one of them does not exist.
    pub fn merged(&self, clusters: &[usize]) -> Result<ClusterChange> {
        let numbers: BTreeSet<usize> = clusters.iter().copied().collect();
        if numbers.len() < 2 || !numbers.iter().all(|number| (1..=self.count()).contains(number)) {
            return Err(Error::value("clusters to merge", format!("two or more of 1 to {}", self.count()), listed(numbers)));
        }
        let wanted: BTreeSet<usize> = numbers.iter().map(|number| number - 1).collect();
        let kept = wanted.first().copied().unwrap_or(0);
        let mut next = 0;
        let mut into = vec![0u32; self.count()];
        for cluster in 0..self.count() {
            if cluster != kept && wanted.contains(&cluster) {
                into[cluster] = into[kept];
            } else {
                into[cluster] = next;
                next += 1;
            }
        }
        let moves_up = (0..self.count()).any(|cluster| !wanted.contains(&cluster) && (into[cluster] as usize) < cluster);
        let later = if moves_up { "; later ones moved up" } else { "" };
        let words = format!("Merged clusters {} into cluster {}{later}", listed(&numbers), kept + 1);
        let mut merged = self.clone();
        merged.model = self.model.joined(&into);
        merged.asked = self.asked.map(|asked| asked.saturating_sub(wanted.len() - 1).max(1));
        merged.images.values_mut().for_each(|(cluster, _)| *cluster = into[*cluster as usize]);
        merged.drawn.iter_mut().for_each(|(_, cluster)| *cluster = into[*cluster as usize]);
        let joined = merged.images.iter().filter(|(_, (cluster, _))| *cluster as usize == kept).map(|(id, _)| ItemId(*id));
        let images = joined.collect();
        Ok(ClusterChange { clusters: merged, images, bond: Bond::Together, words })
    }
}
