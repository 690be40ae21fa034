//! The camera: framing, anti-aliasing, tone.

use image::{GrayImage, Luma, Rgb, RgbImage};

use super::math::{Dice, PI, V3, cos, sin, v3};
use super::scene::{Light, Scene, TABLE};
use super::view::CameraView;

/// From the eye to the middle of the toy, in toy units.
const DISTANCE: f32 = 7.0;
/// Between the eyes of a stereo pair.
const BASELINE: f32 = 0.55;
/// Two colours of neighbouring pixels that differ by more than this (display values) call for more
/// rays.
const STEP: f32 = 0.03;
/// The share of a pixel's light that falls on each of its neighbours in a row or a column.
const SOFTNESS: f32 = 0.16;
/// Where the additional rays of a pixel go.
const EXTRA: [(f32, f32); 6] = [(-0.36, -0.12), (0.12, -0.36), (0.36, 0.12), (-0.12, 0.36), (-0.22, 0.2), (0.24, -0.18)];

pub(super) struct Camera {
    eye: V3,
    forward: V3,
    right: V3,
    up: V3,
    /// Size of half the picture at distance 1, and where its middle lies.
    zoom: f32,
    middle: (f32, f32),
}

impl Camera {
    /// The camera of a view. `eye` is -1 for the left one, 1 for the right one.
    pub(super) fn new(scene: &Scene, view: &CameraView, eye: f32, dice: &mut Dice) -> Self {
        let outline = scene.outline();
        let reach = |pick: fn(V3) -> f32, from: f32, by: fn(f32, f32) -> f32| outline.iter().map(|&c| pick(c)).fold(from, by);
        let height = reach(|c| c.y, 0.0, f32::max);
        let target = v3(0.0, height * 0.42, 0.0);
        let azimuth = view.azimuth as f32 * (PI / 18.0);
        let elevation = (30.0 + 5.0 * view.elevation as f32) * (PI / 180.0);
        let back = v3(cos(azimuth) * cos(elevation), sin(elevation), sin(azimuth) * cos(elevation));
        let right = v3(0.0, 1.0, 0.0).cross(back).unit();
        let mut camera =
            Self { eye: target + back * DISTANCE, forward: -back, right, up: back.cross(right), zoom: 1.0, middle: (0.0, 0.0) };
        // Framing looks from between the eyes, so that both pictures of a pair have the same.
        let (mut lo, mut hi) = ((f32::MAX, f32::MAX), (f32::MIN, f32::MIN));
        for &c in &outline {
            let d = c - camera.eye;
            let depth = d.dot(camera.forward);
            let (x, y) = (d.dot(camera.right) / depth, d.dot(camera.up) / depth);
            lo = (lo.0.min(x), lo.1.min(y));
            hi = (hi.0.max(x), hi.1.max(y));
        }
        let wide = 0.5 * (hi.0 - lo.0).max((hi.1 - lo.1) * 0.97);
        let fill = dice.range(0.74, 0.82);
        // A toy seen end on stays smaller than its side view, but not by much.
        let least = reach(|c| c.x.abs().max(c.z.abs()), 0.0, f32::max) / DISTANCE * 0.74;
        camera.zoom = wide.max(least) / fill;
        let drift = camera.zoom * (1.0 - fill) * 0.35;
        camera.middle =
            (0.5 * (lo.0 + hi.0) + dice.range(-drift, drift), 0.5 * (lo.1 + hi.1) + dice.range(-drift, drift) - camera.zoom * 0.02);
        let aside = eye * BASELINE * 0.5;
        camera.eye = camera.eye + camera.right * aside;
        camera.middle.0 -= aside / DISTANCE;
        camera
    }

    fn ray(&self, x: f32, y: f32) -> V3 {
        let (x, y) = (x * self.zoom + self.middle.0, -y * self.zoom + self.middle.1);
        (self.forward + self.right * x + self.up * y).unit()
    }
}

struct Sample {
    colour: V3,
    part: usize,
    t: f32,
    light: Light,
}

