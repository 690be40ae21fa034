//! Parts of pictures, brought into line with other pictures.

use crate::linalg::cholesky::Cholesky;

/// A part of a picture: where it begins and ends, in shares of the width and the height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CropWindow {
    /// From left to right.
    pub x: (f32, f32),
    /// From top to bottom.
    pub y: (f32, f32),
}

impl CropWindow {
    /// All of it.
    pub const WHOLE: Self = Self { x: (0.0, 1.0), y: (0.0, 1.0) };

    /// Its share of the picture.
    pub fn area(self) -> f32 {
        (self.x.1 - self.x.0) * (self.y.1 - self.y.0)
    }
}

/// The most that is taken from a side.
const MOST: f32 = 0.3;
/// The furthest that a side is moved in one step.
const STEP: f32 = 0.03;
/// Steps in which a part is brought into line, at most.
const STEPS: usize = 5;
/// Smaller moves than this of all sides are none.
const ENOUGH: f64 = 5e-4;
/// What keeps the steps small along directions in which a picture does not change, as a share of
/// the whole.
const DAMPING: f64 = 1e-3;

/// For each pixel of a length its weights of the pixels of another one, of which a part is brought
/// to it: area averages where it shrinks, linear where it grows.
pub(super) struct Taps {
    starts: Vec<usize>,
    weights: Vec<Vec<f32>>,
}

impl Taps {
    /// From a part of `from` pixels to `to` pixels.
    pub(super) fn new(from: usize, (start, end): (f32, f32), to: usize) -> Self {
        let (n, start) = (from as f32, start * from as f32);
        let scale = (end * n - start) / to as f32;
        let mut taps = Self { starts: Vec::with_capacity(to), weights: Vec::with_capacity(to) };
        for i in 0..to {
            let (left, right) = if scale > 1.0 {
                ((start + i as f32 * scale).clamp(0.0, n), (start + (i + 1) as f32 * scale).clamp(0.0, n))
            } else {
                let centre = (start + (i as f32 + 0.5) * scale).clamp(0.5, n - 0.5);
                (centre - 0.5, centre + 0.5)
            };
            let first = (left as usize).min(from - 1);
            let last = (right.ceil() as usize).clamp(first + 1, from);
            let covered = (first..last).map(|j| (right.min(j as f32 + 1.0) - left.max(j as f32)).max(0.0));
            let total: f32 = covered.clone().sum();
            let even = 1.0 / (last - first) as f32;
            taps.weights.push(covered.map(|part| if total > 0.0 { part / total } else { even }).collect());
            taps.starts.push(first);
        }
        taps
    }

    pub(super) fn at(&self, i: usize) -> (usize, &[f32]) {
        (self.starts[i], &self.weights[i])
    }
}

/// One channel of a picture.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
}

impl Plane {
    /// A part of it as `side` x `side` pixels.
    pub(super) fn part(&self, window: CropWindow, side: usize) -> Vec<f32> {
        let (columns, rows) = (Taps::new(self.width, window.x, side), Taps::new(self.height, window.y, side));
        let mut out = Vec::with_capacity(side * side);
        let mut line = vec![0.0; self.width];
        for y in 0..side {
            let (first, weights) = rows.at(y);
            line.fill(0.0);
            for (weight, row) in weights.iter().zip(self.values.chunks_exact(self.width).skip(first)) {
                for (sum, value) in line.iter_mut().zip(row) {
                    *sum += weight * value;
                }
            }
            out.extend((0..side).map(|x| {
                let (first, weights) = columns.at(x);
                weights.iter().zip(&line[first..]).map(|(weight, value)| weight * value).sum::<f32>()
            }));
        }
        out
    }
}

/// The part of `source` near `start` that differs least from `target`, `side` x `side` pixels, and
/// its mean squared difference, without regard to brightness: Gauss-Newton steps of its four sides
/// (B. Lucas and T. Kanade, *An iterative image registration technique*, 1981).
/// O(pixels of the source + target) for each of at most 5 steps.
pub(super) fn align(source: &Plane, target: &[f32], side: usize, start: CropWindow) -> (CropWindow, f32) {
    let mut window = start;
    let mut best = (start, f32::INFINITY);
    let n = (side * side) as f32;
    let mean = |values: &[f32]| values.iter().sum::<f32>() / n;
    let target_mean = mean(target);
    for step in 0..=STEPS {
        let part = source.part(window, side);
        let brighter = target_mean - mean(&part);
        let apart: Vec<f32> = target.iter().zip(&part).map(|(target, part)| target - part - brighter).collect();
        let error = apart.iter().map(|e| e * e).sum::<f32>() / n;
        if error < best.1 {
            best = (window, error);
        }
        if step == STEPS {
            break;
        }
        let Some(moves) = gauss_newton(&part, &apart, side, window) else { break };
        let moved = |at: f32, by: f64| at + (by as f32).clamp(-STEP, STEP);
        let sides = |(start, end): (f32, f32), by: &[f64]| (moved(start, by[0]).clamp(0.0, MOST), moved(end, by[1]).clamp(1.0 - MOST, 1.0));
        window = CropWindow { x: sides(window.x, &moves[..2]), y: sides(window.y, &moves[2..]) };
        if moves.iter().all(|by| by.abs() < ENOUGH) {
            break;
        }
    }
    best
}

/// How far to move left, right, top and bottom; `None` where the part does not change anywhere.
fn gauss_newton(part: &[f32], apart: &[f32], side: usize, window: CropWindow) -> Option<[f64; 4]> {
    let at = |x: usize, y: usize| part[y * side + x];
    // The slope at a pixel, one-sided at the edges.
    let slope = |i: usize, value: &dyn Fn(usize) -> f32| {
        let (before, after) = (i.saturating_sub(1), (i + 1).min(side - 1));
        (value(after) - value(before)) / (after - before) as f32
    };
    let (across, down) = (side as f32 / (window.x.1 - window.x.0), side as f32 / (window.y.1 - window.y.0));
    let mut effects = Vec::with_capacity(side * side);
    let mut mean = [0.0_f64; 4];
    for y in 0..side {
        for x in 0..side {
            let gx = across * slope(x, &|x| at(x, y));
            let gy = down * slope(y, &|y| at(x, y));
            let (u, v) = ((x as f32 + 0.5) / side as f32, (y as f32 + 0.5) / side as f32);
            let effect = [gx * (1.0 - u), gx * u, gy * (1.0 - v), gy * v].map(f64::from);
            mean.iter_mut().zip(effect).for_each(|(mean, effect)| *mean += effect);
            effects.push(effect);
        }
    }
    mean.iter_mut().for_each(|mean| *mean /= (side * side) as f64);
    let (mut products, mut right) = (vec![0.0; 16], [0.0; 4]);
    for (effect, apart) in effects.iter().zip(apart) {
        let effect: [f64; 4] = std::array::from_fn(|i| effect[i] - mean[i]);
        for i in 0..4 {
            right[i] += effect[i] * f64::from(*apart);
            for j in 0..=i {
                products[4 * i + j] += effect[i] * effect[j];
            }
        }
    }
    let damping = DAMPING * (0..4).map(|i| products[5 * i]).sum::<f64>();
    (0..4).for_each(|i| products[5 * i] += damping);
    Cholesky::new(products, 4)?.solve(&mut right);
    right.iter().all(|by| by.is_finite()).then_some(right)
}
