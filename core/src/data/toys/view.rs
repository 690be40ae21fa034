//! The places that a toy is seen from and the lights it is seen by, numbered as in small NORB.

use super::category::Category;
use super::math::{Dice, Purpose};

/// Elevations, in steps of 5 degrees from 30.
const ELEVATIONS: u32 = 9;
/// Azimuths, in steps of 20 degrees.
const AZIMUTHS: u32 = 18;
/// Lightings.
const LIGHTINGS: u32 = 6;
/// The first views of an instance lie below this elevation, where toys show their sides.
const LOW: u32 = 6;

/// How many different views an instance has.
pub const VIEWS: u32 = ELEVATIONS * AZIMUTHS * LIGHTINGS;

/// Where the camera stands and which light is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CameraView {
    /// 0..=8: the camera stands 30 + 5 x `elevation` degrees above the table.
    pub elevation: u32,
    /// 0, 2, ..=34: the camera stands 10 x `azimuth` degrees from the toy's front, counted towards
    /// its right side.
    pub azimuth: u32,
    /// 0..=5: from above, the left, the right, the front, behind, and a soft light from all around.
    pub lighting: u32,
}

impl CameraView {
    /// View `number`, counted from 0, of an instance. The first [`VIEWS`] are all different, and
    /// each run of 18 goes once around the toy; later ones repeat.
    pub fn of(seed: u64, category: Category, instance: u32, number: u32) -> Self {
        let mut dice = Dice::new(seed, Purpose::View, category.index(), instance, 0);
        let first = dice.below(AZIMUTHS as usize) as u32;
        let offset = dice.below(36) as u32;
        let number = number % VIEWS;
        let (round, step) = (number / AZIMUTHS, number % AZIMUTHS);
        let azimuth = (first + step * 7) % AZIMUTHS;
        let (elevation, lighting) = if round < LOW * LIGHTINGS {
            let place = (round * 5 + step * 7 + offset) % (LOW * LIGHTINGS);
            (place % LOW, (place / LOW + place) % LIGHTINGS)
        } else {
            let left = (ELEVATIONS - LOW) * LIGHTINGS;
            let place = (round * 5 + step * 7 + offset) % left;
            (LOW + place % (ELEVATIONS - LOW), place / (ELEVATIONS - LOW))
        };
        Self { elevation, azimuth: azimuth * 2, lighting }
    }

    /// Where it is seen from, in words: "front", "front right", ...
    pub fn side(&self) -> &'static str {
        const SIDES: [&str; 8] = ["front", "front right", "right", "rear right", "back", "rear left", "left", "front left"];
        SIDES[((self.azimuth * 10 + 22) / 45) as usize % 8]
    }

    /// Where the light comes from, in words that follow "lit".
    pub fn light(&self) -> &'static str {
        const LIGHTS: [&str; LIGHTINGS as usize] =
            ["from above", "from the left", "from the right", "from the front", "from behind", "softly from all around"];
        LIGHTS[self.lighting as usize % LIGHTS.len()]
    }
}
