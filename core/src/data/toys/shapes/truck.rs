//! Trucks: cabs with and without a bonnet, boxes, tippers, tankers and timber carriers on two to
//! four axles.

use super::super::math::{Dice, V3, v3};
use super::super::paint::{Coat, Face, Mark, Paint, Pattern, Shape, rgb};
use super::super::part::Part;
use super::super::solid::Solid;
use super::super::style::Style;
use super::pieces::{both, frame, patterned, rivets, window};

struct Truck<'a> {
    style: &'a Style,
    wheel: f32,
    half_width: f32,
    /// Height of the loading floor.
    floor: f32,
    /// Where the cab ends and the load begins.
    cab_back: f32,
    cab_height: f32,
}

pub(super) fn build(style: &Style, dice: &mut Dice) -> Vec<Part> {
    let wheel = dice.range(0.19, 0.25);
    let truck = Truck {
        style,
        wheel,
        half_width: dice.range(0.36, 0.44),
        floor: wheel + 0.09,
        cab_back: dice.range(0.30, 0.46),
        cab_height: dice.range(0.60, 0.76),
    };
    let mut parts = Vec::new();
    truck.chassis(&mut parts, dice);
    truck.cab(&mut parts, dice.below(3), dice);
    truck.load(&mut parts, dice.below(4), dice);
    parts
}

