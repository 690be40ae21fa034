//! How a word is spelled, as far as it rules out quickly that another is spelled nearly so.

/// What can be told of a word's spelling at a glance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spelling {
    /// Which letters it has: a bit for each, shared by some that are rare.
    letters: u64,
    /// Its length in characters; 0 for what is not spelled, as numbers.
    pub(super) length: usize,
}

impl Spelling {
    pub(super) fn of(word: &str) -> Self {
        let is_spelled = word.chars().all(|c| c.is_alphabetic() || c == '\'' || !c.is_alphanumeric());
        if !is_spelled {
            return Self::default();
        }
        let bit = |c: char| match c {
            'a'..='z' => c as u32 - 'a' as u32,
            c => 26 + c as u32 % 38,
        };
        Self { letters: word.chars().fold(0, |letters, c| letters | 1 << bit(c)), length: word.chars().count() }
    }

    /// Whether so few errors may lead from one to the other: each changes the length by one at
    /// most, and which letters there are by two.
    pub(super) fn may_be(self, other: Self, errors: usize) -> bool {
        other.length > 0
            && self.length.abs_diff(other.length) <= errors
            && (self.letters ^ other.letters).count_ones() as usize <= 2 * errors
    }
}

/// The errors that are looked for in a word of so many letters: none in shorter ones than three,
/// for these are all near each other, one in those of up to five, two in longer ones.
pub fn most_errors(letters: usize) -> usize {
    match letters {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}
