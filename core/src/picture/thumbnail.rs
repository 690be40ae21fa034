//! Thumbnails: small JPEG pictures that are quick to read and to show.

use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::{DynamicImage, ImageDecoder as _, RgbImage};

use super::resize;

/// The longer side of a thumbnail in pixels, unless the picture is smaller.
pub const SIDE: u32 = 256;
const QUALITY: u8 = 85;

/// A picture shrunk to at most [`SIDE`] pixels, never enlarged. O(pixels).
pub fn shrink(picture: &RgbImage) -> RgbImage {
    let (width, height) = picture.dimensions();
    if width.max(height) <= SIDE {
        return picture.clone();
    }
    let (width, height) = resize::fit(width, height, SIDE);
    resize::resize_rgb(picture, width, height)
}

/// A small picture as JPEG; empty when it has no pixels.
pub fn encode(thumbnail: &RgbImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory fails only for pictures without pixels.
    if JpegEncoder::new_with_quality(&mut bytes, QUALITY).encode_image(thumbnail).is_err() {
        bytes.clear();
    }
    bytes
}

/// The picture of a thumbnail; `None` when the bytes are not one.
pub fn decode(bytes: &[u8]) -> Option<RgbImage> {
    let decoder = JpegDecoder::new(std::io::Cursor::new(bytes)).ok()?;
    let (width, height) = decoder.dimensions();
    if width.max(height) > SIDE {
        return None;
    }
    DynamicImage::from_decoder(decoder).ok().map(DynamicImage::into_rgb8)
}
