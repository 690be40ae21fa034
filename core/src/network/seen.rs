//! What a network has seen in a picture: activations on a grid, and the probabilities of classes.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Values of a cell.
pub const CHANNELS: usize = 512;
/// Classes that the network was trained to tell apart.
pub const CLASSES: usize = 1000;

/// The width and height of the picture that the network takes.
pub const SIDE: u32 = 227;

/// Activations along each side.
const GRID: usize = 13;

/// How activations become cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkOptions {
    /// Cells along each side, `1..=13`.
    pub grid: u32,
}

impl Default for NetworkOptions {
    fn default() -> Self {
        Self { grid: 6 }
    }
}

impl NetworkOptions {
    /// Checks that the option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] when it is not.
    pub fn check(&self) -> Result<()> {
        match self.grid {
            1..=13 => Ok(()),
            _ => Err(Error::Option { name: "grid", found: self.grid.to_string(), expected: "1 to 13" }),
        }
    }
}

/// The mean activations of a part of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkCell {
    /// Its middle, as a share of the picture's width from the left edge.
    pub x: f32,
    /// Its middle, as a share of the picture's height from the top edge.
    pub y: f32,
    /// A vector of length 1 without values below 0, or zeros where nothing was active.
    pub values: [f32; CHANNELS],
}

/// What a network has seen in a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Activations from the top left corner, row by row.
    activations: Vec<[f32; CHANNELS]>,
    classes: Vec<f32>,
}

impl Seen {
    /// From activations channel by channel, each of them row by row.
    pub(super) fn new(channels: &[f32], classes: Vec<f32>) -> Self {
        let cells = GRID * GRID;
        let activations = (0..cells).map(|cell| std::array::from_fn(|channel| channels[channel * cells + cell])).collect();
        Self { activations, classes }
    }

    /// Cells row by row, `grid` along each side: of neighbours that share activations each has a
    /// part of them.
    pub fn cells(&self, options: &NetworkOptions) -> Vec<NetworkCell> {
        let grid = options.grid.clamp(1, GRID as u32) as usize;
        let part = |i: usize| i * GRID / grid..((i + 1) * GRID).div_ceil(grid);
        let mut cells = Vec::with_capacity(grid * grid);
        for row in 0..grid {
            for column in 0..grid {
                let below = part(row).flat_map(|y| part(column).map(move |x| &self.activations[y * GRID + x]));
                let middle = |i: usize| (seen_at(part(i).start) + seen_at(part(i).end - 1)) / 2.0;
                cells.push(NetworkCell { x: middle(column), y: middle(row), values: direction(below) });
            }
        }
        cells
    }

    /// The whole picture as one vector of length 1: the mean of all activations.
    pub fn vector(&self) -> [f32; CHANNELS] {
        direction(self.activations.iter())
    }

    /// The probability of each of the [`CLASSES`].
    pub fn classes(&self) -> &[f32] {
        &self.classes
    }
}

/// The middle of the pixels that an activation was computed from, as a share of the picture's side.
/// The first lies 15 pixels from the edge and each next one 16 further: there is one convolution
/// with a stride of 2 and there are three of maxima, all over 3 x 3 pixels.
fn seen_at(i: usize) -> f32 {
    (16.0 * i as f32 + 15.5) / SIDE as f32
}

/// The mean of activations, brought to length 1.
fn direction<'a>(all: impl Iterator<Item = &'a [f32; CHANNELS]>) -> [f32; CHANNELS] {
    let mut vector = [0.0; CHANNELS];
    for activations in all {
        vector.iter_mut().zip(activations).for_each(|(sum, value)| *sum += value);
    }
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}
