//! The orientation of a patch: the direction from its middle to its centre of brightness.

use multiversion::multiversion;

use crate::picture::pyramid::Bordered;

/// A disc as the half-width of each of its rows.
#[derive(Clone, Debug)]
pub struct Disc {
    radius: usize,
    /// Half-widths of rows 0..=radius away from the middle.
    half_widths: Vec<usize>,
}

impl Disc {
    /// The disc of `radius` pixels, at most 63: it holds (x, y) when
    /// `x^2 + y^2 <= (radius + 1/2)^2`, which is the same seen from all four sides.
    pub fn new(radius: usize) -> Self {
        let limit = radius * radius + radius;
        Self { radius, half_widths: (0..=radius).map(|y| (limit - y * y).isqrt()).collect() }
    }

    /// The unit vector from pixel (`x`, `y`) of the picture to the centre of brightness of the disc
    /// around it, or (1, 0) when brightness is spread evenly. The angle is `atan2(y, x)`, clockwise
    /// on screen. O(radius^2).
    pub fn direction(&self, picture: &Bordered, x: usize, y: usize) -> (f32, f32) {
        let (mx, my) = moments(&picture.pixels, picture.index(x, y), picture.stride, self.radius, &self.half_widths);
        if mx == 0 && my == 0 {
            return (1.0, 0.0);
        }
        let (mx, my) = (mx as f32, my as f32);
        let length = (mx * mx + my * my).sqrt();
        (mx / length, my / length)
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn moments(pixels: &[u8], at: usize, stride: usize, radius: usize, half_widths: &[usize]) -> (i64, i64) {
    let (mut mx, mut my) = (0i64, 0i64);
    for row in 0..=2 * radius {
        let y = row as i64 - radius as i64;
        let half = half_widths[y.unsigned_abs() as usize];
        let line = &pixels[at + row * stride - radius * stride - half..][..2 * half + 1];
        let (mut sum, mut weighted) = (0u32, 0u32);
        // A row has at most 127 pixels, so that sixteen bits hold each product.
        for (&value, i) in line.iter().zip(0u16..) {
            sum += u32::from(value);
            weighted += u32::from(u16::from(value) * i);
        }
        mx += i64::from(weighted) - i64::from(sum) * half as i64;
        my += y * i64::from(sum);
    }
    (mx, my)
}
