//! Teapots: round, tall, conical and drum-shaped, with painted bands, a lid, a spout, a handle and
//! a tray.

use super::super::math::{Dice, PI, TAU, V3, cos, sin, v3};
use super::super::paint::{Face, Mark, Paint, Shape, rgb};
use super::super::part::Part;
use super::super::solid::Solid;
use super::super::style::Style;
use super::pieces::patterned;

/// The body's measures.
struct Body {
    /// Radius at the belly, at the shoulder where the lid sits, and at the height of the spout's
    /// root.
    belly: f32,
    lid: f32,
    root: f32,
    /// Height of the middle, and half the height.
    middle: f32,
    half: f32,
}

pub(super) fn build(s: &Style, dice: &mut Dice) -> Vec<Part> {
    let mut parts = Vec::new();
    let foot = 0.1;
    let r = dice.range(0.46, 0.56);
    let kind = dice.below(4);
    let (solid, body) = match kind {
        0 => {
            let half = r * dice.range(0.78, 0.95);
            (Solid::ellipsoid(r, half, r), Body { belly: r, lid: r * 0.5, root: r * 0.9, middle: foot + half * 0.97, half })
        }
        1 => {
            let (half, r) = (dice.range(0.42, 0.52), r * 0.84);
            (
                Solid::Cone { bottom: r, top: r * 0.82, half, round: 0.1 },
                Body { belly: r * 0.91, lid: r * 0.62, root: r * 0.9, middle: foot + half, half },
            )
        }
        2 => {
            let half = dice.range(0.36, 0.46);
            (
                Solid::Cone { bottom: r * 1.05, top: r * 0.58, half, round: 0.07 },
                Body { belly: r * 0.82, lid: r * 0.46, root: r * 0.76, middle: foot + half, half },
            )
        }
        _ => {
            let half = dice.range(0.28, 0.34);
            (
                Solid::Cone { bottom: r, top: r, half, round: 0.13 },
                Body { belly: r, lid: r * 0.58, root: r * 0.95, middle: foot + half, half },
            )
        }
    };
    parts.push(Part::new(solid, bands(s, &body, dice)).at(0.0, body.middle, 0.0));
    let ring = Paint::plain(s.second).mark(Mark::around(7, 0.0, [0.2, 0.03], Shape::Rect(s.accent)));
    parts.push(Part::new(Solid::cylinder(body.belly * 0.66, 0.06), ring).at(0.0, foot, 0.0));
    lid(s, &body, dice, &mut parts);
    spout(s, &body, dice, &mut parts);
    handle(s, &body, dice, &mut parts);
    tray(s, &body, dice, &mut parts);
    parts
}

/// The painted bands: diamonds or flowers between two lines with dots.
fn bands(s: &Style, body: &Body, dice: &mut Dice) -> Paint {
    let r = body.belly;
    let count = 7 + dice.below(2);
    let high = 0.1;
    let width = PI / count as f32 * 0.8;
    let v = body.half * dice.range(-0.12, 0.12);
    let shape =
        if dice.chance(0.5) { Shape::Diamond(s.accent) } else { Shape::Flower { petal: s.accent, heart: rgb(0xF6_D04C), petals: 4 } };
    let width = if matches!(shape, Shape::Flower { .. }) { 0.1 / r } else { width };
    let line = |at: f32, half: f32| Mark::new(Face::Around, [0.0, at], [7.0, half], Shape::Rect(s.dark));
    patterned(s)
        .mark(Mark::new(Face::Around, [0.0, v], [7.0, high + 0.055], Shape::Rect(s.light)))
        .mark(line(v + high + 0.05, 0.014))
        .mark(Mark::around(count, v, [width, high], shape))
        // The shoulder, which is what one sees from above.
        .mark(Mark::new(Face::Y(1), [0.0, 0.0], [body.lid * 1.3, body.lid * 1.3], Shape::Disc(s.light)))
        .gloss(1.0)
}

