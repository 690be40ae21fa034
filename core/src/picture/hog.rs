//! Dense histograms of oriented gradients of colour pictures.
//!
//! After N. Dalal and B. Triggs, *Histograms of oriented gradients for human detection*, CVPR 2005:
//! the gradient of the strongest colour channel, unsigned, in cells with a Gaussian window; blocks
//! of 2 x 2 cells, clipped.

use image::RgbImage;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Values of a block: four cells (top left, top right, bottom left, bottom right) of [`BINS`] each.
pub const VALUES: usize = 4 * BINS;
/// Directions, from 0 (a vertical edge) clockwise to half a turn.
pub const BINS: usize = 9;

/// How the picture is divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HogOptions {
    /// Pixels of a cell's side, and from block to block, `4..=256`.
    pub cell: u32,
    /// Gradients weaker than this, as a share of the strongest possible, count little; 0 or more.
    pub noise: f32,
    /// The largest share of a block's length that one value may have before the rest is raised,
    /// above 0 and at most 1.
    pub clip: f32,
}

impl Default for HogOptions {
    fn default() -> Self {
        Self { cell: 9, noise: 0.01, clip: 0.4 }
    }
}

impl HogOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that is not.
    pub fn check(&self) -> Result<()> {
        let wrong = |name, found: String, expected| Err(Error::Option { name, found, expected });
        if !(4..=256).contains(&self.cell) {
            return wrong("cell", self.cell.to_string(), "4 to 256");
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return wrong("noise", self.noise.to_string(), "0 or more");
        }
        if !(self.clip > 0.0 && self.clip <= 1.0) {
            return wrong("clip", self.clip.to_string(), "above 0 and at most 1");
        }
        Ok(())
    }
}

/// A block: its middle in pixels and its values, a vector of length 0 (flat) to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct HogBlock {
    /// Pixels from the left edge.
    pub x: f32,
    /// Pixels from the top edge.
    pub y: f32,
    /// The histograms.
    pub values: [f32; VALUES],
}

/// All blocks that lie inside `picture`, row by row. The grid is centred on the picture. O(pixels).
pub fn dense_hog(picture: &RgbImage, options: &HogOptions) -> Vec<HogBlock> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let cell = options.cell.clamp(4, 256) as usize;
    let (columns, rows) = (blocks_along(width, cell), blocks_along(height, cell));
    if columns == 0 || rows == 0 {
        return Vec::new();
    }
    let cells = cell_histograms(picture, cell, columns + 1, rows + 1);
    let mut blocks = Vec::with_capacity(columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            let mut values = [0.0; VALUES];
            for (i, part) in values.as_chunks_mut::<BINS>().0.iter_mut().enumerate() {
                *part = cells[(row + i / 2) * (columns + 1) + column + i % 2];
            }
            normalise(&mut values, options);
            let middle =
                |length: usize, n: usize, i: usize| (length as f32 - 1.0) / 2.0 + (i as f32 - (n as f32 - 1.0) / 2.0) * cell as f32;
            blocks.push(HogBlock { x: middle(width, columns, column), y: middle(height, rows, row), values });
        }
    }
    blocks
}

/// Blocks of two cells that fit into `length` pixels, one cell apart.
fn blocks_along(length: usize, cell: usize) -> usize {
    (length / cell).saturating_sub(1)
}

/// Brings the length of `values` towards 1 unless they are noise, and limits how much of it one
/// value may hold.
fn normalise(values: &mut [f32; VALUES], options: &HogOptions) {
    let length = |values: &[f32; VALUES]| values.iter().map(|v| v * v).sum::<f32>().sqrt();
    let before = length(values);
    let scale = 1.0 / (before * before + options.noise * options.noise).sqrt().max(f32::MIN_POSITIVE);
    let wanted = before * scale;
    for value in values.iter_mut() {
        *value = (*value * scale).min(options.clip);
    }
    let clipped = length(values);
    if clipped > 0.0 {
        values.iter_mut().for_each(|value| *value *= wanted / clipped);
    }
}

