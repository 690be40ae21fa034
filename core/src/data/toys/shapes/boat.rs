//! Boats: sailing boats, steamers and tugs with planked hulls, portholes and lifebuoys.

use super::super::math::{Dice, PI, V3, cos, sin, v3};
use super::super::paint::{Coat, Face, Mark, Paint, Shape, rgb};
use super::super::part::Part;
use super::super::solid::Solid;
use super::super::style::Style;
use super::pieces::{both, frame, patterned, window};

const RED: V3 = rgb(0xD8_3A34);

pub(super) fn build(style: &Style, dice: &mut Dice) -> Vec<Part> {
    let mut parts = Vec::new();
    let half_width = dice.range(0.32, 0.42);
    let deck = dice.range(0.24, 0.32);
    hull(style, half_width, deck, dice, &mut parts);
    match dice.below(3) {
        0 => sails(style, deck, dice, &mut parts),
        1 => steamer(style, half_width, deck, dice, &mut parts),
        _ => tug(style, half_width, deck, dice, &mut parts),
    }
    parts
}

/// The outline of a hull seen from above: the bow in front.
fn outline(long: f32, wide: f32, stern: f32) -> Vec<[f32; 2]> {
    let right = [
        [long, 0.0],
        [long * 0.8, wide * 0.42],
        [long * 0.52, wide * 0.8],
        [long * 0.15, wide],
        [-long * 0.55, wide * 0.97],
        [-long * 0.97, wide * stern],
    ];
    right.iter().copied().chain(right.iter().rev().take(5).map(|p| [p[0], -p[1]])).collect()
}

fn hull(s: &Style, w: f32, deck: f32, dice: &mut Dice, parts: &mut Vec<Part>) {
    let stern = dice.range(0.5, 0.85);
    let half = deck * 0.5;
    // Laid down, the prism's z points down: `taper` is the size at the top.
    let lay = |part: Part, y: f32| part.turned(0, PI / 2.0).at(0.0, y, 0.0);
    let flare = dice.range(1.12, 1.28);
    let solid = Solid::Prism { points: outline(0.96 / flare, w / flare, stern), half, round: 0.015, taper: flare };
    // On the sides of the hull u runs down from the deck, v along it.
    let count = 4 + dice.below(2);
    let boards = Coat::Planks { light: s.main, dark: s.main * 0.85, width: 0.085 };
    let paint = Paint::new(boards)
        .mark(
            Mark::new(Face::Y(0), [-0.1, -half * 0.2], [0.08, 0.08], Shape::Ring { rim: s.light, inner: s.glass })
                .row(count, [1.2 / count as f32, 0.0]),
        )
        .mark(Mark::new(Face::Y(0), [0.0, half * 0.85], [2.0, 0.05], Shape::Rect(s.accent)))
        .mark(Mark::new(Face::X(-1), [0.0, 0.0], [0.1, 0.03], Shape::Rect(s.light)));
    parts.push(lay(Part::new(solid, paint.gloss(0.5)), half + 0.012));
    let rim = Solid::Prism { points: outline(0.99, w + 0.015, stern), half: 0.028, round: 0.014, taper: 1.0 };
    let inner = Solid::Prism { points: outline(0.88, w - 0.07, stern), half: 0.06, round: 0.0, taper: 1.0 };
    let nails =
        [-1.0, 1.0].map(|side| Mark::new(Face::Z(0), [-0.2, side * (w - 0.03)], [0.03, 0.03], Shape::Disc(s.second)).row(4, [0.32, 0.0]));
    let bow = [-1.0, 1.0]
        .map(|side| Mark::new(Face::Z(0), [0.66, side * w * 0.56], [0.03, 0.03], Shape::Disc(s.second)).row(2, [0.2, -side * w * 0.33]));
    let top = Paint::plain(s.main).marks(nails).marks(bow);
    parts.push(lay(Part::new(rim, top).hollowed(inner, V3::default(), Paint::plain(s.main)), deck + 0.035));
    let floor = Solid::Prism { points: outline(0.9, w - 0.05, stern), half: 0.006, round: 0.0, taper: 1.0 };
    let planks = Coat::Planks { light: s.wood, dark: s.wood * 0.84, width: 0.105 };
    let hatch = Mark::new(Face::Z(0), [0.66, 0.0], [0.08, 0.08], window(s.light, s.glass, 1, 1));
    parts.push(lay(Part::new(floor, Paint::new(planks).mark(hatch).gloss(0.4)), deck + 0.022));
}

