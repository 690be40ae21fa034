//! Fitting clusters to the images of a library, iteration by iteration, while the library is free.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::kept::{ClusterAim, KeptClusters};
use crate::canopy::{
    ClusterCount, Constraints, Covariance, IterationReport, MixtureData, MixtureFit, MixtureOptions, MixtureState, Prior, choose_clusters,
};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::library::bonds::Bond;
use crate::library::looks::{Look, LookRows, rows};
use crate::library::{Library, hold};
use crate::linalg::axes::Axes;
use crate::progress::Progress;
use crate::random::seeded;

/// Principal axes along which images are told.
const AXES: usize = 48;

/// Images that these are found from.
const SAMPLE: usize = 8192;

/// What is added to each variance, as a share of the mean one.
const FLOOR: f64 = 0.01;

/// Clusters that are being found.
#[derive(Clone, Debug)]
pub struct ClusterRun {
    aim: ClusterAim,
    look: Look,
    version: String,
    common: Vec<f64>,
    axes: Axes,
    ids: Vec<ItemId>,
    fit: MixtureFit,
    tried: Vec<ClusterCount>,
    /// Images without such a vector.
    left_out: usize,
    /// The mark of what is said of pairs, and those of clusters to return to.
    pairs: (u64, Vec<u64>),
}

impl ClusterRun {
    /// Reads the vectors of all images, which must be in memory or in an index
    /// ([`Library::load_looks`]), and starts. Where `kept` was made by the same
    /// vectors, number of clusters and seed, and at least half of the images had a cluster there,
    /// the fit goes on from there. It holds to what the user said of pairs of these images
    /// ([`crate::library::bonds`]), and where undo or redo leads from `kept` to other clusters
    /// ([`Library::clusters_returned`]), it goes on from these.
    ///
    /// # Errors
    /// [`Error::Value`] when no image has such a vector, or there are more clusters than images;
    /// [`Error::Cancelled`].
    ///
    /// # Complexity
    /// O(images * (values * axes + clusters * axes)).
    pub fn new(library: &Mutex<Library>, mut aim: ClusterAim, kept: Option<&KeptClusters>, progress: &Progress) -> Result<Self> {
        let look = aim.look.clone().unwrap_or_else(|| hold(library).usual_look());
        let version = hold(library).look_version(&look);
        let LookRows { images: ids, dimension: d, values, common } = rows(library, &look, progress)?;
        let (all, bonds, returned) = {
            let library = hold(library);
            let returned = kept.map(|kept| library.clusters_returned(kept)).transpose()?.flatten();
            (library.state().images().count(), library.state().bonds(), returned)
        };
        if let Some(returned) = returned.as_ref().filter(|_| kept.is_some_and(|kept| kept.aim() == aim)) {
            aim = returned.aim();
        }
        let kept = returned.as_ref().or(kept);
        if ids.is_empty() {
            let found = format!("none of {all} images with {}", look.words());
            return Err(Error::value("clusters", "one image or more to compare", found));
        }
        // Images that are gone, or have no such vector, take no part.
        let place = |id: ItemId| ids.binary_search(&id).ok().map(|place| place as u32);
        let places = |(a, b)| Some((place(a)?, place(b)?));
        let together = bonds.together_among(|image| place(image).is_some()).into_iter().filter_map(places).collect();
        let constraints = Constraints { together, apart: bonds.of(Bond::Apart).filter_map(places).collect() };
        let needed = constraints.enough_clusters(ids.len())?;
        let said = bonds.mark();
        let kept = kept.filter(|kept| kept.look() == look && kept.asked() == aim.clusters && kept.seed == aim.seed);
        let kept = kept.filter(|kept| kept.version == version);
        let pairs = (said, kept.map_or_else(Vec::new, |kept| kept.others_once(said)));
        let kept = kept.filter(|kept| {
            let there = ids.iter().filter(|id| kept.images.contains_key(&id.0)).count();
            // With too few for what was said since, a number that was left open is found anew.
            let are_enough = aim.clusters.is_some() || kept.count() >= needed;
            kept.mean.len() == d && 2 * there >= ids.len() && are_enough
        });
        let fresh = || Axes::of_sample(&values, d, AXES, SAMPLE, &mut seeded(aim.seed));
        let mut axes = kept.map_or_else(fresh, KeptClusters::axes);
        let mut rows = axes.project_all(&values);
        drop(values);
        if axes.count() == 0 {
            // One image, or all alike: there is no axis along which they differ.
            (axes, rows) = (Axes::with(vec![0.0; d], &[vec![0.0; d]], 1.0), vec![0.0; ids.len()]);
        }
        let (s, left_out) = (axes.count(), all.saturating_sub(ids.len()));
        let mut options = options(&rows, aim.seed);
        let mut tried = Vec::new();
        if let Some(kept) = kept {
            options.clusters = kept.count();
            tried.extend(kept.tried.iter().map(|(clusters, likelihood)| ClusterCount { clusters: *clusters, likelihood: *likelihood }));
            // Images that came since begin in the cluster that is most probable.
            let best = kept.model.best(&rows)?;
            let drawn: BTreeMap<u32, u32> = kept.drawn.iter().copied().collect();
            let assigned = ids.iter().zip(best).map(|(id, (best, _))| drawn.get(&id.0).copied().unwrap_or(best)).collect();
            let state = MixtureState { model: kept.model.clone(), assigned, iterations: kept.iterations };
            let data = kept.model.points(&rows)?;
            let fit = MixtureFit::resumed(data, options, &constraints, state)?;
            return Ok(Self { aim, look, version, common, axes, ids, fit, tried, left_out, pairs });
        }
        options.clusters = match aim.clusters {
            Some(clusters) if clusters > ids.len() => {
                let expected = format!("1 to {}, the number of images that can be compared", ids.len());
                return Err(Error::value("clusters", expected, clusters.to_string()));
            }
            Some(clusters) => clusters,
            None => {
                let (best, counts) = choose_clusters(&rows, s, &options, progress)?;
                tried = counts;
                best.max(needed)
            }
        };
        let data = MixtureData::new(&rows, s, options.covariance)?;
        let fit = MixtureFit::watched(data, options, &constraints, progress)?;
        Ok(Self { aim, look, version, common, axes, ids, fit, tried, left_out, pairs })
    }

