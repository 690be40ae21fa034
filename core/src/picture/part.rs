//! Parts of a picture, given by their place in the picture's own pixels, also where it was decoded
//! at a smaller size.

use image::RgbImage;
use image::imageops::crop_imm;

use super::Picture;
use crate::error::{Error, Result};

/// The least side of a part, in the picture's own pixels.
pub const LEAST: u32 = 8;

/// The first pixel and the end of a stretch of a side after the side is shrunk from `all` to `to`
/// pixels: at least one pixel.
fn shrunk(start: u32, length: u32, all: u32, to: u32) -> (u32, u32) {
    let scaled = |value: u32| u64::from(value) * u64::from(to);
    let from = (scaled(start) / u64::from(all.max(1))).min(u64::from(to.saturating_sub(1)));
    let end = scaled(start + length).div_ceil(u64::from(all.max(1))).clamp(from + 1, u64::from(to.max(1)));
    (from as u32, end as u32)
}

impl Picture {
    /// The part of `width` by `height` pixels whose top left corner is at (`x`, `y`):
    /// `[x, y, width, height]`. O(pixels of the part).
    ///
    /// # Errors
    /// [`Error::Option`] `crop` for a part that does not lie within the picture, or has a side
    /// below [`LEAST`].
    pub fn part(&self, [x, y, width, height]: [u32; 4]) -> Result<RgbImage> {
        let is_inside = |start: u32, length: u32, all: u32| start.checked_add(length).is_some_and(|end| end <= all);
        if width < LEAST || height < LEAST || !is_inside(x, width, self.size.0) || !is_inside(y, height, self.size.1) {
            return Err(Error::Option {
                name: "crop",
                found: format!("{x},{y},{width},{height} of a picture of {} x {} pixels", self.size.0, self.size.1),
                expected: "X,Y,WIDTH,HEIGHT in pixels, a part within the picture of at least 8 by 8",
            });
        }
        let (from_x, to_x) = shrunk(x, width, self.size.0, self.pixels.width());
        let (from_y, to_y) = shrunk(y, height, self.size.1, self.pixels.height());
        Ok(crop_imm(&self.pixels, from_x, from_y, to_x - from_x, to_y - from_y).to_image())
    }
}
