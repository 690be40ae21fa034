//! Three objects at once, drawn mostly from one of two collections: which collection is the class.
//!
//! The objects of each of three categories are divided into collections A and B. A picture's
//! collection is drawn first; then, of each category, an object of that collection with a
//! probability of 5/6 and of the other with 1/6, in a random view, at a random place where it does
//! not touch the others. Whoever knows every object is right in 92.6 % of pictures: two or more of
//! the three tell the truth.

use std::path::Path;

use image::{Rgb, RgbImage};

use super::canvas::{Placement, paste};
use super::gallery::{Gallery, Half};
use super::write::{self, Scene, SceneReport};
use crate::data::toys::math::Dice;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// How pictures are made.
#[derive(Clone, Debug, PartialEq)]
pub struct CompositionOptions {
    /// Training pictures, even numbers of either collection but for one.
    pub train: u32,
    /// Test pictures.
    pub test: u32,
    /// Pixels of a picture's side, `32..=1024`; an object's frame is 96 of 256.
    pub side: u32,
    /// The three categories; empty for the first three that have two objects or more.
    pub categories: Vec<String>,
    /// The seed.
    pub seed: u64,
}

impl Default for CompositionOptions {
    /// The paper's: 100 training and 1,000 test pictures of 256 pixels.
    fn default() -> Self {
        Self { train: 100, test: 1000, side: 256, categories: Vec::new(), seed: 0 }
    }
}

/// Objects of a picture.
const OBJECTS: usize = 3;
/// The grey of the table.
const TABLE: u8 = 200;

/// Writes pictures into the new or empty folder `to`: `train/a`, `train/b`, `test/a`, `test/b`, and
/// `scenes.tsv` with the three objects of each picture.
///
/// Training and test pictures show the same objects in different views. File names tell no object,
/// for every picture is a composition of its own.
///
/// # Errors
/// [`Error::Option`] for options out of range and categories that the gallery does not have or that
/// have a single object; [`Error::Data`] when the folder is not empty, [`Error::Io`],
/// [`Error::Cancelled`].
pub fn generate(gallery: &Gallery, options: &CompositionOptions, to: &Path, progress: &Progress) -> Result<SceneReport> {
    let &CompositionOptions { train, test, side, ref categories, seed } = options;
    if !(32..=1024).contains(&side) {
        return Err(Error::Option { name: "side", found: side.to_string(), expected: "32 to 1024" });
    }
    let chosen = choose(gallery, categories)?;
    let frame = side as f32 * 96.0 / 256.0;
    write::write(to, [train, test], progress, |half, number| {
        let mut dice = Dice::numbered(seed, u64::from(number) << 1 | u64::from(half == Half::Test));
        let is_b = number % 2 == 1;
        let mut canvas = RgbImage::from_pixel(side, side, Rgb([TABLE; 3]));
        let mut shows = Vec::new();
        for (middle, &category) in places(side as f32, frame, &mut dice).into_iter().zip(&chosen) {
            let instances = &gallery.categories[category].1;
            let borrows = dice.below(6) == 0;
            let (a, b) = (0..instances.len().div_ceil(2), instances.len().div_ceil(2)..instances.len());
            let own = if is_b != borrows { b } else { a };
            let instance = own.start + dice.below(own.len());
            let view = gallery.view(category, instance, half, seed, &mut dice);
            let placement = Placement { middle, side: frame, angle: 0.0, contrast: 1.0, luminance: 0.0 };
            paste(&mut canvas, &view.pixels, &placement);
            shows.push(view.name.clone());
        }
        let class = if is_b { "b" } else { "a" };
        Scene { picture: canvas, class: class.into(), name: format!("{class}{number:06}"), shows: shows.join(" ") }
    })
}

/// The positions of the three categories in the gallery.
fn choose(gallery: &Gallery, names: &[String]) -> Result<[usize; OBJECTS]> {
    let refuse =
        |found: String| Err(Error::Option { name: "categories", found, expected: "three different ones with two objects or more each" });
    let has_two = |&c: &usize| gallery.categories[c].1.len() >= 2;
    let found: Vec<usize> = if names.is_empty() {
        (0..gallery.categories.len()).filter(has_two).take(OBJECTS).collect()
    } else {
        let at = |name: &String| gallery.categories.iter().position(|(own, _)| own == name).filter(has_two);
        names.iter().filter_map(at).collect()
    };
    match <[usize; OBJECTS]>::try_from(found) {
        Ok([a, b, c]) if a != b && b != c && a != c && (names.is_empty() || names.len() == OBJECTS) => Ok([a, b, c]),
        _ if names.is_empty() => refuse(format!("none, and the objects have {}", gallery.categories().join(", "))),
        _ => refuse(names.join(", ")),
    }
}

/// Places for three frames that do not overlap, in random order.
fn places(side: f32, frame: f32, dice: &mut Dice) -> [[f32; 2]; OBJECTS] {
    loop {
        let mut place = || [dice.range(frame / 2.0, side - frame / 2.0), dice.range(frame / 2.0, side - frame / 2.0)];
        let all = [place(), place(), place()];
        let is_free = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).abs() >= frame || (a[1] - b[1]).abs() >= frame;
        if is_free(all[0], all[1]) && is_free(all[1], all[2]) && is_free(all[0], all[2]) {
            return all;
        }
    }
}
