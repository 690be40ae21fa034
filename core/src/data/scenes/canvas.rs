//! Painting a scene: backgrounds, and cut-outs pasted with a change of place, size, angle and tone.

use image::{Rgb, RgbImage, RgbaImage};

use crate::data::toys::math::{Dice, noise};

/// How a cut-out is pasted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Where the middle of its frame goes, in pixels of the canvas.
    pub(super) middle: [f32; 2],
    /// Canvas pixels of the frame's longer side.
    pub(super) side: f32,
    /// Clockwise, in radians; small.
    pub(super) angle: f32,
    /// Contrast around mid grey, and what is added to the brightness.
    pub(super) contrast: f32,
    pub(super) luminance: f32,
}

/// Rays of a canvas pixel: a cut-out that shrinks to half its size stays smooth.
const RAYS: [f32; 2] = [-0.25, 0.25];

/// Pastes a cut-out.
pub(super) fn paste(canvas: &mut RgbImage, object: &RgbaImage, at: &Placement) {
    let (width, height) = (object.width() as f32, object.height() as f32);
    let scale = at.side / width.max(height);
    // Polynomials, for every platform rounds them alike; exact enough below 20 degrees.
    let square = at.angle * at.angle;
    let (sin, cos) = (at.angle * (1.0 - square / 6.0 * (1.0 - square / 20.0)), 1.0 - square / 2.0 * (1.0 - square / 12.0));
    let reach = 0.5 * scale * (width * cos + height * sin.abs()).max(height * cos + width * sin.abs()) + 1.0;
    let range = |middle: f32, n: u32| ((middle - reach).max(0.0) as u32, ((middle + reach).max(0.0) as u32 + 1).min(n));
    let (left, right) = range(at.middle[0], canvas.width());
    let (top, bottom) = range(at.middle[1], canvas.height());
    for y in top..bottom {
        for x in left..right {
            let mut sum = [0.0; 4];
            for (dx, dy) in RAYS.iter().flat_map(|&dx| RAYS.iter().map(move |&dy| (dx, dy))) {
                let (u, v) = (x as f32 + 0.5 + dx - at.middle[0], y as f32 + 0.5 + dy - at.middle[1]);
                let (u, v) = ((cos * u + sin * v) / scale, (cos * v - sin * u) / scale);
                let sample = bilinear(object, u + width / 2.0 - 0.5, v + height / 2.0 - 0.5);
                (0..4).for_each(|c| sum[c] += sample[c] / 4.0);
            }
            let covered = sum[3];
            if covered > 0.0 {
                let pixel = canvas.get_pixel_mut(x, y);
                for c in 0..3 {
                    let colour = (sum[c] / covered - 127.5) * at.contrast + 127.5 + at.luminance;
                    let mixed = colour.clamp(0.0, 255.0) * covered + f32::from(pixel[c]) * (1.0 - covered);
                    pixel[c] = (mixed + 0.5) as u8;
                }
            }
        }
    }
}

/// Colour times coverage, and the coverage in 0..=1, between pixels.
fn bilinear(object: &RgbaImage, x: f32, y: f32) -> [f32; 4] {
    let (x0, y0) = (x.floor(), y.floor());
    let (fx, fy) = (x - x0, y - y0);
    let mut sum = [0.0; 4];
    for (px, wx) in [(x0, 1.0 - fx), (x0 + 1.0, fx)] {
        for (py, wy) in [(y0, 1.0 - fy), (y0 + 1.0, fy)] {
            if px >= 0.0 && py >= 0.0 && px < object.width() as f32 && py < object.height() as f32 {
                let pixel = object[(px as u32, py as u32)].0.map(f32::from);
                let weight = wx * wy * pixel[3] / 255.0;
                (0..3).for_each(|c| sum[c] += weight * pixel[c]);
                sum[3] += weight;
            }
        }
    }
    sum
}

/// A cluttered background: two textures of noise and some discs and bars, all of random colours.
pub(super) fn clutter(side: u32, dice: &mut Dice) -> RgbImage {
    let mut colour = {
        let dice = &mut *dice;
        move || [dice.range(20.0, 235.0), dice.range(20.0, 235.0), dice.range(20.0, 235.0)]
    };
    let colours = [colour(), colour(), colour()];
    let (coarse, fine) = (dice.range(2.0, 5.0) / side as f32, dice.range(9.0, 20.0) / side as f32);
    let offset = [dice.range(0.0, 500.0), dice.range(0.0, 500.0)];
    let mut canvas = RgbImage::from_fn(side, side, |x, y| {
        let (x, y) = (x as f32, y as f32);
        let a = noise(offset[0] + x * coarse, offset[1] + y * coarse);
        let b = noise(offset[1] + x * fine, offset[0] + y * fine);
        let mix = |c: usize| colours[0][c] * (1.0 - a) + colours[1][c] * a + (colours[2][c] - 127.5) * 0.5 * (b - 0.5);
        Rgb([mix(0), mix(1), mix(2)].map(|value| value.clamp(0.0, 255.0) as u8))
    });
    for _ in 0..6 + dice.below(7) {
        let middle = [dice.range(0.0, side as f32), dice.range(0.0, side as f32)];
        let half = [dice.range(0.02, 0.14) * side as f32, dice.range(0.02, 0.14) * side as f32];
        let tone = [dice.range(10.0, 245.0), dice.range(10.0, 245.0), dice.range(10.0, 245.0)].map(|value| value as u8);
        let is_disc = dice.chance(0.5);
        for (x, y, pixel) in canvas.enumerate_pixels_mut() {
            let (u, v) = ((x as f32 - middle[0]) / half[0], (y as f32 - middle[1]) / half[1]);
            let is_inside = if is_disc { u * u + v * v < 1.0 } else { u.abs() < 1.0 && v.abs() < 1.0 };
            if is_inside {
                *pixel = Rgb(tone);
            }
        }
    }
    canvas
}
