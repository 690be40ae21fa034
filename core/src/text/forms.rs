//! Forms of a word: plural and singular, endings, accents.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::hashing::{Stemming, stem};

/// English nouns whose plural no rule of endings leads back to the singular.
const IRREGULAR: [(&str, &str); 32] = [
    ("men", "man"),
    ("women", "woman"),
    ("children", "child"),
    ("people", "person"),
    ("persons", "person"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("geese", "goose"),
    ("mice", "mouse"),
    ("lice", "louse"),
    ("oxen", "ox"),
    ("dice", "die"),
    ("wolves", "wolf"),
    ("calves", "calf"),
    ("halves", "half"),
    ("knives", "knife"),
    ("wives", "wife"),
    ("lives", "life"),
    ("leaves", "leaf"),
    ("loaves", "loaf"),
    ("shelves", "shelf"),
    ("scarves", "scarf"),
    ("hooves", "hoof"),
    ("thieves", "thief"),
    ("elves", "elf"),
    ("cacti", "cactus"),
    ("fungi", "fungus"),
    ("nuclei", "nucleus"),
    ("larvae", "larva"),
    ("bacteria", "bacterium"),
    ("vertices", "vertex"),
    ("matrices", "matrix"),
];
/// Compounds of them: `snowmen`, `policewomen`, `grandchildren`.
const COMPOUND: [(&str, &str); 3] = [("men", "man"), ("children", "child"), ("wolves", "wolf")];

/// Beginnings of words in -men that are no plurals: `specimen`, `abdomen`.
const NO_MEN: [&str; 9] = ["speci", "abdo", "sta", "regi", "acu", "albu", "bitu", "fora", "cycla"];

/// What all forms of a word have in common: a word as [`super::words`] gives it without accents,
/// endings and possessive, by the rules of English; irregular plurals of nouns as the singular.
///
/// Words in other languages lose their accents and may lose an ending that English has, too.
pub fn form(word: &str) -> String {
    let bare = bare(word);
    let word = bare.strip_suffix("'s").or_else(|| bare.strip_suffix('\'')).unwrap_or(&bare);
    let singular = |(plural, singular): &(&str, &str)| (*plural == word).then(|| (*singular).to_owned());
    let compound = |(plural, singular): &(&str, &str)| {
        let start = word.strip_suffix(plural).filter(|start| start.len() > 2 && !NO_MEN.contains(start))?;
        Some(format!("{start}{singular}"))
    };
    let singular = IRREGULAR.iter().find_map(singular).or_else(|| COMPOUND.iter().find_map(compound));
    stem(singular.as_deref().unwrap_or(word), Stemming::English)
}

/// A word without the accents of its letters, and with `ss` for `ß`, `ae` for `æ`, `o` for `ø`.
pub(super) fn bare(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let mut bare = String::with_capacity(word.len());
    // Vowel signs and voicing marks of other scripts are no accents.
    let letters: String = word.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).collect();
    for c in letters.nfc() {
        match c {
            'ß' => bare.push_str("ss"),
            'æ' => bare.push_str("ae"),
            'œ' => bare.push_str("oe"),
            'ø' => bare.push('o'),
            'đ' | 'ð' => bare.push('d'),
            'ħ' => bare.push('h'),
            'ı' => bare.push('i'),
            'ł' => bare.push('l'),
            'þ' => bare.push_str("th"),
            'ς' => bare.push('σ'),
            c => bare.push(c),
        }
    }
    if bare.is_empty() { Cow::Borrowed(word) } else { Cow::Owned(bare) }
}
