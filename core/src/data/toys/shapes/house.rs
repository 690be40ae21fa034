//! Houses: gabled, hipped and towered, one or two floors, with tiles, shuttered windows and
//! chimneys.

use super::super::math::{Dice, PI, V3, v3};
use super::super::paint::{Coat, Face, Mark, Paint, Shape, rgb};
use super::super::part::Part;
use super::super::solid::Solid;
use super::super::style::Style;
use super::pieces::{both, frame, patterned, window};

pub(super) fn build(s: &Style, dice: &mut Dice) -> Vec<Part> {
    let mut parts = Vec::new();
    let floors = 1 + dice.below(2);
    let x = dice.range(0.46, 0.62);
    let z = dice.range(0.52, 0.78);
    let high = if floors == 2 { dice.range(0.72, 0.86) } else { dice.range(0.42, 0.54) };
    let base = Paint::new(Coat::Bricks { light: rgb(0xB9_B2A6), dark: rgb(0xA2_9B92), width: 0.16 });
    parts.push(Part::new(Solid::block(x + 0.05, 0.05, z + 0.05), base.gloss(0.1)).at(0.0, 0.05, 0.0));
    parts.push(Part::new(Solid::block(x, high / 2.0, z), walls(s, floors, (x, z, high))).at(0.0, 0.1 + high / 2.0, 0.0));
    let eaves = 0.1 + high;
    let rise = dice.range(0.34, 0.5);
    roof(s, dice.below(3), (x, z), eaves, rise, &mut parts);
    let chimneys = 1 + dice.below(2);
    for i in 0..chimneys {
        let at = v3(-x * 0.34, eaves + rise * 0.72, z * [0.5, -0.55][i]);
        chimney(s, at, &mut parts);
    }
    door(s, x, &mut parts);
    match dice.below(4) {
        0 => tower(s, (x, z), high, dice, &mut parts),
        1 => wing(s, (x, z), dice, &mut parts),
        2 => parts.extend(both(|side| bush(x, side * z * 0.72))),
        _ => {}
    }
    parts
}

fn walls(s: &Style, floors: usize, (x, z, high): (f32, f32, f32)) -> Paint {
    let shutter = |at: [f32; 2]| {
        let (w, h) = (0.115, 0.125);
        [
            Mark::new(Face::X(0), at, [w + 0.075, h * 0.95], Shape::Rect(s.accent)),
            Mark::new(Face::X(0), at, [w, h], window(s.light, s.glass, 2, 2)),
        ]
    };
    let mut paint = patterned(s).gloss(0.25);
    for floor in 0..floors {
        let v = if floors == 1 { 0.02 } else { (floor as f32 - 0.5) * high * 0.5 + 0.02 };
        // The ground floor of the front keeps its middle free for the door.
        let middle = Mark::new(Face::X(-1), [0.0, v], [0.1, 0.115], window(s.light, s.glass, 1, 2));
        for side in [-1.0, 1.0] {
            paint = paint.marks(shutter([side * z * 0.58, v]));
        }
        if z > 0.68 {
            paint = paint.mark(middle);
        }
        if floor > 0 {
            paint = paint.mark(Mark::new(Face::X(1), [0.0, v], [0.1, 0.115], window(s.light, s.glass, 2, 2)));
        }
        paint = paint.mark(Mark::new(Face::Z(0), [0.0, v], [0.1, 0.115], window(s.light, s.glass, 1, 2)).row(2, [x, 0.0]));
        if floor > 0 {
            let belt = high * 0.02;
            paint = paint.mark(Mark::new(Face::X(0), [0.0, belt], [z, 0.022], Shape::Rect(s.light))).mark(Mark::new(
                Face::Z(0),
                [0.0, belt],
                [x, 0.022],
                Shape::Rect(s.light),
            ));
        }
    }
    paint.marks(frame(Face::X(0), [0.0, 0.0], [z, high / 2.0], 0.03, s.light)).marks(frame(
        Face::Z(0),
        [0.0, 0.0],
        [x, high / 2.0],
        0.03,
        s.light,
    ))
}

