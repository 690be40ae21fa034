//! The vector of an image by an encoder that the user brought, as the cache keeps it.

use image::RgbImage;

use crate::error::Result;
use crate::network::folder::image_encoder;

/// The vector of an image, of length 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ImageVector(Vec<f32>);

impl ImageVector {
    /// The name of its rows in the cache, for the encoder with this hash.
    pub(super) fn version(hash: &str) -> String {
        format!("pair-1-{hash}")
    }

    /// The vector of a picture by the encoder with this hash.
    ///
    /// # Errors
    /// As [`image_encoder`] and [`crate::network::ImageEncoder::look_at`].
    pub(super) fn of(hash: &str, picture: &RgbImage) -> Result<Self> {
        Ok(Self(image_encoder(hash)?.look_at(picture)?.vector()))
    }

    /// Its values.
    pub(super) fn values(&self) -> &[f32] {
        &self.0
    }

    /// Four bytes a value.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// What [`ImageVector::to_bytes`] wrote; `None` for other bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<4>();
        let values: Vec<f32> = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
        (rest.is_empty() && values.iter().all(|value| value.is_finite())).then_some(Self(values))
    }

    /// The cosine with the vector of a text, -1..=1.
    pub(super) fn cosine(&self, text: &[f32]) -> f64 {
        self.0.iter().zip(text).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>().clamp(-1.0, 1.0)
    }
}
