//! Text of strangers in tables that spreadsheet programs open: a cell that begins like a formula
//! would be run as one.

/// The column that says of a table that formulas in it are guarded.
pub const MARK: &str = "csv_safe";

/// What a formula begins with, also in the wide letters that some programs take for the same.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
/// Where a program may see the end of a cell, whatever it was told of separators and quotes.
const SEPARATORS: [char; 7] = [',', ';', '\t', '|', '\r', '\n', '"'];

/// A text in which an apostrophe stands before everything that may begin a cell like a formula: at
/// the beginning and behind separators, with blanks or apostrophes in between. [`unguarded`] takes
/// it away again.
///
/// ```
/// use tessera_core::data::tables::{guarded, unguarded};
///
/// assert_eq!(guarded("=1+1; -2"), "'=1+1; '-2");
/// assert_eq!(unguarded("'=1+1; '-2"), "=1+1; -2");
/// ```
pub fn guarded(text: &str) -> String {
    with_apostrophes(text, |n| n + 1)
}

/// The text that was [`guarded`].
pub fn unguarded(text: &str) -> String {
    with_apostrophes(text, |n| n.saturating_sub(1))
}

/// A text with another number of apostrophes before each beginning of a formula.
fn with_apostrophes(text: &str, number: impl Fn(usize) -> usize) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut at_start, mut apostrophes) = (true, 0);
    for c in text.chars() {
        if at_start && c == '\'' {
            apostrophes += 1;
            continue;
        }
        let n = if at_start && FORMULA.contains(&c) { number(apostrophes) } else { apostrophes };
        out.extend(std::iter::repeat_n('\'', n));
        at_start = SEPARATORS.contains(&c) || (at_start && apostrophes == 0 && c == ' ');
        apostrophes = 0;
        out.push(c);
    }
    out.extend(std::iter::repeat_n('\'', apostrophes));
    out
}
