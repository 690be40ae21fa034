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

/// Luma and colour of a picture.
struct Planes([Plane; 3]);

impl Planes {
    fn of(picture: &RgbImage) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let plane = |value: &dyn Fn([f32; 3]) -> f32| Plane {
            width,
            height,
            values: picture.pixels().map(|pixel| value(pixel.0.map(f32::from))).collect(),
        };
        let luma = |[r, g, b]: [f32; 3]| 0.299 * r + 0.587 * g + 0.114 * b;
        Self([plane(&luma), plane(&|p| 0.564 * (p[2] - luma(p))), plane(&|p| 0.713 * (p[0] - luma(p)))])
    }
}

/// Compares two small pictures, such as thumbnails: the first is brought into line with the second,
/// beginning with the part of it at `start`. Pictures without pixels have nothing in common with
/// any.
///
/// The distance is one minus the mean of the structure term of SSIM (Z. Wang, A. Bovik, H. Sheikh
/// and E. Simoncelli, *Image quality assessment*, 2004), or the difference in colour where that is
/// larger. O(pixels).
pub fn compare(a: &RgbImage, b: &RgbImage, start: CropWindow) -> Comparison {
    let shorter = [a.width(), a.height(), b.width(), b.height()].into_iter().min().unwrap_or(0);
    if shorter == 0 {
        return Comparison { distance: 100.0, window: start };
    }
    let side = (shorter as usize / 4).clamp(SIDES.0, SIDES.1);
    let (Planes(a_planes), Planes(b_planes)) = (Planes::of(a), Planes::of(b));
    let target = b_planes[0].part(CropWindow::WHOLE, 2 * side);
    let (window, _) = align(&a_planes[0], &target, 2 * side, start);
    let structure = structure(&halved(&a_planes[0].part(window, 2 * side), side), &halved(&target, side), side);
    let squares = side / COLOUR;
    let colour = [1, 2].map(|i| mean_squared(&a_planes[i].part(window, squares), &b_planes[i].part(CropWindow::WHOLE, squares)));
    let colour = (colour[0] + colour[1]).sqrt() / LEVELS;
    let pixels = |picture: &RgbImage| f64::from(picture.width()) * f64::from(picture.height());
    let counts = (pixels(a).min(pixels(b)).sqrt() / SMALL).powi(3).clamp(LEAST, 1.0);
    Comparison { distance: ((100.0 * (1.0 - structure)).max(colour) * counts).clamp(0.0, 100.0), window }
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