/// Paints the scene: one ray a pixel, and [`EXTRA`] more where neighbours differ.
pub(super) fn paint(scene: &Scene, camera: &Camera, side: u32) -> RgbImage {
    let n = side as usize;
    let at = |x: usize, y: usize, (dx, dy): (f32, f32)| {
        let scale = 2.0 / side as f32;
        camera.ray((x as f32 + 0.5 + dx) * scale - 1.0, (y as f32 + 0.5 + dy) * scale - 1.0)
    };
    let mut samples = Vec::with_capacity(n * n);
    for y in 0..n {
        for x in 0..n {
            let along = at(x, y, (0.0, 0.0));
            samples.push(scene.meet(camera.eye, along).map(|hit| {
                let light = scene.light(camera.eye, along, &hit);
                Sample { colour: tone(scene.shade(along, &hit, light)), part: hit.part, t: hit.t, light }
            }));
        }
    }
    let differs = |a: &Option<Sample>, b: &Option<Sample>| match (a, b) {
        (Some(a), Some(b)) => a.part != b.part || (a.colour - b.colour).abs().max_part() > STEP,
        _ => false,
    };
    let mut pixels = Vec::with_capacity(n * n);
    for y in 0..n {
        for x in 0..n {
            let i = y * n + x;
            let own = &samples[i];
            let edge = (x > 0 && differs(own, &samples[i - 1]))
                || (x + 1 < n && differs(own, &samples[i + 1]))
                || (y > 0 && differs(own, &samples[i - n]))
                || (y + 1 < n && differs(own, &samples[i + n]));
            let mut sum = own.as_ref().map_or(v3(0.8, 0.8, 0.8), |s| s.colour);
            if let (true, Some(own)) = (edge, own) {
                let mut count = 1.0;
                for offset in EXTRA {
                    let along = at(x, y, offset);
                    let Some(hit) = scene.meet(camera.eye, along) else { continue };
                    let shared = hit.part == own.part && (hit.part == TABLE || (hit.t - own.t).abs() < 0.06);
                    let light = if shared { own.light } else { scene.light(camera.eye, along, &hit) };
                    sum = sum + tone(scene.shade(along, &hit, light));
                    count += 1.0;
                }
                sum = sum * (1.0 / count);
            }
            pixels.push(sum);
        }
    }
    develop(&pixels, n)
}

/// 255 where the middle of a pixel shows the toy, 0 where it shows the table.
pub(super) fn silhouette(scene: &Scene, camera: &Camera, side: u32) -> GrayImage {
    let scale = 2.0 / side as f32;
    GrayImage::from_fn(side, side, |x, y| {
        let along = camera.ray((x as f32 + 0.5) * scale - 1.0, (y as f32 + 0.5) * scale - 1.0);
        Luma([if scene.meet(camera.eye, along).is_some_and(|hit| hit.part != TABLE) { 255 } else { 0 }])
    })
}

/// The lens: a little softness, a little darkness towards the corners; then bytes.
fn develop(pixels: &[V3], n: usize) -> RgbImage {
    let blend = |a: V3, b: V3, c: V3| b * (1.0 - 2.0 * SOFTNESS) + (a + c) * SOFTNESS;
    let near = |i: usize| (i.saturating_sub(1), (i + 1).min(n - 1));
    let row = |x: usize, y: usize| {
        let (left, right) = near(x);
        blend(pixels[y * n + left], pixels[y * n + x], pixels[y * n + right])
    };
    RgbImage::from_fn(n as u32, n as u32, |x, y| {
        let (x, y) = (x as usize, y as usize);
        let (above, below) = near(y);
        let soft = blend(row(x, above), row(x, y), row(x, below));
        let middle = |i: usize| (i as f32 + 0.5) / n as f32 * 2.0 - 1.0;
        let r2 = middle(x) * middle(x) + middle(y) * middle(y);
        let pixel = soft * (1.0 - 0.035 * r2 - 0.012 * r2 * r2);
        Rgb([pixel.x, pixel.y, pixel.z].map(|c| (c * 255.0 + 0.5).clamp(0.0, 255.0) as u8))
    })
}

/// From linear light to display values, with a soft shoulder. The gamma is 2, whose root every
/// machine rounds alike.
fn tone(light: V3) -> V3 {
    light.map(|c| {
        let c = c.max(0.0) * 1.02;
        let c = if c > 0.6 { 0.6 + 0.4 * (1.0 - 1.0 / (1.0 + (c - 0.6) / 0.4)) } else { c };
        c.sqrt()
    })
}
