//! A vector of an image in a set that the user brought, as the library keeps it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as TEXT;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::named_vectors::MOST_VALUES;

/// A vector of an image in a set that the user brought. Only its direction counts, so it is kept in
/// shares of its largest value, in 32,767 steps: answers are the same on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroughtVector(Arc<[i16]>);

impl BroughtVector {
    /// The vector of some finite values, one or more of which is not 0; `None` for others.
    pub fn of(values: &[f32]) -> Option<Self> {
        let largest = values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        let steps = |value: &f32| (value / largest * f32::from(i16::MAX)).round() as i16;
        (largest > 0.0 && largest.is_finite() && values.len() <= MOST_VALUES).then(|| Self(values.iter().map(steps).collect()))
    }

    /// Its steps.
    pub fn values(&self) -> &[i16] {
        &self.0
    }

    /// The cosine with another vector, -1..=1; 0 for one with another number of values. O(values).
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let product = |a: &[i16], b: &[i16]| a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum::<i64>() as f64;
        product(&self.0, &other.0) / (product(&self.0, &self.0) * product(&other.0, &other.0)).sqrt()
    }

    /// Two bytes a value.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// What [`BroughtVector::to_bytes`] wrote; `None` for other bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<2>();
        let is_one = rest.is_empty() && values.len() <= MOST_VALUES && values.iter().any(|value| *value != [0, 0]);
        is_one.then(|| Self(values.iter().map(|value| i16::from_le_bytes(*value)).collect()))
    }
}

impl Serialize for BroughtVector {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&TEXT.encode(self.to_bytes()))
    }
}

impl<'de> Deserialize<'de> for BroughtVector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = TEXT.decode(text).map_err(serde::de::Error::custom)?;
        Self::from_bytes(&bytes).ok_or_else(|| serde::de::Error::custom("expected a vector, found other bytes"))
    }
}
