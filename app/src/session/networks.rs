//! Networks that the user brings: tried, kept, and used.

use std::path::PathBuf;

use rayon::prelude::*;
use tessera_core::ckm::CkmOptions;
use tessera_core::ckm::presets::of_encoder;
use tessera_core::network::folder::look_in;
use tessera_core::network::{BroughtNetwork, ImageWishes, NetworkFolder, trial};
use tessera_core::picture::decode::SIDE;
use tessera_core::{Error, Result};

use super::Session;

/// The hidden command with which this program tries a network for another process.
pub const NETWORK_WORKER: &str = "network-worker";

impl Session {
    /// The networks that the user brought. Machines find theirs among them from now on.
    pub fn networks(&self) -> NetworkFolder {
        let data = self.data_folder().unwrap_or_else(std::env::temp_dir);
        let folder = NetworkFolder::new(data.join("tessera").join("networks"));
        look_in(folder.clone());
        folder
    }

    /// Tries a network in a worker process, and keeps it under `name` if it can be used.
    ///
    /// # Errors
    /// As [`trial::run`] and [`NetworkFolder::add`].
    pub fn add_network(&self, name: &str, files: &[PathBuf], wishes: &ImageWishes) -> Result<BroughtNetwork> {
        let networks = self.networks();
        networks.check_free(name)?;
        let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
        let (parts, network) = trial::run(&program, &[NETWORK_WORKER.into()], files, wishes, &self.progress)?;
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
