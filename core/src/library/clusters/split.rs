//! Making one cluster two.

use std::sync::Mutex;

use super::ClusterChange;
use super::kept::KeptClusters;
use super::run::options;
use crate::canopy::{Constraints, MixtureData, MixtureFit, MixtureMethod, MixtureOptions};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::library::event::Bond;
use crate::library::{Library, hold};
use crate::progress::Progress;

/// Iterations in which the two are found.
const ITERATIONS: usize = 15;
/// Images that are read between two moments in which the library is free.
const BATCH: usize = 256;

impl KeptClusters {
    /// These clusters with one of them, by its number, made two by a mixture of two of its images;
    /// the new one has the last number. Where a number of clusters was asked for, one more is.
    /// Of the most typical image of each it is said that they do not belong together. The images'
    /// vectors must be known ([`Library::load_looks`]); the library is held for moments only.
    /// O(images of the cluster * axes).
    ///
    /// # Errors
    /// [`Error::Value`] when there is no such cluster, or its images do not differ;
    /// [`Error::Cancelled`].
    pub fn split(&self, library: &Mutex<Library>, number: usize, progress: &Progress) -> Result<ClusterChange> {
        let fails = || Error::value("cluster to split", "the number of a cluster whose images differ", number.to_string());
        let cluster = number.checked_sub(1).filter(|cluster| *cluster < self.count()).ok_or_else(fails)?;
        let axes = self.axes();
        let (mut ids, mut rows) = (Vec::new(), Vec::new());
        let own: Vec<ItemId> = self.images.iter().filter(|(_, (own, _))| *own as usize == cluster).map(|(id, _)| ItemId(*id)).collect();
        for part in own.chunks(BATCH) {
            let (known, projected) = self.projected(&hold(library), &axes, part.iter().copied());
            ids.extend(known);
            rows.extend(projected);
        }
        if ids.len() < 2 || rows.is_empty() {
            return Err(fails());
        }
        let two = MixtureOptions { clusters: 2, method: MixtureMethod::Em, ..options(&rows, self.seed) };
        let mut halves = MixtureFit::new(MixtureData::new(&rows, axes.count(), two.covariance)?, two, &Constraints::default())?;
        for _ in 0..ITERATIONS {
            halves.step(progress)?;
        }
        let best = halves.best();
        let typical = |half: u32| {
            let own = ids.iter().zip(&best).filter(|(_, own)| own.0 == half);
            own.max_by(|(a, one), (b, other)| one.1.total_cmp(&other.1).then(b.cmp(a))).map(|(id, _)| *id)
        };
        let (Some(one), Some(other)) = (typical(0), typical(1)) else { return Err(fails()) };
        let mut split = self.clone();
        split.asked = self.asked.map(|asked| asked + 1);
        split.model = self.model.split(cluster, halves.model());
        let whole = self.model.shares()[cluster].ln();
        let numbers = [cluster as u32, self.count() as u32];
        for (id, (half, density)) in ids.iter().zip(&best) {
            split.images.insert(id.0, (numbers[*half as usize], whole + density));
            if let Ok(at) = split.drawn.binary_search_by_key(&id.0, |(id, _)| *id) {
                split.drawn[at].1 = numbers[*half as usize];
            }
        }
        let words = format!("Split cluster {number}; the new one is cluster {}", split.count());
        Ok(ClusterChange { clusters: split, images: vec![one, other], bond: Bond::Apart, words })
    }
}
