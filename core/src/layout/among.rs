//! Places for points that came after a layout was made.

use rayon::prelude::*;

use super::{Components, PlanePoint};
use crate::ids::ItemId;
use crate::nearest::TopK;

/// Neighbours whose places a new point is put between.
const NEIGHBORS: usize = 5;

/// The places of all points where some are known: each of the others is put at the median, along
/// each direction, of the places of its nearest known neighbours along the components, so that one
/// that lies elsewhere does not draw it away. Points without known neighbours are at the origin.
/// Equal on any number of threads. O(unknown * known * axes).
///
/// # Panics
/// When there is not one place, known or not, for each point.
pub fn place_among(points: &Components, known: &[Option<PlanePoint>]) -> Vec<PlanePoint> {
    assert_eq!(points.len(), known.len(), "one for each point");
    let there: Vec<(usize, PlanePoint)> = known.iter().enumerate().filter_map(|(i, place)| Some((i, (*place)?))).collect();
    let place = |(i, known): (usize, &Option<PlanePoint>)| {
        if let Some(place) = known {
            return *place;
        }
        let own = points.row(i);
        let distance = |other: &[f32]| own.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        let near = TopK::of(NEIGHBORS, there.iter().zip(0..).map(|((other, _), at)| (ItemId(at), distance(points.row(*other)))));
        let places: Vec<PlanePoint> = near.iter().map(|found| there[found.id.0 as usize].1).collect();
        [0, 1].map(|axis| {
            let mut values: Vec<f32> = places.iter().map(|place| place[axis]).collect();
            values.sort_by(f32::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        })
    };
    known.par_iter().enumerate().map(place).collect()
}
