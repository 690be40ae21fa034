//! Colour layout: the mean colours of small squares, in a space where distance is what the eye
//! sees.

use std::sync::LazyLock;

use image::RgbImage;
use serde::{Deserialize, Serialize};

use super::resize::resize_rgb;
use crate::error::{Error, Result};

/// Values of a layout element: lightness, green-red and blue-yellow of 2 x 2 squares, row by row.
pub const VALUES: usize = 12;

/// How the picture is divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColourOptions {
    /// Elements along the longer side, `1..=64`.
    pub grid: u32,
}

impl Default for ColourOptions {
    fn default() -> Self {
        Self { grid: 6 }
    }
}

impl ColourOptions {
    /// Checks that the option is in its range.
    ///
    /// # Errors
    /// [`Error::Option`] when it is not.
    pub fn check(&self) -> Result<()> {
        match self.grid {
            1..=64 => Ok(()),
            _ => Err(Error::Option { name: "grid", found: self.grid.to_string(), expected: "1 to 64" }),
        }
    }
}

/// One element of the layout.
#[derive(Clone, Debug, PartialEq)]
pub struct ColourBlock {
    /// The middle, in pixels from the left edge.
    pub x: f32,
    /// The middle, in pixels from the top edge.
    pub y: f32,
    /// CIE L*a*b* (D65) of its four squares, each value divided by 100.
    pub values: [f32; VALUES],
}

/// The elements of `picture`, row by row: `grid` along its longer side, as many as fit along the
/// other. O(pixels).
pub fn colour_layout(picture: &RgbImage, options: &ColourOptions) -> Vec<ColourBlock> {
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 {
        return Vec::new();
    }
    let (columns, rows) = super::resize::fit(width, height, options.grid.clamp(1, 64));
    let small = resize_rgb(picture, 2 * columns, 2 * rows);
    let mut blocks = Vec::with_capacity((columns * rows) as usize);
    for row in 0..rows {
        for column in 0..columns {
            let mut values = [0.0; VALUES];
            for (i, lab_values) in values.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                let (dx, dy) = (i as u32 % 2, i as u32 / 2);
                *lab_values = lab(small.get_pixel(2 * column + dx, 2 * row + dy).0).map(|v| v / 100.0);
            }
            let middle = |i: u32, n: u32, length: u32| (i as f32 + 0.5) * length as f32 / n as f32 - 0.5;
            blocks.push(ColourBlock { x: middle(column, columns, width), y: middle(row, rows, height), values });
        }
    }
    blocks
}

static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|i| {
        let v = i as f32 / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    })
});

/// CIE L*a*b* of an sRGB colour, white point D65: L in 0..=100, a and b about -110..=110.
pub fn lab(rgb: [u8; 3]) -> [f32; 3] {
    let [r, g, b] = rgb.map(|v| LINEAR[v as usize]);
    let [x, y, z] = [
        (0.412_456 * r + 0.357_576 * g + 0.180_438 * b) / 0.950_47,
        0.212_673 * r + 0.715_152 * g + 0.072_175 * b,
        (0.019_334 * r + 0.119_192 * g + 0.950_304 * b) / 1.088_83,
    ]
    .map(|t| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}