/// Histograms of `columns` x `rows` cells, one cell apart and centred on the picture; a pixel
/// counts for a cell by a Gaussian of half a cell's deviation, cut off at three deviations.
fn cell_histograms(picture: &RgbImage, cell: usize, columns: usize, rows: usize) -> Vec<[f32; BINS]> {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let across = windows(width, cell, columns);
    let down = windows(height, cell, rows);
    let mut cells = vec![[0.0; BINS]; columns * rows];
    let mut line = vec![[0.0f32; BINS]; columns];
    for (y, shares) in down.iter().enumerate() {
        line.fill([0.0; BINS]);
        for (x, weights) in across.iter().enumerate() {
            let (strength, direction) = gradient(picture, x, y);
            if strength == 0.0 {
                continue;
            }
            let low = (direction as usize).min(BINS - 1);
            let high = if low + 1 == BINS { 0 } else { low + 1 };
            let share = direction - low as f32;
            for &(column, weight) in weights {
                let value = strength * weight;
                line[column][low] += value * (1.0 - share);
                line[column][high] += value * share;
            }
        }
        for &(row, weight) in shares {
            for (cell, sums) in cells[row * columns..][..columns].iter_mut().zip(&line) {
                for (value, sum) in cell.iter_mut().zip(sums) {
                    *value += weight * sum;
                }
            }
        }
    }
    cells
}

/// For each pixel along a side, the cells it counts for and how much; each cell's weights sum to 1.
fn windows(length: usize, cell: usize, n_cells: usize) -> Vec<Vec<(usize, f32)>> {
    let sigma = cell as f32 / 2.0;
    let mut pixels = vec![Vec::new(); length];
    for i in 0..n_cells {
        let middle = (length as f32 - 1.0) / 2.0 + (i as f32 - (n_cells as f32 - 1.0) / 2.0) * cell as f32;
        let weight = |x: usize| {
            let t = (x as f32 - middle) / sigma;
            if t.abs() <= 3.0 { (-0.5 * t * t).exp() } else { 0.0 }
        };
        let total: f32 = (0..length).map(weight).sum();
        for (x, cells) in pixels.iter_mut().enumerate() {
            if weight(x) > 0.0 {
                cells.push((i, weight(x) / total));
            }
        }
    }
    pixels
}

/// The strongest channel's gradient at a pixel: its length (1: the strongest possible along an
/// axis) and its direction in bins, `0.0..=9.0`.
fn gradient(picture: &RgbImage, x: usize, y: usize) -> (f32, f32) {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let raw = picture.as_raw();
    let at = |x: usize, y: usize| -> &[u8] { &raw[(y * width + x) * 3..][..3] };
    let (left, right) = (at(x.saturating_sub(1), y), at((x + 1).min(width - 1), y));
    let (above, below) = (at(x, y.saturating_sub(1)), at(x, (y + 1).min(height - 1)));
    let (mut dx, mut dy, mut most) = (0, 0, 0);
    for channel in 0..3 {
        let (cx, cy) = (i32::from(right[channel]) - i32::from(left[channel]), i32::from(below[channel]) - i32::from(above[channel]));
        let square = cx * cx + cy * cy;
        if square > most {
            (dx, dy, most) = (cx, cy, square);
        }
    }
    if most == 0 {
        return (0.0, 0.0);
    }
    ((most as f32).sqrt() / 255.0, half_turn(dx as f32, dy as f32) * BINS as f32)
}

/// `atan2(y, x) / pi` modulo 1, to about 0.00001: a polynomial (Abramowitz and Stegun, 4.4.49, over
/// pi), so that it is the same on every machine.
fn half_turn(x: f32, y: f32) -> f32 {
    let (ax, ay) = (x.abs(), y.abs());
    let t = ax.min(ay) / ax.max(ay);
    let s = t * t;
    let mut angle = t * (0.318_267 + s * (-0.105_138 + s * (0.057_341 + s * (-0.027_098 + s * 0.006_632))));
    if ay > ax {
        angle = 0.5 - angle;
    }
    if (x < 0.0) != (y < 0.0) && x != 0.0 && y != 0.0 { 1.0 - angle } else { angle }
}