fn tiles(s: &Style) -> Paint {
    Paint::new(Coat::Tiles { light: s.accent * 1.1, dark: s.accent * 0.7, width: 0.24 }).gloss(0.3)
}

fn roof(s: &Style, kind: usize, (x, z): (f32, f32), eaves: f32, rise: f32, parts: &mut Vec<Part>) {
    let over = 0.1;
    match kind {
        0 | 1 => {
            // A gable: the ridge runs along z. Half of a mansard's rise is steep.
            let profile: Vec<[f32; 2]> = if kind == 0 {
                vec![[-x - over, -0.02], [x + over, -0.02], [0.0, rise]]
            } else {
                vec![[-x - over, -0.02], [x + over, -0.02], [x * 0.72, rise * 0.62], [0.0, rise], [-x * 0.72, rise * 0.62]]
            };
            let attic = Mark::new(Face::Z(0), [0.0, rise * 0.36], [0.085, 0.085], window(s.light, s.glass, 2, 2));
            let gable = [Mark::new(Face::Z(0), [0.0, 0.0], [x + over, 0.028], Shape::Rect(s.light)), attic];
            parts.push(
                Part::new(Solid::Prism { points: profile, half: z + over * 0.7, round: 0.015, taper: 1.0 }, tiles(s).marks(gable))
                    .at(0.0, eaves, 0.0),
            );
            let ridge =
                Paint::plain(s.light).mark(Mark::new(Face::Y(1), [0.0, 0.0], [0.06, 0.025], Shape::Rect(s.dark)).row(3, [0.0, z * 0.7]));
            parts.push(Part::new(Solid::rounded(0.045, 0.03, z + over * 0.75, 0.02), ridge).at(0.0, eaves + rise + 0.005, 0.0));
        }
        _ => {
            // A hip: a slab that shrinks upwards; its z points down.
            let square = [[-x - over, -z - over], [x + over, -z - over], [x + over, z + over], [-x - over, z + over]]
                .map(|p: [f32; 2]| [p[0] * 0.3, p[1] * 0.3]);
            let solid = Solid::Prism { points: square.to_vec(), half: rise / 2.0, round: 0.012, taper: 1.0 / 0.3 };
            let part = Part::new(solid, tiles(s)).turned(0, -PI / 2.0).at(0.0, eaves + rise / 2.0, 0.0);
            parts.push(part);
            let cap = Paint::plain(s.light).marks(frame(Face::Y(1), [0.0, 0.0], [x * 0.28, z * 0.28], 0.025, s.dark));
            parts.push(Part::new(Solid::rounded((x + over) * 0.33, 0.03, (z + over) * 0.33, 0.02), cap).at(0.0, eaves + rise + 0.02, 0.0));
        }
    }
}

fn chimney(s: &Style, at: V3, parts: &mut Vec<Part>) {
    let bricks = Coat::Bricks { light: rgb(0xB5_553F), dark: rgb(0xC4_6C55), width: 0.11 };
    parts.push(Part::new(Solid::block(0.085, 0.24, 0.085), Paint::new(bricks).gloss(0.1)).at(at.x, at.y, at.z));
    let hole = Mark::new(Face::Y(1), [0.0, 0.0], [0.06, 0.06], Shape::Rect(rgb(0x22_2022)));
    parts.push(Part::new(Solid::block(0.105, 0.025, 0.105), Paint::plain(s.light).mark(hole)).at(at.x, at.y + 0.25, at.z));
}

