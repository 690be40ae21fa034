//! Objects cut out of pictures: by category, instance and view.

use std::collections::BTreeMap;
use std::path::Path;

use image::{GrayImage, Rgb, RgbImage, Rgba, RgbaImage};
use rayon::prelude::*;

use crate::data::toys::math::Dice;
use crate::data::toys::{Category, ToyOptions, render, silhouette};
use crate::data::{Dataset, ImageSource};
use crate::error::{Error, Result};
use crate::picture::Decoder;
use crate::progress::Progress;

/// Pixels of the longer side of cut-outs from files.
const SIDE: u32 = 256;
/// Grey values within this of the background's most frequent one are background, in NORB frames.
const SAME: i32 = 20;

/// One view of an object, cut out: transparent where the object is not.
pub(super) struct CutOut {
    /// The object with its whole frame.
    pub(super) pixels: RgbaImage,
    /// What it is known by: `truck_07_3_12_4` or a file's name.
    pub(super) name: String,
}

/// An object's number within its category and its views.
pub(super) struct Instance {
    pub(super) number: u32,
    pub(super) views: Vec<CutOut>,
}

/// Which half of the views a picture is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Train,
    Test,
}

/// Objects of several categories, each seen from two sides or more. All cut-outs are in memory.
pub struct Gallery {
    pub(super) categories: Vec<(String, Vec<Instance>)>,
}

