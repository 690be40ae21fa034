//! The colours and the pattern of one instance, drawn without regard to its category.

use super::category::Category;
use super::math::{Dice, PI, Purpose, cos, sin};
use super::paint::{Colour, KINDS, Kind, PATTERNS, Pattern, rgb};

/// The words for the main colours in captions.
pub const COLOURS: [&str; 10] = ["red", "orange", "yellow", "green", "turquoise", "blue", "purple", "pink", "brown", "white"];

const MAIN: [u32; 10] = [0xD2_3B36, 0xEE_7F2D, 0xF6_C33C, 0x5D_A552, 0x2F_A9A0, 0x2F_6DB5, 0x7C_53A5, 0xEC_86A4, 0x9A_6640, 0xF3_EEE2];
/// Second colours that go with each main colour and differ from it in brightness.
const SECOND: [[u32; 3]; 10] = [
    [0xFB_F1DE, 0xF8_D36B, 0xBF_E3EA],
    [0xFD_F3E1, 0x24_4B6B, 0x7A_2E2E],
    [0x2B_5C8A, 0x3B_4A54, 0xB8_402F],
    [0xF8_F3D8, 0x1F_4D3A, 0xF9_DE7A],
    [0xFB_F4E4, 0x17_4A5B, 0xFB_DD8C],
    [0xF8_F1E0, 0xF6_CF57, 0xBD_E0F2],
    [0xF5_ECE6, 0xF4_CF6A, 0xCF_E7D2],
    [0xFF_F6EE, 0x8A_2F55, 0x3F_4F78],
    [0xF6_E6C8, 0xF2_C46B, 0xC6_E0D0],
    [0x2E_62A0, 0xC0_3A3A, 0x2C_7A66],
];
const ACCENT: [u32; 7] = [0xC9_4A3B, 0xE7_A33A, 0x3E_7FA8, 0x4C_9A78, 0x84_5A94, 0xD9_7A8C, 0x4A_5568];
const WOOD: [u32; 4] = [0xD9_B27C, 0xC8_9A62, 0xE5_C795, 0xB9_8453];

/// How an instance is coloured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) colour_name: &'static str,
    pub(super) pattern_name: &'static str,
    pub(super) pattern: Pattern,
    pub(super) main: Colour,
    pub(super) second: Colour,
    pub(super) accent: Colour,
    pub(super) wood: Colour,
    pub(super) dark: Colour,
    pub(super) light: Colour,
    pub(super) glass: Colour,
}

pub(super) fn luma(c: Colour) -> f32 {
    0.3 * c.x + 0.59 * c.y + 0.11 * c.z
}

impl Style {
    pub(super) fn of(seed: u64, category: Category, instance: u32) -> Self {
        // Colours and patterns take turns in a random order, so that few instances already show all
        // of them.
        let turn = |n: usize, which: u32| {
            let (round, place) = (instance / n as u32, instance as usize % n);
            Dice::new(seed, Purpose::Order, category.index(), round, which).order(n)[place]
        };
        let colour = turn(COLOURS.len(), 0);
        let kind = turn(KINDS.len(), 1);
        let mut dice = Dice::new(seed, Purpose::Style, category.index(), instance, 0);
        let shade = dice.range(0.92, 1.06);
        let main = (rgb(MAIN[colour]) * shade).map(|c| c.min(1.0));
        let second = rgb(SECOND[colour][dice.below(3)]);
        let accents: Vec<Colour> = ACCENT.iter().map(|&c| rgb(c)).filter(|&c| (c - main).length() > 0.3).collect();
        let accent = accents[turn(ACCENT.len(), 2) % accents.len()];
        let angle = [0.0, PI / 2.0, PI / 4.0][dice.below(3)];
        let scale = match KINDS[kind] {
            Kind::Checks => dice.range(0.30, 0.38),
            Kind::Stripes => dice.range(0.26, 0.34),
            Kind::Dots => dice.range(0.34, 0.42),
            Kind::Stars => dice.range(0.32, 0.38),
            _ => dice.range(0.16, 0.24),
        };
        let angle = if matches!(KINDS[kind], Kind::Stripes | Kind::Checks) { angle } else { 0.0 };
        Self {
            colour_name: COLOURS[colour],
            pattern_name: PATTERNS[kind],
            pattern: Pattern { kind: KINDS[kind], main, second, scale, turn: (sin(angle), cos(angle)) },
            main,
            second,
            accent,
            wood: rgb(WOOD[dice.below(WOOD.len())]),
            dark: rgb(0x33_3238),
            light: rgb(0xF7_F1E4),
            glass: rgb(0x3B_5566),
        }
    }
}
