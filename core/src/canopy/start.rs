//! Where clusters start.

use rand::RngExt as _;
use rayon::prelude::*;

use super::data::MixtureData;
use crate::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::linalg::single::squared_distances;
use crate::nearest::Metric;
use crate::progress::Progress;
use crate::random::{Rng, drawn};

/// Points that one parallel task compares.
const TASK: usize = 4096;

/// How the first means are chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClusterStart {
    /// Points drawn at random.
    Random1,
    /// The means of points that were given clusters at random.
    Random2,
    /// k-means++ (Arthur and Vassilvitskii 2007): points drawn in proportion to their squared
    /// distance to those before.
    #[default]
    KMeansPlusPlus,
    /// The nodes of a cover tree from the root down.
    CoverTree,
    /// These means, row by row.
    Means(Vec<f32>),
}

/// The first means of `k` clusters, `(k, d)`, around the centre of the data.
pub(super) fn means(data: &MixtureData, k: usize, start: &ClusterStart, rng: &mut Rng, progress: &Progress) -> Result<Vec<f64>> {
    let rows = |places: &[usize]| places.iter().flat_map(|place| data.row(*place)).map(|value| f64::from(*value)).collect();
    // Numbers of points are drawn, not places, so that grouping changes nothing.
    let places = || {
        let mut places = vec![0usize; data.len()];
        data.order.iter().enumerate().for_each(|(place, point)| places[*point as usize] = place);
        places
    };
    Ok(match start {
        ClusterStart::Random1 => {
            let places = places();
            rows(&drawn(data.len(), k, rng).into_iter().map(|point| places[point]).collect::<Vec<_>>())
        }
        ClusterStart::Random2 => {
            let (mut sums, mut counts) = (vec![0.0; k * data.d], vec![0.0f64; k]);
            for place in places() {
                let cluster = rng.random_range(0..k);
                counts[cluster] += 1.0;
                sums[cluster * data.d..][..data.d].iter_mut().zip(data.row(place)).for_each(|(sum, value)| *sum += f64::from(*value));
            }
            sums.chunks_mut(data.d).zip(counts).for_each(|(sums, count)| sums.iter_mut().for_each(|sum| *sum /= count.max(1.0)));
            sums
        }
        ClusterStart::KMeansPlusPlus => rows(&plus_plus(data, &places(), k, rng, progress)?),
        ClusterStart::CoverTree => {
            let ids: Vec<ItemId> = (0..data.len() as u32).map(ItemId).collect();
            let points = places().into_iter().flat_map(|place| data.row(place)).copied().collect();
            let points = DensePoints::new(data.d, points)?;
            let tree = DenseTree::watched(points, &ids, Metric::Euclidean, CoverTreeOptions::default(), progress)?;
            let mut nodes = tree.surrogates(k).nodes;
            nodes.truncate(k);
            let mut means: Vec<f64> = nodes.iter().flat_map(|node| tree.point(*node)).map(|value| f64::from(*value)).collect();
            // Fewer points than clusters differ: the rest start at points drawn at random.
            let places = places();
            for point in drawn(data.len(), k - nodes.len(), rng) {
                means.extend(data.row(places[point]).iter().map(|value| f64::from(*value)));
            }
            means
        }
        ClusterStart::Means(means) => {
            if means.len() != k * data.d {
                let found = format!("{} values", means.len());
                return Err(Error::value("first means", format!("{k} rows of {} values", data.d), found));
            }
            means.chunks_exact(data.d).flat_map(|row| data.taken_over(row)).map(f64::from).collect()
        }
    })
}

/// Clusters up to which several candidates are drawn for each next point.
const GREEDY: usize = 256;

/// The places of k points by k-means++; up to [`GREEDY`] of them greedily: of 2 + ln k candidates
/// the one that lowers the sum of squares most. O(n k d), greedily O(n k log k d).
fn plus_plus(data: &MixtureData, places: &[usize], k: usize, rng: &mut Rng, progress: &Progress) -> Result<Vec<usize>> {
    progress.begin("Choosing where clusters begin", k.saturating_sub(1) as u64);
    let candidates = if k <= GREEDY { 2 + (k as f64).ln() as usize } else { 1 };
    let mut chosen = vec![places[rng.random_range(0..data.len())]];
    let mut nearest = nearer(data, chosen[0], &vec![f32::INFINITY; data.len()]);
    while chosen.len() < k {
        progress.step()?;
        let total: f64 = places.iter().map(|place| f64::from(nearest[*place])).sum();
        let mut best: Option<(f64, usize, Vec<f32>)> = None;
        for _ in 0..candidates {
            let mut left = rng.random::<f64>() * total;
            let drawn = places.iter().copied().find(|place| {
                left -= f64::from(nearest[*place]);
                left < 0.0
            });
            // All points are at those chosen already.
            let place = drawn.unwrap_or_else(|| places[rng.random_range(0..data.len())]);
            let own = nearer(data, place, &nearest);
            let sum: f64 = places.iter().map(|place| f64::from(own[*place])).sum();
            if best.as_ref().is_none_or(|best| sum < best.0) {
                best = Some((sum, place, own));
            }
        }
        if let Some((_, place, own)) = best {
            chosen.push(place);
            nearest = own;
        }
    }
    Ok(chosen)
}

/// The squared distance of each row to the nearest of those before and of a new one.
fn nearer(data: &MixtureData, place: usize, before: &[f32]) -> Vec<f32> {
    let mut squares = vec![0.0f32; before.len()];
    let parts = squares.par_chunks_mut(TASK).zip(before.par_chunks(TASK)).zip(data.rows.par_chunks(TASK * data.d));
    parts.for_each(|((squares, before), rows)| {
        squared_distances(data.row(place), rows, squares);
        squares.iter_mut().zip(before).for_each(|(square, before)| *square = square.min(*before));
    });
    squares
}
