//! Patterns of file names that hold category, object and view, as people export NORB and similar
//! sets.

use std::collections::BTreeSet;

use super::shot::{Camera, Meta};

/// A way of naming files. Parts stand between `_`, `-` or blanks; a category may have several
/// words.
#[derive(Debug, PartialEq, Eq)]
pub struct NamePattern {
    /// The order of the parts, for people.
    pub name: &'static str,
    /// A name of this form.
    pub example: &'static str,
    /// The parts, in order; exactly one of them is a category.
    pub fields: &'static [NameField],
}

/// A part of a name. Numbers may carry their word or its first letters: `3`, `e3`, `elev3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameField {
    /// A running number without a meaning.
    Number,
    /// One or more words.
    Category,
    /// One or more words, the last of which ends in the number of the object.
    CategoryInstance,
    /// The number of the object, up to 999: no year is taken for one.
    Instance,
    /// Up to 360.
    Elevation,
    /// Up to 360.
    Azimuth,
    /// Up to 99.
    Lighting,
    /// `lt`, `rt`, `left`, `right`, `l` or `r`.
    Camera,
}

/// Every pattern that is tried, the more specific first.
pub static PATTERNS: [NamePattern; 7] = {
    use NameField::*;
    [
        NamePattern {
            name: "number_category_instance_elevation_azimuth_lighting_camera",
            example: "000123_truck_07_3_12_4_lt.png",
            fields: &[Number, Category, Instance, Elevation, Azimuth, Lighting, Camera],
        },
        NamePattern {
            name: "category_instance_elevation_azimuth_lighting_camera",
            example: "truck_07_3_12_4_lt.png",
            fields: &[Category, Instance, Elevation, Azimuth, Lighting, Camera],
        },
        NamePattern {
            name: "category_instance_elevation_azimuth_lighting",
            example: "truck_07_3_12_4.png",
            fields: &[Category, Instance, Elevation, Azimuth, Lighting],
        },
        NamePattern {
            name: "category_instance_elevation_azimuth_camera",
            example: "truck_07_3_12_lt.png",
            fields: &[Category, Instance, Elevation, Azimuth, Camera],
        },
        NamePattern {
            name: "number_category_instance_camera",
            example: "000123_truck_07_lt.jpg",
            fields: &[Number, Category, Instance, Camera],
        },
        NamePattern {
            name: "category_instance_elevation_azimuth",
            example: "truck_07_066_117.jpg",
            fields: &[Category, Instance, Elevation, Azimuth],
        },
        NamePattern {
            name: "categoryinstance-elevation-azimuth",
            example: "car3-066-117.png",
            fields: &[CategoryInstance, Elevation, Azimuth],
        },
    ]
};

/// Words that cameras, telephones and scanners begin names with. They are no category, unless a
/// folder has that name.
const NO_CATEGORY: [&str; 33] = [
    "cam",
    "camera",
    "capture",
    "clip",
    "copy",
    "dji",
    "dsc",
    "dscf",
    "dscn",
    "file",
    "foto",
    "frame",
    "gopr",
    "image",
    "images",
    "imag",
    "img",
    "mvi",
    "page",
    "photo",
    "photos",
    "pic",
    "picture",
    "pxl",
    "sam",
    "scan",
    "screen",
    "screenshot",
    "signal",
    "snapshot",
    "untitled",
    "video",
    "whatsapp",
];

const SEPARATORS: [char; 3] = ['_', '-', ' '];

/// The parts of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The category in lower case, its words separated as in the name.
    pub category: String,
    /// The other parts; `instance` is always known, `partner` never.
    pub meta: Meta,
}

/// The pattern that fits a list of names best.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The pattern.
    pub pattern: &'static NamePattern,
    /// How many names it fits.
    pub fits: usize,
    /// How many names there are.
    pub of: usize,
    /// How many categories the fitting names have.
    pub n_categories: usize,
}

impl NamePattern {
    /// The parts of `stem`, a file name without its ending; `None` when the name is of another
    /// form.
    ///
    /// # Complexity
    /// Linear in the length of the name.
    pub fn parse(&self, stem: &str) -> Option<Name> {
        self.read(stem, |_| false)
    }

