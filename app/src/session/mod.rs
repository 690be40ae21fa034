//! What a user can do, one file per thing; the command line and the window both act through a
//! [`Session`].

pub mod copies;
pub mod cost;
pub mod desk;
pub mod draw;
pub mod experiment;
pub mod export;
pub mod features;
pub mod generate;
pub mod import;
pub mod library;
pub mod like;
pub mod memories;
pub mod models;
pub mod online;
mod pixels;
mod plot;
pub mod recognise;
pub mod sample;
pub mod search;
pub mod suggest;
pub mod train;
pub mod why;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tessera_core::picture::{Decoder, InProcess, MemoryBudget, Workers};
use tessera_core::progress::Progress;

/// The command with which this program decodes for another process.
pub const DECODE_WORKER: &str = "decode-worker";

/// What every action needs: who decodes, how many threads work, which seed is used, and the handle
/// to watch and cancel.
#[derive(Clone)]
pub struct Session {
    decoder: Arc<dyn Decoder>,
    pool: Arc<ThreadPool>,
    seed: u64,
    progress: Progress,
    data: Option<PathBuf>,
    /// Held by whoever imports: threads that wait for another import of the same pool would wait
    /// for ever.
    importing: Arc<Mutex<()>>,
}

impl Session {
    /// A session that works on `threads` threads (0: as many as the machine has).
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn new(threads: usize, seed: u64) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().context("the system gave no threads to work with")?;
        Ok(Self {
            decoder: Arc::new(InProcess::default()),
            pool: Arc::new(pool),
            seed,
            progress: Progress::default(),
            data: None,
            importing: Arc::default(),
        })
    }

    /// The same session for other work, watched and cancelled by itself.
    pub fn with_progress(&self, progress: &Progress) -> Self {
        Self { progress: progress.clone(), ..self.clone() }
    }

    /// The same session with another place for what it makes of its own accord: the sample,
    /// libraries of plain folders.
    pub fn with_data_folder(self, folder: PathBuf) -> Self {
        Self { data: Some(folder), ..self }
    }

    /// The same session with images decoded by processes of their own, which run this program.
    pub fn with_workers(self) -> Self {
        let Ok(program) = std::env::current_exe() else { return self };
        // One for each thread that learns, and two so that looking at images does not wait for
        // that.
        let limit = self.pool.current_num_threads() + 2;
        let workers = Workers::new(program, vec![DECODE_WORKER.into()], limit);
        self.with_decoder(Arc::new(workers))
    }

    /// What the user should know about how images are decoded, if anything.
    pub fn remark(&self) -> Option<String> {
        self.decoder.remark()
    }

    /// The memory for pictures that are being decoded.
    pub fn picture_memory(&self) -> MemoryBudget {
        self.decoder.memory()
    }

    /// Sets how much memory, in megabytes, pictures that are being decoded may need from now on,
    /// all together.
    pub fn limit_picture_memory(&self, megabytes: u64) {
        self.decoder.limit_memory(megabytes << 20);
    }

    /// Processes that images have brought down so far.
    pub fn worker_deaths(&self) -> u64 {
        self.decoder.deaths()
    }

    /// The same session with another decoder.
    pub fn with_decoder(self, decoder: Arc<dyn Decoder>) -> Self {
        Self { decoder, ..self }
    }

    /// The user's data folder, unless another place was given.
    fn data_folder(&self) -> Option<PathBuf> {
        self.data.clone().or_else(dirs::data_dir)
    }

    /// The same session on another number of threads.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn with_threads(self, threads: usize) -> Result<Self> {
        Ok(Self { pool: Self::new(threads, self.seed)?.pool, ..self })
    }

    /// The same session on threads of its own, as many: what is asked of it does not wait for long
    /// work.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn beside(&self) -> Result<Self> {
        self.clone().with_threads(self.pool.current_num_threads())
    }

    /// Does `work` on this session's threads when no other import is under way.
    fn in_turn<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let _turn = self.importing.lock().unwrap_or_else(PoisonError::into_inner);
        self.pool.install(work)
    }

    /// Does work of any kind on the threads of this session, and on no others.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
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
