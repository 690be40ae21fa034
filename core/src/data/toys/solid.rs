//! Solids as signed distances.

use super::math::{V3, v3};

/// A shape around its own origin. Lengths are in toy units: a toy is about two units long. `round`
/// is the radius of the edges and lies inside the given measures, except for [`Solid::Prism`],
/// which it makes larger.
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
    pub(super) fn pace(&self) -> f32 {
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

    pub(super) fn bounds(&self) -> (V3, V3) {
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
