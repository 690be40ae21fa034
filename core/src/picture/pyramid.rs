//! Pyramids of grey pictures, each level with a mirrored border so that patches may reach over the
//! edge.

use image::GrayImage;

use super::resize::resize_grey;

/// A grey picture inside a border that mirrors it (the edge pixel itself is not repeated).
#[derive(Clone, Debug)]
pub struct Bordered {
    /// Width of the picture without its border.
    pub width: usize,
    /// Height of the picture without its border.
    pub height: usize,
    /// Pixels of border on each side.
    pub border: usize,
    /// Bytes from one row to the next.
    pub stride: usize,
    /// All rows, border included, and [`TAIL`] bytes more, so that a row may be read in whole
    /// lanes.
    pub pixels: Vec<u8>,
}

/// Bytes that may be read beyond the last row.
pub const TAIL: usize = 64;

impl Bordered {
    /// Copies `picture` and mirrors `border` pixels around it. O(pixels).
    pub fn new(picture: &GrayImage, border: usize) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let stride = width + 2 * border;
        let mut pixels = vec![0; stride * (height + 2 * border) + TAIL];
        if width > 0 && height > 0 {
            let mirrored = |from: isize| (from..from + border as isize).map(|x| mirror(x, width)).collect::<Vec<_>>();
            let (left, right) = (mirrored(-(border as isize)), mirrored(width as isize));
            for (y, source) in picture.as_raw().chunks_exact(width).enumerate() {
                let row = &mut pixels[(y + border) * stride..][..stride];
                let (before, rest) = row.split_at_mut(border);
                let (inside, after) = rest.split_at_mut(width);
                inside.copy_from_slice(source);
                before.iter_mut().zip(&left).for_each(|(pixel, &x)| *pixel = source[x]);
                after.iter_mut().zip(&right).for_each(|(pixel, &x)| *pixel = source[x]);
            }
            for i in 1..=border {
                let above = mirror(-(i as isize), height) + border;
                let below = mirror((height + i - 1) as isize, height) + border;
                pixels.copy_within(above * stride..(above + 1) * stride, (border - i) * stride);
                pixels.copy_within(below * stride..(below + 1) * stride, (border + height + i - 1) * stride);
            }
        }
        Self { width, height, border, stride, pixels }
    }

    /// Where pixel (`x`, `y`) of the picture lies in `pixels`.
    pub fn index(&self, x: usize, y: usize) -> usize {
        (y + self.border) * self.stride + x + self.border
    }
}

/// Position `i` of an endless line mirrored at 0 and `length - 1`.
fn mirror(i: isize, length: usize) -> usize {
    let period = 2 * length as isize - 2;
    if period <= 0 {
        return 0;
    }
    let folded = i.rem_euclid(period);
    folded.min(period - folded) as usize
}

/// One level of a pyramid.
#[derive(Clone, Debug)]
pub struct Level {
    /// The shrunken picture.
    pub picture: Bordered,
    /// Pixels of the full picture that one pixel of this level covers, across and down.
    pub scale: (f32, f32),
}

impl Level {
    /// The place in the full picture of the middle of pixel (`x`, `y`).
    pub fn to_full(&self, x: usize, y: usize) -> (f32, f32) {
        ((x as f32 + 0.5) * self.scale.0 - 0.5, (y as f32 + 0.5) * self.scale.1 - 0.5)
    }
}

/// Levels of `picture`, each `factor` times smaller than the one before, as many as stay at least
/// `smallest` pixels on both sides, at most `count`. O(pixels / (1 - 1 / factor^2)).
pub fn pyramid(picture: &GrayImage, count: usize, factor: f32, smallest: u32, border: usize) -> Vec<Level> {
    let (width, height) = picture.dimensions();
    let mut levels = Vec::with_capacity(count);
    let mut smaller: Option<GrayImage> = None;
    for i in 0..count {
        let shrink = f64::from(factor).powi(i as i32);
        let size = [width, height].map(|side| (f64::from(side) / shrink).round() as u32);
        if size[0] < smallest.max(1) || size[1] < smallest.max(1) {
            break;
        }
        if i > 0 {
            smaller = Some(resize_grey(smaller.as_ref().unwrap_or(picture), size[0], size[1]));
        }
        let scale = (width as f32 / size[0] as f32, height as f32 / size[1] as f32);
        levels.push(Level { picture: Bordered::new(smaller.as_ref().unwrap_or(picture), border), scale });
    }
    levels
}
