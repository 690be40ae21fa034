//! The eight ways in which a picture can be rotated by right angles and mirrored.

use image::RgbImage;

use super::align::CropWindow;

/// A rotation by right angles, mirrored before or not: the picture is transposed (bit 2), then
/// flipped top to bottom (bit 1), then flipped left to right (bit 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn(u8);

impl Turn {
    /// All eight; the first changes nothing.
    pub const ALL: [Self; 8] = [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7)];

    /// Whether width and height change places.
    pub fn transposes(self) -> bool {
        self.0 & 4 != 0
    }

    /// Whether top and bottom change places, after transposing.
    pub fn flips_y(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether left and right change places, after transposing.
    pub fn flips_x(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the picture is mirrored left to right before it is rotated.
    pub fn mirrors(self) -> bool {
        self.0.count_ones() % 2 == 1
    }

    /// The rotation, after mirroring, in degrees clockwise.
    pub fn degrees(self) -> u32 {
        match self.0 {
            0 | 1 => 0,
            5 | 7 => 90,
            2 | 3 => 180,
            _ => 270,
        }
    }

    /// The turn that takes this one back.
    pub fn inverse(self) -> Self {
        match self.0 {
            5 => Self(6),
            6 => Self(5),
            other => Self(other),
        }
    }

    /// The turned picture. O(pixels).
    pub fn of(self, picture: &RgbImage) -> RgbImage {
        let (w, h) = picture.dimensions();
        let (width, height) = if self.transposes() { (h, w) } else { (w, h) };
        RgbImage::from_fn(width, height, |x, y| {
            let (x, y) = self.source((x, y), (width, height));
            *picture.get_pixel(x, y)
        })
    }

    /// Where a pixel of the turned picture, which has such a size, is in the picture.
    pub(super) fn source(self, (x, y): (u32, u32), (width, height): (u32, u32)) -> (u32, u32) {
        let x = if self.flips_x() { width - 1 - x } else { x };
        let y = if self.flips_y() { height - 1 - y } else { y };
        if self.transposes() { (y, x) } else { (x, y) }
    }

    /// Where a part of the picture lies in the turned picture.
    pub fn window(self, window: CropWindow) -> CropWindow {
        let CropWindow { mut x, mut y } = window;
        if self.transposes() {
            (x, y) = (y, x);
        }
        let flipped = |(start, end): (f32, f32)| (1.0 - end, 1.0 - start);
        CropWindow { x: if self.flips_x() { flipped(x) } else { x }, y: if self.flips_y() { flipped(y) } else { y } }
    }
}
