//! Experiments with online classification.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use image::RgbImage;
use tessera_core::advise::AdviserKind;
use tessera_core::ckm::presets::Preset;
use tessera_core::data::libsvm::{self, ClassNames};
use tessera_core::data::{Dataset, OpenOptions, tables};
use tessera_core::envelope::replace;
use tessera_core::eval::figures::Curve;
use tessera_core::eval::online::{self, Asked, DeskItems, Desks, Long, PictureValues, StreamOrder, StreamSource};
use tessera_core::eval::recognition;
use tessera_core::library::Glimpse;
use tessera_core::network::Network;
use tessera_core::progress::Progress;
use tessera_core::{Error, Result};

use super::{Session, plot};

/// The data that a simulated labelling desk works on.
pub struct DeskFiles<'a> {
    /// Examples in libsvm's format, or a folder of images.
    pub stream: &'a Path,
    /// For examples: a file with the object that each shows, one name a line.
    pub groups: Option<&'a Path>,
    /// For images: a table of their captions.
    pub captions: Option<&'a Path>,
    /// For images: whether the recogniser compares cells of the network, and views are of what that
    /// sees.
    pub learned_features: bool,
    /// Components of a query vector.
    pub dimension: usize,
}

/// What the network sees in a picture as a whole, as advisers of a library compare it.
fn seen(picture: &RgbImage) -> Result<Vec<f64>> {
    Ok(Glimpse::of(&Network::shipped()?.look_at(picture)?).view())
}

impl Session {
    /// Reads the data of a simulated labelling desk.
    ///
    /// # Errors
    /// As [`libsvm::read`] and [`DeskItems::of_examples`]; of images as [`Dataset::open`],
    /// [`recognition::learn`] and [`DeskItems::of_images`].
    pub fn things(&self, files: &DeskFiles<'_>) -> Result<DeskItems> {
        if !files.stream.is_dir() {
            if files.learned_features {
                return Err(Error::Option {
                    name: "--learned-features",
                    found: "on".into(),
                    expected: "off, unless with a folder of images",
                });
            }
            if files.captions.is_some() {
                return Err(Error::Option { name: "captions", found: "those of a file".into(), expected: "given with a folder of images" });
            }
            let examples = libsvm::read(files.stream, &mut ClassNames::default(), &self.progress)?;
            let groups = files.groups.map(|path| fs::read_to_string(path).map_err(Error::text(path))).transpose()?;
            let objects: Vec<&str> = groups.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty()).collect();
            return DeskItems::of_examples(&examples, &objects, files.dimension, self.seed);
        }
        if files.groups.is_some() {
            let expected = "left out with a folder: objects are known by the names of images";
            return Err(Error::Option { name: "groups", found: "a file".into(), expected });
        }
        let captions = files.captions.map(|path| tables::read(path, &self.progress)).transpose()?;
        let data = Dataset::open(files.stream, &OpenOptions::default(), &self.progress)?;
        self.pool.install(|| {
            let preset = if files.learned_features { Preset::All } else { Preset::Mixed };
            let learned = recognition::learn(&data, |_| true, &preset.options(), &*self.decoder, &self.progress)?;
            let look: Option<&PictureValues<'_>> = if files.learned_features { Some(&seen) } else { None };
            DeskItems::of_images(&data, captions.as_ref(), Some(learned.ckm), look, &*self.decoder, self.seed, &self.progress)
        })
    }

    /// Simulates labelling `things` in several orders of each kind, with advisers.
    ///
    /// # Errors
    /// As [`online::desks`].
    pub fn desks(&self, things: &DeskItems, only: Option<&[AdviserKind]>, kinds: &[StreamOrder], orders: usize) -> Result<Vec<Desks>> {
        self.pool.install(|| online::desks(things, only, kinds, orders, self.seed, &self.progress))
    }

    /// Writes the data and the orders into a folder, for other programs. `things.csv` has a row for
    /// each example: the number of its class and its vector. `orders.csv` has a row for each order,
    /// kind after kind: positions in `things.csv`, from 0.
    ///
    /// # Errors
    /// As [`online::draw`]; [`Error::Io`].
    pub fn write_desks(&self, things: &DeskItems, kinds: &[StreamOrder], orders: usize, to: &Path) -> Result<Vec<PathBuf>> {
        fs::create_dir_all(to).map_err(Error::io("make", to))?;
        let mut rows = String::new();
        for thing in &things.all {
            let _ = write!(rows, "{}", thing.class.0);
            for x in thing.views.whole.iter() {
                let _ = write!(rows, ",{x}");
            }
            rows.push('\n');
        }
        let mut lines = String::new();
        for order in kinds {
            for places in online::draw(things, *order, orders, self.seed)? {
                lines += &places.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                lines.push('\n');
            }
        }
        let mut written = Vec::new();
        for (name, text) in [("things.csv", rows), ("orders.csv", lines)] {
            let path = to.join(name);
            replace(&path, text.as_bytes())?;
            written.push(path);
        }
        Ok(written)
    }

    /// The examples of a file in libsvm's format as a stream of queries with at most `dimension`
    /// components.
    ///
    /// # Errors
    /// As [`libsvm::read`].
    pub fn examples(&self, path: &Path, dimension: usize) -> Result<(StreamSource, ClassNames)> {
        let mut classes = ClassNames::default();
        let examples = libsvm::read(path, &mut classes, &self.progress)?;
        Ok((StreamSource::Examples(online::dense(&examples, dimension, self.seed)), classes))
    }
}

/// Runs the learners on long streams and writes the curves as tables and plots into a folder.
///
/// # Errors
/// As [`online::figures`]; [`Error::Io`].
pub fn online_figures(long: &Long, to: &Path, progress: &Progress) -> Result<(Vec<Curve>, Vec<PathBuf>)> {
    let curves = online::figures(long, progress)?;
    let written = plot::online(&curves, to)?;
    Ok((curves, written))
}

/// Writes the queries that a learner was given as a table with a heading, for other programs: the
/// number of the right class, the loss of each class, and the components of the query.
///
/// # Errors
/// [`Error::Io`].
pub fn write_stream(asked: &[Asked], to: &Path) -> Result<()> {
    let (k, d) = asked.first().map_or((0, 0), |first| (first.costs.len(), first.query.len()));
    let names = (0..k).map(|class| format!("cost_{class}")).chain((0..d).map(|component| format!("x_{component}")));
    let mut text = ["class".to_owned()].into_iter().chain(names).collect::<Vec<_>>().join(",");
    for Asked { query, truth, costs } in asked {
        let _ = write!(text, "\n{}", truth.0);
        for x in costs.iter().chain(query) {
            let _ = write!(text, ",{x}");
        }
    }
    text.push('\n');
    replace(to, text.as_bytes())
}
