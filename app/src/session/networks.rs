//! Networks that the user brings: tried, kept, and used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::prelude::*;
use tessera_core::ckm::CkmOptions;
use tessera_core::ckm::presets::of_encoder;
use tessera_core::library::Library;
use tessera_core::library::encoded::{self, Encoded};
use tessera_core::network::brought::explore;
use tessera_core::network::folder::look_in;
use tessera_core::network::{BroughtNetwork, ImageWishes, NetworkFolder, trial};
use tessera_core::picture::decode::SIDE;
use tessera_core::{Error, Result};

use super::Session;

/// The hidden command with which this program tries a network for another process.
pub const NETWORK_WORKER: &str = "network-worker";

/// A name for the network in this file or folder.
pub fn name_for(path: &Path) -> String {
    let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = stem.unwrap_or_default().to_string_lossy().chars().map(plain).take(32).collect();
    if name.is_empty() { "network".into() } else { name }
}

/// The file, or those in a folder that a network may have.
fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(Error::io("read", path))? {
        let entry = entry.map_err(Error::io("read", path))?;
        let (file, name) = (entry.path(), entry.file_name());
        let is_onnx = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
        if is_onnx || name == "tokenizer.json" || name == "preprocessor_config.json" {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::data(path, "a folder with an ONNX file", "none", "choose the folder that the network was exported to"));
    }
    Ok(files)
}

impl Session {
    /// The networks that the user brought. Machines find theirs among them from now on.
    pub fn networks(&self) -> NetworkFolder {
        let data = self.data_folder().unwrap_or_else(std::env::temp_dir);
        let folder = NetworkFolder::new(data.join("tessera").join("networks"));
        look_in(folder.clone());
        folder
    }

    /// Tries a network, in a worker process if there are any, and keeps it under `name` if it can
    /// be used. A folder stands for the files in it that a network may have.
    ///
    /// # Errors
    /// As [`trial::run`] and [`NetworkFolder::add`].
    pub fn add_network(&self, name: &str, files: &[PathBuf], wishes: &ImageWishes) -> Result<BroughtNetwork> {
        let networks = self.networks();
        networks.check_free(name)?;
        let files = files.iter().map(|path| files_of(path)).collect::<Result<Vec<_>>>()?.concat();
        let (parts, network) = match &self.workers {
            Some(program) => trial::run(program, &[NETWORK_WORKER.into()], &files, wishes, &self.progress)?,
            None => explore(&files, wishes)?,
        };
        networks.add(name, &parts, &network)?;
        Ok(network)
    }

    /// The options of a recogniser of the cells of the network of this name.
    ///
    /// # Errors
    /// As [`NetworkFolder::find`].
    pub fn machine_of_network(&self, name: &str) -> Result<CkmOptions> {
        Ok(of_encoder(self.networks().find(name)?.elements(name)))
    }

    /// Has the image encoder of the network of this name look at all images of a library that it
    /// has not looked at, and takes their vectors in as a set of the network's name, or of another.
    ///
    /// # Errors
    /// As [`NetworkFolder::find`] and [`encoded::bring`].
    pub fn bring_network_vectors(&self, library: &Mutex<Library>, name: &str, set: Option<&str>) -> Result<Encoded> {
        let hash = self.networks().find(name)?.image.identity();
        self.pool.install(|| encoded::bring(library, &hash, set.unwrap_or(name), &self.progress))
    }

    /// How well each image fits words, from -1 to 1, by the two encoders of the network of this
    /// name.
    ///
    /// # Errors
    /// [`Error::Data`] when there is no such pair; [`Error::Cancelled`]. Those of an image are its
    /// own.
    pub fn match_words(&self, name: &str, words: &str, paths: &[PathBuf]) -> Result<Vec<Result<f32>>> {
        let networks = self.networks();
        let Some(text) = networks.text_encoder(name)? else {
            let (expected, advice) = (format!("a pair of encoders, of images and of text, called `{name}`"), "add one of those");
            return Err(Error::data(networks.path(), expected, "an image encoder alone", advice));
        };
        let (image, vector) = (networks.image_encoder(name)?, text.vector(words)?);
        self.progress.begin("matching", paths.len() as u64);
        let likeness = |path: &PathBuf| -> Result<f32> {
            let seen = image.look_at(&self.picture(path, SIDE)?.pixels)?.vector();
            self.progress.step()?;
            Ok(seen.iter().zip(&vector).map(|(a, b)| a * b).sum())
        };
        let found = self.pool.install(|| paths.par_iter().map(likeness).collect());
        if self.progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(found) }
    }
}
