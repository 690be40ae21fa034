//! A made world of toys on a studio table: six categories, any number of instances, views from all around.
//!
//! A picture depends only on (seed, category, instance, view) and the side length. It is computed with additions,
//! multiplications, divisions and roots alone, which every machine rounds alike, so its pixels do not depend on threads or
//! platform. Colour and pattern are drawn without regard to the category: only shape and its details tell it.
//!
//! [`render`] paints one picture; [`generate`] writes a folder of them, [`ToyOptions::sample`] the built-in sample.

mod camera;
mod captions;
mod mat;
mod math;
mod paint;
mod scene;
mod shapes;
mod solid;
mod style;
mod view;
mod write;

use image::RgbImage;

use super::mat::MAX_BYTES;
use super::norb;
use crate::error::{Error, Result};
use math::{Dice, Purpose};

pub use paint::PATTERNS;
pub use style::COLOURS;
pub use view::{CameraView, VIEWS};
pub use write::{Planted, ToyReport, generate};

/// What a toy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// An airplane.
    Airplane,
    /// A boat.
    Boat,
    /// A dog.
    Dog,
    /// A house.
    House,
    /// A teapot.
    Teapot,
    /// A truck.
    Truck,
}

impl Category {
    /// All categories, by name.
    pub const ALL: [Self; 6] = [Self::Airplane, Self::Boat, Self::Dog, Self::House, Self::Teapot, Self::Truck];

    /// The name in folders, files and captions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Airplane => "airplane",
            Self::Boat => "boat",
            Self::Dog => "dog",
            Self::House => "house",
            Self::Teapot => "teapot",
            Self::Truck => "truck",
        }
    }

    /// The position in [`Category::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A picture of a toy and everything that is true about it.
#[derive(Clone, Debug)]
pub struct Toy {
    /// The picture; of a stereo pair the left one.
    pub picture: RgbImage,
    /// The right picture of a stereo pair.
    pub right: Option<RgbImage>,
    /// Three sentences about it.
    pub captions: [String; 3],
    /// What it is.
    pub category: Category,
    /// Which one of its category.
    pub instance: u32,
    /// Where it is seen from, and the light.
    pub view: CameraView,
    /// The word for its main colour, one of [`COLOURS`].
    pub colour: &'static str,
    /// The word for its pattern, one of [`PATTERNS`].
    pub pattern: &'static str,
}

/// How the pictures lie on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToyFormat {
    /// `truck/truck_07_3_12_4_lt.jpg`: category, instance, elevation, azimuth, lighting, camera as in [`CameraView`].
    #[default]
    Folders,
    /// `train/000123_truck_07_lt.jpg`: the first half of the instances in `train`, the others in `test`.
    NorbNames,
    /// The binary files of small NORB, grey and always stereo: `toys-training-dat.mat`, `-cat.mat`, `-info.mat`, and the
    /// same for `toys-testing`. Categories are numbered as in [`Category::ALL`].
    Mat,
}

/// Faults to plant on purpose; each is listed in `planted.tsv`. Only for [`ToyFormat::Folders`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Pictures that lie in the folder, and under the name, of another category.
    pub wrong_labels: u32,
    /// Copies of pictures under other names: encoded anew, cropped or brightened a little.
    pub near_duplicates: u32,
    /// Files that break off early.
    pub corrupt: u32,
}

/// What [`generate`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToyOptions {
    /// Instances of each category, 1..=1000.
    pub instances: u32,
    /// Views of each instance, 1..=[`VIEWS`].
    pub views: u32,
    /// Pixels on each side of a picture, 32..=1024.
    pub side: u32,
    /// Whether to write a right picture beside each left one.
    pub stereo: bool,
    /// How the pictures lie on disk.
    pub format: ToyFormat,
    /// The seed of the whole world.
    pub seed: u64,
    /// Quality of the JPEG files, 1..=100.
    pub jpeg_quality: u8,
    /// Faults to plant.
    pub faults: Faults,
    /// Whether to lay the pictures out as the built-in sample: all but the last two instances under
    /// `train/CATEGORY/`, and four views of each of those two in `try-these/`.
    pub sample: bool,
}

