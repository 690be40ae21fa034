//! Perceptual hash of a picture in 256 bits: near copies differ in few of them, whatever their size
//! and compression.

use image::RgbImage;

use super::{grey, resize};
use crate::descriptor::Descriptor;

const COLUMNS: u32 = 17;
const ROWS: u32 = 16;

/// The difference hash of a picture: it is shrunk to 17 x 16 grey pixels, and each bit says whether
/// a pixel is brighter than the one to its left (N. Krawetz, *Kind of like that*, 2013, at four
/// times the bits). A picture without pixels has the hash of a flat one. O(pixels).
pub fn perceptual_hash(picture: &RgbImage) -> Descriptor {
    if picture.width() == 0 || picture.height() == 0 {
        return Descriptor::default();
    }
    let small = grey(&resize::resize_rgb(picture, COLUMNS, ROWS));
    let mut words = [0_u64; 4];
    for y in 0..ROWS {
        for x in 0..COLUMNS - 1 {
            let bit = (y * (COLUMNS - 1) + x) as usize;
            // A step of one grey level is noise.
            let is_brighter = small.get_pixel(x + 1, y)[0] > small.get_pixel(x, y)[0].saturating_add(1);
            words[bit / 64] |= u64::from(is_brighter) << (bit % 64);
        }
    }
    Descriptor(words)
}
