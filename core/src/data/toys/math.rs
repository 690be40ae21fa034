//! Small vectors, random numbers, and the few functions that a platform's own library may round
//! differently.

use std::ops::{Add, Mul, Neg, Sub};

use rand::Rng as _;

use crate::random::{self, Rng};

/// A point, a direction or a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct V3 {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
}

pub(super) const fn v3(x: f32, y: f32, z: f32) -> V3 {
    V3 { x, y, z }
}

impl V3 {
    pub(super) fn dot(self, o: V3) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    pub(super) fn cross(self, o: V3) -> V3 {
        v3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    pub(super) fn length(self) -> f32 {
        self.dot(self).sqrt()
    }

    pub(super) fn unit(self) -> V3 {
        self * (1.0 / self.length().max(1e-12))
    }

    pub(super) fn abs(self) -> V3 {
        self.map(f32::abs)
    }

    pub(super) fn map(self, f: impl Fn(f32) -> f32) -> V3 {
        v3(f(self.x), f(self.y), f(self.z))
    }

    pub(super) fn zip(self, o: V3, f: impl Fn(f32, f32) -> f32) -> V3 {
        v3(f(self.x, o.x), f(self.y, o.y), f(self.z, o.z))
    }

    pub(super) fn max_part(self) -> f32 {
        self.x.max(self.y).max(self.z)
    }

    pub(super) fn mix(self, o: V3, share: f32) -> V3 {
        self + (o - self) * share
    }
}

impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        v3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        v3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul<f32> for V3 {
    type Output = V3;
    fn mul(self, k: f32) -> V3 {
        v3(self.x * k, self.y * k, self.z * k)
    }
}

impl Mul for V3 {
    type Output = V3;
    fn mul(self, o: V3) -> V3 {
        v3(self.x * o.x, self.y * o.y, self.z * o.z)
    }
}

impl Neg for V3 {
    type Output = V3;
    fn neg(self) -> V3 {
        v3(-self.x, -self.y, -self.z)
    }
}

pub(super) const PI: f32 = std::f32::consts::PI;
pub(super) const TAU: f32 = std::f32::consts::TAU;

/// Sine by a polynomial, so that every machine gives the same bits. Error below 1e-5.
pub(super) fn sin(radians: f32) -> f32 {
    let turns = radians * (1.0 / TAU);
    let x = (turns - (turns + 0.5).floor()) * TAU;
    let x = if x > PI / 2.0 {
        PI - x
    } else if x < -PI / 2.0 {
        -PI - x
    } else {
        x
    };
    let s = x * x;
    x * (1.0 - s * (1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s * (1.0 / 362_880.0)))))
}

/// Cosine, likewise.
pub(super) fn cos(radians: f32) -> f32 {
    sin(radians + PI / 2.0)
}

/// The angle of `(x, y)`, likewise. Error below 1e-3.
pub(super) fn atan2(y: f32, x: f32) -> f32 {
    let (ax, ay) = (x.abs(), y.abs());
    let q = ax.min(ay) / ax.max(ay).max(1e-12);
    let s = q * q;
    let mut angle = q * (0.999_866 - s * (0.330_299_5 - s * (0.180_141 - s * (0.085_133 - s * 0.020_835_1))));
    if ay > ax {
        angle = PI / 2.0 - angle;
    }
    if x < 0.0 {
        angle = PI - angle;
    }
    if y < 0.0 { -angle } else { angle }
}

/// 0 below `lo`, 1 above `hi`, smooth between.
pub(super) fn smooth(lo: f32, hi: f32, x: f32) -> f32 {
    let t = ((x - lo) / (hi - lo)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A number in 0..1 that belongs to a lattice point.
pub(super) fn hash(x: i32, y: i32) -> f32 {
    let mut h = (x as u32).wrapping_mul(0x8DA6_B343) ^ (y as u32).wrapping_mul(0xD816_3841);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    ((h ^ (h >> 15)) >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Smooth noise in 0..1, one bump a unit.
pub(in crate::data) fn noise(x: f32, y: f32) -> f32 {
    let (fx, fy) = (x.floor(), y.floor());
    let (ix, iy) = (fx as i32, fy as i32);
    let (u, v) = (smooth(0.0, 1.0, x - fx), smooth(0.0, 1.0, y - fy));
    let low = hash(ix, iy) * (1.0 - u) + hash(ix + 1, iy) * u;
    let high = hash(ix, iy + 1) * (1.0 - u) + hash(ix + 1, iy + 1) * u;
    low * (1.0 - v) + high * v
}

/// Random choices, made only of the generator's words, so that no release of a library can change
/// them.
pub(in crate::data) struct Dice(Rng);

/// What a stream of random numbers is for: each purpose has its own, so that one more number for a
/// shape changes nothing else.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Shape = 1,
    Style = 2,
    View = 3,
    Order = 4,
    Scene = 5,
    Faults = 6,
}

impl Dice {
    pub(super) fn new(seed: u64, purpose: Purpose, category: usize, instance: u32, view: u32) -> Self {
        let index = (purpose as u64) << 60 | (category as u64 & 15) << 56 | u64::from(instance) << 16 | u64::from(view & 0xFFFF);
        Self(random::stream(seed, index))
    }

    /// Piece number `index` of a seed's random numbers.
    pub(in crate::data) fn numbered(seed: u64, index: u64) -> Self {
        Self(random::stream(seed, index))
    }

    /// In 0..1.
    pub(in crate::data) fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    pub(in crate::data) fn range(&mut self, lo: f32, hi: f32) -> f32 {
        lo + (hi - lo) * self.unit()
    }

    /// In `0..n`.
    pub(in crate::data) fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.0.next_u32()) * n as u64) >> 32) as usize
    }

    pub(in crate::data) fn chance(&mut self, share: f32) -> bool {
        self.unit() < share
    }

    /// The numbers `0..n` in random order.
    pub(in crate::data) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}
