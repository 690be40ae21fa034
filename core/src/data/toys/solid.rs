//! Solids as signed distances, the parts that toys are put together from, and how rays meet them.

use super::math::{V3, cos, sin, v3};
use super::paint::Paint;

/// A shape around its own origin. Lengths are in toy units: a toy is about two units long. `round` is the radius of
/// the edges and lies inside the given measures, except for [`Solid::Prism`], which it makes larger.
#[derive(Clone, Debug)]
pub(super) enum Solid {
    /// A block.
    Block { half: V3, round: f32 },
    /// A cylinder or a blunted cone along y: radius `bottom` at `-half`, `top` at `half`.
    Cone { bottom: f32, top: f32, half: f32, round: f32 },
    /// An ellipsoid.
    Ellipsoid { half: V3 },
    /// Two balls at `-half` and `half` on y and the hull around them.
    Capsule { half: f32, bottom: f32, top: f32 },
    /// A ring around y.
    Torus { major: f32, minor: f32 },
    /// A polygon in x and y along z; at `-half` it is `taper` times as large as at `half`.
    Prism { points: Vec<[f32; 2]>, half: f32, round: f32, taper: f32 },
}

impl Solid {
    pub(super) fn block(x: f32, y: f32, z: f32) -> Self {
        Self::Block { half: v3(x, y, z), round: 0.02f32.min(0.45 * x.min(y).min(z)) }
    }

    pub(super) fn rounded(x: f32, y: f32, z: f32, round: f32) -> Self {
        Self::Block { half: v3(x, y, z), round: round.min(0.95 * x.min(y).min(z)) }
    }

    pub(super) fn cylinder(radius: f32, half: f32) -> Self {
        Self::Cone { bottom: radius, top: radius, half, round: 0.02f32.min(0.45 * radius.min(half)) }
    }

    pub(super) fn cone(bottom: f32, top: f32, half: f32) -> Self {
        Self::Cone { bottom, top, half, round: 0.02f32.min(0.45 * bottom.max(top).min(half)) }
    }

    pub(super) fn ball(radius: f32) -> Self {
        Self::Ellipsoid { half: v3(radius, radius, radius) }
    }

    pub(super) fn ellipsoid(x: f32, y: f32, z: f32) -> Self {
        Self::Ellipsoid { half: v3(x, y, z) }
    }

    pub(super) fn prism(points: &[[f32; 2]], half: f32) -> Self {
        Self::Prism { points: points.to_vec(), half, round: 0.012, taper: 1.0 }
    }

    /// Signed distance from `p`, or a little less.
    pub(super) fn distance(&self, p: V3) -> f32 {
        match self {
            Self::Block { half, round } => {
                let q = p.abs() - *half + v3(*round, *round, *round);
                q.map(|c| c.max(0.0)).length() + q.max_part().min(0.0) - round
            }
            Self::Cone { bottom, top, half, round } => cone(p, bottom - round, top - round, half - round) - round,
            Self::Ellipsoid { half } => {
                let q = v3(p.x / half.x, p.y / half.y, p.z / half.z);
                let steep = v3(q.x / half.x, q.y / half.y, q.z / half.z).length();
                let k = q.length();
                if k < 1e-4 { -half.x.min(half.y).min(half.z) } else { k * (k - 1.0) / steep }
            }
            Self::Capsule { half, bottom, top } => capsule(p, *half, *bottom, *top),
            Self::Torus { major, minor } => {
                let ring = (p.x * p.x + p.z * p.z).sqrt() - major;
                (ring * ring + p.y * p.y).sqrt() - minor
            }
            Self::Prism { points, half, round, taper } => {
                let share = (0.5 - 0.5 * p.z / half).clamp(0.0, 1.0);
                let scale = 1.0 + (taper - 1.0) * share;
                let flat = if *taper == 1.0 { polygon(points, p.x, p.y) } else { polygon(points, p.x / scale, p.y / scale) * scale };
                let (a, b) = (flat, p.z.abs() - half);
                a.max(b).min(0.0) + (a.max(0.0) * a.max(0.0) + b.max(0.0) * b.max(0.0)).sqrt() - round
            }
        }
    }

    /// How far a step of the reported distance may go without passing the surface.
    fn pace(&self) -> f32 {
        match self {
            Self::Ellipsoid { .. } => 0.9,
            Self::Prism { points, half, taper, .. } if *taper != 1.0 => {
                let reach = points.iter().map(|p| p[0].abs().max(p[1].abs())).fold(0.0, f32::max);
                let slope = reach * (taper - 1.0).abs() / (2.0 * half);
                0.95 / (1.0 + slope * slope).sqrt()
            }
            _ => 1.0,
        }
    }