fn lifebuoy(at: V3, side: f32) -> Part {
    let paint = Paint::plain(rgb(0xF8_F4EC)).mark(Mark::around(4, 0.0, [0.38, 0.2], Shape::Rect(RED)));
    Part::new(Solid::Torus { major: 0.082, minor: 0.033 }, paint.gloss(0.8)).turned(0, side * PI / 2.0).at(at.x, at.y, at.z)
}

fn mast(s: &Style, x: f32, foot: f32, high: f32) -> [Part; 2] {
    let paint =
        Paint::plain(s.wood * 0.8).mark(Mark::new(Face::Around, [0.0, 0.0], [7.0, 0.025], Shape::Rect(s.light)).row(2, [0.0, high * 0.3]));
    [
        Part::new(Solid::cone(0.034, 0.022, high / 2.0), paint).at(x, foot + high / 2.0, 0.0),
        Part::new(Solid::ball(0.045), Paint::plain(s.accent)).at(x, foot + high, 0.0),
    ]
}

fn sails(s: &Style, deck: f32, dice: &mut Dice, parts: &mut Vec<Part>) {
    let masts = 1 + dice.below(2);
    let swing = dice.range(-0.5, 0.5);
    for i in 0..masts {
        let x = if masts == 1 { dice.range(0.05, 0.18) } else { [0.34, -0.36][i] };
        let high = dice.range(0.95, 1.2) * if i == 1 { 0.82 } else { 1.0 };
        let long = if masts == 1 { dice.range(0.66, 0.8) } else { 0.5 };
        parts.extend(mast(s, x, deck, high));
        let seam = |share: f32| Mark::new(Face::Z(0), [-long * 0.5, 0.16 + high * share], [long, 0.012], Shape::Rect(s.main * 0.8));
        let paint = patterned(s).marks([0.14, 0.34, 0.54].map(seam)).gloss(0.1);
        let sail = Solid::Prism { points: vec![[-0.02, 0.1], [-0.02, high * 0.95], [-long, 0.1]], half: 0.008, round: 0.01, taper: 1.0 };
        parts.push(Part::new(sail, paint).turned(1, swing).at(x - 0.02, deck, 0.0));
        let boom = Part::limb(v3(0.0, 0.0, 0.0), v3(-long - 0.04, 0.0, 0.0), 0.024, 0.02, Paint::plain(s.wood * 0.8));
        parts.push(boom.at(-(long + 0.04) / 2.0 * cos(swing) + x, deck + 0.09, (long + 0.04) / 2.0 * sin(swing)).turned(1, swing));
    }
    if dice.chance(0.75) {
        let (foot, top) = (0.9, if masts == 1 { 0.16 } else { 0.4 });
        let high = dice.range(0.7, 0.85);
        let jib = Solid::Prism { points: vec![[top, 0.1], [foot, 0.04], [top, high]], half: 0.006, round: 0.01, taper: 1.0 };
        let seam = |v: f32| Mark::new(Face::Z(0), [0.0, v * high], [2.0, 0.012], Shape::Rect(s.light * 0.86));
        let paint = Paint::plain(s.light).marks([0.3, 0.5].map(seam)).mark(Mark::new(
            Face::Z(0),
            [top + 0.13, high * 0.36],
            [0.1, 0.1],
            Shape::Star(s.accent),
        ));
        parts.push(Part::new(jib, paint.gloss(0.1)).at(0.0, deck, 0.02));
    }
    let house = cabin(s, [0.24, 0.09, 0.17], 3).at(-0.52, deck + 0.11, 0.0);
    parts.push(house);
    parts.extend(both(|side| lifebuoy(v3(-0.52, deck + 0.1, side * 0.19), side)));
}

/// A deckhouse with a row of windows on each side and a hatch on top.
fn cabin(s: &Style, half: [f32; 3], count: usize) -> Part {
    let [x, y, z] = half;
    let gap = 2.0 * x / count as f32;
    let pane = (y * 0.55).min(gap * 0.4);
    let paint = Paint::plain(s.light)
        .mark(Mark::new(Face::Z(0), [0.0, y * 0.15], [pane, pane], window(s.accent, s.glass, 1, 1)).row(count, [gap, 0.0]))
        .mark(Mark::new(Face::X(0), [0.0, y * 0.15], [pane, pane], window(s.accent, s.glass, 1, 1)).row(2, [z * 0.95, 0.0]))
        .marks(frame(Face::Y(1), [0.0, 0.0], [x * 0.96, z * 0.96], 0.02, s.accent))
        .mark(Mark::new(Face::Y(1), [0.0, 0.0], [x * 0.5, z * 0.5], window(s.accent, s.wood, 1, 1)));
    Part::new(Solid::rounded(x, y, z, 0.03), paint)
}

