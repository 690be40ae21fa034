//! Fitting a mixture, iteration by iteration.

use std::collections::BTreeMap;
use std::time::Instant;

use rand::RngExt as _;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::components::{Components, Scores, best, exponentials, largest};
use super::constraints::{Block, Constraints};
use super::data::MixtureData;
use super::draw::{Drawn, NONE, Pass, Share, pick};
use super::family::{Covariance, Parameters};
use super::model::{MixtureLikelihood, MixtureModel};
use super::options::{ClusterDraw, MixtureMethod, MixtureOptions};
use super::start;
use super::statistics::{Members, Sums, add_sums};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::random;

/// Below this weight a cluster has no points, and stays where it is.
const EMPTY: f64 = 1e-6;

/// A mixture that is being fitted: after any iteration it can be used, kept, and gone on with.
#[derive(Clone, Debug)]
pub struct MixtureFit {
    data: MixtureData,
    options: MixtureOptions,
    model: MixtureModel,
    components: Components,
    /// The cluster of each row.
    assigned: Vec<u32>,
    iterations: u64,
    /// Rows that are assigned as one; the numbers of points are places of rows here.
    blocks: Vec<Block>,
}

/// What is kept of a fit between runs: with the same data and options it goes on as if it had
/// never stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureState {
    /// The mixture after the last iteration.
    pub model: MixtureModel,
    /// The cluster of each point, by number; 2^32 - 1 before the first iteration.
    pub assigned: Vec<u32>,
    /// Iterations so far.
    pub iterations: u64,
}

/// The cluster of each row; of EM, the sums of each cluster and the mean likelihood; and what
/// happened.
type Matched = (Vec<u32>, Option<Vec<Sums>>, Option<f64>, Drawn);

/// What one iteration did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IterationReport {
    /// Points that are in another cluster than before.
    pub moved: u64,
    /// Proposals of Metropolis and Hastings or of rejection, and how many were accepted; 0 where
    /// there are none.
    pub proposed: u64,
    /// Of the proposals.
    pub accepted: u64,
    /// Densities of points in clusters that were computed.
    pub evaluated: u64,
    /// EM alone: the mean logarithm of the points' densities before this iteration.
    pub likelihood: Option<f64>,
    /// Seconds for matching points and clusters, of EM with the sums.
    pub draw_s: f64,
    /// Seconds for sums over clusters, parameters and tables.
    pub update_s: f64,
}

impl MixtureFit {
    /// A mixture at its start. Groups of near points are made here where the method needs them and
    /// the data has none yet.
    ///
    /// # Errors
    /// [`Error::Value`] for no points, no clusters, more clusters than points, first means of
    /// another number, or constraints that cannot hold.
    pub fn new(data: MixtureData, options: MixtureOptions, constraints: &Constraints) -> Result<Self> {
        Self::watched(data, options, constraints, &Progress::default())
    }

    /// As [`MixtureFit::new`], with progress.
    ///
    /// # Errors
    /// As [`MixtureFit::new`], and [`Error::Cancelled`].
    pub fn watched(data: MixtureData, options: MixtureOptions, constraints: &Constraints, progress: &Progress) -> Result<Self> {
        let (n, k) = (data.len(), options.clusters);
        if k == 0 || k > n {
            return Err(Error::value("clusters", format!("1 to {n}, the number of points"), k.to_string()));
        }
        if data.covariance != options.covariance {
            return Err(Error::value("points", "points that were taken over for clusters of this shape", format!("{:?}", data.covariance)));
        }
        let mut rng = random::seeded(options.seed);
        let middles = start::means(&data, k, &options.start, &mut rng, progress)?;
        let spread = first_spread(&data, &options);
        let parameters: Vec<Parameters> =
            middles.chunks_exact(data.d).map(|middle| Parameters { middle: middle.to_vec(), spread: spread.clone() }).collect();
        let model = MixtureModel::new(options.covariance, data.centre.clone(), parameters, vec![-(k as f64).ln(); k]);
        let state = MixtureState { model, assigned: vec![NONE; n], iterations: 0 };
        Self::go_on(data, options, constraints, state, progress)
    }

