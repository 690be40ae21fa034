//! Shortlists: the training images that are most like a query as a whole.
//!
//! Each image has a small vector, its sketch: the mean features of its dense elements in each cell
//! of a coarse grid, brought to 128 values by random signs (see [`crate::linalg::projection`]). The
//! images of a class whose sketches are nearest to the query's are its shortlist, and only their
//! elements are compared with the query's. Machines without dense elements have sketches of bits,
//! which tell images apart less well.
//!
//! A sketch depends on its image and the kinds of elements alone, so images come and go without a
//! change of any other. On objects held out it was as good as 64 principal components of the same
//! means, which would have to be fitted anew as images come; 64 random values were not.

use std::sync::Arc;

use rand::RngExt as _;
use rayon::prelude::*;

use super::element::{ElementSet, Elements};
use super::options::ElementKind;
use crate::ids::ItemId;
use crate::linalg::single;
use crate::nearest::TopK;
use crate::random;

/// Values of a sketch.
pub(super) const SIZE: usize = 128;

/// Bits of a binary descriptor.
const BITS: usize = 256;

/// Cells along each side of the grid.
const GRID: usize = 4;

/// The seed of the random signs.
const SEED: u64 = 0;

/// Sketches that one parallel task compares.
const TASK: usize = 2048;

pub(super) type Sketch = [f32; SIZE];

/// The sketch of an image. O(values of its elements + cells * dimension).
pub(super) fn sketch(elements: &Elements, kinds: &[ElementKind]) -> Sketch {
    let mut sketch = [0.0; SIZE];
    let has_dense = kinds.iter().any(|kind| kind.source.dimension() > 0 && kind.kernel.weight > 0.0);
    for ((set, kind), k) in elements.sets.iter().zip(kinds).zip(0..) {
        let dimension = match kind.source.dimension() {
            0 if has_dense => continue,
            0 => BITS,
            dimension => dimension,
        };
        // A step of distance counts as much as it does in a score.
        let scale = kind.kernel.weight / (kind.kernel.rho * kind.source.unit());
        let mut rng = random::stream(SEED, k);
        for mean in means(set, dimension, GRID, elements.cut.side as f32, |i, sums| set.add_features(i, sums)) {
            for half in sketch.as_chunks_mut::<64>().0 {
                add_signed(half, scale * mean, rng.random());
            }
        }
    }
    sketch
}

/// The mean features in each cell of a grid, where `add` adds those of an element; 0 where there is
/// no element.
pub(super) fn means(set: &ElementSet, dimension: usize, grid: usize, side: f32, add: impl Fn(usize, &mut [f32])) -> Vec<f32> {
    let along = |v: f32| ((v / side + 0.5) * grid as f32).clamp(0.0, grid as f32 - 1.0) as usize;
    let mut means = vec![0.0; grid * grid * dimension];
    let mut counts = vec![0.0f32; grid * grid];
    for i in 0..set.len() {
        let [x, y] = set.position(i);
        let cell = along(y) * grid + along(x);
        counts[cell] += 1.0;
        add(i, &mut means[cell * dimension..][..dimension]);
    }
    for (cell, count) in means.chunks_exact_mut(dimension).zip(counts) {
        cell.iter_mut().for_each(|sum| *sum /= count.max(1.0));
    }
    means
}

/// Adds a value, or takes it off, by the bits of `signs`.
pub(super) fn add_signed(sums: &mut [f32; 64], value: f32, signs: u64) {
    // Most features of the network's cells are 0.
    if value == 0.0 {
        return;
    }
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum += if signs >> i & 1 == 1 { value } else { -value };
    }
}

/// The sketches of a machine's training images, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sketches {
    classes: Vec<Arc<Vec<f32>>>,
}

impl Sketches {
    /// The bytes that they take in memory.
    pub(super) fn bytes(&self) -> usize {
        self.classes.iter().map(|rows| rows.capacity() * size_of::<f32>()).sum()
    }

    /// Gives back memory that was set aside for more images.
    pub(super) fn shrink(&mut self) {
        for rows in self.classes.iter_mut().filter_map(Arc::get_mut) {
            rows.shrink_to_fit();
        }
    }

    pub(super) fn insert_class(&mut self, class: usize) {
        self.classes.insert(class, Arc::default());
    }

    pub(super) fn remove_class(&mut self, class: usize) {
        self.classes.remove(class);
    }

    /// Inserts the sketch of an image at a place of its class. O(images of the class).
    pub(super) fn insert(&mut self, class: usize, place: usize, sketch: &Sketch) {
        let at = place * SIZE;
        Arc::make_mut(&mut self.classes[class]).splice(at..at, *sketch);
    }

    /// The sketch at a place of a class.
    pub(super) fn get(&self, class: usize, place: usize) -> &Sketch {
        self.classes[class][place * SIZE..].first_chunk().expect("each image has a sketch")
    }

    /// Removes the sketch at a place of a class. O(images of the class).
    pub(super) fn remove(&mut self, class: usize, place: usize) {
        Arc::make_mut(&mut self.classes[class]).drain(place * SIZE..(place + 1) * SIZE);
    }

    /// For each class the places of the at most `count` images nearest to a sketch that `admits`
    /// lets through, in ascending order. O(images).
    pub(super) fn nearest(&self, query: &Sketch, count: usize, admits: impl Fn(usize, usize) -> bool + Sync) -> Vec<Vec<usize>> {
        let starts = |rows: &Arc<Vec<f32>>| (0..rows.len() / SIZE).step_by(TASK);
        let tasks: Vec<(usize, usize)> =
            self.classes.iter().enumerate().flat_map(|(class, rows)| starts(rows).map(move |start| (class, start))).collect();
        let part = |&(class, start): &(usize, usize)| {
            let rows = &self.classes[class][start * SIZE..];
            let rows = &rows[..rows.len().min(TASK * SIZE)];
            let mut distances = vec![0.0; rows.len() / SIZE];
            single::squared_distances(query, rows, &mut distances);
            let mut nearest = TopK::new(count);
            for (place, distance) in (start..).zip(distances) {
                // Places are in the order of identifiers, so they serve as such.
                let (id, distance) = (ItemId(place as u32), f64::from(distance));
                if nearest.admits(id, distance) && admits(class, place) {
                    nearest.offer(id, distance);
                }
            }
            nearest
        };
        let parts: Vec<TopK> = tasks.par_iter().map(part).collect();
        let mut found = vec![TopK::new(count); self.classes.len()];
        for ((class, _), part) in tasks.iter().zip(parts) {
            found[*class].join(part);
        }
        let places = |nearest: TopK| {
            let mut places: Vec<usize> = nearest.finish().into_iter().map(|neighbour| neighbour.id.0 as usize).collect();
            places.sort_unstable();
            places
        };
        found.into_iter().map(places).collect()
    }
}