    /// One iteration.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn step(&mut self, progress: &Progress) -> Result<IterationReport> {
        self.fit.step(progress)
    }

    /// Iterations so far, those of a fit that it goes on with included.
    pub fn iterations(&self) -> u64 {
        self.fit.iterations()
    }

    /// Images without a vector of this kind, which have no cluster.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// What was found so far. O(images * clusters * axes).
    pub fn found(&self) -> KeptClusters {
        let best = self.fit.best();
        let mut state = self.fit.state();
        if state.iterations == 0 {
            state.assigned = best.iter().map(|(cluster, _)| *cluster).collect();
        }
        let images = self.ids.iter().zip(best).map(|(id, own)| (id.0, own)).collect();
        let (look, common, pairs) = ((&self.look, &self.version[..]), self.common.clone(), self.pairs.clone());
        KeptClusters::new(&self.aim, look, common, &self.axes, state, &self.ids, &self.tried, images, pairs)
    }
}

/// How mixtures of images are fitted, of which these are the places along the axes.
pub(super) fn options(rows: &[f32], seed: u64) -> MixtureOptions {
    let variance = rows.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>() / rows.len().max(1) as f64;
    let floor = (FLOOR * variance).max(1e-12);
    let prior = Prior { floor, variance: floor, ..Prior::default() };
    // One variance for all axes: with one each, clusters of few images follow the axes along which
    // they happen to differ least. Clusters that share one were no better, and no more even.
    let covariance = Covariance::Isotropic;
    MixtureOptions { covariance, prior, seed, ..MixtureOptions::default() }
}
