//! A number with its noun, as messages say it.

/// `1 image`, `2 images`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `1 pass`, `2 passes`.
pub fn passes(n: usize) -> String {
    format!("{n} pass{}", if n == 1 { "" } else { "es" })
}
