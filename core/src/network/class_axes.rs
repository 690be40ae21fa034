//! What the network says of its own classes, in few values: the logarithms of their probabilities
//! along axes that its last layer tells apart most.
//!
//! The axes are the first left singular vectors of the last layer's weights, less what each channel
//! adds to all classes; `benches/make_squeezenet.py` makes them. They do not depend on any picture.

use super::seen::{CLASSES, Seen};

/// Values of [`class_values`].
pub const CLASS_VALUES: usize = 128;

/// For each class what its logarithm adds to each value, in [`STEP`]s.
static AXES: &[u8; CLASSES * CLASS_VALUES] = include_bytes!("../../../assets/squeezenet-class-axes.bin");
const STEP: f32 = 1.0 / 512.0;

/// Steps of a value in one unit of the logarithms, and the step of 0.
pub(crate) const UNIT: f32 = 2.0;
pub(crate) const ZERO: u8 = 128;

/// Added to probabilities, so that classes that are all but impossible count alike.
const LEAST: f32 = 1e-6;

/// The logarithms of the probabilities of classes, less their mean, along each axis: in steps of a
/// half, from -64 to 63.5, with 0 at 128. O(classes * values).
pub fn class_values(seen: &Seen) -> [u8; CLASS_VALUES] {
    let logs: Vec<f32> = seen.classes().iter().map(|probability| (probability + LEAST).ln()).collect();
    let mean = logs.iter().sum::<f32>() / logs.len().max(1) as f32;
    let mut values = [0.0f32; CLASS_VALUES];
    for (log, row) in logs.iter().zip(AXES.as_chunks::<CLASS_VALUES>().0) {
        let scale = STEP * UNIT * (log - mean);
        values.iter_mut().zip(row).for_each(|(value, step)| *value += scale * f32::from(*step as i8));
    }
    values.map(|value| (value.round() + f32::from(ZERO)).clamp(0.0, 255.0) as u8)
}