impl Gallery {
    /// The names of the categories, in order.
    pub fn categories(&self) -> Vec<&str> {
        self.categories.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The built-in toys, painted on rayon's current pool: `instances` of each category from
    /// `views` views at `side` pixels. About 25 ms a view.
    ///
    /// # Errors
    /// [`Error::Option`] for numbers that toys cannot have, [`Error::Cancelled`].
    pub fn toys(instances: u32, views: u32, side: u32, seed: u64, progress: &Progress) -> Result<Self> {
        let options = ToyOptions { instances, views, side, seed, ..ToyOptions::default() };
        options.check()?;
        let all = Category::ALL.iter().flat_map(|&c| (1..=instances).flat_map(move |i| (0..views).map(move |v| (c, i, v))));
        let all: Vec<_> = all.collect();
        progress.begin("Painting toys", all.len() as u64);
        let paint = |&(category, instance, number): &(Category, u32, u32)| {
            progress.step()?;
            let toy = render(category, instance, number, &options);
            let mask = silhouette(category, instance, number, &options);
            let view = toy.view;
            let name = format!("{}_{instance:02}_{}_{}_{}", category.name(), view.elevation, view.azimuth, view.lighting);
            Ok((category.name().to_owned(), instance, CutOut { pixels: cut_out(&toy.picture, |x, y| mask[(x, y)][0] > 127), name }))
        };
        Self::gathered(Path::new("toys"), all.par_iter().map(paint).collect::<Result<Vec<_>>>()?)
    }

    /// The objects of a data set whose names tell objects apart. Those in image files are cut out
    /// by the masks in folder `masks`: a picture of the same name with the ending `png`, bright on
    /// the object. Those of a NORB set are what differs from the plain background and need none.
    ///
    /// # Errors
    /// [`Error::Data`] without masks, for a mask of another size, and when there are not two
    /// objects with two views; as [`Decoder::decode`]; [`Error::Cancelled`].
    pub fn open(data: &Dataset, masks: Option<&Path>, decoder: &dyn Decoder, progress: &Progress) -> Result<Self> {
        progress.begin("Cutting out objects", data.items.len() as u64);
        let cut = |(i, item): (usize, &crate::data::Item)| -> Result<Option<(String, u32, CutOut)>> {
            progress.step()?;
            let Some(instance) = item.meta.instance else { return Ok(None) };
            let picture = data.picture(i, decoder, SIDE, progress)?.pixels;
            let pixels = match &item.source {
                ImageSource::Frame { .. } => {
                    let mask = from_background(&crate::picture::grey(&picture));
                    cut_out(&picture, |x, y| mask[(y * picture.width() + x) as usize])
                }
                ImageSource::File(path) => {
                    let inner = path.strip_prefix(&data.root).unwrap_or(path).with_extension("png");
                    let Some(masks) = masks else {
                        let advice = "name the folder of masks, whose files are called like the images";
                        return Err(Error::data(path, "a mask that says where the object is", "no folder of masks", advice));
                    };
                    let mask = decoder.decode(&masks.join(&inner), SIDE, progress)?.pixels;
                    if mask.dimensions() != picture.dimensions() {
                        let size = |(w, h): (u32, u32)| format!("{w} x {h} pixels");
                        let (expected, found) = (size(picture.dimensions()), size(mask.dimensions()));
                        return Err(Error::data(&masks.join(inner), expected, found, "make masks of the size of their images"));
                    }
                    cut_out(&picture, |x, y| mask[(x, y)].0[1] > 127)
                }
            };
            let name = item.name();
            let name = Path::new(&name).file_stem().map_or(name.clone(), |stem| stem.to_string_lossy().into_owned());
            Ok(Some((data.class_name(item.class).to_owned(), instance, CutOut { pixels, name })))
        };
        let views: Vec<_> = data.items.par_iter().enumerate().map(|(i, item)| cut((i, item))).collect::<Result<_>>()?;
        Self::gathered(&data.root, views.into_iter().flatten().collect())
    }

    fn gathered(from: &Path, views: Vec<(String, u32, CutOut)>) -> Result<Self> {
        let mut found: BTreeMap<String, BTreeMap<u32, Vec<CutOut>>> = BTreeMap::new();
        for (category, instance, view) in views {
            found.entry(category).or_default().entry(instance).or_default().push(view);
        }
        let mut categories = Vec::new();
        for (name, instances) in found {
            let instances: Vec<Instance> =
                instances.into_iter().filter(|(_, views)| views.len() >= 2).map(|(number, views)| Instance { number, views }).collect();
            if !instances.is_empty() {
                categories.push((name, instances));
            }
        }
        if categories.iter().map(|(_, instances)| instances.len()).sum::<usize>() < 2 {
            let advice = "name files such as truck_07_3_12_4.png, which tell object and view";
            return Err(Error::data(from, "two objects or more with two views each", "fewer", advice));
        }
        Ok(Self { categories })
    }

    /// A random view of an object from one half of its views.
    pub(super) fn view(&self, category: usize, instance: usize, half: Half, seed: u64, dice: &mut Dice) -> &CutOut {
        let views = &self.categories[category].1[instance].views;
        let order = Dice::numbered(seed, (category as u64) << 32 | instance as u64 | 1 << 63).order(views.len());
        let (train, test) = order.split_at(views.len() / 2);
        let own = if half == Half::Train { train } else { test };
        &views[own[dice.below(own.len())]]
    }
}

fn cut_out(picture: &RgbImage, is_object: impl Fn(u32, u32) -> bool) -> RgbaImage {
    RgbaImage::from_fn(picture.width(), picture.height(), |x, y| {
        let Rgb([r, g, b]) = picture[(x, y)];
        Rgba(if is_object(x, y) { [r, g, b, 255] } else { [0; 4] })
    })
}

/// Where a frame with a plain background shows something else: the largest connected part that the
/// background does not reach from the border. O(pixels).
fn from_background(grey: &GrayImage) -> Vec<bool> {
    let (width, height) = (grey.width() as usize, grey.height() as usize);
    let values = grey.as_raw();
    let mut counts = [0usize; 256];
    let border = (0..values.len()).filter(|i| i % width == 0 || i % width == width - 1 || i / width == 0 || i / width == height - 1);
    let border: Vec<usize> = border.collect();
    border.iter().for_each(|&i| counts[usize::from(values[i])] += 1);
    let usual = (0..256).max_by_key(|&value| counts[value]).unwrap_or_default() as i32;
    let is_plain = |i: usize| (i32::from(values[i]) - usual).abs() <= SAME;
    let mut background = vec![false; values.len()];
    reach(width, height, border.into_iter().filter(|&i| is_plain(i)).collect(), |i| {
        !std::mem::replace(&mut background[i], is_plain(i)) && is_plain(i)
    });
    let mut seen = background;
    let mut largest = Vec::new();
    for start in 0..values.len() {
        let part = reach(width, height, vec![start], |i| !std::mem::replace(&mut seen[i], true));
        if part.len() > largest.len() {
            largest = part;
        }
    }
    let mut mask = vec![false; values.len()];
    largest.into_iter().for_each(|i| mask[i] = true);
    mask
}

/// The pixels that can be reached from `starts` through neighbours that `enter` lets in; it is
/// asked again of pixels it has let in.
fn reach(width: usize, height: usize, starts: Vec<usize>, mut enter: impl FnMut(usize) -> bool) -> Vec<usize> {
    let mut open: Vec<usize> = starts.into_iter().filter(|&i| enter(i)).collect();
    let mut reached = open.clone();
    while let Some(i) = open.pop() {
        let (x, y) = (i % width, i / width);
        let near = [(x > 0, i.wrapping_sub(1)), (x + 1 < width, i + 1), (y > 0, i.wrapping_sub(width)), (y + 1 < height, i + width)];
        for (_, next) in near.into_iter().filter(|(inside, _)| *inside) {
            if enter(next) {
                open.push(next);
                reached.push(next);
            }
        }
    }
    reached
}
