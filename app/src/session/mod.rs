//! What a user can do, one file per thing; the command line and the window both act through a [`Session`].

pub mod draw;
pub mod experiment;
pub mod features;
pub mod generate;
pub mod recognise;
pub mod sample;
pub mod train;

use anyhow::{Context, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tessera_core::picture::{Decoder, InProcess};
use tessera_core::progress::Progress;

/// What every action needs: who decodes, how many threads work, which seed is used, and the handle to watch and cancel.
pub struct Session {
    decoder: Box<dyn Decoder>,
    pool: ThreadPool,
    seed: u64,
    progress: Progress,
}

impl Session {
    /// A session that works on `threads` threads (0: as many as the machine has).
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(threads: usize, seed: u64) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().context("the system gave no threads to work with")?;
        Ok(Self { decoder: Box::new(InProcess::default()), pool, seed, progress: Progress::default() })
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The handle on whatever is under way.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}
