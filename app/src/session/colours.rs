//! Colours that mean something: of classes, and of values from low to high.

/// Colours that colour-blind people can tell apart (M. Okabe and K. Ito, *Color universal design*,
/// 2008), without black.
const CLASSES: [[u8; 3]; 7] = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [213, 94, 0], [86, 180, 233], [200, 190, 40]];

/// What is not known, or has no class.
pub const UNKNOWN: [u8; 3] = [140, 140, 140];
/// What is right, and what is wrong.
pub const RIGHT: [u8; 3] = CLASSES[0];
/// What is wrong.
pub const WRONG: [u8; 3] = CLASSES[4];

/// Colours of values from low to high (viridis, S. van der Walt and N. Smith 2015), without its
/// darkest and its lightest, so that they can be seen on dark and on light ground. Their lightness
/// rises, so that colour-blind people can order them.
const SCALE: [[u8; 3]; 5] = [[72, 40, 120], [62, 98, 160], [33, 145, 140], [68, 191, 112], [189, 211, 40]];

/// The colour of the class at a position, unless the user chose one. Stable, and never runs out:
/// beyond the first few, hues follow the golden angle and lightness goes round in three steps.
pub fn class(position: u32, chosen: Option<[u8; 3]>) -> [u8; 3] {
    chosen.or_else(|| CLASSES.get(position as usize).copied()).unwrap_or_else(|| {
        let n = position as f32 - CLASSES.len() as f32;
        let hue = (n * 0.618_034 + 0.07).fract();
        let value = [0.85, 0.62, 0.95][position as usize % 3];
        from_hue(hue, 0.62, value)
    })
}

/// The colour of a share from 0 to 1 of what lies between the lowest and the highest value.
pub fn of_share(share: f64) -> [u8; 3] {
    let at = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (at as usize).min(SCALE.len() - 2);
    let part = at - below as f64;
    let mixed = |i: usize| f64::from(SCALE[below][i]) * (1.0 - part) + f64::from(SCALE[below + 1][i]) * part;
    [0, 1, 2].map(|i| mixed(i).round() as u8)
}

/// The colour of a hue, a saturation and a value of linear light, in sRGB.
fn from_hue(hue: f32, saturation: f32, value: f32) -> [u8; 3] {
    let sixth = hue * 6.0;
    let part = sixth.fract();
    let (low, down, up) = (value * (1.0 - saturation), value * (1.0 - part * saturation), value * (1.0 - (1.0 - part) * saturation));
    let linear = match sixth as u32 % 6 {
        0 => [value, up, low],
        1 => [down, value, low],
        2 => [low, value, up],
        3 => [low, down, value],
        4 => [up, low, value],
        _ => [value, low, down],
    };
    linear.map(|light| {
        let encoded = if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
        (255.0 * encoded).round() as u8
    })
}
