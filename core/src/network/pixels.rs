//! How the pixels of a picture become the numbers that a network takes.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::advice;
use crate::error::{Error, Result};
use crate::json;

/// How a channel of a pixel becomes a number: `(value * factor - mean) / deviation`, of a value in
/// 0..=255 in the order red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PixelScale {
    /// Applied first, usually 1 / 255.
    pub factor: f32,
    /// Subtracted from each channel.
    pub mean: [f32; 3],
    /// Each channel is divided by this; not 0.
    pub deviation: [f32; 3],
}

impl PixelScale {
    /// Mean and deviation of ImageNet's photographs.
    pub const IMAGENET: Self = Self { factor: 1.0 / 255.0, mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };
    /// Mean and deviation of the photographs of CLIP (A. Radford and others, *Learning transferable
    /// visual models from natural language supervision*, arXiv 2103.00020).
    pub const CLIP: Self =
        Self { factor: 1.0 / 255.0, mean: [0.481_454_66, 0.457_827_5, 0.408_210_73], deviation: [0.268_629_54, 0.261_302_6, 0.275_777_1] };
    /// From 0 to 1.
    pub const UNIT: Self = Self { factor: 1.0 / 255.0, mean: [0.0; 3], deviation: [1.0; 3] };
    /// From -1 to 1.
    pub const SIGNED: Self = Self { factor: 1.0 / 255.0, mean: [0.5; 3], deviation: [0.5; 3] };
    /// From 0 to 255.
    pub const BYTES: Self = Self { factor: 1.0, mean: [0.0; 3], deviation: [1.0; 3] };

    /// The number of a channel's value.
    pub(super) fn number(&self, channel: usize, value: u8) -> f32 {
        (f32::from(value) * self.factor - self.mean[channel]) / self.deviation[channel]
    }

    fn is_valid(&self) -> bool {
        let numbers = self.mean.iter().chain(&self.deviation).chain([&self.factor]);
        numbers.into_iter().all(|number| number.is_finite()) && self.deviation.iter().all(|deviation| *deviation != 0.0)
    }
}

/// What a `preprocessor_config.json` says.
pub(super) struct Preprocessing {
    pub(super) pixels: PixelScale,
    /// Width and height of the picture.
    pub(super) size: Option<(u32, u32)>,
}

impl Preprocessing {
    /// Reads the text of the file at `path`, in the format of Hugging Face: `do_rescale`,
    /// `rescale_factor`, `do_normalize`, `image_mean`, `image_std`, `size` and `crop_size`.
    ///
    /// # Errors
    /// [`Error::Data`] when it is of another format.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self> {
        let wrong =
            |found: String| Error::data(path, "the preprocessing of pictures, as Hugging Face writes it", found, advice::SAY_PIXELS);
        let all: Value = json::parse(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
        if !all.is_object() {
            return Err(wrong("JSON that is no object".into()));
        }
        let is_on = |name: &str| all[name].as_bool().unwrap_or(true);
        let channels = |name: &str, usual: [f32; 3]| -> Result<[f32; 3]> {
            let Some(values) = all.get(name).filter(|_| is_on("do_normalize")) else { return Ok(usual) };
            let numbers: Vec<f32> = values.as_array().into_iter().flatten().filter_map(Value::as_f64).map(|value| value as f32).collect();
            numbers.try_into().map_err(|_| wrong(format!("`{name}` that is not three numbers")))
        };
        let factor = if is_on("do_rescale") { all["rescale_factor"].as_f64().unwrap_or(1.0 / 255.0) as f32 } else { 1.0 };
        let pixels = PixelScale { factor, mean: channels("image_mean", [0.0; 3])?, deviation: channels("image_std", [1.0; 3])? };
        if !pixels.is_valid() {
            return Err(wrong(format!("factor {factor}, mean {:?} and deviation {:?}", pixels.mean, pixels.deviation)));
        }
        let crop = all.get("crop_size").filter(|_| is_on("do_center_crop"));
        Ok(Self { pixels, size: crop.and_then(size).or_else(|| size(&all["size"])) })
    }
}

/// Width and height from `224`, `{"height": 224, "width": 224}` or `{"shortest_edge": 224}`.
fn size(value: &Value) -> Option<(u32, u32)> {
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let both = |value: &Value| number(value).map(|side| (side, side));
    both(value).or_else(|| Some((number(&value["width"])?, number(&value["height"])?))).or_else(|| both(&value["shortest_edge"]))
}
