//! What surfaces look like: coats, the six surface patterns, and marks such as windows, rivets and
//! wheels.

use super::math::{TAU, V3, atan2, cos, hash, noise, sin, smooth, v3};
use super::solid::Solid;

/// Display values in 0..1.
pub(super) type Colour = V3;

pub(super) const fn rgb(hex: u32) -> Colour {
    v3((hex >> 16 & 255) as f32 / 255.0, (hex >> 8 & 255) as f32 / 255.0, (hex & 255) as f32 / 255.0)
}

/// Surface patterns, in the order of [`PATTERNS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Stripes,
    Dots,
    Checks,
    Stars,
    TwoTone,
    Wood,
}

/// The words for the patterns in captions.
pub const PATTERNS: [&str; 7] = ["plain", "striped", "dotted", "checked", "starry", "two-tone", "wood-grained"];

pub(super) const KINDS: [Kind; 7] = [Kind::Plain, Kind::Stripes, Kind::Dots, Kind::Checks, Kind::Stars, Kind::TwoTone, Kind::Wood];

/// A pattern in its colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) kind: Kind,
    pub(super) main: Colour,
    pub(super) second: Colour,
    /// Length of one repeat, in toy units.
    pub(super) scale: f32,
    /// Direction of stripes: sine and cosine.
    pub(super) turn: (f32, f32),
}

/// The ground colour of a surface.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coat {
    Plain(Colour),
    Pattern(Pattern),
    /// Boards along u, `width` high, with dark joints.
    Planks {
        light: Colour,
        dark: Colour,
        width: f32,
    },
    /// Rows of round tiles, `width` wide.
    Tiles {
        light: Colour,
        dark: Colour,
        width: f32,
    },
    Bricks {
        light: Colour,
        dark: Colour,
        width: f32,
    },
    /// Bands across the rim of a wheel.
    Tread(Colour),
}

/// Which side of a solid a mark sits on, in the solid's own frame; the sign 0 means both sides.
#[derive(Clone, Copy, Debug)]
pub(super) enum Face {
    /// u is z, v is y.
    X(i8),
    /// u is x, v is z.
    Y(i8),
    /// u is x, v is y.
    Z(i8),
    /// Around y: u is the angle in radians, 0 at negative x, v is y.
    Around,
}

/// What a mark draws.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Rect(Colour),
    Disc(Colour),
    Ring {
        rim: Colour,
        inner: Colour,
    },
    Window {
        frame: Colour,
        glass: Colour,
        columns: u8,
        rows: u8,
    },
    /// Bars across u in two colours.
    Bars {
        light: Colour,
        dark: Colour,
        n: u8,
    },
    Star(Colour),
    Wheel {
        tyre: Colour,
        hub: Colour,
        gap: Colour,
        spokes: u8,
    },
    Diamond(Colour),
    Flower {
        petal: Colour,
        heart: Colour,
        petals: u8,
    },
    Screw {
        plate: Colour,
        slot: Colour,
    },
}

/// A drawing on a surface, possibly repeated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    face: Face,
    at: [f32; 2],
    half: [f32; 2],
    shape: Shape,
    count: u16,
    step: [f32; 2],
}

impl Mark {
    pub(super) fn new(face: Face, at: [f32; 2], half: [f32; 2], shape: Shape) -> Self {
        Self { face, at, half, shape, count: 1, step: [0.0, 0.0] }
    }

    /// Repeats the mark `count` times, `step` apart, with the whole row centred where the mark was.
    pub(super) fn row(mut self, count: usize, step: [f32; 2]) -> Self {
        let back = (count as f32 - 1.0) / 2.0;
        self.at = [self.at[0] - step[0] * back, self.at[1] - step[1] * back];
        self.count = count as u16;
        self.step = step;
        self
    }

    /// A ring of `count` marks around y.
    pub(super) fn around(count: usize, v: f32, half: [f32; 2], shape: Shape) -> Self {
        Self::new(Face::Around, [0.0, v], half, shape).row(count, [TAU / count as f32, 0.0])
    }
}

/// Everything about a surface.
#[derive(Clone, Debug)]
pub(super) struct Paint {
    pub(super) coat: Coat,
    pub(super) marks: Vec<Mark>,
    /// 0 for chalk, 1 for lacquer.
    pub(super) gloss: f32,
}

