//! A number with its noun, as messages say it.

/// `1 image`, `2 images`, `2,000 images`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A number with a comma before each three digits.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut words = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}

/// `1 pass`, `2 passes`.
pub fn passes(n: usize) -> String {
    format!("{n} pass{}", if n == 1 { "" } else { "es" })
}