impl Truck<'_> {
    fn chassis(&self, parts: &mut Vec<Part>, dice: &mut Dice) {
        let s = self.style;
        let beam = Paint::plain(s.dark)
            .marks([Mark::new(Face::X(-1), [0.0, 0.0], [0.06, 0.04], Shape::Rect(rgb(0xE2_4A3A))).row(2, [self.half_width * 1.4, 0.0])]);
        parts.push(Part::new(Solid::block(0.96, 0.055, self.half_width * 0.86), beam).at(0.0, self.floor - 0.055, 0.0));
        let axles: &[f32] = match dice.below(3) {
            0 => &[0.64, -0.56],
            1 => &[0.66, -0.26, -0.74],
            _ => &[0.68, -0.62],
        };
        let hub = if dice.chance(0.5) { s.light } else { rgb(0xF1_D9A8) };
        let spokes = 3 + dice.below(2) as u8;
        for &x in axles {
            for side in [-1.0, 1.0] {
                let face = Mark::new(
                    Face::Y(0),
                    [0.0, 0.0],
                    [self.wheel * 0.97, self.wheel * 0.97],
                    Shape::Wheel { tyre: s.dark, hub, gap: s.dark.mix(s.accent, 0.3), spokes },
                );
                let tyre = Paint::new(Coat::Tread(s.dark)).mark(face).gloss(0.25);
                parts.push(Part::new(Solid::cylinder(self.wheel, 0.085), tyre).lying(2).at(x, self.wheel, side * self.half_width * 0.93));
            }
        }
    }

    fn cab(&self, parts: &mut Vec<Part>, kind: usize, dice: &mut Dice) {
        let s = self.style;
        let (w, back, tall) = (self.half_width, self.cab_back, self.cab_height);
        let base = self.floor - 0.08;
        let paint = |x: f32| {
            // Marks are measured from the middle of a cab that is `x` long on each side of it.
            let high = tall / 2.0;
            Paint::plain(s.main)
                .mark(Mark::new(Face::X(1), [0.0, high * 0.36], [w * 0.84, high * 0.40], window(s.light, s.glass, 1, 1)))
                .mark(Mark::new(Face::Z(0), [0.02, high * 0.36], [x * 0.66, high * 0.38], window(s.light, s.glass, 1, 1)))
                .mark(Mark::new(Face::Z(0), [-x * 0.45, -high * 0.25], [0.05, 0.02], Shape::Rect(s.main * 0.7)))
                .marks(frame(Face::Z(0), [0.0, -high * 0.04], [x * 0.84, high * 0.88], 0.014, s.main * 0.86))
                .mark(Mark::new(Face::Y(1), [0.0, 0.0], [x * 0.5, w * 0.42], window(s.second, s.dark, 1, 1)))
        };
        let (front, nose) = match kind {
            0 => (0.97, None),
            1 => (0.66, Some(0.97)),
            _ => (0.97, None),
        };
        let x = (front - back) / 2.0;
        let middle = (front + back) / 2.0;
        if kind == 2 {
            let high = tall / 2.0;
            let profile = [[-x, -high], [x, -high], [x, -high * 0.1], [x * 0.62, high], [-x, high]];
            parts.push(Part::new(Solid::prism(&profile, w - 0.012), paint(x)).at(middle, base + high, 0.0));
        } else {
            parts.push(Part::new(Solid::rounded(x, tall / 2.0, w, 0.06), paint(x)).at(middle, base + tall / 2.0, 0.0));
        }
        let grille = |half: f32| {
            Paint::plain(s.main)
                .mark(Mark::new(Face::X(1), [0.0, half * 0.1], [w * 0.42, half * 0.62], Shape::Bars { light: s.light, dark: s.dark, n: 3 }))
                .mark(
                    Mark::new(Face::X(1), [0.0, half * 0.1], [0.085, 0.085], Shape::Ring { rim: s.light, inner: rgb(0xF6_C94F) })
                        .row(2, [w * 1.3, 0.0]),
                )
                .mark(Mark::new(Face::Y(1), [0.0, 0.0], [0.12, 0.016], Shape::Rect(s.main * 0.85)).row(2, [0.0, w * 0.6]))
        };
        if let Some(nose) = nose {
            let long = (nose - front + 0.06) / 2.0;
            let high = tall * dice.range(0.22, 0.27);
            parts.push(Part::new(Solid::rounded(long, high, w * 0.86, 0.05), grille(high)).at(nose - long, base + high, 0.0));
        } else {
            let high = tall * 0.19;
            parts.push(Part::new(Solid::rounded(0.035, high, w * 0.92, 0.02), grille(high)).at(front + 0.01, base + high + 0.05, 0.0));
        }
        let bumper = Paint::plain(rgb(0xD9_DCDD));
        parts.push(Part::new(Solid::rounded(0.05, 0.055, w * 0.98, 0.03), bumper.gloss(1.0)).at(0.99, self.floor - 0.06, 0.0));
        match dice.below(3) {
            0 => parts.extend(both(|side| {
                Part::new(Solid::cylinder(0.055, 0.05), Paint::plain(rgb(0xF4_9B2C)).gloss(1.0)).at(
                    middle + x * 0.3,
                    base + tall + 0.04,
                    side * w * 0.6,
                )
            })),
            1 => parts.extend(both(|side| {
                let rings = Paint::plain(rgb(0xCF_D3D6)).mark(Mark::around(1, 0.0, [7.0, 0.03], Shape::Rect(s.dark)).row(2, [0.0, 0.2]));
                Part::new(Solid::cylinder(0.042, tall * 0.42), rings.gloss(1.0)).at(back - 0.05, base + tall * 0.75, side * w * 0.8)
            })),
            _ => {}
        }
        parts.extend(both(|side| {
            Part::new(Solid::rounded(0.02, 0.075, 0.035, 0.015), Paint::plain(s.dark)).at(
                front - 0.04,
                base + tall * 0.62,
                side * (w + 0.06),
            )
        }));
    }

    fn load(&self, parts: &mut Vec<Part>, kind: usize, dice: &mut Dice) {
        let s = self.style;
        let w = self.half_width;
        let (front, back) = (self.cab_back - 0.06, -0.98);
        let (x, middle) = ((front - back) / 2.0, (front + back) / 2.0);
        match kind {
            0 => {
                let high = dice.range(0.34, 0.46);
                let paint = patterned(s)
                    .marks(frame(Face::Z(0), [0.0, 0.0], [x, high], 0.026, s.light))
                    .marks(frame(Face::Y(1), [0.0, 0.0], [x, w], 0.03, s.light))
                    .mark(
                        Mark::new(Face::X(-1), [0.0, 0.0], [w * 0.46, high * 0.9], window(s.light, s.main, 1, 1)).row(2, [w * 0.96, 0.0]),
                    );
                parts.push(Part::new(Solid::rounded(x, high, w, 0.03), paint).at(middle, self.floor + high, 0.0));
            }
            1 => self.tipper(parts, (x, middle), dice),
            2 => {
                let r = w * dice.range(0.86, 0.98);
                let band = |v: f32| Mark::new(Face::Around, [0.0, v], [7.0, 0.025], Shape::Rect(s.light));
                let bolts = |v: f32| Mark::around(6, v, [0.034 / r, 0.03], Shape::Disc(s.dark));
                let mut paint = patterned(s);
                for v in [-0.84, 0.0, 0.84] {
                    paint = paint.mark(band(v * x));
                    if v != 0.0 {
                        paint = paint.mark(bolts(v * x));
                    }
                }
                let paint = paint.mark(Mark::new(
                    Face::Y(0),
                    [0.0, 0.0],
                    [r * 0.6, r * 0.6],
                    Shape::Wheel { tyre: s.light, hub: s.dark, gap: s.light, spokes: 4 },
                ));
                parts.push(Part::new(Solid::Cone { bottom: r, top: r, half: x, round: 0.09 }, paint.gloss(0.9)).lying(0).at(
                    middle,
                    self.floor + r,
                    0.0,
                ));
                let hatch = Paint::plain(s.light).mark(Mark::new(
                    Face::Y(1),
                    [0.0, 0.0],
                    [0.1, 0.1],
                    Shape::Screw { plate: s.light, slot: s.dark },
                ));
                for at in [-0.42, 0.42] {
                    parts.push(Part::new(Solid::cylinder(0.105, 0.06), hatch.clone()).at(
                        middle + at * x,
                        self.floor + 2.0 * r + 0.02,
                        0.0,
                    ));
                }
            }
            _ => {
                let bed = Paint::new(Coat::Planks { light: s.wood, dark: s.wood * 0.82, width: 0.13 });
                parts.push(Part::new(Solid::block(x, 0.045, w), bed).at(middle, self.floor + 0.045, 0.0));
                let r = dice.range(0.12, 0.15);
                let log = |colour: V3| {
                    let ends =
                        Mark::new(Face::Y(0), [0.0, 0.0], [r * 0.9, r * 0.9], Shape::Ring { rim: rgb(0xF0_D9AE), inner: rgb(0xB9_8453) });
                    Paint::new(Coat::Pattern(Pattern { main: colour, ..s.pattern })).mark(ends).gloss(0.3)
                };
                let across = ((w * 2.0 - 0.1) / (2.0 * r)) as i32;
                for row in 0..2 {
                    for i in 0..across - row {
                        let z = (i as f32 - (across - row - 1) as f32 / 2.0) * 2.0 * r;
                        let y = self.floor + 0.09 + r + row as f32 * r * 1.73;
                        parts.push(Part::new(Solid::cylinder(r, x * 0.94), log(s.main)).lying(0).at(middle, y, z));
                    }
                }
                for at in [-0.66, 0.0, 0.66] {
                    parts.extend(both(|side| {
                        let stake = Paint::plain(s.accent);
                        Part::new(Solid::block(0.035, 0.21, 0.03), stake).at(middle + at * x, self.floor + 0.2, side * (w - 0.02))
                    }));
                }
            }
        }
    }

    fn tipper(&self, parts: &mut Vec<Part>, (x, middle): (f32, f32), dice: &mut Dice) {
        let s = self.style;
        let w = self.half_width;
        let high = dice.range(0.2, 0.28);
        let mut paint = patterned(s)
            .marks(frame(Face::Z(0), [0.0, 0.0], [x, high], 0.026, s.light))
            .mark(Mark::new(Face::Z(0), [0.0, 0.0], [0.03, high], Shape::Rect(s.dark)).row(2, [x, 0.0]))
            .mark(Mark::new(Face::X(0), [0.0, 0.0], [0.024, high], Shape::Rect(s.dark)).row(2, [w * 0.8, 0.0]));
        for side in [-1.0, 1.0] {
            paint = paint.mark(rivets(Face::Y(1), [0.0, side * (w - 0.025)], 3, x * 0.8, s.dark));
        }
        let inside = Paint::new(Coat::Planks { light: s.wood, dark: s.wood * 0.82, width: 0.12 }).gloss(0.2);
        let bed = Part::new(Solid::block(x, high, w), paint).hollowed(Solid::block(x - 0.05, high, w - 0.05), v3(0.0, 0.07, 0.0), inside);
        parts.push(bed.at(middle, self.floor + high + 0.02, 0.0));
        if dice.chance(0.7) {
            let ball = dice.chance(0.5);
            for i in 0..6 {
                let (px, pz) = ((i % 3) as f32 - 1.0, (i / 3) as f32 - 0.5);
                let colour = [s.accent, s.second, s.main][i % 3];
                let at = (middle + px * x * 0.58 + dice.range(-0.03, 0.03), pz * w * 0.92);
                let y = self.floor + high + 0.02 + dice.range(0.0, 0.06);
                let part = if ball {
                    Part::new(Solid::ball(0.155), Paint::plain(colour).gloss(0.9))
                } else {
                    let slats = Paint::new(Coat::Planks { light: s.wood, dark: s.wood * 0.8, width: 0.09 });
                    Part::new(Solid::block(0.14, 0.13, 0.14), slats).turned(1, dice.range(-0.4, 0.4))
                };
                parts.push(part.at(at.0, y, at.1));
            }
        }
    }
}
