//! Dogs: jointed wooden ones with stitched backs, studded collars, and ears and tails of several
//! kinds.

use super::super::math::{Dice, PI, V3, v3};
use super::super::paint::{Face, Mark, Paint, Shape, rgb};
use super::super::part::Part;
use super::super::solid::Solid;
use super::super::style::Style;
use super::pieces::{both, patterned};

pub(super) fn build(s: &Style, dice: &mut Dice) -> Vec<Part> {
    let mut parts = Vec::new();
    let leg = dice.range(0.34, 0.56);
    let girth = dice.range(0.22, 0.29);
    let long = dice.range(0.42, 0.62);
    let back = leg + girth * 0.75;
    body(s, dice.below(3), long, girth, back, &mut parts);
    legs(s, dice, (long, girth, leg), &mut parts);
    let neck = v3(long * 0.92, back + girth * 0.45, 0.0);
    let head = v3(long + dice.range(0.12, 0.24), back + girth + dice.range(0.16, 0.32), 0.0);
    let size = dice.range(0.22, 0.27);
    parts.push(Part::limb(neck, head - v3(0.05, 0.06, 0.0), girth * 0.68, size * 0.7, patterned(s)));
    collar(s, neck.mix(head, 0.42), head - neck, girth * 0.66, &mut parts);
    face(s, dice, head, size, &mut parts);
    tail(s, dice, v3(-long * 1.0, back + girth * 0.4, 0.0), &mut parts);
    parts
}

fn body(s: &Style, kind: usize, long: f32, girth: f32, back: f32, parts: &mut Vec<Part>) {
    // Up is angle 0 on the lying solids.
    let stitch = Mark::new(Face::Around, [0.0, 0.0], [0.34, 0.03], Shape::Rect(s.dark)).row(4, [0.0, long * 0.42]);
    let spine = Mark::new(Face::Around, [0.0, 0.0], [0.05, long * 0.9], Shape::Rect(s.light));
    let paint = patterned(s).mark(spine).mark(stitch);
    match kind {
        0 => {
            parts.push(Part::new(Solid::Capsule { half: long * 0.86, bottom: girth * 0.88, top: girth }, paint).lying(0).at(0.0, back, 0.0))
        }
        1 => parts.push(Part::new(Solid::ellipsoid(girth, long * 1.25, girth * 0.95), paint).lying(0).at(0.0, back, 0.0)),
        _ => {
            let round = Solid::Cone { bottom: girth * 0.95, top: girth, half: long * 1.12, round: girth * 0.55 };
            parts.push(Part::new(round, paint).lying(0).at(0.0, back, 0.0));
        }
    }
}

fn legs(s: &Style, dice: &mut Dice, (long, girth, leg): (f32, f32, f32), parts: &mut Vec<Part>) {
    let thick = dice.range(0.085, 0.115);
    let stride = dice.range(0.0, 0.14);
    let socks = dice.chance(0.5);
    for (x, side) in [(0.78, -1.0), (0.78, 1.0), (-0.78, -1.0), (-0.78, 1.0)] {
        let step = stride * side * if x > 0.0 { 1.0 } else { -1.0 };
        let top = v3(x * long, leg + girth * 0.45, side * girth * 0.8);
        let foot = v3(x * long + step, 0.1, side * girth * 0.88);
        let mut paint = Paint::plain(s.main);
        if socks {
            paint = paint.mark(Mark::new(Face::Around, [0.0, leg * 0.5], [7.0, leg * 0.22], Shape::Rect(s.second)));
        }
        parts.push(Part::limb(top, foot, thick * 1.2, thick * 0.9, paint));
        let screw = Mark::new(Face::Y(0), [0.0, 0.0], [thick * 1.2, thick * 1.2], Shape::Screw { plate: s.light, slot: s.dark });
        parts.push(Part::new(Solid::cylinder(thick * 1.3, 0.035), Paint::plain(s.accent).mark(screw)).lying(2).at(
            top.x,
            top.y,
            side * (girth * 0.8 + thick * 1.12),
        ));
        let toes = Paint::plain(s.light)
            .mark(Mark::new(Face::Y(1), [thick * 0.8, 0.0], [thick * 0.5, 0.016], Shape::Rect(s.light * 0.6)).row(2, [0.0, thick * 0.7]));
        parts.push(Part::new(Solid::rounded(thick * 1.5, 0.065, thick * 1.1, 0.06), toes).at(foot.x + thick * 0.45, 0.065, foot.z));
    }
}

fn collar(s: &Style, at: V3, along: V3, radius: f32, parts: &mut Vec<Part>) {
    let studs = Mark::around(7, 0.0, [0.2, 0.04], Shape::Disc(rgb(0xF8_E7A0)));
    let along = along.unit() * 0.055;
    let mut ring = Part::limb(at - along, at + along, radius, radius, Paint::plain(s.accent));
    let pose = ring.clone();
    ring = Part::new(Solid::cylinder(radius, 0.055), Paint::plain(s.accent * 0.8).mark(studs)).posed_as(&pose);
    parts.push(ring);
    let tag = Paint::plain(rgb(0xF2_C230)).mark(Mark::new(Face::Y(0), [0.0, 0.0], [0.05, 0.05], Shape::Star(s.dark))).gloss(1.0);
    parts.push(Part::new(Solid::cylinder(0.07, 0.02), tag).lying(0).at(at.x + radius * 1.05, at.y - radius * 0.35, 0.0));
}

