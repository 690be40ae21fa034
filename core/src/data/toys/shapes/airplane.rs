//! Airplanes: propeller, twin-engined, jet and biplane, with round windows, ailerons and roundels.

use super::super::math::{Dice, PI, TAU, V3, cos, sin, v3};
use super::super::paint::{Face, Mark, Paint, Shape, rgb};
use super::super::part::Part;
use super::super::solid::Solid;
use super::super::style::Style;
use super::pieces::{both, patterned, window};

struct Plane<'a> {
    style: &'a Style,
    /// Height and radius of the fuselage.
    axis: f32,
    radius: f32,
    span: f32,
    chord: f32,
    sweep: f32,
}

pub(super) fn build(style: &Style, dice: &mut Dice) -> Vec<Part> {
    let radius = dice.range(0.17, 0.23);
    let kind = dice.below(4);
    let jet = kind == 2;
    let plane = Plane {
        style,
        axis: radius + dice.range(0.2, 0.26),
        radius,
        span: if kind == 3 { dice.range(0.78, 0.9) } else { dice.range(0.88, 1.08) },
        chord: if jet { dice.range(0.19, 0.23) } else { dice.range(0.2, 0.26) },
        sweep: if jet { dice.range(0.3, 0.45) } else { dice.range(-0.05, 0.1) },
    };
    let mut parts = Vec::new();
    plane.fuselage(&mut parts, dice);
    let r = plane.radius;
    match kind {
        3 => {
            plane.wing(&mut parts, plane.axis - r * 0.75, 0.12);
            plane.wing(&mut parts, plane.axis + r * 1.75, 0.2);
            for x in [0.06, 0.26] {
                parts.extend(both(|side| {
                    Part::new(Solid::cylinder(0.02, r * 1.25), Paint::plain(style.dark)).at(
                        x,
                        plane.axis + r * 0.5,
                        side * plane.span * 0.62,
                    )
                }));
            }
        }
        _ => {
            let high = dice.chance(0.35);
            plane.wing(&mut parts, plane.axis + if high { r * 0.85 } else { -r * 0.4 }, if jet { 0.22 } else { 0.14 });
        }
    }
    plane.tail(&mut parts, dice);
    plane.gear(&mut parts);
    match kind {
        0 | 3 => plane.propeller(&mut parts, v3(0.94, plane.axis, 0.0), 0.36, dice),
        1 => {
            for side in [-1.0, 1.0] {
                plane.engine(&mut parts, side, false);
                plane.propeller(&mut parts, v3(0.44, plane.axis - r * 0.3, side * plane.span * 0.42), 0.27, dice);
            }
        }
        _ => {
            for side in [-1.0, 1.0] {
                plane.engine(&mut parts, side, true);
            }
        }
    }
    parts
}