    fn bounds(&self) -> (V3, V3) {
        let both = |half: V3| (-half, half);
        match self {
            Self::Block { half, .. } | Self::Ellipsoid { half } => both(*half),
            Self::Cone { bottom, top, half, .. } => both(v3(bottom.max(*top), *half, bottom.max(*top))),
            Self::Capsule { half, bottom, top } => {
                let wide = bottom.max(*top);
                (v3(-wide, (-half - bottom).min(half - top), -wide), v3(wide, (half + top).max(bottom - half), wide))
            }
            Self::Torus { major, minor } => both(v3(major + minor, *minor, major + minor)),
            Self::Prism { points, half, round, taper } => {
                let mut lo = v3(0.0, 0.0, -half - round);
                let mut hi = v3(0.0, 0.0, half + round);
                let k = taper.max(1.0);
                for (i, p) in points.iter().enumerate() {
                    let small = |a: f32| (a * k).min(a * taper.min(1.0)) - round;
                    let large = |a: f32| (a * k).max(a * taper.min(1.0)) + round;
                    lo.x = if i == 0 { small(p[0]) } else { lo.x.min(small(p[0])) };
                    lo.y = if i == 0 { small(p[1]) } else { lo.y.min(small(p[1])) };
                    hi.x = if i == 0 { large(p[0]) } else { hi.x.max(large(p[0])) };
                    hi.y = if i == 0 { large(p[1]) } else { hi.y.max(large(p[1])) };
                }
                (lo, hi)
            }
        }
    }
}

fn cone(p: V3, bottom: f32, top: f32, half: f32) -> f32 {
    let (qx, qy) = ((p.x * p.x + p.z * p.z).sqrt(), p.y);
    if bottom == top {
        let (a, b) = (qx - bottom, qy.abs() - half);
        return a.max(b).min(0.0) + (a.max(0.0) * a.max(0.0) + b.max(0.0) * b.max(0.0)).sqrt();
    }
    let (kx, ky) = (top - bottom, 2.0 * half);
    let ax = qx - qx.min(if qy < 0.0 { bottom } else { top });
    let ay = qy.abs() - half;
    let f = (((top - qx) * kx + (half - qy) * ky) / (kx * kx + ky * ky)).clamp(0.0, 1.0);
    let (bx, by) = (qx - top + kx * f, qy - half + ky * f);
    let sign = if bx < 0.0 && ay < 0.0 { -1.0 } else { 1.0 };
    sign * (ax * ax + ay * ay).min(bx * bx + by * by).sqrt()
}

fn capsule(p: V3, half: f32, bottom: f32, top: f32) -> f32 {
    let h = 2.0 * half;
    let b = (bottom - top) / h;
    let a = (1.0 - b * b).max(0.0).sqrt();
    let (qx, qy) = ((p.x * p.x + p.z * p.z).sqrt(), p.y + half);
    let k = qy * a - qx * b;
    if k < 0.0 {
        (qx * qx + qy * qy).sqrt() - bottom
    } else if k > a * h {
        (qx * qx + (qy - h) * (qy - h)).sqrt() - top
    } else {
        qx * a + qy * b - bottom
    }
}

fn polygon(points: &[[f32; 2]], x: f32, y: f32) -> f32 {
    let mut nearest = f32::MAX;
    let mut inside = false;
    let mut b = points[points.len() - 1];
    for &a in points {
        let (ex, ey) = (b[0] - a[0], b[1] - a[1]);
        let (wx, wy) = (x - a[0], y - a[1]);
        let f = ((wx * ex + wy * ey) / (ex * ex + ey * ey)).clamp(0.0, 1.0);
        let (dx, dy) = (wx - ex * f, wy - ey * f);
        nearest = nearest.min(dx * dx + dy * dy);
        if (a[1] > y) != (b[1] > y) && (ex * wy - ey * wx > 0.0) == (ey > 0.0) {
            inside = !inside;
        }
        b = a;
    }
    if inside { -nearest.sqrt() } else { nearest.sqrt() }
}

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
        if axis == 0 { self.turned(2, -super::math::PI / 2.0) } else { self.turned(0, super::math::PI / 2.0) }
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
