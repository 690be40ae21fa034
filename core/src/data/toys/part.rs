//! The painted parts that toys are put together from, and how rays meet them.

use super::math::{PI, V3, cos, sin, v3};
use super::paint::Paint;
use super::solid::Solid;

/// A painted solid somewhere in the toy.
#[derive(Clone, Debug)]
pub(super) struct Part {
    solid: Solid,
    /// What is taken away, and where, in the part's own frame.
    hollow: Option<(Solid, V3)>,
    paint: Paint,
    /// The paint of the hollow's walls.
    lining: Option<Paint>,
    origin: V3,
    /// The part's x, y and z as directions of the toy.
    axes: [V3; 3],
    lo: V3,
    hi: V3,
    pace: f32,
}

/// A ray in a part's own frame.
pub(super) struct Local {
    pub(super) from: V3,
    pub(super) along: V3,
}

impl Part {
    pub(super) fn new(solid: Solid, paint: Paint) -> Self {
        let (lo, hi) = solid.bounds();
        let pace = solid.pace();
        let axes = [v3(1.0, 0.0, 0.0), v3(0.0, 1.0, 0.0), v3(0.0, 0.0, 1.0)];
        Self { solid, hollow: None, paint, lining: None, origin: V3::default(), axes, lo, hi, pace }
    }

    pub(super) fn at(mut self, x: f32, y: f32, z: f32) -> Self {
        self.origin = v3(x, y, z);
        self
    }

    /// Turns the part around the toy's x (0), y (1) or z (2) axis through the part's origin.
    pub(super) fn turned(mut self, axis: usize, radians: f32) -> Self {
        let (s, c) = (sin(radians), cos(radians));
        for a in &mut self.axes {
            *a = match axis {
                0 => v3(a.x, c * a.y - s * a.z, s * a.y + c * a.z),
                1 => v3(c * a.x + s * a.z, a.y, c * a.z - s * a.x),
                _ => v3(c * a.x - s * a.y, s * a.x + c * a.y, a.z),
            };
        }
        self
    }

    /// Lays the part's y axis along the toy's x (0) or z (2) axis.
    pub(super) fn lying(self, axis: usize) -> Self {
        if axis == 0 { self.turned(2, -PI / 2.0) } else { self.turned(0, PI / 2.0) }
    }

    pub(super) fn hollowed(mut self, solid: Solid, at: V3, lining: Paint) -> Self {
        self.hollow = Some((solid, at));
        self.lining = Some(lining);
        self
    }

    /// Stands the part where another one is, and as that one is turned.
    pub(super) fn posed_as(mut self, other: &Part) -> Self {
        self.origin = other.origin;
        self.axes = other.axes;
        self
    }

    /// A capsule from `a` to `b`.
    pub(super) fn limb(a: V3, b: V3, radius_a: f32, radius_b: f32, paint: Paint) -> Self {
        let up = b - a;
        let long = up.length();
        let y = up.unit();
        let side = if y.x.abs() < 0.7 { v3(1.0, 0.0, 0.0) } else { v3(0.0, 0.0, 1.0) };
        let z = side.cross(y).unit();
        let mut part = Self::new(Solid::Capsule { half: long / 2.0, bottom: radius_a, top: radius_b }, paint);
        part.axes = [y.cross(z), y, z];
        part.origin = (a + b) * 0.5;
        part
    }

    pub(super) fn solid(&self) -> &Solid {
        &self.solid
    }

    pub(super) fn local(&self, from: V3, along: V3) -> Local {
        Local { from: self.inward(from - self.origin), along: self.inward(along) }
    }

    pub(super) fn inward(&self, v: V3) -> V3 {
        v3(self.axes[0].dot(v), self.axes[1].dot(v), self.axes[2].dot(v))
    }

    pub(super) fn outward(&self, v: V3) -> V3 {
        self.axes[0] * v.x + self.axes[1] * v.y + self.axes[2] * v.z
    }

    /// The ball around the part: centre and radius.
    pub(super) fn ball(&self) -> (V3, f32) {
        (self.origin + self.outward((self.lo + self.hi) * 0.5), (self.hi - self.lo).length() * 0.5)
    }

    /// The corners of the part's box.
    pub(super) fn corners(&self) -> [V3; 8] {
        std::array::from_fn(|i| {
            let pick = |bit: usize, lo: f32, hi: f32| if i >> bit & 1 == 0 { lo } else { hi };
            self.origin + self.outward(v3(pick(0, self.lo.x, self.hi.x), pick(1, self.lo.y, self.hi.y), pick(2, self.lo.z, self.hi.z)))
        })
    }

    /// Distance in the part's own frame.
    pub(super) fn distance(&self, p: V3) -> f32 {
        let d = self.solid.distance(p);
        match &self.hollow {
            Some((solid, at)) => d.max(-solid.distance(p - *at)),
            None => d,
        }
    }

    /// Distance of a point of the toy.
    pub(super) fn distance_from(&self, p: V3) -> f32 {
        self.distance(self.inward(p - self.origin))
    }

    /// Where the ray is inside the part's box grown by `margin`.
    pub(super) fn span(&self, ray: &Local, margin: f32) -> Option<(f32, f32)> {
        let grow = v3(margin, margin, margin);
        let (lo, hi) = (self.lo - grow, self.hi + grow);
        let inverse = ray.along.map(|d| 1.0 / if d.abs() < 1e-7 { 1e-7 } else { d });
        let (a, b) = ((lo - ray.from) * inverse, (hi - ray.from) * inverse);
        let near = a.zip(b, f32::min).max_part();
        let far = -(-a.zip(b, f32::max)).max_part();
        (near <= far && far > 0.0).then_some((near.max(0.0), far))
    }

    /// The first meeting of the ray with the part before `limit`.
    pub(super) fn meet(&self, ray: &Local, limit: f32) -> Option<f32> {
        let (mut t, far) = self.span(ray, 0.002)?;
        let far = far.min(limit);
        for _ in 0..56 {
            if t > far {
                return None;
            }
            let d = self.distance(ray.from + ray.along * t);
            if d < 0.0008 {
                return Some(t);
            }
            t += d * self.pace;
        }
        None
    }

    /// The normal in the part's own frame.
    pub(super) fn normal(&self, p: V3) -> V3 {
        const E: f32 = 0.0015;
        let d = |x: f32, y: f32, z: f32| v3(x, y, z) * self.distance(p + v3(x, y, z) * E);
        (d(1.0, -1.0, -1.0) + d(-1.0, -1.0, 1.0) + d(-1.0, 1.0, -1.0) + d(1.0, 1.0, 1.0)).unit()
    }

    /// The paint at `p`, a point of the surface in the part's own frame.
    pub(super) fn paint_at(&self, p: V3) -> &Paint {
        match (&self.hollow, &self.lining) {
            (Some((solid, at)), Some(lining)) if solid.distance(p - *at) < 0.004 => lining,
            _ => &self.paint,
        }
    }
}
