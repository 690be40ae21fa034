//! Drawing the cluster of every point, by each method.

use rand::RngExt as _;
use rayon::prelude::*;

use super::alias::AliasTable;
use super::components::{Components, LANES, Packed, Scores, exponentials, largest};
use super::data::{MixtureData, wide};
use super::envelope::{ClusterTree, NaturalBox};
use super::family::Parameters;
use super::most_probable::MostProbable;
use super::options::{ClusterDraw, MixtureOptions};
use super::outcomes::Frontier;
use crate::error::Result;
use crate::random::{self, Rng};

/// Stands for no cluster: a point that was never drawn.
pub(super) const NONE: u32 = u32::MAX;

/// Points that one parallel task takes, about.
const TASK: usize = 256;

/// The least share of proposals that come from the shares of clusters alone, so that every cluster
/// can be reached; and the largest.
const ANY: (f64, f64) = (1e-3, 0.05);

/// Rounds of rejection after which all clusters are compared.
const ROUNDS: usize = 16;

/// Responsibilities below this add nothing that f32 sums of whole points would keep.
const LEAST_SHARE: f32 = 1e-8;

/// Bytes of shares that are held at once, about.
const HELD: usize = 32 << 20;

/// The share of a point in a cluster: cluster, row, share.
pub(super) type Share = (u32, u32, f32);

/// Those of some points, by task.
pub(super) type Shares = Vec<Vec<Share>>;

/// What happened in one pass over the points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Drawn {
    /// Points that are in another cluster than before.
    pub(super) moved: u64,
    /// Proposals of Metropolis and Hastings, and those accepted.
    pub(super) proposed: u64,
    pub(super) accepted: u64,
    /// Densities that were computed.
    pub(super) evaluated: u64,
}

impl std::ops::AddAssign for Drawn {
    fn add_assign(&mut self, other: Self) {
        self.moved += other.moved;
        self.proposed += other.proposed;
        self.accepted += other.accepted;
        self.evaluated += other.evaluated;
    }
}

/// What all methods draw from.
pub(super) struct Pass<'a> {
    pub(super) data: &'a MixtureData,
    pub(super) components: &'a Components,
    pub(super) parameters: &'a [Parameters],
    pub(super) options: &'a MixtureOptions,
    /// A seed for this iteration.
    pub(super) seed: u64,
}

/// Groups that a task takes, and where the clusters of their points stand.
type Task<'a> = (std::ops::Range<usize>, &'a mut [u32]);

