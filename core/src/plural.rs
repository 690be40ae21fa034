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

/// `3`, `3 and 7`, `3, 5 and 7`.
pub fn listed(items: impl IntoIterator<Item = impl ToString>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// `1 pass`, `2 passes`.
pub fn passes(n: usize) -> String {
    format!("{n} pass{}", if n == 1 { "" } else { "es" })
}
