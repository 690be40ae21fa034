//! A number with its noun, as messages say it.

/// `1 image`, `2 images`, `2,000 images`; `1 class`, `2 classes`.
pub fn count(n: usize, noun: &str) -> String {
    let ending = match n {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(n))
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
