//! Pictures and what is computed on them. Pixels: x to the right, y down, the origin at the top
//! left corner.
//!
//! ```
//! use image::{Rgb, RgbImage};
//! use tessera_core::picture::{Picture, grey};
//!
//! let picture = Picture::from(RgbImage::from_pixel(40, 30, Rgb([90, 120, 60])));
//! assert_eq!(grey(&picture.pixels).dimensions(), (40, 30));
//! assert_eq!(picture.part([10, 10, 8, 9])?.dimensions(), (8, 9));
//! # Ok::<(), tessera_core::Error>(())
//! ```

pub mod appearance;
pub mod blur;
mod budget;
pub mod colour;
pub mod decode;
pub mod glance;
pub mod hog;
pub mod jpeg_end;
mod netpbm;
pub mod part;
pub mod perceptual_hash;
pub mod pyramid;
pub mod resize;
pub mod thumbnail;
pub mod workers;

use image::{GrayImage, Luma, RgbImage};

pub use budget::MemoryBudget;
pub use decode::{Decoder, InProcess, Limits, Picture};
pub use workers::Workers;

/// Luma of an RGB picture, `(77 r + 150 g + 29 b) / 256` (ITU-R BT.601): a grey pixel keeps its
/// value exactly.
pub fn grey(rgb: &RgbImage) -> GrayImage {
    let mut out = GrayImage::new(rgb.width(), rgb.height());
    for (grey, p) in out.pixels_mut().zip(rgb.pixels()) {
        let [r, g, b] = p.0.map(u32::from);
        *grey = Luma([((77 * r + 150 * g + 29 * b + 128) >> 8) as u8]);
    }
    out
}
