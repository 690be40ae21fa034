//! The leaf kernel: how alike two elements are, and how near to each other.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The leaf kernel `K = max(1 - d / rho, 0) - min(slope * r, cost)` of elements at feature distance
/// d and r working pixels apart, and the weight of its kind.
///
/// The paper's `max(b0 - b1 d, 0) + max(b2 r, b3)` (section 3.1) with b0 = 1, b1 = 1 / rho, b2 =
/// -cost / reach and b3 = -cost: the second term rewards nearness only with these signs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafKernel {
    /// The feature distance from which on likeness is 0 (bits, or units of the dense kind's
    /// feature), above 0.
    pub rho: f32,
    /// The penalty for being far apart, 0 or more.
    pub cost: f32,
    /// The distance in working pixels from which on the whole penalty applies, above 0.
    pub reach: f32,
    /// The pair cost function's reward (the paper's b4) for neighbours that come from one training
    /// image.
    pub pair_bonus: f32,
    /// The weight of this kind's part of the score, 0 or more.
    pub weight: f32,
}

impl LeafKernel {
    /// The kernel's parts for elements `distance` apart in feature space and (`dx`, `dy`) working
    /// pixels apart: likeness in 0..=1 and the position's part, `-cost..=0`.
    #[inline(always)]
    pub fn parts(&self, distance: f32, dx: f32, dy: f32) -> (f32, f32) {
        let far = (dx * dx + dy * dy).sqrt() * (self.cost / self.reach);
        (self.likeness(distance), 0.0 - if far < self.cost { far } else { self.cost })
    }

    /// The kernel's likeness alone, in 0..=1.
    #[inline(always)]
    pub fn likeness(&self, distance: f32) -> f32 {
        let likeness = 1.0 - distance * (1.0 / self.rho);
        if likeness > 0.0 { likeness } else { 0.0 }
    }

    /// The value of a query element in a class without any element of its kind: the smallest value
    /// of the kernel.
    pub fn floor(&self) -> f32 {
        0.0 - self.cost
    }

    pub(super) fn check(&self) -> Result<()> {
        let all = [
            ("rho", self.rho, "above 0", self.rho > 0.0),
            ("cost", self.cost, "0 or more", self.cost >= 0.0),
            ("reach", self.reach, "above 0", self.reach > 0.0),
            ("pair_bonus", self.pair_bonus, "a number", true),
            ("weight", self.weight, "0 or more", self.weight >= 0.0),
        ];
        match all.into_iter().find(|(_, value, _, good)| !(good & value.is_finite())) {
            Some((name, value, expected, _)) => Err(Error::Option { name, found: value.to_string(), expected }),
            None => Ok(()),
        }
    }
}
