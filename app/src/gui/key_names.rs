//! The names of the keys of classes: digits, alone and with Shift, in the order of the classes.

/// Classes that have a key: the first ones in the list.
pub(super) const KEYED: usize = 20;

/// The key of the class at a place in the list.
pub(super) fn key_of(place: usize) -> Option<String> {
    match place {
        0..=8 => Some((place + 1).to_string()),
        9 => Some("0".into()),
        10..=18 => Some(format!("Shift+{}", place - 9)),
        19 => Some("Shift+0".into()),
        _ => None,
    }
}

/// The key as it is painted on a small spot: an arrow stands for Shift.
pub(super) fn short_key(key: &str) -> String {
    key.replace("Shift+", "⬆")
}
