//! Names of folders that tell when pictures were taken, not what they show.

/// The years that names are taken to tell.
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2099;

const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];

/// Whether the name of a folder is a date, or the number that a camera gave it: it begins with a
/// year or a day (`2019`, `2019-05 Italy`, `20190512`), ends in a year after nothing but numbers
/// and a month (`12.05.2019`, `May 2019`), or is three digits and five capitals (`100CANON`).
///
/// # Complexity
/// Linear in the length of the name.
pub fn is_date(name: &str) -> bool {
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (Some(first), Some((last, before))) = (words.first(), words.split_last()) else { return false };
    is_year(first) || is_day(first) || is_year(last) && before.iter().all(|word| is_part_of_date(word)) || is_of_camera(name)
}

/// Whether a word may be a month or a day, which is told by a year beside it alone.
///
/// # Complexity
/// Linear in the length of the word.
pub(super) fn is_part_of_date(word: &str) -> bool {
    let is_number = word.len() <= 2 && matches!(number(word), Some(1..=31));
    is_number || is_month(word)
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && number(word).is_some_and(|year| YEARS.contains(&year))
}

/// Whether a word is a year, a month and perhaps a day, in digits.
fn is_day(word: &str) -> bool {
    let (year, month, day) = (word.get(..4), word.get(4..6).and_then(number), word.get(6..8).and_then(number));
    let fits = matches!(month, Some(1..=12)) && (word.len() == 6 || word.len() == 8 && matches!(day, Some(1..=31)));
    year.is_some_and(is_year) && fits
}

fn is_month(word: &str) -> bool {
    let word = word.to_lowercase();
    word.len() >= 3 && MONTHS.iter().any(|month| month.starts_with(&word))
}

/// A folder that a camera makes on its card, by the design rule for camera file systems (DCF).
fn is_of_camera(name: &str) -> bool {
    let (Some(n), Some(letters)) = (name.get(..3).and_then(number), name.get(3..)) else { return false };
    let are_capitals = letters.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    n >= 100 && letters.len() == 5 && are_capitals && letters.contains(|c: char| c.is_ascii_uppercase())
}

fn number(word: &str) -> Option<u32> {
    word.bytes().all(|b| b.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}