fn door(s: &Style, x: f32, parts: &mut Vec<Part>) {
    let leaf = Paint::plain(s.accent * 0.9)
        .marks(frame(Face::X(1), [0.0, 0.0], [0.13, 0.17], 0.026, s.light))
        .mark(Mark::new(Face::X(1), [0.0, 0.075], [0.08, 0.045], window(s.light, rgb(0xF7_DD8A), 1, 1)))
        .mark(Mark::new(Face::X(1), [0.085, 0.0], [0.018, 0.018], Shape::Disc(rgb(0xF6_D04C))));
    parts.push(Part::new(Solid::block(0.03, 0.17, 0.13), leaf).at(x + 0.01, 0.27, 0.0));
    let step = Paint::new(Coat::Bricks { light: rgb(0xC4_BDB2), dark: rgb(0xAD_A69F), width: 0.11 });
    parts.push(Part::new(Solid::block(0.09, 0.05, 0.18), step).at(x + 0.13, 0.05, 0.0));
    let canopy = Solid::prism(&[[-0.1, 0.0], [0.1, 0.0], [-0.1, 0.1]], 0.18);
    parts.push(Part::new(canopy, tiles(s)).at(x + 0.1, 0.47, 0.0));
}

fn tower(s: &Style, (x, z): (f32, f32), high: f32, dice: &mut Dice, parts: &mut Vec<Part>) {
    let r = dice.range(0.2, 0.26);
    let tall = high + dice.range(0.3, 0.45);
    let side = if dice.chance(0.5) { 1.0 } else { -1.0 };
    let (px, pz) = (x * 0.82, side * z * 0.92);
    let paint = patterned(s)
        .mark(Mark::around(4, tall * 0.3, [0.09 / r, 0.1], window(s.light, s.glass, 1, 2)))
        .mark(Mark::around(4, -tall * 0.1, [0.08 / r, 0.08], window(s.light, s.glass, 1, 2)))
        .mark(Mark::new(Face::Around, [0.0, tall * 0.47], [7.0, 0.03], Shape::Rect(s.light)));
    parts.push(Part::new(Solid::cylinder(r, tall / 2.0), paint).at(px, tall / 2.0 + 0.02, pz));
    parts.push(Part::new(Solid::Cone { bottom: r + 0.07, top: 0.015, half: 0.24, round: 0.01 }, tiles(s)).at(px, tall + 0.24, pz));
    parts.push(Part::new(Solid::ball(0.04), Paint::plain(rgb(0xF4_CB45)).gloss(1.0)).at(px, tall + 0.5, pz));
}

fn wing(s: &Style, (x, z): (f32, f32), dice: &mut Dice, parts: &mut Vec<Part>) {
    let (half, high) = (dice.range(0.2, 0.26), 0.36);
    let side = if dice.chance(0.5) { 1.0 } else { -1.0 };
    let at = side * (z + half - 0.02);
    let paint = patterned(s)
        .mark(Mark::new(Face::X(1), [0.0, -0.03], [half * 0.74, 0.14], window(s.light, s.accent * 0.8, 1, 3)))
        .mark(Mark::new(Face::Z(0), [0.0, 0.0], [0.09, 0.09], window(s.light, s.glass, 2, 2)));
    parts.push(Part::new(Solid::block(x * 0.8, high / 2.0, half), paint.gloss(0.25)).at(0.0, high / 2.0, at));
    let lean = [[-half - 0.07, 0.0], [half + 0.05, 0.0], [half + 0.05, 0.24]];
    let part = Part::new(Solid::Prism { points: lean.to_vec(), half: x * 0.86, round: 0.015, taper: 1.0 }, tiles(s));
    parts.push(part.turned(1, side * PI / 2.0).at(0.0, high, at));
}

fn bush(x: f32, z: f32) -> Part {
    let paint = Paint::plain(rgb(0x5E_9C4E)).mark(Mark::around(7, 0.1, [0.16, 0.022], Shape::Disc(rgb(0xE6_6A5C))));
    Part::new(Solid::ellipsoid(0.16, 0.19, 0.16), paint.gloss(0.1)).at(x + 0.24, 0.18, z)
}
