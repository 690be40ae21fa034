//! How fast mixtures are fitted, and how well their clusters describe points.

use std::time::Instant;

use crate::canopy::{
    Constraints, MixtureData, MixtureFit, MixtureMethod, MixtureOptions, hold_out, is_held_out, normalised_mutual_information, purity,
};
use crate::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::Metric;
use crate::progress::Progress;

/// What is measured.
#[derive(Clone, Debug)]
pub struct MixtureRun {
    /// How the mixture is fitted.
    pub options: MixtureOptions,
    /// Iterations.
    pub iterations: usize,
    /// One point of so many is held out to measure likelihoods on; 0: none, all points are
    /// measured.
    pub held_out: usize,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MixtureScores {
    /// Seconds for an iteration, the mean of all but the first.
    pub iteration_s: f64,
    /// Of these, seconds for matching points and clusters.
    pub draw_s: f64,
    /// And for sums, parameters and tables.
    pub update_s: f64,
    /// Seconds before the first iteration: first means, groups of points.
    pub setup_s: f64,
    /// Of these, seconds for the cover tree of the points, where the method has one.
    pub tree_s: f64,
    /// Seconds for all: the set-up and every iteration.
    pub total_s: f64,
    /// Seconds for the sums of all clusters alone, for points that are assigned: the fastest of
    /// three.
    pub one_pass_s: f64,
    /// How well clusters agree with classes, where these are given.
    pub purity: Option<f64>,
    /// Normalised mutual information of the same.
    pub nmi: Option<f64>,
    /// The mean over held-out points of the logarithm of the largest share times density.
    pub likelihood_max: f64,
    /// The mean over held-out points of the logarithm of the density.
    pub likelihood_mix: f64,
    /// The share of proposals that were accepted in the last iteration; 1 where there are none.
    pub acceptance: f64,
    /// Densities computed in the last iteration, for each point.
    pub evaluations: f64,
    /// Clusters that have points.
    pub used: usize,
    /// Points that were fitted.
    pub n: usize,
    /// Values of a point.
    pub d: usize,
    /// Memory of points, tables and assignments.
    pub bytes: usize,
    /// The method, with `auto` resolved.
    pub method: MixtureMethod,
}

/// Fits a mixture of the rows of a matrix of `d` columns, and measures it. Memory: twice the points
/// at most.
///
/// # Errors
/// As [`MixtureFit::new`]; [`Error::Value`] when there are not as many classes as points;
/// [`Error::Cancelled`].
pub fn run(values: Vec<f32>, d: usize, classes: Option<&[u32]>, run: &MixtureRun, progress: &Progress) -> Result<MixtureScores> {
    let n = values.len() / d.max(1);
    if let Some(classes) = classes.filter(|classes| classes.len() != n) {
        return Err(Error::value("labels", format!("one for each of {n} points"), classes.len().to_string()));
    }
    let (fitted, held_out) = hold_out(&values, d, run.held_out);
    drop(values);
    let begun = Instant::now();
    let mut data = MixtureData::new(&fitted, d, run.options.covariance)?;
    // The points are held once while the tree is built.
    drop(fitted);
    let mut tree_s = 0.0;
    if matches!(run.options.chosen(d), MixtureMethod::Canopy1 | MixtureMethod::Canopy2) && !data.is_empty() {
        let tree = Instant::now();
        data.group(data.len().div_ceil(run.options.surrogate_points()), progress)?;
        tree_s = tree.elapsed().as_secs_f64();
    }
    let mut fit = MixtureFit::watched(data, run.options.clone(), &Constraints::default(), progress)?;
    let setup_s = begun.elapsed().as_secs_f64();
    progress.begin("Fitting the mixture", run.iterations as u64);
    let (mut reports, mut seconds, mut total_s) = (Vec::new(), 0.0, setup_s);
    for iteration in 0..run.iterations {
        let begun = Instant::now();
        let report = fit.step(progress)?;
        let elapsed = begun.elapsed().as_secs_f64();
        total_s += elapsed;
        if iteration > 0 || run.iterations == 1 {
            seconds += elapsed;
            reports.push(report);
        }
        progress.step()?;
    }
    let mean = |sum: f64| sum / reports.len().max(1) as f64;
    let likelihood = if held_out.is_empty() { fit.likelihood() } else { fit.model().likelihood(&held_out)? };
    let assigned = fit.assign();
    let classes: Option<Vec<u32>> = classes
        .map(|classes| classes.iter().enumerate().filter(|(i, _)| !is_held_out(*i, run.held_out)).map(|(_, class)| *class).collect());
    let last = reports.last().copied().unwrap_or_default();
    let mut used = vec![false; run.options.clusters];
    assigned.iter().for_each(|cluster| used[*cluster as usize] = true);
    Ok(MixtureScores {
        iteration_s: mean(seconds),
        draw_s: mean(reports.iter().map(|report| report.draw_s).sum()),
        update_s: mean(reports.iter().map(|report| report.update_s).sum()),
        setup_s,
        tree_s,
        total_s,
        one_pass_s: (0..3).map(|_| fit.one_pass_s()).fold(f64::INFINITY, f64::min),
        purity: classes.as_ref().map(|classes| purity(&assigned, classes)),
        nmi: classes.as_ref().map(|classes| normalised_mutual_information(&assigned, classes)),
        likelihood_max: likelihood.max,
        likelihood_mix: likelihood.mix,
        acceptance: if last.proposed > 0 { last.accepted as f64 / last.proposed as f64 } else { 1.0 },
        evaluations: last.evaluated as f64 / fit.data().len() as f64,
        used: used.into_iter().filter(|used| *used).count(),
        n: fit.data().len(),
        d,
        bytes: fit.bytes(),
        method: run.options.chosen(d),
    })
}

/// What was measured of a cover tree beside the scan.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeScores {
    /// Seconds to build it.
    pub build_s: f64,
    /// Seconds for the nearest neighbour of one query, one at a time.
    pub query_s: f64,
    /// Seconds for the same query, compared with all points on one thread.
    pub scan_s: f64,
    /// Points that a query was compared with, on average.
    pub compared: f64,
    /// Points of the tree.
    pub n: usize,
    /// Nodes on the longest way down.
    pub depth: usize,
    /// The largest number of children.
    pub degree: usize,
}