fn face(s: &Style, dice: &mut Dice, head: V3, size: f32, parts: &mut Vec<Part>) {
    let square = dice.chance(0.35);
    let skull =
        if square { Solid::rounded(size * 0.95, size * 0.9, size * 0.95, size * 0.4) } else { Solid::ellipsoid(size * 1.05, size, size) };
    // A blaze with stitches over the forehead.
    let blaze = Paint::plain(s.main)
        .mark(Mark::new(Face::Y(1), [0.0, 0.0], [size, size * 0.2], Shape::Rect(s.second)))
        .mark(Mark::new(Face::Y(1), [0.0, 0.0], [0.028, size * 0.4], Shape::Rect(s.dark)).row(2, [size * 0.6, 0.0]));
    parts.push(Part::new(skull, blaze).at(head.x, head.y, head.z));
    let nose = dice.range(0.18, 0.32);
    let low = head.y - size * 0.28;
    let mouth = Mark::new(Face::X(1), [0.0, -size * 0.25], [size * 0.4, 0.016], Shape::Rect(s.dark));
    let snout = Paint::plain(s.light).marks([mouth]).mark(Mark::new(Face::X(1), [0.0, -0.06], [0.014, 0.08], Shape::Rect(s.dark)));
    let reach = head.x + size * 0.55;
    parts.push(Part::new(Solid::rounded(nose, size * 0.46, size * 0.52, size * 0.4), snout).at(reach + nose * 0.5, low, 0.0));
    parts.push(Part::new(Solid::ellipsoid(0.065, 0.055, 0.08), Paint::plain(rgb(0x26_2226)).gloss(1.0)).at(
        reach + nose * 1.45,
        low + size * 0.36,
        0.0,
    ));
    parts.extend(both(|side| {
        let pupil = Mark::new(Face::X(1), [side * 0.012, 0.0], [0.052, 0.055], Shape::Ring { rim: s.dark, inner: rgb(0x14_1216) });
        let glint = Mark::new(Face::X(1), [side * 0.02 + 0.016, 0.022], [0.017, 0.017], Shape::Disc(rgb(0xFF_FFFF)));
        let eye = Paint::plain(rgb(0xFD_FBF5)).mark(pupil).mark(glint).gloss(1.0);
        Part::new(Solid::ball(0.088), eye).turned(1, -side * 0.45).turned(2, 0.5).at(
            head.x + size * 0.72,
            head.y + size * 0.38,
            side * size * 0.52,
        )
    }));
    let kind = dice.below(3);
    let ear = |side: f32| {
        let paint = Paint::plain(s.second * 0.96);
        let at = v3(head.x - size * 0.25, head.y + size * 0.3, side * size * 0.92);
        match kind {
            0 => Part::new(Solid::ellipsoid(0.115, 0.23, 0.045), paint).turned(0, -side * 0.3).turned(2, 0.2).at(
                at.x,
                at.y - 0.06,
                at.z + side * 0.05,
            ),
            1 => {
                let inner = Paint::plain(s.second).mark(Mark::new(Face::X(1), [0.0, -0.03], [0.06, 0.1], Shape::Diamond(s.accent)));
                let tip = Solid::Cone { bottom: 0.115, top: 0.02, half: 0.15, round: 0.015 };
                Part::new(tip, inner).turned(0, side * 0.25).at(at.x, head.y + size * 1.05, side * size * 0.6)
            }
            _ => Part::new(
                Solid::ellipsoid(0.06, 0.14, 0.13),
                paint.mark(Mark::new(Face::X(1), [0.0, 0.0], [0.08, 0.09], Shape::Disc(s.accent))),
            )
            .at(at.x, head.y + size * 0.85, side * size * 0.78),
        }
    };
    parts.extend(both(ear));
}

fn tail(s: &Style, dice: &mut Dice, root: V3, parts: &mut Vec<Part>) {
    match dice.below(3) {
        0 => {
            let paint = Paint::plain(s.main).mark(Mark::new(Face::Around, [0.0, 0.12], [7.0, 0.08], Shape::Rect(s.second)));
            parts.push(Part::limb(root, root + v3(-0.24, 0.32, 0.0), 0.075, 0.055, paint));
        }
        1 => {
            let rings = Paint::plain(s.main).mark(Mark::around(6, 0.0, [0.22, 0.2], Shape::Rect(s.second)));
            parts.push(Part::new(Solid::Torus { major: 0.13, minor: 0.055 }, rings).turned(0, PI / 2.0).at(
                root.x - 0.05,
                root.y + 0.15,
                0.0,
            ));
        }
        _ => {
            let middle = root + v3(-0.2, 0.08, 0.0);
            parts.push(Part::limb(root, middle, 0.07, 0.06, Paint::plain(s.main)));
            parts.push(Part::limb(middle, middle + v3(-0.1, 0.24, 0.0), 0.06, 0.06, Paint::plain(s.second)));
            parts.push(Part::new(Solid::ball(0.085), patterned(s)).at(middle.x - 0.11, middle.y + 0.29, 0.0));
        }
    }
}
