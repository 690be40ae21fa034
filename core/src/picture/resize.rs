//! Resizing of 8-bit pictures: area averaging when they shrink, bilinear when they grow.

use image::{GrayImage, RgbImage};
use multiversion::multiversion;

/// Weights are fractions of this.
const ONE: u32 = 1 << 14;
/// Rows are kept with this many fractional bits between the two passes.
const FRACTION: u32 = 6;

/// Resizes a grey picture to `width` x `height` (each 1 or more). O(source + target) pixels.
pub fn resize_grey(source: &GrayImage, width: u32, height: u32) -> GrayImage {
    let raw = resize::<1>(source.as_raw(), source.dimensions(), (width, height));
    GrayImage::from_raw(width, height, raw).unwrap_or_default()
}

/// Resizes a colour picture to `width` x `height` (each 1 or more). O(source + target) pixels.
pub fn resize_rgb(source: &RgbImage, width: u32, height: u32) -> RgbImage {
    let raw = resize::<3>(source.as_raw(), source.dimensions(), (width, height));
    RgbImage::from_raw(width, height, raw).unwrap_or_default()
}

/// The size of a `width` x `height` picture whose longer side becomes `side`; no side falls below
/// 1.
pub fn fit(width: u32, height: u32, side: u32) -> (u32, u32) {
    let longer = f64::from(width.max(height).max(1));
    let scaled = |length: u32| ((f64::from(length) * f64::from(side) / longer).round() as u32).max(1);
    (scaled(width), scaled(height))
}

fn resize<const CHANNELS: usize>(source: &[u8], from: (u32, u32), to: (u32, u32)) -> Vec<u8> {
    if from.0 == 0 || from.1 == 0 {
        return vec![0; to.0 as usize * to.1 as usize * CHANNELS];
    }
    if from == to {
        return source.to_vec();
    }
    let columns = Taps::new(from.0, to.0);
    let rows = Taps::new(from.1, to.1);
    let stride = from.0 as usize * CHANNELS;
    let mut sums = vec![0u32; stride];
    let mut row = vec![0u16; stride];
    let mut out = vec![0u8; to.0 as usize * to.1 as usize * CHANNELS];
    for (y, target) in out.chunks_exact_mut(to.0 as usize * CHANNELS).enumerate() {
        let (start, weights) = rows.at(y);
        blend_rows(&source[start * stride..], weights, &mut sums, &mut row);
        match columns.n_taps {
            1 => blend_columns::<CHANNELS, 1>(&row, &columns, target),
            2 => blend_columns::<CHANNELS, 2>(&row, &columns, target),
            3 => blend_columns::<CHANNELS, 3>(&row, &columns, target),
            _ => blend_many_columns::<CHANNELS>(&row, &columns, target),
        }
    }
    out
}

#[multiversion(targets("x86_64+avx2"))]
fn blend_rows(source: &[u8], weights: &[u16], sums: &mut [u32], row: &mut [u16]) {
    sums.fill(1 << (13 - FRACTION));
    for (&weight, line) in weights.iter().zip(source.chunks_exact(sums.len())) {
        for (sum, &value) in sums.iter_mut().zip(line) {
            *sum += u32::from(weight) * u32::from(value);
        }
    }
    for (value, &sum) in row.iter_mut().zip(sums.iter()) {
        *value = (sum >> (14 - FRACTION)) as u16;
    }
}

fn blend_columns<const CHANNELS: usize, const TAPS: usize>(row: &[u16], columns: &Taps, target: &mut [u8]) {
    let taps = columns.weights.as_chunks::<TAPS>().0;
    for ((pixel, &start), weights) in target.as_chunks_mut::<CHANNELS>().0.iter_mut().zip(&columns.starts).zip(taps) {
        let first = start as usize * CHANNELS;
        let values = &row[first..first + TAPS * CHANNELS];
        for (channel, out) in pixel.iter_mut().enumerate() {
            let mut sum = ONE << (FRACTION - 1);
            for tap in 0..TAPS {
                sum += u32::from(weights[tap]) * u32::from(values[tap * CHANNELS + channel]);
            }
            *out = (sum >> (14 + FRACTION)) as u8;
        }
    }
}

fn blend_many_columns<const CHANNELS: usize>(row: &[u16], columns: &Taps, target: &mut [u8]) {
    for (x, pixel) in target.as_chunks_mut::<CHANNELS>().0.iter_mut().enumerate() {
        let (start, weights) = columns.at(x);
        let mut sums = [ONE << (FRACTION - 1); CHANNELS];
        for (&weight, values) in weights.iter().zip(row[start * CHANNELS..].as_chunks::<CHANNELS>().0) {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum += u32::from(weight) * u32::from(value);
            }
        }
        *pixel = sums.map(|sum| (sum >> (14 + FRACTION)) as u8);
    }
}

/// For each target position the source positions that it averages, `n_taps` of them from `starts`,
/// and their weights, which sum to [`ONE`].
struct Taps {
    n_taps: usize,
    starts: Vec<u32>,
    weights: Vec<u16>,
}

impl Taps {
    fn new(from: u32, to: u32) -> Self {
        let scale = f64::from(from) / f64::from(to);
        let n_taps = if scale > 1.0 { scale.ceil() as usize + 1 } else { 2 }.min(from as usize);
        let mut taps = Self { n_taps, starts: Vec::with_capacity(to as usize), weights: Vec::with_capacity(to as usize * n_taps) };
        for i in 0..to {
            let (left, right) = if scale > 1.0 {
                (f64::from(i) * scale, f64::from(i + 1) * scale)
            } else {
                // A bilinear blend is the average over a box of one source pixel's width.
                let centre = ((f64::from(i) + 0.5) * scale).clamp(0.5, f64::from(from) - 0.5);
                (centre - 0.5, centre + 0.5)
            };
            let start = (left.floor() as usize).min(from as usize - n_taps);
            let covered = (start..start + n_taps).map(|j| (right.min(j as f64 + 1.0) - left.max(j as f64)).max(0.0));
            let total: f64 = covered.clone().sum();
            // Rounding the sums, not the weights, leaves no error over and no weight below zero.
            let (mut sum, mut before) = (0.0, 0);
            taps.weights.extend(covered.map(|c| {
                sum += c;
                let upto = (sum / total * f64::from(ONE) + 0.5) as u16;
                upto - std::mem::replace(&mut before, upto)
            }));
            taps.starts.push(start as u32);
        }
        taps
    }

    fn at(&self, i: usize) -> (usize, &[u16]) {
        (self.starts[i] as usize, &self.weights[i * self.n_taps..][..self.n_taps])
    }
}