/// Builds a cover tree of points and asks it for the `k` nearest of each query, one at a time, and
/// then the exact scan.
///
/// # Errors
/// As [`DenseTree::new`]; [`Error::Cancelled`].
pub fn tree(values: &[f32], queries: &[f32], d: usize, k: usize, base: f64, progress: &Progress) -> Result<TreeScores> {
    use crate::nearest::{DenseScan, Dynamic as _, NeighborIndex as _, everything};
    let n = values.len() / d.max(1);
    let ids: Vec<ItemId> = (0..n as u32).map(ItemId).collect();
    let options = CoverTreeOptions { base, ..CoverTreeOptions::default() };
    let points = DensePoints::new(d, values.to_vec())?;
    progress.begin("Building the tree of the points", 0);
    let begun = Instant::now();
    let tree = DenseTree::new(points, &ids, Metric::Euclidean, options)?;
    let build_s = begun.elapsed().as_secs_f64();
    let asked = queries.len() / d.max(1);
    progress.begin("Asking the tree", asked as u64);
    let (mut compared, mut query_s) = (0, f64::INFINITY);
    for _ in 0..3 {
        compared = 0;
        let begun = Instant::now();
        for query in queries.chunks_exact(d.max(1)) {
            compared += tree.nearest(query, k, &everything)?.cost.points;
        }
        query_s = query_s.min(begun.elapsed().as_secs_f64() / asked.max(1) as f64);
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    let statistics = tree.statistics();
    drop(tree);
    let mut scan = DenseScan::new(d, Metric::Euclidean);
    ids.iter().zip(values.chunks_exact(d.max(1))).try_for_each(|(id, point)| scan.insert(*id, point))?;
    let begun = Instant::now();
    for query in queries.chunks_exact(d.max(1)) {
        scan.nearest(query, k, &everything)?;
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
    }
    let scan_s = begun.elapsed().as_secs_f64() / asked.max(1) as f64;
    let compared = compared as f64 / asked.max(1) as f64;
    Ok(TreeScores { build_s, query_s, scan_s, compared, n, depth: statistics.depth, degree: statistics.degree })
}
