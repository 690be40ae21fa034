//! How points of a layout drive each other away.
//!
//! With q = 1 / (1 + d²) for two places at distance d, each pair drives its points apart with q²
//! times what lies between them, over the sum of q over all pairs. [`exact`] adds up all pairs;
//! [`GridRepulsion`] spreads the points over the nodes of a grid, folds the grid with both kernels
//! by Fourier transforms, and reads the result off at the points.

use rayon::prelude::*;

use super::fft::{Fourier, Grid};
use super::{PlanePoint, TASK};

/// The distance of nodes that is aimed at. The error of forces falls with its fourth power.
const SPACING: f32 = 0.3;
/// Nodes along each side, at least and at most.
const NODES: [usize; 2] = [32, 1024];
/// What points span at least, for a grid.
const LEAST_SPAN: f32 = 1e-9;
/// Room for the nodes around the outermost points.
const MARGIN: usize = 4;
/// How much wider than the points a grid is made, and how much of it they fill at least: between
/// these it is kept, and so are the transforms of its kernels.
const WIDER: f32 = 1.15;
const FILLED: f32 = 0.75;

/// What drives each of some points away from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Repulsion {
    /// For each point the sum of q² times what lies between the others and it.
    pub forces: Vec<PlanePoint>,
    /// The sum of q over all ordered pairs of two points.
    pub total: f64,
}

/// The exact repulsion. Equal on any number of threads. O(points²).
pub fn exact(places: &[PlanePoint]) -> Repulsion {
    let of = |a: &PlanePoint| {
        let (mut x, mut y, mut total) = (0.0, 0.0, 0.0);
        for b in places {
            let (dx, dy) = (a[0] - b[0], a[1] - b[1]);
            let q = 1.0 / (1.0 + dx * dx + dy * dy);
            x += q * q * dx;
            y += q * q * dy;
            total += q;
        }
        ([x, y], f64::from(total) - 1.0)
    };
    let each: Vec<(PlanePoint, f64)> = places.par_chunks(TASK / 16).flat_map_iter(|places| places.iter().map(of)).collect();
    Repulsion { total: each.iter().map(|(_, total)| total).sum(), forces: each.into_iter().map(|(force, _)| force).collect() }
}

/// Repulsion by interpolation on a grid, which is kept from one round to the next.
#[derive(Clone, Debug, Default)]
pub struct GridRepulsion {
    kept: Option<Kept>,
}

/// A grid and the transforms of the kernels on it.
#[derive(Clone, Debug)]
struct Kept {
    fourier: Fourier,
    spacing: f32,
    /// Of q.
    sums: Vec<f32>,
    /// Of q² times the distance along x, and, as imaginary parts, along y.
    forces: Grid,
    density: Grid,
}

impl GridRepulsion {
    /// The repulsion of some places, with errors of at most some hundredths of the largest force.
    /// Equal on any number of threads, for the same places before. O(points + nodes log nodes).
    pub fn of(&mut self, places: &[PlanePoint]) -> Repulsion {
        let (low, span) = extent(places);
        let kept = match self.kept.take().filter(|kept| kept.fits(span)) {
            Some(kept) => kept,
            None => Kept::new(span),
        };
        let kept = self.kept.insert(kept);
        kept.density.re.fill(0.0);
        kept.density.im.fill(0.0);
        let (side, spacing) = (kept.density.side, kept.spacing);
        let nodes: Vec<Nodes> =
            places.par_chunks(TASK).flat_map_iter(|places| places.iter().map(|place| Nodes::of(*place, low, spacing))).collect();
        for at in &nodes {
            at.each(side, |node, weight| kept.density.re[node] += weight);
        }
        kept.fourier.forward(&mut kept.density);
        let total = kept.fold();
        kept.fourier.backward(&mut kept.density);
        let scale = 1.0 / (side * side) as f32;
        let (re, im) = (&kept.density.re, &kept.density.im);
        let read = |at: &Nodes| {
            let mut force = [0.0; 2];
            at.each(side, |node, weight| {
                force[0] += weight * re[node];
                force[1] += weight * im[node];
            });
            force.map(|value| value * scale)
        };
        let forces = nodes.par_chunks(TASK).flat_map_iter(|nodes| nodes.iter().map(read)).collect();
        // What each point would add for being beside itself.
        let own = own_kernel(spacing);
        let own: f64 = nodes.iter().map(|at| at.own(&own)).sum();
        Repulsion { forces, total: (total / (side * side) as f64 - own).max(f64::MIN_POSITIVE) }
    }
}

