//! Where a picture and a copy of it differ, as a picture.

use image::{Rgb, RgbImage, imageops};

use super::align::CropWindow;
use super::candidates::candidates;
use super::compare::{Comparison, compare};
use super::signature::Signature;
use super::turn::Turn;
use crate::error::Result;
use crate::picture::resize::resize_rgb;
use crate::progress::Progress;

/// The longer side of the pictures that are brought into line.
const ALIGNED: u32 = 256;
/// How many times larger differences are drawn than they are.
const TIMES: u8 = 4;
/// What is drawn where the copy shows nothing.
const UNSEEN: Rgb<u8> = Rgb([48, 48, 64]);

/// Where a picture and a copy of it differ.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelDifference {
    /// In the place of each pixel of the picture its differences in red, green and blue, four
    /// times as large; a dark blue where the copy shows nothing.
    pub picture: RgbImage,
    /// The mean difference of a colour, in levels of 255.
    pub mean: f64,
    /// The largest.
    pub largest: u8,
}

/// How a copy lies on a picture: turned, and which of both is a part of the other.
struct Laid {
    turned: RgbImage,
    window: CropWindow,
    is_larger: bool,
}

/// Lays a copy on a picture, turned, stretched and moved as it was when it was made, and tells
/// where they differ. Two pictures that nobody would take for copies are laid on each other as they
/// are.
/// O(pixels).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn pixel_difference(picture: &RgbImage, copy: &RgbImage, progress: &Progress) -> Result<PixelDifference> {
    let (width, height) = picture.dimensions();
    let mut drawn = RgbImage::from_pixel(width, height, UNSEEN);
    if width == 0 || height == 0 || copy.width() == 0 || copy.height() == 0 {
        return Ok(PixelDifference { picture: drawn, mean: 0.0, largest: 0 });
    }
    let laid = laid(picture, copy, progress)?;
    // The part of the picture that is compared, in pixels.
    let part = if laid.is_larger { CropWindow::WHOLE } else { laid.window };
    let pixels = |(start, end): (f32, f32), size: u32| {
        let first = ((start * size as f32).round() as u32).min(size - 1);
        (first, ((end * size as f32).round() as u32).clamp(first + 1, size) - first)
    };
    let ((left, w), (top, h)) = (pixels(part.x, width), pixels(part.y, height));
    let shown = if laid.is_larger {
        let ((x, w), (y, h)) = (pixels(laid.window.x, laid.turned.width()), pixels(laid.window.y, laid.turned.height()));
        imageops::crop_imm(&laid.turned, x, y, w, h).to_image()
    } else {
        laid.turned
    };
    let shown = if shown.dimensions() == (w, h) { shown } else { resize_rgb(&shown, w, h) };
    let (mut sum, mut largest) = (0u64, 0);
    for (x, y, other) in shown.enumerate_pixels() {
        let pixel = picture.get_pixel(left + x, top + y);
        let apart: [u8; 3] = std::array::from_fn(|i| pixel[i].abs_diff(other[i]));
        sum += apart.iter().map(|apart| u64::from(*apart)).sum::<u64>();
        largest = apart.into_iter().fold(largest, u8::max);
        drawn.put_pixel(left + x, top + y, Rgb(apart.map(|apart| apart.saturating_mul(TIMES))));
    }
    Ok(PixelDifference { picture: drawn, mean: sum as f64 / (3 * u64::from(w) * u64::from(h)) as f64, largest })
}

fn laid(picture: &RgbImage, copy: &RgbImage, progress: &Progress) -> Result<Laid> {
    let small = [picture, copy].map(|picture| {
        let longer = picture.width().max(picture.height());
        let shrunk = |side: u32| (u64::from(side) * u64::from(ALIGNED) / u64::from(longer)).max(1) as u32;
        if longer <= ALIGNED { picture.clone() } else { resize_rgb(picture, shrunk(picture.width()), shrunk(picture.height())) }
    });
    let found = candidates(&[Signature::of(&small[0]), Signature::of(&small[1])], progress)?;
    let measured = |candidate: &super::Candidate| {
        let (from, to) = (&small[candidate.from], &small[candidate.to]);
        compare(&candidate.turn.of(from), to, candidate.turn.window(candidate.window))
    };
    let compared: Vec<(&super::Candidate, Comparison)> = found.iter().map(|candidate| (candidate, measured(candidate))).collect();
    let Some((best, comparison)) = compared.into_iter().min_by(|a, b| a.1.distance.total_cmp(&b.1.distance)) else {
        return Ok(Laid { turned: copy.clone(), window: CropWindow::WHOLE, is_larger: false });
    };
    // A picture with its part in the copy is turned to it, so the part is turned back.
    let is_larger = best.from == 1;
    let turn = if is_larger { best.turn } else { best.turn.inverse() };
    let window = if is_larger { comparison.window } else { turn.window(comparison.window) };
    // What is hardly less than the whole is the whole: pixels of copies lie on the picture's.
    let shorter = small.iter().map(|small| small.width().min(small.height())).min().unwrap_or(1);
    let is_whole = window.area() >= 1.0 - (2.0 / shorter.max(1) as f32).max(0.03);
    let window = if is_whole { CropWindow::WHOLE } else { window };
    Ok(Laid { turned: if turn == Turn::default() { copy.clone() } else { turn.of(copy) }, window, is_larger })
}
