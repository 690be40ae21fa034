//! What is painted, and how the pictures lie on disk.

use super::category::Category;
use super::view::VIEWS;
use crate::data::mat::MAX_BYTES;
use crate::data::norb;
use crate::error::{Error, Result};

/// How the pictures lie on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToyFormat {
    /// `truck/truck_07_3_12_4_lt.jpg`: category, instance, elevation, azimuth, lighting, camera as
    /// in [`CameraView`](super::CameraView).
    #[default]
    Folders,
    /// `train/000123_truck_07_lt.jpg`: the first half of the instances in `train`, the others in
    /// `test`.
    NorbNames,
    /// The binary files of small NORB, grey and always stereo: `toys-training-dat.mat`, `-cat.mat`,
    /// `-info.mat`, and the same for `toys-testing`. Categories are numbered as in
    /// [`Category::ALL`].
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

/// What [`generate`](super::generate) writes.
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
    /// How many instances, from the first, are for training in the formats that say so.
    pub(super) fn n_train(&self) -> u32 {
        self.instances.div_ceil(2)
    }

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
        let n_pairs = u64::from(self.n_train() * self.views) * Category::ALL.len() as u64;
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
