//! How far two pictures differ once one is brought into line with the other.

use image::RgbImage;

use super::align::{CropWindow, Plane, align};

/// The distance up to which pictures are near copies: different photos, even of one scene a moment
/// later, are further apart.
pub const NEAR: f64 = 2.0;
/// The distance up to which pictures are similar: photos of one scene a moment later, too.
pub const SIMILAR: f64 = 8.0;

/// The sides of the squares in which pictures are compared: a quarter of the shorter side of both,
/// within these. They are brought into line at twice as many pixels.
const SIDES: (usize, usize) = (16, 32);
/// Pixels of the sides of the parts whose structure is compared.
const PATCH: usize = 7;
/// Below this side, in pixels, what compression and resizing do to a picture is no longer averaged
/// out, so a difference counts less, by the third power of the side.
const SMALL: f64 = 32.0;
/// The least that a difference counts.
const LEAST: f64 = 0.125;
/// The distance of pictures that have nothing in common.
const FURTHEST: f64 = 100.0;
/// What keeps the structure of even patches from counting, as a share of the range of brightness
/// (K2 of Wang and others, 2004).
const EVEN: f64 = 0.03;
/// The range of brightness of a picture, in standard deviations.
const RANGE: f64 = 8.0;
/// Colours are compared in squares of so many pixels of those in which structure is: compression
/// leaves little more of them.
const COLOUR: usize = 4;
/// Differences of colour, in levels of Cb and Cr, that count as a difference of structure of one
/// percent.
const LEVELS: f64 = 6.0;

/// How two pictures compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The structure in which they differ, in percent: 0 for the same picture, 100 for two that
    /// have nothing in common.
    pub distance: f64,
    /// The part of the first that the second shows.
    pub window: CropWindow,
}

/// The luma of a colour.
fn luma([r, g, b]: [f32; 3]) -> f32 {
    0.299 * r + 0.587 * g + 0.114 * b
}

/// A value of each pixel of a picture.
fn plane(picture: &RgbImage, value: impl Fn([f32; 3]) -> f32) -> Plane {
    let (pixels, _) = picture.as_raw().as_chunks::<3>();
    let values = pixels.iter().map(|pixel| value(pixel.map(f32::from))).collect();
    Plane { width: picture.width() as usize, height: picture.height() as usize, values }
}

/// The difference of blue and of red from the luma: Cb and Cr.
fn colours(picture: &RgbImage) -> [Plane; 2] {
    [plane(picture, |p| 0.564 * (p[2] - luma(p))), plane(picture, |p| 0.713 * (p[0] - luma(p)))]
}

/// Compares two small pictures, such as thumbnails: the first is brought into line with the second,
/// beginning with the part of it at `start`. Pictures without pixels have nothing in common with
/// any.
///
/// The distance is one minus the mean of the structure term of SSIM (Z. Wang, A. Bovik, H. Sheikh
/// and E. Simoncelli, *Image quality assessment*, 2004), or the difference in colour where that is
/// larger. O(pixels).
pub fn compare(a: &RgbImage, b: &RgbImage, start: CropWindow) -> Comparison {
    // Nothing is further apart than that.
    compare_within(a, b, start, FURTHEST).unwrap_or(Comparison { distance: FURTHEST, window: start })
}

/// As [`compare`]; `None` where the pictures are further apart than `most`, which takes less time
/// to say.
pub fn compare_within(a: &RgbImage, b: &RgbImage, start: CropWindow, most: f64) -> Option<Comparison> {
    let within = |distance: f64, window| (distance <= most).then_some(Comparison { distance, window });
    let shorter = [a.width(), a.height(), b.width(), b.height()].into_iter().min().unwrap_or(0);
    if shorter == 0 {
        return within(FURTHEST, start);
    }
    let side = (shorter as usize / 4).clamp(SIDES.0, SIDES.1);
    let source = plane(a, luma);
    let target = plane(b, luma).part(CropWindow::WHOLE, 2 * side);
    let (window, _) = align(&source, &target, 2 * side, start);
    let structure = structure(&halved(&source.part(window, 2 * side), side), &halved(&target, side), side);
    let pixels = |picture: &RgbImage| f64::from(picture.width()) * f64::from(picture.height());
    let counts = (pixels(a).min(pixels(b)).sqrt() / SMALL).powi(3).clamp(LEAST, 1.0);
    let distance = |apart: f64| (apart * counts).clamp(0.0, FURTHEST);
    let by_structure = 100.0 * (1.0 - structure);
    within(distance(by_structure), window)?;
    let squares = side / COLOUR;
    let (a_colours, b_colours) = (colours(a), colours(b));
    let apart = [0, 1].map(|i| mean_squared(&a_colours[i].part(window, squares), &b_colours[i].part(CropWindow::WHOLE, squares)));
    let by_colour = (apart[0] + apart[1]).sqrt() / LEVELS;
    within(distance(by_structure.max(by_colour)), window)
}

/// A picture of twice `side` at `side` pixels.
fn halved(values: &[f32], side: usize) -> Vec<f32> {
    let at = |x: usize, y: usize| values[y * 2 * side + x];
    let square = |x: usize, y: usize| (at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1)) / 4.0;
    (0..side * side).map(|i| square(2 * (i % side), 2 * (i / side))).collect()
}

fn mean_squared(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / a.len() as f64
}

fn variance(values: &[f32]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / n;
    values.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / n
}

/// The mean over all patches of how far two pictures rise and fall together, 1 where they do so
/// equally.
fn structure(a: &[f32], b: &[f32], side: usize) -> f64 {
    let range = (RANGE * variance(a).max(variance(b)).sqrt()).min(255.0);
    let even = (EVEN * range).powi(2).max(f64::MIN_POSITIVE);
    let n = (PATCH * PATCH) as f64;
    let (mut total, mut patches) = (0.0, 0.0);
    for top in 0..=side - PATCH {
        for left in 0..=side - PATCH {
            let [mut sa, mut sb, mut saa, mut sbb, mut sab] = [0.0_f64; 5];
            for y in top..top + PATCH {
                let row = y * side + left..y * side + left + PATCH;
                for (a, b) in a[row.clone()].iter().zip(&b[row]) {
                    let (a, b) = (f64::from(*a), f64::from(*b));
                    sa += a;
                    sb += b;
                    saa += a * a;
                    sbb += b * b;
                    sab += a * b;
                }
            }
            // Written alike, so that equal patches give exactly 1.
            let covariance = |ab: f64, a: f64, b: f64| ab / n - (a / n) * (b / n);
            let both = covariance(saa, sa, sa) + covariance(sbb, sb, sb);
            total += (2.0 * covariance(sab, sa, sb) + even) / (both + even);
            patches += 1.0;
        }
    }
    total / patches
}
