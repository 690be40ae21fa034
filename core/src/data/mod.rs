//! Labelled pictures from folders and NORB files, with a report of how they were read.
//!
//! Besides: captions and labels in tables ([`tables`]), examples as sparse vectors ([`libsvm`],
//! [`multilabel`]), and generators of synthetic pictures ([`toys`]) and of scenes of objects that
//! are cut out and pasted anew ([`scenes`]).
//!
//! ```
//! use tessera_core::data::toys::{ToyOptions, generate};
//! use tessera_core::data::{Dataset, OpenOptions};
//! use tessera_core::progress::Progress;
//!
//! let folder = tempfile::tempdir()?;
//! generate(&ToyOptions { instances: 1, views: 2, side: 32, ..ToyOptions::default() }, folder.path(), &Progress::default())?;
//! let toys = Dataset::open(folder.path(), &OpenOptions::default(), &Progress::default())?;
//! assert_eq!((toys.items.len(), toys.classes[0].as_str()), (12, "airplane"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dataset;
mod dates;
mod folders;
pub mod libsvm;
mod masks;
pub mod mat;
pub mod multilabel;
pub mod named_vectors;
pub mod names;
pub mod norb;
mod norb_items;
pub mod plan;
pub mod scenes;
mod shot;
pub mod tables;
pub mod toys;
pub mod vectors;
mod walk;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::progress::Progress;

pub use dataset::{ClassesFrom, Dataset, ImageSource, Item, Labels, Layout, Mask, Masks, OpenOptions, Preview, Skipped, UNLABELLED};
pub use dates::is_date;
pub use folders::class_of_folder;
pub use norb::{NorbSet, NorbWriter};
pub use shot::{Camera, Meta};

impl Dataset {
    /// Opens a folder of images, a folder with one NORB set, or a NORB set by the path of one of
    /// its three files or by the prefix they share.
    ///
    /// What cannot be read or has no class is listed in `skipped` and never stops the rest.
    ///
    /// # Errors
    /// [`Error::Io`] when nothing lies at `path`, [`Error::Data`] when there are no pictures or no
    /// classes or when a NORB file is broken, [`Error::Cancelled`].
    ///
    /// # Complexity
    /// One pass over the directory entries and a sort; of a few images that are named like masks
    /// the first bytes are read, and no image is decoded. The pixels of a NORB set are read once
    /// and stay in memory, one byte a pixel.
    pub fn open(path: &Path, options: &OpenOptions, progress: &Progress) -> Result<Self> {
        match fs::metadata(path) {
            Err(_) if norb::dat_of_prefix(path).is_file() => Self::norb(&norb::dat_of_prefix(path), options, progress),
            Err(error) => Err(Error::io("read", path)(error)),
            Ok(meta) if meta.is_dir() => match norb::find(path)?.as_slice() {
                [] => folders::read(path, options, progress),
                [dat] => Self::norb(dat, options, progress),
                several => Err(norb::ambiguous(path, several)),
            },
            Ok(_) => match norb::dat_of_member(path) {
                Some(dat) => Self::norb(&dat, options, progress),
                None => Err(Error::data(
                    path,
                    "a folder of images or a NORB -dat.mat file",
                    "another kind of file",
                    "name the folder that the file lies in; unpack it first if it is an archive",
                )),
            },
        }
    }

    fn norb(dat: &Path, options: &OpenOptions, progress: &Progress) -> Result<Self> {
        Ok(norb_items::dataset(&Arc::new(NorbSet::open(dat, progress)?), options))
    }

    /// The items of a NORB set that is already in memory.
    pub fn from_norb(set: &Arc<NorbSet>, options: &OpenOptions) -> Self {
        norb_items::dataset(set, options)
    }
}
