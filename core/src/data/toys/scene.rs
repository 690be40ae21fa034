//! A toy on a table under a light: what a ray meets and how bright it is there.

use super::math::{Dice, PI, V3, cos, sin, smooth, v3};
use super::paint::{Colour, rgb, table_texture};
use super::part::Part;
use super::style::{Style, luma};
use super::view::CameraView;

const BACKDROPS: [u32; 14] = [
    0xF0_CFC2, 0xF4_DDB8, 0xF2_EACB, 0xD6_E5C4, 0xC2_E0D0, 0xBF_DDE5, 0xC3_D3EC, 0xD3_CBEA, 0xEA_CCDF, 0xE8_E2D8, 0xD5_DBDF, 0xE2_C7A8,
    0xA9_C9CF, 0xB9_C4A9,
];

/// How well a toy of one colour stands out on a table of another.
fn apart(a: Colour, b: Colour) -> f32 {
    (a - b).length() + (luma(a) - luma(b)).abs()
}

/// Where a ray ends: on a part, or on the table (`part` is [`TABLE`]).
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub(super) t: f32,
    pub(super) part: usize,
    /// In the part's own frame; on the table, in the world.
    place: V3,
    normal: V3,
}

pub(super) const TABLE: usize = usize::MAX;

/// The costly half of shading, which neighbouring rays may share.
#[derive(Clone, Copy)]
pub(super) struct Light {
    key: f32,
    ambient: f32,
}

/// Everything needed to shade a ray.
pub(super) struct Scene {
    parts: Vec<Part>,
    balls: Vec<(V3, f32)>,
    /// The ball around the toy.
    whole: (V3, f32),
    table: Colour,
    texture: (usize, f32, V3),
    plate: Option<(f32, Colour)>,
    to_light: V3,
    key: V3,
    sky: V3,
    /// How fast shadows blur with distance, as the sharpness at distance 1.
    sharpness: f32,
    /// Unit vectors of the camera on the table: to its right and away from it.
    across: V3,
    away: V3,
}

impl Scene {
    pub(super) fn new(parts: Vec<Part>, style: &Style, view: &CameraView, dice: &mut Dice) -> Self {
        let balls: Vec<(V3, f32)> = parts.iter().map(Part::ball).collect();
        let whole = around(&parts);
        let mut tables = BACKDROPS.map(rgb);
        tables.sort_by(|&a, &b| apart(b, style.main).total_cmp(&apart(a, style.main)));
        let table = tables[dice.below(8)];
        // Bright light pales colours: the paint is stronger than what is seen.
        let grey = luma(table);
        let table = table.map(|c| (grey + (c - grey) * 1.7).clamp(0.0, 1.0) * 0.97);
        let texture = (dice.below(4), dice.range(0.014, 0.028), v3(dice.range(0.0, 50.0), 0.0, dice.range(0.0, 50.0)));
        let plate = dice.chance(0.4).then(|| {
            let radius = parts.iter().flat_map(Part::corners).map(|c| (c.x * c.x + c.z * c.z).sqrt()).fold(0.0, f32::max);
            (radius * dice.range(1.0, 1.12), table.mix(v3(1.0, 1.0, 1.0), 0.45))
        });
        let azimuth = view.azimuth as f32 * (PI / 18.0);
        let across = v3(sin(azimuth), 0.0, -cos(azimuth));
        let away = v3(-cos(azimuth), 0.0, -sin(azimuth));
        // Direction on the table (across, away), height, strength of the key light and of the sky,
        // sharpness.
        let (x, z, y, key, sky, sharpness) = match view.lighting {
            0 => (-0.15, -0.2, 1.5, 1.0, 0.66, 4.5),
            1 => (-1.0, -0.25, 1.0, 1.08, 0.60, 4.5),
            2 => (1.0, -0.25, 1.0, 1.08, 0.60, 4.5),
            3 => (0.25, -0.9, 1.15, 1.0, 0.62, 4.5),
            4 => (-0.45, 0.75, 1.05, 1.12, 0.66, 4.5),
            _ => (0.35, -0.3, 1.4, 0.62, 0.9, 2.5),
        };
        let to_light = (across * x + away * z + v3(0.0, y, 0.0)).unit();
        let warm = if view.lighting == 5 { v3(1.0, 0.99, 0.97) } else { v3(1.0, 0.965, 0.90) };
        Self {
            parts,
            balls,
            whole,
            table,
            texture,
            plate,
            to_light,
            key: warm * key,
            sky: v3(0.93, 0.97, 1.03) * sky,
            sharpness,
            across,
            away,
        }
    }