fn lid(s: &Style, body: &Body, dice: &mut Dice, parts: &mut Vec<Part>) {
    let top = body.middle + body.half * if body.lid < body.belly * 0.52 { 0.86 } else { 0.98 };
    let r = body.lid;
    let petals = 6 + dice.below(2);
    let scallops = Mark::around(petals, 0.0, [PI / petals as f32 * 0.7, 0.05], Shape::Rect(s.accent));
    let rim = Paint::plain(s.light)
        .mark(scallops)
        .mark(Mark::new(Face::Y(1), [0.0, 0.0], [r, r], Shape::Flower { petal: s.accent, heart: s.light, petals: petals as u8 }))
        .gloss(1.0);
    parts.push(Part::new(Solid::cylinder(r * 1.05, 0.04), rim).at(0.0, top + 0.02, 0.0));
    let dome = Paint::plain(s.main).gloss(1.0);
    let rise = dice.range(0.1, 0.16);
    parts.push(Part::new(Solid::ellipsoid(r * 0.78, rise, r * 0.78), dome).at(0.0, top + 0.05, 0.0));
    let y = top + 0.05 + rise;
    let knob = Paint::plain(s.accent).mark(Mark::new(Face::Y(1), [0.0, 0.0], [0.035, 0.035], Shape::Disc(s.light))).gloss(1.0);
    let part = match dice.below(3) {
        0 => Part::new(Solid::ball(0.095), knob),
        1 => Part::new(Solid::cone(0.05, 0.1, 0.07), knob),
        _ => Part::new(Solid::ellipsoid(0.11, 0.06, 0.11), knob),
    };
    parts.push(part.at(0.0, y + 0.05, 0.0));
}

fn spout(s: &Style, body: &Body, dice: &mut Dice, parts: &mut Vec<Part>) {
    let root = v3(body.root * 0.88, body.middle - body.half * dice.range(0.1, 0.35), 0.0);
    let elbow = root + v3(dice.range(0.24, 0.32), dice.range(0.12, 0.2), 0.0);
    let tip = elbow + v3(dice.range(0.08, 0.2), dice.range(0.26, 0.36), 0.0);
    let ring = |v: f32, c: V3| Mark::new(Face::Around, [0.0, v], [7.0, 0.03], Shape::Rect(c));
    let wide = dice.range(0.15, 0.19);
    parts.push(Part::limb(root, elbow, wide, 0.098, Paint::plain(s.main).mark(ring(0.0, s.light)).gloss(1.0)));
    parts.push(Part::limb(elbow, tip, 0.098, 0.066, Paint::plain(s.main).mark(ring(0.14, s.light)).mark(ring(0.02, s.accent)).gloss(1.0)));
    let mouth = Part::new(
        Solid::cylinder(0.082, 0.025),
        Paint::plain(s.light).mark(Mark::new(Face::Y(1), [0.0, 0.0], [0.055, 0.055], Shape::Disc(rgb(0x2A_2426)))),
    );
    let lean = (tip - elbow).unit();
    parts.push(mouth.turned(2, -lean.x * 0.9).at(tip.x + lean.x * 0.05, tip.y + lean.y * 0.05, 0.0));
}

fn handle(s: &Style, body: &Body, dice: &mut Dice, parts: &mut Vec<Part>) {
    let wraps = Mark::around(10, 0.0, [0.16, 0.2], Shape::Rect(s.wood * 0.84));
    let paint = Paint::plain(s.wood).mark(wraps).gloss(0.5);
    if dice.chance(0.35) {
        // A bail over the lid.
        let major = body.root * dice.range(0.72, 0.85);
        let y = body.middle + body.half * 0.72;
        parts.push(Part::new(Solid::Torus { major, minor: 0.042 }, paint).turned(0, PI / 2.0).at(0.0, y + 0.05, 0.0));
    } else {
        let major = body.half * dice.range(0.56, 0.68);
        let ring = Part::new(Solid::Torus { major, minor: dice.range(0.05, 0.065) }, paint);
        parts.push(ring.turned(0, PI / 2.0).at(-body.root - major * 0.52, body.middle + body.half * 0.1, 0.0));
    }
}

fn tray(s: &Style, body: &Body, dice: &mut Dice, parts: &mut Vec<Part>) {
    let r = body.belly * dice.range(1.28, 1.5);
    let count = 8 + dice.below(2);
    let edge = (PI * r * 0.455 / count as f32).min(0.05);
    let mut paint = Paint::plain(s.light).mark(Mark::new(Face::Y(1), [0.0, 0.0], [r * 0.82, r * 0.82], Shape::Disc(s.second)));
    for i in 0..count {
        let turn = i as f32 * TAU / count as f32;
        let at = [cos(turn) * r * 0.91, sin(turn) * r * 0.91];
        paint = paint.mark(Mark::new(Face::Y(1), at, [edge, edge], Shape::Disc(s.accent)));
    }
    parts.push(Part::new(Solid::Cone { bottom: r * 0.9, top: r, half: 0.03, round: 0.02 }, paint.gloss(0.9)).at(0.0, 0.03, 0.0));
}
