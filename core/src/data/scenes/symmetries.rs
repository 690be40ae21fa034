//! One object, shifted, turned, scaled and lit in other ways, on a cluttered background and beside
//! a distractor: which category it is, or none.
//!
//! The ranges are those of the jittered-cluttered NORB set: shifts of up to 6 of 108 pixels, 0.78
//! to 1 of the size, 5 degrees, 20 grey values, contrast 0.8 to 1.3. The distractor is a random
//! object whose middle lies near the border. Pictures of the class `none` have background and
//! distractor alone.

use std::path::Path;

use super::canvas::{Placement, clutter, paste};
use super::gallery::{Gallery, Half};
use super::write::{self, Scene, SceneReport};
use crate::data::toys::math::Dice;
use crate::error::{Error, Result};
use crate::progress::Progress;

/// How pictures are made.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetryOptions {
    /// Training pictures, in turn of each class.
    pub train: u32,
    /// Test pictures.
    pub test: u32,
    /// Pixels of a picture's side, `32..=1024`; an object's frame is 96 of 108.
    pub side: u32,
    /// The seed.
    pub seed: u64,
}

impl Default for SymmetryOptions {
    /// The paper's test set; 800 training pictures of 108 pixels.
    fn default() -> Self {
        Self { train: 800, test: 2916, side: 108, seed: 0 }
    }
}

const NONE: &str = "none";

/// Writes pictures into the new or empty folder `to`: `train` and `test` with a folder for each
/// category and one for `none`, and `scenes.tsv` with each picture's object and distractor.
///
/// Training and test pictures show the same objects in different views. Names such as
/// `000123_cow_03_lt.jpg` tell the object; the number of `none` is the distractor's.
///
/// # Errors
/// [`Error::Option`] for options out of range or a category called `none`; [`Error::Data`] when the
/// folder is not empty, [`Error::Io`], [`Error::Cancelled`].
pub fn generate(gallery: &Gallery, options: &SymmetryOptions, to: &Path, progress: &Progress) -> Result<SceneReport> {
    let &SymmetryOptions { train, test, side, seed } = options;
    if !(32..=1024).contains(&side) {
        return Err(Error::Option { name: "side", found: side.to_string(), expected: "32 to 1024" });
    }
    if gallery.categories().contains(&NONE) {
        return Err(Error::Option { name: "objects", found: NONE.into(), expected: "categories of other names" });
    }
    let n = gallery.categories.len();
    let unit = side as f32 / 108.0;
    write::write(to, [train, test], progress, |half, number| {
        let mut dice = Dice::numbered(seed, u64::from(number) << 1 | u64::from(half == Half::Test));
        let category = number as usize % (n + 1);
        let mut canvas = clutter(side, &mut dice);
        let middle = side as f32 / 2.0;
        let any = |category: usize, dice: &mut Dice| {
            let instance = dice.below(gallery.categories[category].1.len());
            (instance, gallery.view(category, instance, half, seed, dice))
        };
        let tone =
            |dice: &mut Dice| (dice.range(0.8, 1.3), dice.range(-20.0, 20.0), dice.range(-5.0, 5.0) * (std::f32::consts::PI / 180.0));

        // The distractor lies behind: its middle is on a frame around the picture's own.
        let other = dice.below(n);
        let (distractor, behind) = any(other, &mut dice);
        let along = dice.range(0.0, side as f32);
        let across = if dice.chance(0.5) { dice.range(-0.08, 0.08) } else { dice.range(0.92, 1.08) } * side as f32;
        let place = if dice.chance(0.5) { [along, across] } else { [across, along] };
        let (contrast, luminance, angle) = tone(&mut dice);
        paste(
            &mut canvas,
            &behind.pixels,
            &Placement { middle: place, side: dice.range(0.5, 0.8) * 96.0 * unit, angle, contrast, luminance },
        );

        let (class, instance, shows) = if category == n {
            let before: usize = gallery.categories[..other].iter().map(|(_, instances)| instances.len()).sum();
            (NONE, (before + distractor + 1) as u32, format!("- {}", behind.name))
        } else {
            let (name, instances) = &gallery.categories[category];
            let (instance, view) = any(category, &mut dice);
            let place = [middle + dice.range(-6.0, 6.0) * unit, middle + dice.range(-6.0, 6.0) * unit];
            let (contrast, luminance, angle) = tone(&mut dice);
            let placement = Placement { middle: place, side: dice.range(0.78, 1.0) * 96.0 * unit, angle, contrast, luminance };
            paste(&mut canvas, &view.pixels, &placement);
            (name.as_str(), instances[instance].number, format!("{} {}", view.name, behind.name))
        };
        Scene { picture: canvas, class: class.to_owned(), name: format!("{number:06}_{class}_{instance:02}_lt"), shows }
    })
}