impl Paint {
    pub(super) fn new(coat: Coat) -> Self {
        Self { coat, marks: Vec::new(), gloss: 0.6 }
    }

    pub(super) fn plain(colour: Colour) -> Self {
        Self::new(Coat::Plain(colour))
    }

    pub(super) fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    pub(super) fn marks(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    pub(super) fn gloss(mut self, gloss: f32) -> Self {
        self.gloss = gloss;
        self
    }

    /// The colour at point `p` of `solid` with normal `n`, both in the part's own frame.
    pub(super) fn colour(&self, solid: &Solid, p: V3, n: V3) -> Colour {
        let mut colour = match self.coat {
            Coat::Plain(c) => c,
            Coat::Pattern(pattern) => {
                let (u, v) = unroll(solid, p, n);
                pattern.colour(solid, u, v, p)
            }
            Coat::Planks { light, dark, width } => {
                let (u, v) = unroll(solid, p, n);
                planks(light, dark, width, u, v)
            }
            Coat::Tiles { light, dark, width } => {
                let (u, v) = slope(solid, p, n);
                tiles(light, dark, width, u, v)
            }
            Coat::Bricks { light, dark, width } => {
                let (u, v) = unroll(solid, p, n);
                bricks(light, dark, width, u, v)
            }
            Coat::Tread(c) => {
                let (u, _) = unroll(solid, p, n);
                if (u * 14.0).rem_euclid(1.0) < 0.4 { c * 0.45 } else { c }
            }
        };
        let mut angle = None;
        for mark in &self.marks {
            if let Some(c) = mark.colour(p, n, &mut angle) {
                colour = c;
            }
        }
        colour
    }
}

/// Flattens the surface around `p`.
fn unroll(solid: &Solid, p: V3, n: V3) -> (f32, f32) {
    let radius = match solid {
        Solid::Block { .. } => {
            let a = n.abs();
            return if a.x > a.y && a.x > a.z {
                (p.z, p.y)
            } else if a.y > a.z {
                (p.x, p.z)
            } else {
                (p.x, p.y)
            };
        }
        Solid::Prism { .. } => {
            if n.z.abs() > 0.7 {
                return (p.x, p.y);
            }
            let k = 1.0 / (n.x * n.x + n.y * n.y).max(1e-6).sqrt();
            return ((p.y * n.x - p.x * n.y) * k, p.z);
        }
        Solid::Cone { bottom, top, .. } => 0.5 * (bottom + top),
        Solid::Ellipsoid { half } => 0.5 * (half.x + half.z),
        Solid::Capsule { bottom, top, .. } => 0.5 * (bottom + top),
        Solid::Torus { major, minor } => {
            let out = (p.x * p.x + p.z * p.z).sqrt() - major;
            return (atan2(p.z, -p.x) * major, atan2(p.y, out) * minor);
        }
    };
    if n.y.abs() > 0.8 { (p.x, p.z) } else { (atan2(p.z, -p.x) * radius, p.y) }
}

/// As [`unroll`], but v runs up a roof whose ridge is the z of a prism.
fn slope(solid: &Solid, p: V3, n: V3) -> (f32, f32) {
    let (u, v) = unroll(solid, p, n);
    match solid {
        Solid::Prism { taper, .. } if *taper == 1.0 && n.z.abs() <= 0.7 => (v, if n.x < -0.01 { -u } else { u }),
        _ => (u, v),
    }
}

impl Pattern {
    fn colour(&self, solid: &Solid, u: f32, v: f32, p: V3) -> Colour {
        let (sin, cos) = self.turn;
        let (a, b) = ((u * cos + v * sin) / self.scale, (v * cos - u * sin) / self.scale);
        let cell = |x: f32| x - x.floor() - 0.5;
        let second = match self.kind {
            Kind::Plain => false,
            Kind::Stripes => cell(a).abs() < 0.22,
            Kind::Dots => {
                let shift = if (b.floor() as i32) & 1 == 0 { 0.0 } else { 0.5 };
                let (x, y) = (cell(a + shift), cell(b));
                x * x + y * y < 0.085
            }
            Kind::Checks => ((a.floor() as i32) ^ (b.floor() as i32)) & 1 == 0,
            Kind::Stars => star(cell(a * 0.8) * 2.3, cell(b * 0.8) * 2.3),
            // Wings and sails change colour half way out, everything else half way up or along.
            Kind::TwoTone if matches!(solid, Solid::Prism { .. }) => p.y.abs() > 0.42,
            Kind::TwoTone => p.y > 0.0,
            Kind::Wood => {
                let wobble = noise(a * 0.7, b * 4.0 + 40.0) * 0.8;
                let ring = cell(b * 1.6 + wobble + 0.35 * noise(a * 0.35 + 9.0, b * 1.3)).abs() * 2.0;
                let tone = 0.80 + 0.30 * smooth(0.12, 0.5, ring) - 0.06 * noise(a * 2.0, b * 20.0);
                return self.main * tone;
            }
        };
        if second { self.second } else { self.main }
    }
}

fn planks(light: Colour, dark: Colour, width: f32, u: f32, v: f32) -> Colour {
    let row = (v / width).floor();
    let across = v / width - row;
    let along = u / (width * 5.0) + hash(row as i32, 3) * 0.8;
    let joint = (along - along.floor()) * width * 5.0;
    if across < 0.2 || joint < 0.026 {
        return dark;
    }
    light * (0.9 + 0.16 * hash(row as i32, along.floor() as i32))
}

fn tiles(light: Colour, dark: Colour, width: f32, u: f32, v: f32) -> Colour {
    let high = width * 0.9;
    let at = |row: f32| {
        let shift = if (row as i32) & 1 == 0 { 0.0 } else { 0.5 };
        let column = (u / width + shift).floor();
        (column, u / width + shift - column - 0.5)
    };
    let row = (v / high).floor();
    let down = v / high - row;
    let (column, x) = at(row);
    let edge = 0.45 - 0.45 * (1.0 - (2.0 * x) * (2.0 * x)).max(0.0).sqrt();
    if down < edge + 0.17 && down >= edge {
        return dark;
    }
    let (column, row) = if down < edge { (at(row - 1.0).0, row - 1.0) } else { (column, row) };
    light * (0.84 + 0.26 * hash(column as i32, row as i32))
}

fn bricks(light: Colour, dark: Colour, width: f32, u: f32, v: f32) -> Colour {
    let high = width * 0.5;
    let row = (v / high).floor();
    let shift = if (row as i32) & 1 == 0 { 0.0 } else { 0.5 };
    let (x, y) = ((u / width + shift).rem_euclid(1.0), v / high - row);
    if x < 0.13 || y < 0.24 { dark } else { light * (0.88 + 0.22 * hash((u / width + shift).floor() as i32, row as i32)) }
}

/// Inside a five-pointed star of radius 1?
fn star(x: f32, y: f32) -> bool {
    const DIRECTIONS: [(f32, f32); 5] =
        [(0.0, 1.0), (0.951_06, 0.309_02), (0.587_79, -0.809_02), (-0.587_79, -0.809_02), (-0.951_06, 0.309_02)];
    // A point of the star lies beyond at most one of the five lines of the pentagram.
    DIRECTIONS.iter().filter(|d| -(d.0 * x + d.1 * y) > 0.33).count() <= 1 && x * x + y * y < 1.0
}

impl Mark {
    fn colour(&self, p: V3, n: V3, angle: &mut Option<f32>) -> Option<Colour> {
        let on = |c: f32, sign: i8| if sign == 0 { c.abs() > 0.6 } else { c * f32::from(sign) > 0.6 };
        let (mut u, mut v) = match self.face {
            Face::X(sign) if on(n.x, sign) => (p.z, p.y),
            Face::Y(sign) if on(n.y, sign) => (p.x, p.z),
            Face::Z(sign) if on(n.z, sign) => (p.x, p.y),
            Face::Around if n.y.abs() < 0.93 => (*angle.get_or_insert_with(|| atan2(p.z, -p.x)), p.y),
            _ => return None,
        };
        u -= self.at[0];
        v -= self.at[1];
        if matches!(self.face, Face::Around) && u < -self.step[0].abs() * 0.5 - self.half[0] {
            u += TAU;
        }
        if self.count > 1 {
            let [du, dv] = self.step;
            let k = ((u * du + v * dv) / (du * du + dv * dv)).round().clamp(0.0, f32::from(self.count) - 1.0);
            u -= du * k;
            v -= dv * k;
        }
        let (a, b) = (u / self.half[0], v / self.half[1]);
        if a.abs() > 1.0 || b.abs() > 1.0 {
            return None;
        }
        self.shape.colour(a, b, self.half)
    }
}

impl Shape {
    /// The colour at `(a, b)`, each in -1..1, of a shape with these half measures; nothing where it
    /// is clear.
    fn colour(self, a: f32, b: f32, half: [f32; 2]) -> Option<Colour> {
        let r2 = a * a + b * b;
        match self {
            Self::Rect(c) => Some(c),
            Self::Disc(c) => (r2 < 1.0).then_some(c),
            Self::Ring { rim, inner } => (r2 < 1.0).then_some(if r2 > 0.36 { rim } else { inner }),
            Self::Window { frame, glass, columns, rows } => Some(window(a, b, half, frame, glass, (columns, rows))),
            Self::Bars { light, dark, n } => Some(if ((a + 1.0) * f32::from(n)).floor() as i32 & 1 == 0 { dark } else { light }),
            Self::Star(c) => star(a, b).then_some(c),
            Self::Wheel { tyre, hub, gap, spokes } => wheel(a, b, r2, (tyre, hub, gap), spokes),
            Self::Diamond(c) => (a.abs() + b.abs() < 1.0).then_some(c),
            Self::Flower { petal, heart, petals } => {
                let r = r2.sqrt();
                let edge = 0.72 + 0.28 * cos(atan2(b, a) * f32::from(petals));
                if r < 0.32 { Some(heart) } else { (r < edge).then_some(petal) }
            }
            Self::Screw { plate, slot } => {
                if r2 > 1.0 {
                    return None;
                }
                let cross = r2 < 0.4 && a.abs().min(b.abs()) < 0.17;
                Some(if cross || r2 > 0.72 { slot } else { plate })
            }
        }
    }
}

fn window(a: f32, b: f32, half: [f32; 2], frame: Colour, glass: Colour, panes: (u8, u8)) -> Colour {
    let inset = |x: f32, half: f32| (1.0 - x.abs()) * half;
    if inset(a, half[0]) < (0.2 * half[0]).max(0.016) || inset(b, half[1]) < (0.2 * half[1]).max(0.016) {
        return frame;
    }
    let bar = |x: f32, n: u8, half: f32| {
        let t = (x + 1.0) * 0.5 * f32::from(n);
        n > 1 && (t - t.round()).abs() * 2.0 * half / f32::from(n) < 0.011
    };
    if bar(a, panes.0, half[0]) || bar(b, panes.1, half[1]) {
        return frame;
    }
    let glint = a * 0.6 + b;
    if (0.25..0.6).contains(&glint) { glass.mix(v3(1.0, 1.0, 1.0), 0.35) } else { glass * (1.0 + 0.25 * b) }
}

fn wheel(a: f32, b: f32, r2: f32, (tyre, hub, gap): (Colour, Colour, Colour), spokes: u8) -> Option<Colour> {
    if r2 > 1.0 {
        return None;
    }
    let r = r2.sqrt();
    if r > 0.74 {
        return Some(tyre);
    }
    let turn = atan2(b, a) / TAU * f32::from(spokes);
    let off = (turn - turn.round()).abs() / f32::from(spokes) * TAU * r;
    Some(if r > 0.6 {
        hub
    } else if r < 0.11 {
        gap
    } else if r < 0.24 || off < 0.12 {
        hub
    } else {
        gap
    })
}

/// A gentle change of a colour over a table, in -1..1.
pub(super) fn table_texture(kind: usize, x: f32, z: f32) -> f32 {
    match kind {
        0 => noise(x * 9.0, z * 9.0) + 0.5 * noise(x * 23.0, z * 23.0) - 0.75,
        1 => 0.6 * sin(x * 31.0) * sin(z * 31.0) + noise(x * 3.0, z * 3.0) - 0.5,
        2 => {
            let board = (z * 1.4).floor();
            let joint = z * 1.4 - board;
            let grain = noise(x * 1.5 + board * 7.0, z * 26.0) - 0.5;
            (grain + hash(board as i32, 5) - 0.5) * 0.9 - if joint < 0.02 { 0.9 } else { 0.0 }
        }
        _ => {
            let speck = hash((x * 19.0).floor() as i32, (z * 19.0).floor() as i32);
            let near = noise(x * 19.0, z * 19.0);
            if speck > 0.93 { 0.9 * near } else { 0.3 * (noise(x * 4.0, z * 4.0) - 0.5) }
        }
    }
}