fn funnel(s: &Style, x: f32, y: f32, high: f32, radius: f32) -> Part {
    let paint = patterned(s).mark(Mark::new(Face::Around, [0.0, high * 0.38], [7.0, high * 0.22], Shape::Rect(s.dark))).mark(Mark::new(
        Face::Around,
        [0.0, high * 0.08],
        [7.0, 0.03],
        Shape::Rect(s.light),
    ));
    let bore = Solid::cylinder(radius * 0.72, high * 0.3);
    Part::new(Solid::cone(radius * 1.1, radius, high / 2.0), paint.gloss(0.8))
        .hollowed(bore, v3(0.0, high / 2.0, 0.0), Paint::plain(rgb(0x22_2024)))
        .at(x, y + high / 2.0, 0.0)
}

fn steamer(s: &Style, w: f32, deck: f32, dice: &mut Dice, parts: &mut Vec<Part>) {
    let long = dice.range(0.44, 0.54);
    parts.push(cabin(s, [long, 0.13, w * 0.62], 4).at(-0.12, deck + 0.15, 0.0));
    let upper = dice.chance(0.6);
    let mut top = deck + 0.28;
    if upper {
        parts.push(cabin(s, [long * 0.62, 0.1, w * 0.5], 3).at(-0.1, top + 0.1, 0.0));
        top += 0.2;
    }
    let count = 1 + dice.below(3);
    for i in 0..count {
        let x = -0.12 + (i as f32 - (count as f32 - 1.0) / 2.0) * 0.27;
        parts.push(funnel(s, x, top - 0.01, dice.range(0.34, 0.42), 0.1));
    }
    for x in [-0.4, 0.16] {
        parts.extend(both(|side| lifebuoy(v3(x, deck + 0.13, side * (w * 0.62 + 0.02)), side)));
    }
    parts.extend(mast(s, 0.58, deck, 0.55));
    railing(s, w, deck, parts);
}

fn railing(s: &Style, w: f32, deck: f32, parts: &mut Vec<Part>) {
    for x in [-0.58, -0.12, 0.34] {
        parts.extend(both(|side| {
            let post = Paint::plain(s.light).mark(Mark::new(Face::Around, [0.0, 0.05], [7.0, 0.02], Shape::Rect(s.accent)));
            Part::new(Solid::Capsule { half: 0.07, bottom: 0.018, top: 0.03 }, post).at(x, deck + 0.1, side * (w - 0.03))
        }));
    }
}

fn tug(s: &Style, w: f32, deck: f32, dice: &mut Dice, parts: &mut Vec<Part>) {
    let x = dice.range(0.05, 0.24);
    let high = dice.range(0.22, 0.28);
    let half = w * 0.66;
    parts.push(cabin(s, [0.26, high, half], 2).at(x, deck + high, 0.0));
    let roof = patterned(s).marks(frame(Face::Y(1), [0.0, 0.0], [0.3, half + 0.04], 0.025, s.light));
    parts.push(Part::new(Solid::rounded(0.31, 0.035, half + 0.05, 0.03), roof).at(x, deck + 2.0 * high + 0.03, 0.0));
    parts.push(funnel(s, x - 0.44, deck, dice.range(0.5, 0.62), 0.12));
    parts.extend(mast(s, x + 0.12, deck + 2.0 * high, dice.range(0.3, 0.5)));
    parts.extend(both(|side| lifebuoy(v3(x, deck + high * 0.6, side * (half + 0.02)), side)));
    let count = 3;
    for i in 0..count {
        parts.extend(both(|side| {
            let ring = Paint::plain(s.dark).mark(Mark::around(6, 0.0, [0.2, 0.2], Shape::Rect(rgb(0x40_4046)))).gloss(0.2);
            let along = -0.55 + i as f32 * 0.38;
            Part::new(Solid::Torus { major: 0.075, minor: 0.032 }, ring).turned(0, PI / 2.0).at(along, deck - 0.06, side * (w + 0.0))
        }));
    }
    let crate_paint = Paint::new(Coat::Planks { light: s.wood, dark: s.wood * 0.8, width: 0.08 });
    parts.push(Part::new(Solid::block(0.1, 0.1, 0.1), crate_paint).turned(1, dice.range(-0.5, 0.5)).at(-0.66, deck + 0.11, 0.0));
}