impl Pass<'_> {
    /// Parts the groups into tasks of about [`TASK`] points.
    fn tasks<'a>(&self, mut assigned: &'a mut [u32]) -> Vec<Task<'a>> {
        let (mut tasks, mut first, mut start) = (Vec::new(), 0, 0);
        for group in 0..self.data.groups() {
            let end = self.data.group_range(group).end;
            if end - start >= TASK || group + 1 == self.data.groups() {
                let (own, rest) = assigned.split_at_mut(end - start);
                tasks.push((first..group + 1, own));
                (assigned, first, start) = (rest, group + 1, end);
            }
        }
        tasks
    }

    /// Runs tasks on all threads, each with a generator of its own.
    fn run(&self, assigned: &mut [u32], work: impl Fn(Task<'_>, &mut Rng) -> Drawn + Sync) -> Drawn {
        let parts: Vec<Drawn> = self
            .tasks(assigned)
            .into_par_iter()
            .enumerate()
            .map(|(number, task)| work(task, &mut random::stream(self.seed, number as u64)))
            .collect();
        let mut all = Drawn::default();
        parts.into_iter().for_each(|part| all += part);
        all
    }

    fn rows(&self, groups: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.data.group_range(groups.start).start..self.data.group_range(groups.end - 1).end
    }

    /// Each point's cluster from the posterior, all clusters compared (ESCA, Zaheer et al. 2016).
    pub(super) fn exact(&self, assigned: &mut [u32]) -> Drawn {
        self.run(assigned, |(groups, own), rng| {
            let mut drawn = Drawn { evaluated: (own.len() * self.components.count()) as u64, ..Drawn::default() };
            self.each_posterior(self.rows(&groups), |at, shares, _, total| {
                let cluster = pick(shares, rng.random::<f32>() * total);
                drawn.moved += u64::from(std::mem::replace(&mut own[at], cluster) != cluster);
            });
            drawn
        })
    }

    /// For each point of a range its unnormalised posterior, the logarithm of the largest, and the
    /// sum, in units of the largest.
    fn each_posterior(&self, range: std::ops::Range<usize>, mut each: impl FnMut(usize, &mut [Scores], f32, f32)) {
        let (mut scores, mut shares) = (Vec::new(), Vec::new());
        for start in range.clone().step_by(TASK) {
            let part = start..range.end.min(start + TASK);
            self.components.scores(self.data.rows_of(part.clone()), &mut scores);
            for (at, place) in part.clone().enumerate() {
                shares.clear();
                shares.extend(scores[at..].iter().step_by(part.len()));
                let most = largest(shares.iter().copied());
                let total = exponentials(&mut shares, most);
                each(place - range.start, &mut shares, most, total);
            }
        }
    }

    /// Hands the shares of points in clusters to `take`, some points after others; also their most
    /// probable clusters, and the sum of the logarithms of their densities.
    pub(super) fn responsibilities(&self, assigned: &mut [u32], mut take: impl FnMut(Shares)) -> (f64, Drawn) {
        let mut drawn = Drawn { evaluated: (self.data.len() * self.components.count()) as u64, ..Drawn::default() };
        let mut sum = 0.0;
        // A share takes 12 bytes, and 8 more where it is sorted by clusters.
        let points = HELD / (20 * self.components.count());
        let mut tasks = self.tasks(assigned);
        while !tasks.is_empty() {
            let mut held = 0;
            let fits = |(_, own): &&Task<'_>| {
                let before = held;
                held += own.len();
                before <= points
            };
            let count = tasks.iter().take_while(fits).count();
            let rest = tasks.split_off(count);
            let parts: Vec<(Vec<Share>, f64, u64)> = tasks.into_par_iter().map(|(groups, own)| self.shares_of(&groups, own)).collect();
            tasks = rest;
            let found = |(found, part, moved)| {
                sum += part;
                drawn.moved += moved;
                found
            };
            take(parts.into_iter().map(found).collect());
        }
        (sum, drawn)
    }

    /// The shares of the points of some groups, the sum of the logarithms of their densities, and
    /// how many have another most probable cluster than before.
    fn shares_of(&self, groups: &std::ops::Range<usize>, own: &mut [u32]) -> (Vec<Share>, f64, u64) {
        let (mut found, mut sum, mut moved) = (Vec::new(), 0.0f64, 0);
        let range = self.rows(groups);
        self.each_posterior(range.clone(), |at, shares, most, total| {
            sum += f64::from(most) + f64::from(total).ln();
            let (least, mut best) = (LEAST_SHARE * total, (0.0f32, 0));
            for (block, shares) in shares.iter().enumerate() {
                if crate::linalg::single::any(shares, |share| share > least) {
                    for (share, cluster) in shares.iter().zip((block * LANES) as u32..).filter(|(share, _)| **share > least) {
                        found.push((cluster, (range.start + at) as u32, share / total));
                        if *share > best.0 {
                            best = (*share, cluster);
                        }
                    }
                }
            }
            moved += u64::from(std::mem::replace(&mut own[at], best.1) != best.1);
        });
        (found, sum, moved)
    }

    /// The scores of the surrogates of some groups, point by point as [`Packed::scores`].
    fn surrogate_scores(&self, groups: &std::ops::Range<usize>, scores: &mut Vec<Scores>) {
        let rows = &self.data.surrogates[groups.start * self.data.d..groups.end * self.data.d];
        self.components.scores(rows, scores);
    }

    /// Canopy I: a table of the posterior at each group's surrogate, from which each of its points
    /// draws proposals; or, by rejection, draws until one is accepted (Remark 3).
    pub(super) fn tables(&self, assigned: &mut [u32]) -> Drawn {
        let shares = self.components.shares();
        let bounds = (self.options.draw == ClusterDraw::Rejection).then(|| NaturalBox::new(self.data.covariance, self.parameters));
        self.run(assigned, |(groups, own), rng| {
            let mut drawn = Drawn::default();
            let (first, count) = (self.data.group_range(groups.start).start, groups.len());
            let mut scores = Vec::new();
            self.surrogate_scores(&groups, &mut scores);
            drawn.evaluated += (count * self.components.count()) as u64;
            for (at, group) in groups.clone().enumerate() {
                let near = Near::new(self.data.surrogate(group), scores[at..].iter().step_by(count).copied().collect());
                let table = if bounds.is_some() { None } else { near.table(&shares) };
                for place in self.data.group_range(group) {
                    let (state, x) = (&mut own[place - first], self.data.row(place));
                    let before = *state;
                    if let Some(bounds) = &bounds {
                        *state = self.reject(x, &near, bounds, rng, &mut drawn);
                    } else if let Some((table, weights)) = &table {
                        for _ in 0..self.options.steps.max(1) {
                            self.propose(x, state, table.draw(rng) as u32, weights, rng, &mut drawn);
                        }
                    }
                    drawn.moved += u64::from(*state != before);
                }
            }
            drawn
        })
    }

    /// One step of Metropolis and Hastings with a proposal that does not depend on the state.
    fn propose(&self, x: &[f32], state: &mut u32, proposal: u32, weights: &[f64], rng: &mut Rng, drawn: &mut Drawn) {
        if *state == NONE {
            *state = proposal;
            return;
        }
        drawn.proposed += 1;
        if proposal == *state {
            drawn.accepted += 1;
            return;
        }
        drawn.evaluated += 2;
        let score = |cluster: u32| f64::from(self.components.score(x, cluster as usize)) - weights[cluster as usize].ln();
        if rng.random::<f64>().ln() < score(proposal) - score(*state) {
            *state = proposal;
            drawn.accepted += 1;
        }
    }

    /// An exact draw by rejection: proposals of the surrogate's posterior, which exceeds the
    /// point's by at most a factor that boxes around the clusters' natural parameters bound.
    fn reject(&self, x: &[f32], near: &Near<'_>, bounds: &NaturalBox, rng: &mut Rng, drawn: &mut Drawn) -> u32 {
        let bound = bounds.of(x, near.x);
        // A bound of so many nats would not let anything pass.
        for _ in 0..if bound < 20.0 { ROUNDS } else { 0 } {
            let cluster = pick(&near.shares, rng.random::<f32>() * near.total);
            drawn.proposed += 1;
            drawn.evaluated += 1;
            let there = near.scores.as_flattened()[cluster as usize];
            let gain = f64::from(self.components.score(x, cluster as usize)) - f64::from(there);
            if rng.random::<f64>().ln() < gain - bound {
                drawn.accepted += 1;
                return cluster;
            }
        }
        drawn.evaluated += self.components.count() as u64;
        let mut scores = Vec::new();
        self.components.scores(x, &mut scores);
        let own = Near::new(x, scores);
        pick(&own.shares, rng.random::<f32>() * own.total)
    }

    /// Canopy II with lists: for each group the clusters that are most probable at its surrogate.
    /// A point proposes from its own posterior among these, and now and then any cluster by its
    /// share; Metropolis and Hastings' test makes that exact. A deviation: the paper's proposals
    /// are those of the surrogate, which in many dimensions are hardly ever accepted.
    pub(super) fn lists(&self, assigned: &mut [u32]) -> Result<Drawn> {
        let shares = self.components.shares();
        let any = AliasTable::new(&shares)?;
        let most_listed = self.options.candidates().clamp(1, self.components.count());
        let by_tree = self.options.draw == ClusterDraw::TreeLists;
        let tree = if by_tree { Some(ClusterTree::new(self.data.covariance, self.parameters, &shares)?) } else { None };
        Ok(self.run(assigned, |(groups, own), rng| {
            let mut drawn = Drawn::default();
            let (first, count) = (self.data.group_range(groups.start).start, groups.len());
            let (mut scores, mut near, mut packed) = (Vec::new(), Vec::new(), Packed::default());
            let mut probable = MostProbable::default();
            if tree.is_none() {
                self.surrogate_scores(&groups, &mut scores);
                drawn.evaluated += (count * self.components.count()) as u64;
            }
            let mut own_scores = Vec::new();
            let mut shares_of = Vec::new();
            for (at, group) in groups.clone().enumerate() {
                let range = self.data.group_range(group);
                let outside = if let Some(tree) = &tree {
                    let near = wide(self.data.surrogate(group));
                    let mut frontier = Frontier::new(&tree.tree, tree.at(&near));
                    let outside = frontier.refine(ANY.0, most_listed);
                    drawn.evaluated += frontier.evaluated() as u64;
                    probable.listed.clear();
                    probable.listed.extend(frontier.singles().map(|(node, _)| tree.clusters[node as usize]));
                    outside
                } else {
                    near.clear();
                    near.extend(scores[at..].iter().step_by(count));
                    probable.list(&mut near, self.components.count(), most_listed)
                };
                let listed = &mut probable.listed;
                listed.sort_unstable();
                let any_share = outside.clamp(ANY.0, ANY.1);
                self.components.pack(listed.iter().copied(), &mut packed);
                self.components.scores_of(&packed, self.data.rows_of(range.clone()), &mut own_scores);
                drawn.evaluated += (range.len() * listed.len()) as u64;
                for (member, place) in range.clone().enumerate() {
                    shares_of.clear();
                    shares_of.extend(own_scores[member..].iter().step_by(range.len()));
                    let state = &mut own[place - first];
                    let before = *state;
                    self.among(self.data.row(place), state, listed, &mut shares_of, (any_share, &any, &shares), rng, &mut drawn);
                    drawn.moved += u64::from(*state != before);
                }
            }
            drawn
        }))
    }

    /// One step of a point with a list of clusters, of which `scores` are its own scores.
    #[allow(clippy::too_many_arguments, reason = "one inner loop's state")]
    fn among(
        &self,
        x: &[f32],
        state: &mut u32,
        listed: &[u32],
        scores: &mut [Scores],
        (any_share, any, shares): (f64, &AliasTable, &[f64]),
        rng: &mut Rng,
        drawn: &mut Drawn,
    ) {
        let place = listed.binary_search(state).ok();
        let most = largest(scores.iter().copied());
        let current = match place {
            Some(place) => f64::from(scores[place / LANES][place % LANES] - most),
            None if *state == NONE => 0.0,
            None => f64::from(self.components.score(x, *state as usize) - most),
        };
        let total = f64::from(exponentials(scores, most));
        let is_any = rng.random::<f64>() < any_share;
        let (proposal, at) = if is_any {
            let proposal = any.draw(rng) as u32;
            (proposal, listed.binary_search(&proposal).ok())
        } else {
            let at = pick(scores, rng.random::<f32>() * total as f32) as usize;
            (listed[at], Some(at))
        };
        if *state == NONE {
            *state = proposal;
            return;
        }
        drawn.proposed += 1;
        if proposal == *state {
            drawn.accepted += 1;
            return;
        }
        let chance = |cluster: u32, density: f64, place: Option<usize>| {
            let listed = if place.is_some() { (1.0 - any_share) * density / total } else { 0.0 };
            listed + any_share * shares[cluster as usize]
        };
        let next = match at {
            Some(at) => f64::from(scores[at / LANES][at % LANES]),
            None => f64::from(self.components.score(x, proposal as usize) - most).exp(),
        };
        // A state whose density vanishes beside that of the list is left at once.
        let ratio = next * chance(*state, current.exp(), place) / (current.exp() * chance(proposal, next, at));
        if ratio.is_nan() || rng.random::<f64>() < ratio {
            *state = proposal;
            drawn.accepted += 1;
        }
    }

    /// Canopy II with both trees (Zaheer et al. 2017, section 3.2): a frontier of a tree of
    /// clusters is found at each group's surrogate; each of its points draws from it by rejection.
    /// A deviation: the paper proposes what it draws at the surrogate and tests that, which leaves
    /// points behind whose surrogate is in another cluster; here the masses of the frontier are
    /// computed anew at each point, so that its draws are exact and need no test.
    pub(super) fn trees(&self, assigned: &mut [u32]) -> Result<Drawn> {
        let shares = self.components.shares();
        let tree = ClusterTree::new(self.data.covariance, self.parameters, &shares)?;
        Ok(self.run(assigned, |(groups, own), rng| {
            let mut drawn = Drawn::default();
            let first = self.data.group_range(groups.start).start;
            for group in groups.clone() {
                let near = wide(self.data.surrogate(group));
                let mut frontier = Frontier::new(&tree.tree, tree.at(&near));
                frontier.refine(1.0, self.options.candidates());
                drawn.evaluated += frontier.evaluated() as u64;
                for place in self.data.group_range(group) {
                    let x = wide(self.data.row(place));
                    let mut own_frontier = frontier.for_another(tree.at(&x));
                    let (outcome, failed) = own_frontier.draw(rng);
                    let cluster = tree.clusters[outcome as usize];
                    drawn.proposed += failed as u64 + 1;
                    drawn.accepted += 1;
                    drawn.evaluated += own_frontier.evaluated() as u64;
                    drawn.moved += u64::from(std::mem::replace(&mut own[place - first], cluster) != cluster);
                }
            }
            drawn
        }))
    }
}

