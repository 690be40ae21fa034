//! Generates data.

use std::path::Path;

use tessera_core::Result;
use tessera_core::data::scenes::compositions::{self, CompositionOptions};
use tessera_core::data::scenes::symmetries::{self, SymmetryOptions};
use tessera_core::data::scenes::{self, Gallery, SceneReport};
use tessera_core::data::toys::{self, ToyOptions, ToyReport};
use tessera_core::data::{Dataset, OpenOptions};

use super::Session;

/// Pixels that toys for scenes are painted at.
const TOY_SIDE: u32 = 128;

/// The objects that scenes are made of.
pub enum ObjectSource<'a> {
    /// The built-in toys.
    Toys {
        /// Toys of each category.
        instances: u32,
        /// Views of each.
        views: u32,
    },
    /// Images with masks, or a NORB set.
    Files {
        /// A folder or a `-dat.mat` file.
        path: &'a Path,
        /// The folder of masks.
        masks: Option<&'a Path>,
    },
}

impl Session {
    /// Renders toys into a new folder.
    ///
    /// # Errors
    /// As [`toys::generate`].
    pub fn generate_toys(&self, options: &ToyOptions, to: &Path) -> Result<ToyReport> {
        self.pool.install(|| toys::generate(options, to, &self.progress))
    }

    /// Makes pictures of three objects each in a new folder.
    ///
    /// # Errors
    /// As [`Gallery::toys`] or [`Dataset::open`] and [`Gallery::open`], and
    /// [`compositions::generate`].
    pub fn generate_compositions(&self, objects: &ObjectSource<'_>, options: &CompositionOptions, to: &Path) -> Result<SceneReport> {
        self.pool.install(|| compositions::generate(&self.gallery(objects, options.seed, to)?, options, to, &self.progress))
    }

    /// Makes pictures of one object each, transformed and on clutter, in a new folder.
    ///
    /// # Errors
    /// As [`Gallery::toys`] or [`Dataset::open`] and [`Gallery::open`], and
    /// [`symmetries::generate`].
    pub fn generate_symmetries(&self, objects: &ObjectSource<'_>, options: &SymmetryOptions, to: &Path) -> Result<SceneReport> {
        self.pool.install(|| symmetries::generate(&self.gallery(objects, options.seed, to)?, options, to, &self.progress))
    }

    fn gallery(&self, objects: &ObjectSource<'_>, seed: u64, to: &Path) -> Result<Gallery> {
        scenes::claim(to)?;
        match *objects {
            ObjectSource::Toys { instances, views } => Gallery::toys(instances, views, TOY_SIDE, seed, &self.progress),
            ObjectSource::Files { path, masks } => {
                let data = Dataset::open(path, &OpenOptions::default(), &self.progress)?;
                Gallery::open(&data, masks, &*self.decoder, &self.progress)
            }
        }
    }
}