impl Plane<'_> {
    fn fuselage(&self, parts: &mut Vec<Part>, dice: &mut Dice) {
        let s = self.style;
        let r = self.radius;
        let tail = r * dice.range(0.42, 0.55);
        let count = 4 + dice.below(2);
        let mut paint = Paint::plain(s.main);
        // Up is angle 0; the windows run along both sides, a little above the middle.
        for side in [-1.0, 1.0] {
            let turn = side * 1.12;
            paint = paint
                .mark(Mark::new(Face::Around, [turn, 0.0], [0.36, 0.62], Shape::Rect(s.light)))
                .mark(Mark::new(Face::Around, [turn, 0.0], [0.26, 0.075], Shape::Disc(s.glass)).row(count, [0.0, 1.16 / count as f32]))
                .mark(Mark::new(Face::Around, [side * 0.62, 0.0], [0.08, 0.6], Shape::Rect(s.second)));
        }
        paint = paint.mark(Mark::new(Face::Around, [0.0, 0.63], [1.15, 0.10], window(s.light, s.glass, 2, 1))).mark(Mark::new(
            Face::Around,
            [0.0, -0.68],
            [7.0, 0.03],
            Shape::Rect(s.accent),
        ));
        let body = Part::new(Solid::Capsule { half: 0.86 - r * 0.35, bottom: tail, top: r }, paint.gloss(0.9));
        parts.push(body.lying(0).at(-0.02, self.axis, 0.0));
    }

    fn wing(&self, parts: &mut Vec<Part>, y: f32, x: f32) {
        let s = self.style;
        let (c, long) = (self.chord, self.span - self.radius * 0.4);
        for side in [-1.0, 1.0] {
            // The prism's z runs outwards; its profile is the wing seen from above, its thickness
            // lies along z.
            let root = self.radius * 0.4;
            let points = [
                [c, root * side],
                [c * 0.72 - self.sweep, (root + long * 0.93) * side],
                [c * 0.45 - self.sweep, (root + long) * side],
                [-c * 0.62 - self.sweep, (root + long) * side],
                [-c, root * side],
            ];
            let along = |share: f32| (root + long * share) * side;
            let at = |share: f32, chord: f32| [chord * c - self.sweep * share, along(share)];
            let mid = at(0.66, -0.02);
            let mut paint = patterned(s)
                .mark(Mark::new(Face::Z(0), mid, [0.17, 0.17], Shape::Disc(s.light)))
                .mark(Mark::new(Face::Z(0), mid, [0.14, 0.14], Shape::Disc(s.accent)))
                .mark(Mark::new(Face::Z(0), mid, [0.07, 0.07], Shape::Disc(s.light)))
                .mark(Mark::new(Face::Z(0), at(0.96, 0.0), [c, 0.035], Shape::Rect(s.accent)));
            // Ailerons, and a joint along the wing that is too faint for a corner.
            paint = paint.mark(Mark::new(Face::Z(0), at(0.34, -0.60), [0.012, long * 0.25], Shape::Rect(s.dark)));
            paint = paint.mark(Mark::new(Face::Z(0), at(0.3, 0.3), [0.01, long * 0.3], Shape::Rect(s.main * 0.86)));
            let wing = Solid::Prism { points: points.to_vec(), half: 0.018, round: 0.014, taper: 1.0 };
            // Laid flat: the profile's y becomes z, its z points down.
            parts.push(Part::new(wing, paint.gloss(0.8)).turned(0, PI / 2.0).at(x, y, 0.0));
        }
    }

    fn tail(&self, parts: &mut Vec<Part>, dice: &mut Dice) {
        let s = self.style;
        let high = dice.range(0.34, 0.46);
        let fin = [[-0.16, 0.0], [0.2, 0.0], [-0.02, high], [-0.2, high]];
        let paint = patterned(s).mark(Mark::new(Face::Z(0), [0.0, high * 0.92], [0.3, 0.05], Shape::Rect(s.accent)));
        parts.push(Part::new(Solid::prism(&fin, 0.02), paint).at(-0.76, self.axis + self.radius * 0.35, 0.0));
        let t_tail = dice.chance(0.3);
        let y = if t_tail { self.axis + self.radius * 0.35 + high } else { self.axis + self.radius * 0.2 };
        let half = dice.range(0.36, 0.44);
        let flat = [[0.12, 0.0], [-0.02, half], [-0.16, half], [-0.15, 0.0], [-0.16, -half], [-0.02, -half]];
        let paint =
            patterned(s).mark(Mark::new(Face::Z(0), [-0.115, 0.0], [0.03, half * 0.32], Shape::Rect(s.accent)).row(2, [0.0, half * 1.1]));
        parts.push(Part::new(Solid::prism(&flat, 0.016), paint).turned(0, PI / 2.0).at(-0.8, y, 0.0));
    }

    fn gear(&self, parts: &mut Vec<Part>) {
        let s = self.style;
        let mut leg = |x: f32, z: f32| {
            let r = 0.085;
            parts.push(Part::limb(v3(x, self.axis - self.radius * 0.5, z * 0.6), v3(x, r, z), 0.024, 0.024, Paint::plain(rgb(0xC9_CCCE))));
            let disc = Mark::new(Face::Y(0), [0.0, 0.0], [r * 0.6, r * 0.6], Shape::Ring { rim: s.light, inner: s.dark });
            parts.push(Part::new(Solid::cylinder(r, 0.045), Paint::plain(s.dark).mark(disc)).lying(2).at(x, r, z));
        };
        leg(0.3, -0.24);
        leg(0.3, 0.24);
        leg(-0.68, 0.0);
    }

    fn engine(&self, parts: &mut Vec<Part>, side: f32, jet: bool) {
        let s = self.style;
        let z = side * self.span * 0.42;
        let r = if jet { 0.105 } else { 0.085 };
        let x = if jet { 0.16 } else { 0.22 };
        let paint = Paint::plain(s.second).mark(Mark::new(Face::Around, [0.0, 0.16], [7.0, 0.03], Shape::Rect(s.accent))).mark(Mark::new(
            Face::Y(0),
            [0.0, 0.0],
            [r * 0.85, r * 0.85],
            Shape::Disc(s.dark),
        ));
        let y = self.axis - self.radius * if jet { 0.75 } else { 0.3 };
        parts.push(Part::new(Solid::cone(r * 0.8, r, 0.23), paint.gloss(0.9)).lying(0).at(
            x - if jet { self.sweep * 0.3 } else { 0.0 },
            y,
            z,
        ));
    }

    fn propeller(&self, parts: &mut Vec<Part>, at: V3, long: f32, dice: &mut Dice) {
        let s = self.style;
        parts.push(
            Part::new(Solid::Cone { bottom: 0.085, top: 0.03, half: 0.07, round: 0.025 }, Paint::plain(s.accent).gloss(1.0)).lying(0).at(
                at.x + 0.05,
                at.y,
                at.z,
            ),
        );
        let blades = 2 + dice.below(3);
        let start = dice.range(0.0, 3.0);
        for i in 0..blades {
            let paint =
                Paint::plain(s.dark).mark(Mark::new(Face::X(0), [0.0, long * 0.5], [0.06, 0.05], Shape::Rect(rgb(0xF6_CB4A)))).gloss(0.5);
            let turn = start + i as f32 * TAU / blades as f32;
            // The blade's middle stands half its length off the hub.
            let (up, aside) = (cos(turn), sin(turn));
            let blade = Part::new(Solid::rounded(0.014, long * 0.5, 0.05, 0.012), paint);
            parts.push(blade.turned(0, turn).at(at.x + 0.04, at.y + up * long * 0.5, at.z + aside * long * 0.5));
        }
    }
}