/// The cluster at which the running sum of shares passes `left`. O(n).
pub(super) fn pick(shares: &[Scores], mut left: f32) -> u32 {
    let mut last = 0;
    for (block, shares) in shares.iter().enumerate() {
        let halves: [f32; 8] = std::array::from_fn(|i| shares[i] + shares[i + 8]);
        let quarters: [f32; 4] = std::array::from_fn(|i| halves[i] + halves[i + 4]);
        let sum = (quarters[0] + quarters[2]) + (quarters[1] + quarters[3]);
        if sum <= 0.0 {
            continue;
        }
        let is_here = left < sum;
        for (share, cluster) in shares.iter().zip((block * LANES) as u32..).filter(|(share, _)| **share > 0.0) {
            last = cluster;
            if is_here {
                left -= share;
                if left < 0.0 {
                    return cluster;
                }
            }
        }
        if is_here {
            return last;
        }
        left -= sum;
    }
    last
}

/// The posterior at one point.
struct Near<'a> {
    x: &'a [f32],
    /// The logarithms of share times density of all clusters.
    scores: Vec<Scores>,
    /// The same as shares of the largest, and their sum.
    shares: Vec<Scores>,
    total: f32,
}

impl<'a> Near<'a> {
    fn new(x: &'a [f32], scores: Vec<Scores>) -> Self {
        let mut shares = scores.clone();
        let total = exponentials(&mut shares, largest(scores.iter().copied()));
        Self { x, scores, shares, total }
    }

    /// A table of this posterior, with a little of each cluster's share, and its weights. Where no
    /// cluster is within reach of f32, the shares decide alone.
    fn table(&self, shares: &[f64]) -> Option<(AliasTable, Vec<f64>)> {
        let total = f64::from(self.total).max(f64::MIN_POSITIVE);
        let weight = |(near, share): (&f32, &f64)| (1.0 - ANY.0) * f64::from(*near) / total + ANY.0 * share;
        let weights: Vec<f64> = self.shares.as_flattened().iter().zip(shares).map(weight).collect();
        Some((AliasTable::new(&weights).ok()?, weights))
    }
}
