//! Examples of a file as queries: dense, few components, of length 1 at most.

use rand::RngExt;

use crate::ids::ClassId;
use crate::random;
use crate::sparse::SparseVec;

/// Examples as dense vectors of at most `dimension` components, the last of which is the same for
/// all, divided by the greatest length. Where there are more features than fit, they are mapped by
/// a matrix of independent normal numbers, drawn from `seed` for each feature: inner products stay
/// about what they were (Johnson and Lindenstrauss). Of the examples only the greatest length is
/// used. O(features of all examples * dimension).
pub fn dense(examples: &[(ClassId, SparseVec)], dimension: usize, seed: u64) -> Vec<(ClassId, Vec<f64>)> {
    let mut features: Vec<u32> = examples.iter().flat_map(|(_, x)| x.entries()).map(|entry| entry.0).collect();
    features.sort_unstable();
    features.dedup();
    let room = dimension.max(2) - 1;
    let columns: Vec<Vec<f64>> = if features.len() > room {
        let normal = |rng: &mut random::Rng| {
            let (a, b): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos() / (room as f64).sqrt()
        };
        let column = |feature: &u32| {
            let mut rng = random::stream(seed, 1 << 32 | u64::from(*feature));
            (0..room).map(|_| normal(&mut rng)).collect()
        };
        features.iter().map(column).collect()
    } else {
        Vec::new()
    };
    let width = if columns.is_empty() { features.len() } else { room };
    let mut mapped: Vec<(ClassId, Vec<f64>)> = Vec::with_capacity(examples.len());
    for (class, x) in examples {
        let mut dense = vec![0.0; width + 1];
        for &(feature, value) in x.entries() {
            let Ok(at) = features.binary_search(&feature) else { continue };
            match columns.get(at) {
                Some(column) => dense.iter_mut().zip(column).for_each(|(sum, c)| *sum += c * f64::from(value)),
                None => dense[at] = f64::from(value),
            }
        }
        mapped.push((*class, dense));
    }
    let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let longest = mapped.iter().map(|(_, x)| length(x)).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    for (_, x) in &mut mapped {
        x.iter_mut().for_each(|x| *x /= longest * std::f64::consts::SQRT_2);
        if let Some(last) = x.last_mut() {
            *last = std::f64::consts::FRAC_1_SQRT_2;
        }
        let own = length(x).max(1.0);
        x.iter_mut().for_each(|x| *x /= own);
    }
    mapped
}