    /// As [`NamePattern::parse`], but a category of which `is_class` is true may begin with a word
    /// that cameras write.
    pub(super) fn read(&self, stem: &str, is_class: impl Fn(&str) -> bool) -> Option<Name> {
        let mut tokens = Vec::new();
        let mut at = 0;
        for token in stem.split(SEPARATORS) {
            if !token.is_empty() {
                tokens.push((at, token));
            }
            at += token.len() + 1;
        }
        let pivot = self.fields.iter().position(|field| matches!(field, NameField::Category | NameField::CategoryInstance))?;
        let after = self.fields.len() - pivot - 1;
        if tokens.len() < self.fields.len() {
            return None;
        }
        let (before, rest) = tokens.split_at(pivot);
        let (words, after) = rest.split_at(rest.len() - after);
        let mut meta = Meta::default();
        for (field, (_, token)) in self.fields[..pivot].iter().zip(before).chain(self.fields[pivot + 1..].iter().zip(after)) {
            field.read(token, &mut meta)?;
        }
        let ((start, first), (last_at, mut last)) = (*words.first()?, *words.last()?);
        if self.fields[pivot] == NameField::CategoryInstance {
            let word = last.trim_end_matches(|c: char| c.is_ascii_digit());
            NameField::Instance.read(&last[word.len()..], &mut meta)?;
            last = word;
        }
        if !first.chars().next()?.is_alphabetic() || !last.contains(char::is_alphabetic) {
            return None;
        }
        let category = stem[start..last_at + last.len()].to_lowercase();
        let is_category = !NO_CATEGORY.contains(&first_word(first).as_str()) || is_class(&category);
        is_category.then_some(Name { category, meta })
    }

    /// Whether names of this pattern hardly occur by chance: they end in a camera.
    fn is_distinctive(&self) -> bool {
        self.fields.contains(&NameField::Camera)
    }
}

/// The letters that a word begins with, in lower case.
fn first_word(token: &str) -> String {
    token.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

impl NameField {
    fn read(self, token: &str, meta: &mut Meta) -> Option<()> {
        match self {
            Self::Number => (token.len() <= 9 && token.bytes().all(|b| b.is_ascii_digit())).then_some(()),
            Self::Instance => number(token, &["i", "in", "inst", "instance", "o", "obj", "object"], 999).map(|n| meta.instance = Some(n)),
            Self::Elevation => number(token, &["e", "el", "elev", "elevation"], 360).map(|n| meta.elevation = Some(n)),
            Self::Azimuth => number(token, &["a", "az", "azim", "azimuth"], 360).map(|n| meta.azimuth = Some(n)),
            Self::Lighting => number(token, &["l", "li", "light", "lighting"], 99).map(|n| meta.lighting = Some(n)),
            Self::Camera => camera(token).map(|camera| meta.camera = Some(camera)),
            Self::Category | Self::CategoryInstance => None,
        }
    }
}

fn number(token: &str, tags: &[&str], max: u32) -> Option<u32> {
    let (tag, digits) = token.split_at(token.find(|c: char| c.is_ascii_digit())?);
    if !tag.is_empty() && !tags.contains(&tag.to_lowercase().as_str()) || digits.len() > 6 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|n| *n <= max)
}

/// The camera that a word names.
fn camera(word: &str) -> Option<Camera> {
    match word.to_lowercase().as_str() {
        "lt" | "left" | "l" => Some(Camera::Left),
        "rt" | "right" | "r" => Some(Camera::Right),
        _ => None,
    }
}

/// Splits the camera off the end of a stem: what stands before it, the camera, and the length of
/// its word's kind (`l`, `lt` and `left` are three kinds, and only halves of one kind make a pair).
pub(super) fn split_camera(stem: &str) -> Option<(&str, Camera, usize)> {
    let (before, word) = stem.rsplit_once(SEPARATORS)?;
    let kind = match word.len() {
        4 | 5 => 4,
        short => short,
    };
    camera(word).map(|camera| (before, camera, kind))
}

/// The pattern that fits the most of `stems`, the more specific one among equals; `None` when none
/// fits any.
///
/// # Complexity
/// Linear in the names, for each pattern.
pub fn choose(stems: &[&str]) -> Option<Choice> {
    choose_by(stems, |stem, pattern| pattern.parse(stem))
}

/// As [`choose`], for values of any type with a name.
pub(super) fn choose_by<T>(named: &[T], parse: impl Fn(&T, &NamePattern) -> Option<Name>) -> Option<Choice> {
    let mut best: Option<Choice> = None;
    for pattern in &PATTERNS {
        let names: Vec<Name> = named.iter().filter_map(|one| parse(one, pattern)).collect();
        if names.len() > best.as_ref().map_or(0, |choice| choice.fits) {
            let n_categories = names.iter().map(|name| &name.category).collect::<BTreeSet<_>>().len();
            best = Some(Choice { pattern, fits: names.len(), of: named.len(), n_categories });
        }
    }
    best
}

impl Choice {
    /// Whether the pattern may be used without being asked for: it fits four of five, and either
    /// ends in a camera or shows each category twice on average.
    pub fn is_convincing(&self) -> bool {
        self.fits_most() && (self.pattern.is_distinctive() || self.fits >= 2 * self.n_categories)
    }

    /// Whether the pattern fits four names of five.
    pub fn fits_most(&self) -> bool {
        self.fits * 5 >= self.of * 4
    }
}