impl Kept {
    /// A grid for points that span this much.
    fn new(span: f32) -> Self {
        let room = WIDER * span.max(LEAST_SPAN);
        let wanted = (room / SPACING) as usize + MARGIN;
        let nodes = wanted.next_power_of_two().clamp(NODES[0], NODES[1]);
        let spacing = room / (nodes - MARGIN) as f32;
        let side = 2 * nodes;
        let mut fourier = Fourier::new(side);
        // Distances on both sides, as the transform takes them: those below 0 at the end.
        let far = |i: usize| if i < nodes { i as f32 } else { i as f32 - side as f32 } * spacing;
        let (mut sums, mut forces) = (Grid::zeros(side), Grid::zeros(side));
        for row in 0..side {
            for column in 0..side {
                // Nothing is that far from anything, in neither direction.
                if row == nodes || column == nodes {
                    continue;
                }
                let (dx, dy) = (far(column), far(row));
                let q = 1.0 / (1.0 + dx * dx + dy * dy);
                let at = row * side + column;
                sums.re[at] = q;
                (forces.re[at], forces.im[at]) = (q * q * dx, q * q * dy);
            }
        }
        fourier.forward(&mut sums);
        fourier.forward(&mut forces);
        Self { fourier, spacing, sums: sums.re, forces, density: Grid::zeros(side) }
    }

    /// Whether points that span this much are within the grid and fill it.
    fn fits(&self, span: f32) -> bool {
        let nodes = self.density.side / 2;
        let room = (nodes - MARGIN) as f32 * self.spacing;
        let is_fine = self.spacing <= SPACING || nodes == NODES[1];
        let is_filled = span * WIDER >= FILLED * room;
        span <= room && is_fine && is_filled
    }

    /// Multiplies the transform of the density with that of the forces. Returns the sum of q over
    /// all pairs, times the number of nodes.
    fn fold(&mut self) -> f64 {
        let side = self.density.side;
        let rows = self.density.re.par_chunks_mut(side).zip(self.density.im.par_chunks_mut(side));
        let kernels = self.sums.par_chunks(side).zip(self.forces.re.par_chunks(side).zip(self.forces.im.par_chunks(side)));
        let sums: Vec<f64> = rows
            .zip(kernels)
            .map(|((re, im), (sums, (force_re, force_im)))| {
                let mut total = 0.0;
                for ((re, im), (sum, (a, b))) in re.iter_mut().zip(im).zip(sums.iter().zip(force_re.iter().zip(force_im))) {
                    total += f64::from((*re * *re + *im * *im) * sum);
                    (*re, *im) = (*re * a - *im * b, *re * b + *im * a);
                }
                total
            })
            .collect();
        sums.iter().sum()
    }
}

/// The four times four nodes around a place, and their weights: those of a cubic through the nodes.
#[derive(Clone, Copy, Debug)]
struct Nodes {
    column: u32,
    row: u32,
    x: [f32; 4],
    y: [f32; 4],
}

impl Nodes {
    fn of(place: PlanePoint, low: PlanePoint, spacing: f32) -> Self {
        let along = |axis: usize| {
            // One node before the first, and one in reserve for rounding.
            let at = (place[axis] - low[axis]) / spacing + 1.5;
            let first = at.floor();
            (first as u32 - 1, cubic(at - first))
        };
        let ((column, x), (row, y)) = (along(0), along(1));
        Self { column, row, x, y }
    }

    /// What a point at this place adds to the sum of q by itself.
    fn own(&self, kernel: &[[f64; 4]; 4]) -> f64 {
        let products =
            |weights: &[f32; 4]| [0, 1, 2, 3].map(|apart| (apart..4).map(|i| f64::from(weights[i] * weights[i - apart])).sum::<f64>());
        let (x, y) = (products(&self.x), products(&self.y));
        kernel.iter().zip(y).map(|(row, y)| y * row.iter().zip(x).map(|(q, x)| q * x).sum::<f64>()).sum()
    }

    fn each(&self, side: usize, mut with: impl FnMut(usize, f32)) {
        for (row, y) in (self.row as usize..).zip(self.y) {
            for (column, x) in (self.column as usize..).zip(self.x) {
                with(row * side + column, x * y);
            }
        }
    }
}

/// q between nodes so many apart along both directions, each counted on both sides.
fn own_kernel(spacing: f32) -> [[f64; 4]; 4] {
    let q = |x: usize, y: usize| 1.0 / (1.0 + f64::from(spacing).powi(2) * (x * x + y * y) as f64);
    let sides = |apart: usize| if apart == 0 { 1.0 } else { 2.0 };
    [0, 1, 2, 3].map(|y| [0, 1, 2, 3].map(|x| sides(x) * sides(y) * q(x, y)))
}

/// The weights of nodes at -1, 0, 1 and 2 for what is at `t` (Lagrange).
fn cubic(t: f32) -> [f32; 4] {
    let (a, b, c) = (t + 1.0, t - 1.0, t - 2.0);
    [-t * b * c / 6.0, a * b * c / 2.0, -a * t * c / 2.0, a * t * b / 6.0]
}

/// The lower corner of some places, and the longer side of what they span.
fn extent(places: &[PlanePoint]) -> (PlanePoint, f32) {
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for place in places {
        for axis in 0..2 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis]);
        }
    }
    if places.is_empty() { ([0.0; 2], 0.0) } else { (low, (high[0] - low[0]).max(high[1] - low[1])) }
}
