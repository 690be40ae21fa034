//! Examples of a file as dense queries of few components, of norm 1 at most.

use crate::ids::ClassId;
use crate::linalg::double::norm;
use crate::linalg::projection::RandomProjection;
use crate::random;
use crate::sparse::SparseVec;

/// Examples as dense vectors of at most `dimension` components, the last of which is the same for
/// all, divided by the greatest norm. Where there are more features than fit, they are projected by
/// random signs drawn from `seed`, one column for each feature that occurs. So a vector depends on
/// the other examples by their greatest norm and by which features they have. O(features of all
/// examples * dimension).
pub fn dense(examples: &[(ClassId, SparseVec)], dimension: usize, seed: u64) -> Vec<(ClassId, Vec<f64>)> {
    let mut features: Vec<u32> = examples.iter().flat_map(|(_, x)| x.entries()).map(|entry| entry.0).collect();
    features.sort_unstable();
    features.dedup();
    let room = dimension.max(2) - 1;
    let n = features.len();
    let projection = (n > room).then(|| RandomProjection::new(n, room, &mut random::stream(seed, 0)));
    let mut mapped: Vec<(ClassId, Vec<f64>)> = Vec::with_capacity(examples.len());
    for (class, x) in examples {
        let place = |(feature, value): &(u32, f32)| Some((features.binary_search(feature).ok()?, f64::from(*value)));
        let entries: Vec<(usize, f64)> = x.entries().iter().filter_map(place).collect();
        let mut dense = match &projection {
            Some(projection) => projection.project_sparse(entries.iter().copied()),
            None => {
                let mut dense = vec![0.0; n];
                entries.iter().for_each(|(at, value)| dense[*at] = *value);
                dense
            }
        };
        dense.push(0.0);
        mapped.push((*class, dense));
    }
    let longest = mapped.iter().map(|(_, x)| norm(x)).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    for (_, x) in &mut mapped {
        x.iter_mut().for_each(|x| *x /= longest * std::f64::consts::SQRT_2);
        if let Some(last) = x.last_mut() {
            *last = std::f64::consts::FRAC_1_SQRT_2;
        }
        let own = norm(x).max(1.0);
        x.iter_mut().for_each(|x| *x /= own);
    }
    mapped
}
