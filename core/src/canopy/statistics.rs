//! Sums over the points of each cluster.

use multiversion::multiversion;
use rayon::prelude::*;

use super::data::MixtureData;
use super::draw::Share;
use super::family::Covariance;

/// Points that one parallel task adds up.
const TASK: usize = 1024;

/// The sums of one cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sums {
    /// The weight of its points.
    pub(super) weight: f64,
    /// Sums of [`super::Family::phi`].
    pub(super) phi: Vec<f64>,
}

impl Sums {
    /// Adds the sums of further points; to those of no point, whatever they are.
    fn add(&mut self, more: Self) {
        if self.phi.is_empty() {
            *self = more;
        } else {
            self.weight += more.weight;
            self.phi.iter_mut().zip(&more.phi).for_each(|(sum, value)| *sum += value);
        }
    }
}

/// Adds the sums of further points to those of each cluster.
pub(super) fn add_sums(all: &mut [Sums], more: Vec<Sums>) {
    all.par_iter_mut().zip(more).for_each(|(own, more)| own.add(more));
}

/// Which points each cluster has, and with which weight.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    /// Where each cluster's begin, and the end of the last.
    starts: Vec<u32>,
    list: Vec<(u32, f32)>,
}

impl Members {
    /// From the shares of points in clusters, in the order of points: cluster, point, weight.
    /// O(shares + clusters).
    pub(super) fn new<'a>(clusters: usize, shares: impl Iterator<Item = &'a Share> + Clone) -> Self {
        let mut starts = vec![0u32; clusters + 1];
        shares.clone().for_each(|(cluster, _, _)| starts[*cluster as usize + 1] += 1);
        for cluster in 0..clusters {
            starts[cluster + 1] += starts[cluster];
        }
        let mut next = starts.clone();
        let mut list = vec![(0, 0.0); starts[clusters] as usize];
        for (cluster, point, weight) in shares {
            let at = &mut next[*cluster as usize];
            list[*at as usize] = (*point, *weight);
            *at += 1;
        }
        Self { starts, list }
    }

    /// Whole points, each in one cluster.
    pub(super) fn of(clusters: usize, assigned: &[u32]) -> Self {
        let shares: Vec<Share> = assigned.iter().zip(0..).map(|(cluster, point)| (*cluster, point, 1.0)).collect();
        Self::new(clusters, shares.iter())
    }

    /// The sums of all clusters, on all threads; equal on any number of them. O(shares * d).
    pub(super) fn sums(&self, data: &MixtureData) -> Vec<Sums> {
        let clusters = self.starts.len() - 1;
        let tasks: Vec<(usize, std::ops::Range<usize>)> = (0..clusters)
            .flat_map(|cluster| {
                let (start, end) = (self.starts[cluster] as usize, self.starts[cluster + 1] as usize);
                (start..end).step_by(TASK).map(move |from| (cluster, from..end.min(from + TASK)))
            })
            .collect();
        let squares = data.covariance != Covariance::Directions;
        let empty = || Sums { weight: 0.0, phi: vec![0.0; data.covariance.family().statistics(data.d)] };
        let part = |(_, range): &(usize, std::ops::Range<usize>)| {
            let mut sums = empty();
            let (first, second) = sums.phi.split_at_mut(data.d);
            for (point, weight) in &self.list[range.clone()] {
                let weight = f64::from(*weight);
                sums.weight += weight;
                if squares {
                    add_squares(first, second, data.row(*point as usize), weight);
                } else {
                    add(first, data.row(*point as usize), weight);
                }
            }
            sums
        };
        let parts: Vec<Sums> = tasks.par_iter().map(part).collect();
        let mut all: Vec<Sums> = (0..clusters).map(|_| Sums::default()).collect();
        for ((cluster, _), part) in tasks.into_iter().zip(parts) {
            all[cluster].add(part);
        }
        all.into_iter().map(|own| if own.phi.is_empty() { empty() } else { own }).collect()
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add_squares(sums: &mut [f64], squares: &mut [f64], row: &[f32], weight: f64) {
    for ((sum, square), value) in sums.iter_mut().zip(squares.iter_mut()).zip(row) {
        let value = f64::from(*value);
        let part = weight * value;
        *sum += part;
        *square += part * value;
    }
}

#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn add(sums: &mut [f64], row: &[f32], weight: f64) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += weight * f64::from(*value);
    }
}