    /// Goes on with a fit that was kept.
    ///
    /// # Errors
    /// [`Error::Value`] when the state is not one of these points and options.
    pub fn resumed(data: MixtureData, options: MixtureOptions, constraints: &Constraints, state: MixtureState) -> Result<Self> {
        Self::go_on(data, options, constraints, state, &Progress::default())
    }

    fn go_on(
        mut data: MixtureData,
        options: MixtureOptions,
        constraints: &Constraints,
        state: MixtureState,
        progress: &Progress,
    ) -> Result<Self> {
        let (n, k) = (data.len(), options.clusters);
        let fits = state.assigned.len() == n && state.assigned.iter().all(|cluster| *cluster == NONE || (*cluster as usize) < k);
        if !fits || !state.model.fits(options.covariance, data.d, k) {
            let found = format!("one of {} points and {} clusters", state.assigned.len(), state.model.clusters());
            return Err(Error::value("kept mixture", format!("one of {n} points of {} values and {k} clusters", data.d), found));
        }
        let needs_groups = matches!(options.chosen(data.d), MixtureMethod::Canopy1 | MixtureMethod::Canopy2);
        if needs_groups && !data.is_grouped() {
            data.group(n.div_ceil(options.surrogate_points()), progress)?;
        }
        let mut places = vec![0u32; n];
        data.order.iter().zip(0..).for_each(|(point, place)| places[*point as usize] = place);
        let mut blocks = constraints.blocks(n, k)?;
        blocks.iter_mut().flat_map(|block| &mut block.points).for_each(|point| *point = places[*point as usize]);
        let assigned = data.order.iter().map(|point| state.assigned[*point as usize]).collect();
        let MixtureState { model, iterations, .. } = state;
        let components = model.components();
        Ok(Self { data, options, model, components, assigned, iterations, blocks })
    }

    /// The mixture as it is now.
    pub fn model(&self) -> &MixtureModel {
        &self.model
    }

    /// How well it describes the points that it is of.
    pub fn likelihood(&self) -> MixtureLikelihood {
        self.model.likelihood_rows(&self.components, &self.data.rows)
    }

    /// The points.
    pub fn data(&self) -> &MixtureData {
        &self.data
    }

    /// Iterations so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// What to keep of this fit. O(n + clusters * d).
    pub fn state(&self) -> MixtureState {
        MixtureState { model: self.model.clone(), assigned: self.drawn(), iterations: self.iterations }
    }

    /// The cluster of each point as it was drawn last, by number.
    pub fn drawn(&self) -> Vec<u32> {
        let mut drawn = vec![NONE; self.data.len()];
        self.data.order.iter().zip(&self.assigned).for_each(|(point, cluster)| drawn[*point as usize] = *cluster);
        drawn
    }

    /// Memory in bytes: points, tables and clusters of points.
    pub fn bytes(&self) -> usize {
        self.data.bytes() + self.components.bytes() + size_of_val(&self.assigned[..])
    }