impl Default for ToyOptions {
    fn default() -> Self {
        Self {
            instances: 8,
            views: 12,
            side: 128,
            stereo: false,
            format: ToyFormat::Folders,
            seed: 0,
            jpeg_quality: 90,
            faults: Faults::default(),
            sample: false,
        }
    }
}

impl ToyOptions {
    /// The built-in sample: 8 instances, 12 views, and a few faults to find.
    pub fn sample() -> Self {
        Self { sample: true, jpeg_quality: 95, faults: Faults { wrong_labels: 5, near_duplicates: 5, corrupt: 1 }, ..Self::default() }
    }

    /// Whether these options can be met.
    ///
    /// # Errors
    /// [`Error::Option`] for the first that cannot.
    pub fn check(&self) -> Result<()> {
        let refuse = |name, found: String, expected| Err(Error::Option { name, found, expected });
        if !(1..=1000).contains(&self.instances) {
            return refuse("instances", self.instances.to_string(), "between 1 and 1000");
        }
        if !(1..=VIEWS).contains(&self.views) {
            return refuse("views", self.views.to_string(), "between 1 and 972");
        }
        if !(32..=1024).contains(&self.side) {
            return refuse("side", self.side.to_string(), "between 32 and 1024 pixels");
        }
        if !(1..=100).contains(&self.jpeg_quality) {
            return refuse("jpeg_quality", self.jpeg_quality.to_string(), "between 1 and 100");
        }
        if self.sample && self.format != ToyFormat::Folders {
            return refuse("format", format!("{:?}", self.format), "Folders for the sample");
        }
        if self.sample && self.instances < 3 {
            return refuse("instances", self.instances.to_string(), "3 or more for the sample");
        }
        let n_pairs = u64::from(write::n_train(self) * self.views) * Category::ALL.len() as u64;
        if self.format == ToyFormat::Mat && norb::n_bytes(n_pairs, self.side, self.side) > MAX_BYTES {
            let found = format!("{} with {} views at {} pixels", self.instances, self.views, self.side);
            return refuse("instances", found, "few enough for one file of NORB, at most 4294967295 bytes");
        }
        let Faults { wrong_labels, near_duplicates, corrupt } = self.faults;
        let faults = u64::from(wrong_labels) + u64::from(near_duplicates) + u64::from(corrupt);
        if faults > 0 && self.format != ToyFormat::Folders {
            return refuse("faults", faults.to_string(), "0 unless the format is Folders");
        }
        let instances = self.instances - if self.sample { 2 } else { 0 };
        if faults > u64::from(instances * self.views) {
            return refuse("faults", faults.to_string(), "at most one for every six pictures");
        }
        Ok(())
    }
}

/// Paints view `number` (from 0) of an instance (they are numbered from 1), by the seed, the side and the stereo flag of
/// options that pass their check. About 25 ms at 128 pixels.
pub fn render(category: Category, instance: u32, number: u32, options: &ToyOptions) -> Toy {
    let seed = options.seed;
    let dice = |purpose, view| Dice::new(seed, purpose, category.index(), instance, view);
    let style = style::Style::of(seed, category, instance);
    let view = CameraView::of(seed, category, instance, number);
    let parts = shapes::build(category, &style, &mut dice(Purpose::Shape, 0));
    let scene = scene::Scene::new(parts, &style, &view, &mut dice(Purpose::Scene, number));
    // Both eyes throw the same dice, so that the framing agrees.
    let look = |eye| camera::paint(&scene, &camera::Camera::new(&scene, &view, eye, &mut dice(Purpose::View, number + 1)), options.side);
    Toy {
        picture: look(-1.0),
        right: options.stereo.then(|| look(1.0)),
        captions: captions::captions(category, style.colour_name, style.pattern_name, &view),
        category,
        instance,
        view,
        colour: style.colour_name,
        pattern: style.pattern_name,
    }
}
