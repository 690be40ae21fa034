//! Pictures that tests are made of.

use image::{GrayImage, Luma, Rgb, RgbImage};
use imageproc::drawing::{draw_filled_circle_mut, draw_filled_rect_mut};
use imageproc::rect::Rect;
use rand::RngExt;
use tessera_core::random;

/// A colourful heap of rectangles and discs.
pub(crate) fn scene(seed: u64, width: u32, height: u32) -> RgbImage {
    let mut rng = random::seeded(seed);
    let mut colour = || Rgb([0; 3].map(|_: u8| rng.random_range(0..=255u8)));
    let mut picture = RgbImage::from_pixel(width, height, colour());
    let mut places = random::seeded(seed ^ 0x5EED);
    for i in 0..40 {
        let (x, y) = (places.random_range(0..width) as i32, places.random_range(0..height) as i32);
        let size = places.random_range(3..=width.max(12) / 4);
        if i % 2 == 0 {
            draw_filled_rect_mut(&mut picture, Rect::at(x, y).of_size(size, size / 2 + 1), colour());
        } else {
            draw_filled_circle_mut(&mut picture, (x, y), size as i32 / 2, colour());
        }
    }
    picture
}

/// A grey heap of rectangles and discs.
pub(crate) fn grey_scene(seed: u64, width: u32, height: u32) -> GrayImage {
    tessera_core::picture::grey(&scene(seed, width, height))
}

/// Noise.
pub(crate) fn noise(seed: u64, width: u32, height: u32) -> GrayImage {
    let mut rng = random::seeded(seed);
    GrayImage::from_fn(width, height, |_, _| Luma([rng.random_range(0..=255u8)]))
}