    /// One iteration: each point is matched with clusters, and the clusters' parameters become the
    /// most probable ones. Equal on any number of threads. When it is cancelled nothing has
    /// changed.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn step(&mut self, progress: &Progress) -> Result<IterationReport> {
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let begun = Instant::now();
        let (assigned, sums, likelihood, drawn) = self.matched(self.iterations)?;
        let drawn_at = begun.elapsed();
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let sums = sums.unwrap_or_else(|| Members::of(self.options.clusters, &assigned).sums(&self.data));
        self.update(&sums);
        self.assigned = assigned;
        self.iterations += 1;
        let Drawn { moved, proposed, accepted, evaluated } = drawn;
        let (draw_s, update_s) = (drawn_at.as_secs_f64(), (begun.elapsed() - drawn_at).as_secs_f64());
        Ok(IterationReport { moved, proposed, accepted, evaluated, likelihood, draw_s, update_s })
    }

    /// Draws the clusters of all points as iteration `iteration` would, and leaves the clusters'
    /// parameters as they are: the chain of draws for a mixture that stands still.
    ///
    /// # Errors
    /// As [`MixtureFit::step`].
    pub fn draw_only(&mut self, iteration: u64, progress: &Progress) -> Result<()> {
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.assigned = self.matched(iteration)?.0;
        Ok(())
    }

    /// The clusters of all rows as an iteration draws them; of EM also the sums of each cluster
    /// and the mean likelihood. EM sums some points after others: the shares of all would take many
    /// times the room of the points.
    fn matched(&self, iteration: u64) -> Result<Matched> {
        let seed = self.options.seed ^ (iteration + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (data, components, parameters) = (&self.data, &self.components, self.model.parameters());
        let pass = Pass { data, components, parameters, options: &self.options, seed };
        let mut assigned = self.assigned.clone();
        let drawn = match (self.options.chosen(self.data.d), self.options.draw) {
            (MixtureMethod::Em, _) => {
                let (sums, likelihood, drawn) = self.summed(&pass, &mut assigned);
                return Ok((assigned, Some(sums), Some(likelihood), drawn));
            }
            (MixtureMethod::Canopy1, _) => pass.tables(&mut assigned),
            (MixtureMethod::Canopy2, ClusterDraw::Rejection) => pass.trees(&mut assigned)?,
            (MixtureMethod::Canopy2, _) => pass.lists(&mut assigned)?,
            (MixtureMethod::Esca | MixtureMethod::Auto, _) => pass.exact(&mut assigned),
        };
        self.constrain(seed, &mut assigned);
        Ok((assigned, None, None, drawn))
    }

    /// The sums of all clusters over the shares of points, and the mean likelihood. Blocks have
    /// their best cluster as a whole.
    fn summed(&self, pass: &Pass<'_>, assigned: &mut [u32]) -> (Vec<Sums>, f64, Drawn) {
        let clusters = self.options.clusters;
        let blocked: BTreeMap<u32, u32> = self.blocked(&self.blocks_placed(|scores| best(scores.iter()).0)).collect();
        let whole: Vec<Share> = blocked.iter().map(|(place, cluster)| (*cluster, *place, 1.0)).collect();
        let mut sums = Members::new(clusters, whole.iter()).sums(&self.data);
        let (likelihood, drawn) = pass.responsibilities(assigned, |shares| {
            let free = shares.iter().flatten().filter(|(_, place, _)| !blocked.contains_key(place));
            add_sums(&mut sums, Members::new(clusters, free).sums(&self.data));
        });
        blocked.iter().for_each(|(place, cluster)| assigned[*place as usize] = *cluster);
        (sums, likelihood / self.data.len() as f64, drawn)
    }

    /// The sums of all clusters for the points as they are assigned: the least that any iteration
    /// must do. Returns the seconds that it took.
    pub fn one_pass_s(&self) -> f64 {
        let begun = Instant::now();
        let assigned: Vec<u32> = self.assigned.iter().map(|cluster| if *cluster == NONE { 0 } else { *cluster }).collect();
        let sums = Members::of(self.options.clusters, &assigned).sums(&self.data);
        std::hint::black_box(sums);
        begun.elapsed().as_secs_f64()
    }

    /// Makes each cluster's parameters those that are most probable.
    fn update(&mut self, sums: &[Sums]) {
        let (n, k) = (self.data.len() as f64, self.options.clusters as f64);
        let (family, prior) = (self.options.covariance.family(), self.options.prior);
        let before = self.model.parameters();
        let parameters: Vec<Parameters> = sums
            .par_iter()
            .zip(before)
            .map(|(own, before)| if own.weight > EMPTY { family.estimate(own.weight, &own.phi, &prior) } else { before.clone() })
            .collect();
        let log_shares = sums.iter().map(|own| (own.weight + prior.share).ln() - (n + k * prior.share).ln()).collect();
        self.model = MixtureModel::new(self.options.covariance, self.data.centre.clone(), parameters, log_shares);
        self.components = self.model.components();
    }

    /// Draws a cluster for each block of rows, one that no block has from which it must be apart.
    fn constrain(&self, seed: u64, assigned: &mut [u32]) {
        if self.blocks.is_empty() {
            return;
        }
        let mut rng = random::stream(seed, u64::MAX);
        let taken = self.blocks_placed(|scores| {
            let most = largest(scores.iter().copied());
            let total = exponentials(scores, most);
            pick(scores, rng.random::<f32>() * total)
        });
        for (place, cluster) in self.blocked(&taken) {
            assigned[place as usize] = cluster;
        }
    }

    /// A cluster for each block, chosen by its scores in those that are left to it. O(points of
    /// blocks * clusters * d).
    fn blocks_placed(&self, mut choose: impl FnMut(&mut [Scores]) -> u32) -> Vec<u32> {
        let joint: Vec<Vec<Scores>> = self.blocks.par_iter().map(|block| self.joint_scores(block)).collect();
        let mut taken: Vec<u32> = Vec::with_capacity(self.blocks.len());
        for (block, mut scores) in self.blocks.iter().zip(joint) {
            for other in &block.apart {
                scores.as_flattened_mut()[taken[*other] as usize] = f32::NEG_INFINITY;
            }
            taken.push(choose(&mut scores));
        }
        taken
    }

    /// The scores of all clusters for a block: its points together count one share.
    fn joint_scores(&self, block: &Block) -> Vec<Scores> {
        let (mut joint, mut scores): (Vec<Scores>, Vec<Scores>) = (Vec::new(), Vec::new());
        for place in &block.points {
            self.components.scores(self.data.row(*place as usize), &mut scores);
            if joint.is_empty() {
                joint.clone_from(&scores);
                continue;
            }
            let own = scores.as_flattened().iter().zip(&self.components.log_shares);
            joint.as_flattened_mut().iter_mut().zip(own).for_each(|(joint, (score, share))| *joint += score - *share as f32);
        }
        joint
    }

    /// The rows of all blocks with the clusters of these.
    fn blocked<'a>(&'a self, taken: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
        self.blocks.iter().zip(taken).flat_map(|(block, cluster)| block.points.iter().map(|place| (*place, *cluster)))
    }

    /// The most probable cluster of each point, by number, with what the user said held to, and the
    /// logarithm of its share times the point's density there. O(n clusters d).
    pub fn best(&self) -> Vec<(u32, f64)> {
        let mut rows = self.model.best_rows(&self.components, &self.data.rows);
        if !self.blocks.is_empty() {
            let taken = self.blocks_placed(|scores| best(scores.iter()).0);
            for (place, cluster) in self.blocked(&taken) {
                let score = self.components.score(self.data.row(place as usize), cluster as usize);
                rows[place as usize] = (cluster, f64::from(score));
            }
        }
        let mut best = vec![(0, 0.0); rows.len()];
        self.data.order.iter().zip(rows).for_each(|(point, own)| best[*point as usize] = own);
        best
    }

    /// The clusters of [`MixtureFit::best`] alone.
    pub fn assign(&self) -> Vec<u32> {
        self.best().into_iter().map(|(cluster, _)| cluster).collect()
    }
}

/// The spread that all clusters begin with: that of all points.
fn first_spread(data: &MixtureData, options: &MixtureOptions) -> Vec<f64> {
    if options.covariance == Covariance::Directions {
        return vec![data.d as f64];
    }
    let mut squares = vec![0.0f64; data.d];
    for row in data.rows.chunks_exact(data.d) {
        squares.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value).powi(2));
    }
    let variances: Vec<f64> = squares.into_iter().map(|sum| (sum / data.len() as f64 + options.prior.floor).max(1e-12)).collect();
    if options.covariance == Covariance::Isotropic {
        return vec![variances.iter().sum::<f64>() / data.d as f64; data.d];
    }
    variances
}