    /// What the ray meets first.
    pub(super) fn meet(&self, from: V3, along: V3) -> Option<Hit> {
        let mut best = f32::MAX;
        let mut part = TABLE;
        if along.y < -1e-4 {
            best = -from.y / along.y;
        }
        if misses(self.whole, from, along, 0.0) {
            return self.end(from, along, best, part);
        }
        for (i, &ball) in self.balls.iter().enumerate() {
            if misses(ball, from, along, 0.0) {
                continue;
            }
            if let Some(t) = self.parts[i].meet(&self.parts[i].local(from, along), best) {
                (best, part) = (t, i);
            }
        }
        self.end(from, along, best, part)
    }

    fn end(&self, from: V3, along: V3, t: f32, part: usize) -> Option<Hit> {
        if t == f32::MAX {
            return None;
        }
        if part == TABLE {
            return Some(Hit { t, part, place: from + along * t, normal: v3(0.0, 1.0, 0.0) });
        }
        let ray = self.parts[part].local(from, along);
        let place = ray.from + ray.along * t;
        Some(Hit { t, part, place, normal: self.parts[part].normal(place) })
    }

    /// How much of the lights reaches the place of a hit.
    pub(super) fn light(&self, from: V3, along: V3, hit: &Hit) -> Light {
        let normal = self.outward(hit);
        let place = from + along * hit.t + normal * 0.006;
        let facing = normal.dot(self.to_light);
        let key = if facing > 0.0 { self.shadow(place) } else { 0.0 };
        Light { key, ambient: self.openness(place, normal) }
    }

    fn outward(&self, hit: &Hit) -> V3 {
        if hit.part == TABLE { hit.normal } else { self.parts[hit.part].outward(hit.normal) }
    }

    /// The light that the ray brings back, in linear units.
    pub(super) fn shade(&self, along: V3, hit: &Hit, light: Light) -> V3 {
        let normal = self.outward(hit);
        let (paint, gloss) = if hit.part == TABLE {
            (self.table_colour(hit.place), 0.0)
        } else {
            let part = &self.parts[hit.part];
            let paint = part.paint_at(hit.place);
            (paint.colour(part.solid(), hit.place, hit.normal), paint.gloss)
        };
        let albedo = (paint * paint).map(|c| c.min(0.93));
        let facing = normal.dot(self.to_light).max(0.0);
        let open = light.ambient;
        let bounce = self.table * self.table * (0.30 * (0.5 - 0.5 * normal.y) * (0.4 + 0.6 * open));
        let mut out = albedo * (self.key * (facing * light.key) + self.sky * (open * (0.62 + 0.38 * normal.y)) + bounce);
        if gloss > 0.0 {
            let mirror = along - normal * (2.0 * along.dot(normal));
            let grazing = 1.0 + along.dot(normal).min(0.0);
            let fresnel = 0.045 + 0.5 * grazing * grazing * grazing * grazing * grazing;
            out = out + self.studio(mirror, light.key) * (gloss * fresnel * (0.35 + 0.65 * open));
        }
        out
    }

    /// What a mirror would show of the studio: a bright box above, a strip at the side, the key
    /// light.
    fn studio(&self, mirror: V3, key: f32) -> V3 {
        let up = mirror.y.max(0.0);
        let mut glow = 0.25 + 0.5 * up;
        if mirror.y > 0.05 {
            let (a, b) = (mirror.dot(self.across) / mirror.y, mirror.dot(self.away) / mirror.y);
            let side = |x: f32, lo: f32, hi: f32| smooth(lo - 0.06, lo + 0.06, x) * smooth(hi + 0.06, hi - 0.06, x);
            glow += 5.0 * side(a, -0.85, -0.1) * side(b, -0.15, 0.75) + 2.0 * side(a, 0.9, 1.3) * side(b, -0.8, 1.0);
        }
        let peak = mirror.dot(self.to_light).max(0.0);
        let p4 = peak * peak * peak * peak;
        let p16 = p4 * p4 * p4 * p4;
        v3(glow, glow, glow) + self.key * (10.0 * key * p16 * p16 * p16)
    }

