//! The Harris measure of a single pixel.

use multiversion::multiversion;

use super::fast::Corner;
use crate::picture::pyramid::Bordered;

/// Weight of the squared trace.
const K: f32 = 0.04;

/// The Harris measures of `corners`: `det - 0.04 trace^2` of the gradient's second moments over 7 x
/// 7 pixels, gradients by Sobel on values in 0..1. The picture's border must be 5 or more.
/// O(corners).
pub fn responses(picture: &Bordered, corners: &[Corner]) -> Vec<f32> {
    let mut out = vec![0.0; corners.len()];
    fill(&picture.pixels, picture.stride, picture.index(0, 0), corners, &mut out);
    out
}

#[multiversion(targets("x86_64+avx2"))]
fn fill(pixels: &[u8], stride: usize, origin: usize, corners: &[Corner], out: &mut [f32]) {
    // The sum of 49 squares of a Sobel sum of at most 4 * 255.
    const UNIT: f32 = 1.0 / (4.0 * 255.0 * 4.0 * 255.0 * 49.0);
    for (corner, response) in corners.iter().zip(out) {
        let first = origin + corner.y as usize * stride + corner.x as usize - 4 * stride - 4;
        let (mut xx, mut yy, mut xy) = ([0i32; 8], [0i32; 8], [0i32; 8]);
        for row in 0..7 {
            let [a, b, c] = [0, 1, 2].map(|i| widen(&pixels[first + (row + i) * stride..]));
            for i in 0..8 {
                let dx = 2 * (b[i + 2] - b[i]) + (a[i + 2] - a[i]) + (c[i + 2] - c[i]);
                let dy = 2 * (c[i + 1] - a[i + 1]) + (c[i] - a[i]) + (c[i + 2] - a[i + 2]);
                xx[i] += i32::from(dx) * i32::from(dx);
                yy[i] += i32::from(dy) * i32::from(dy);
                xy[i] += i32::from(dx) * i32::from(dy);
            }
        }
        let [xx, yy, xy] = [xx, yy, xy].map(|sums| sums[..7].iter().sum::<i32>() as f32 * UNIT);
        *response = xx * yy - xy * xy - K * (xx + yy) * (xx + yy);
    }
}

/// Ten pixels as signed numbers.
#[inline(always)]
fn widen(pixels: &[u8]) -> [i16; 10] {
    let mut out = [0; 10];
    for (value, &pixel) in out.iter_mut().zip(&pixels[..10]) {
        *value = i16::from(pixel);
    }
    out
}