    fn table_colour(&self, p: V3) -> Colour {
        let (kind, strength, shift) = self.texture;
        let radius = (p.x * p.x + p.z * p.z).sqrt();
        let mut colour = self.table;
        if let Some((edge, plate)) = self.plate {
            colour = colour.mix(plate, smooth(edge + 0.012, edge - 0.012, radius));
        }
        // Seen across the camera's axes, so that boards never run the same way for every view of a
        // toy.
        let (x, z) = (p.dot(self.across) + shift.x, p.dot(self.away) + shift.z);
        let depth = p.dot(self.away);
        colour * (1.0 + strength * 2.0 * table_texture(kind, x, z) + 0.045 * depth.clamp(-2.0, 2.5))
    }

    /// The share of the key light that reaches `from`, with a soft edge.
    fn shadow(&self, from: V3) -> f32 {
        const MARGIN: f32 = 0.2;
        let along = self.to_light;
        if misses(self.whole, from, along, MARGIN) {
            return 1.0;
        }
        let mut clear: f32 = 1.0;
        for (part, &ball) in self.parts.iter().zip(&self.balls) {
            if misses(ball, from, along, MARGIN) {
                continue;
            }
            let ray = part.local(from, along);
            let Some((near, far)) = part.span(&ray, MARGIN) else { continue };
            let mut t = near.max(0.015);
            for _ in 0..28 {
                if t > far {
                    break;
                }
                let d = part.distance(ray.from + ray.along * t);
                clear = clear.min(self.sharpness * d / t);
                if clear < 0.01 {
                    return 0.0;
                }
                t += d.clamp(0.012, 0.25);
            }
        }
        smooth(0.0, 1.0, clear)
    }

    /// The share of the sky that `from` sees, judged from the room along the normal.
    fn openness(&self, from: V3, normal: V3) -> f32 {
        const REACH: f32 = 0.42;
        const STEPS: [f32; 4] = [0.03, 0.09, 0.2, 0.38];
        const WEIGHTS: [f32; 4] = [0.9, 0.75, 0.62, 0.5];
        let to_whole = from - self.whole.0;
        let mut room = STEPS;
        for (r, s) in room.iter_mut().zip(STEPS) {
            *r = r.min((from.y + normal.y * s).max(0.0) + if from.y < 0.01 { 1.0 } else { 0.0 });
        }
        if to_whole.length() < self.whole.1 + REACH {
            for (part, ball) in self.parts.iter().zip(&self.balls) {
                let gap = from - ball.0;
                let limit = ball.1 + REACH * 2.0;
                if gap.dot(gap) > limit * limit {
                    continue;
                }
                for (r, s) in room.iter_mut().zip(STEPS) {
                    let q = from + normal * s;
                    let away = q - ball.0;
                    let near = ball.1 + *r;
                    if away.dot(away) < near * near {
                        *r = r.min(part.distance_from(q).max(0.0));
                    }
                }
            }
        }
        let mut open = 1.0;
        for ((r, s), w) in room.iter().zip(STEPS).zip(WEIGHTS) {
            open *= 1.0 - w * (1.0 - r / s);
        }
        open.clamp(0.0, 1.0) * 0.93 + 0.07
    }

    /// The corners of all parts' boxes, for framing.
    pub(super) fn outline(&self) -> Vec<V3> {
        self.parts.iter().flat_map(Part::corners).collect()
    }
}

/// A ball around the parts: its centre and radius.
fn around(parts: &[Part]) -> (V3, f32) {
    let mut lo = v3(f32::MAX, f32::MAX, f32::MAX);
    let mut hi = -lo;
    for corner in parts.iter().flat_map(Part::corners) {
        lo = lo.zip(corner, f32::min);
        hi = hi.zip(corner, f32::max);
    }
    ((lo + hi) * 0.5, (hi - lo).length() * 0.5)
}

/// Whether the ray passes the ball, grown by `margin`, or has it behind.
fn misses((centre, radius): (V3, f32), from: V3, along: V3, margin: f32) -> bool {
    let to = centre - from;
    let near = to.dot(along);
    let r2 = (radius + margin) * (radius + margin);
    let far2 = to.dot(to);
    far2 - near * near > r2 || (near < 0.0 && far2 > r2)
}
