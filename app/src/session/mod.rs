//! Everything a user can do, one file for each; the command line and the window both act through a
//! [`Session`].

pub mod bin;
pub mod class_tree;
pub mod clusters;
pub mod collage;
mod collections;
pub mod colours;
pub mod completion;
pub mod confusions;
pub mod copies;
pub mod cost;
pub mod desk;
pub mod draw;
pub mod experiment;
pub mod export;
pub mod features;
pub mod file_report;
pub mod generate;
pub mod harm;
pub mod import;
mod kept_as;
pub mod kinds_kept;
pub mod learned;
pub mod library;
pub mod library_kinds;
pub mod library_weights;
pub mod map;
pub mod map_file;
pub mod memories;
pub mod mixtures;
pub mod models;
pub mod neighbours;
pub mod networks;
pub mod online;
pub mod partitions;
mod pixels;
mod plot;
pub mod recognise;
pub mod recognise_folder;
pub mod reference;
pub mod remote;
pub mod reports;
pub mod sample;
pub mod search;
pub mod search_choice;
pub mod shards;
pub mod suggest;
pub mod train;
pub mod tune;
pub mod why;
pub mod word_trial;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use bin::{Bin, SystemBin};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tessera_core::Error;
use tessera_core::collection::folder::CollectionFolder;
use tessera_core::library::read_only::ReadOnly;
use tessera_core::library::{ELEMENTS_IN_MEMORY, LibraryOptions};
use tessera_core::picture::{Decoder, InProcess, MemoryBudget, Workers};
use tessera_core::progress::Progress;

/// The hidden command with which this program decodes pictures for another process.
pub const DECODE_WORKER: &str = "decode-worker";

/// What every action needs: the decoder, the thread pool, the random seed, and the handle for
/// progress and cancellation.
#[derive(Clone)]
pub struct Session {
    decoder: Arc<dyn Decoder>,
    pool: Arc<ThreadPool>,
    seed: u64,
    progress: Progress,
    data: Option<PathBuf>,
    /// Whether libraries are opened to be read only.
    is_read_only: bool,
    /// Bytes of elements that the recogniser of a library keeps in memory.
    elements_in_memory: usize,
    /// Where files of removed images go where that is wanted.
    bin: Arc<dyn Bin>,
    /// The program that runs as a worker; `None` where everything is done in this process.
    workers: Option<PathBuf>,
    /// Held during an import: if threads of the pool waited for another import on the same pool,
    /// both would wait for ever.
    importing: Arc<Mutex<()>>,
}

impl Session {
    /// A session that works on `threads` threads (0: as many as the machine has).
    ///
    /// # Errors
    /// When the system refuses to start threads.
    pub fn new(threads: usize, seed: u64) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().context("the system gave no threads to work with")?;
        Ok(Self {
            decoder: Arc::new(InProcess::default()),
            pool: Arc::new(pool),
            seed,
            progress: Progress::default(),
            data: None,
            is_read_only: false,
            elements_in_memory: ELEMENTS_IN_MEMORY,
            bin: Arc::new(SystemBin),
            workers: None,
            importing: Arc::default(),
        })
    }

    /// The same session with a progress of its own, which is cancelled independently.
    pub fn with_progress(&self, progress: &Progress) -> Self {
        Self { progress: progress.clone(), ..self.clone() }
    }

    /// The same session with another data folder, for the sample and the libraries of plain
    /// folders.
    pub fn with_data_folder(self, folder: PathBuf) -> Self {
        Self { data: Some(folder), ..self }
    }

    /// The same session with images decoded, and networks tried, in worker processes, which run
    /// this program.
    pub fn with_workers(self) -> Self {
        let Ok(program) = std::env::current_exe() else { return self };
        // One worker for each thread of the pool, and two more so that displaying images does not
        // wait for these.
        let limit = self.pool.current_num_threads() + 2;
        let workers = Workers::new(program.clone(), vec![DECODE_WORKER.into()], limit);
        Self { workers: Some(program), ..self.with_decoder(Arc::new(workers)) }
    }

    /// A remark for the user about the decoder, if there is one.
    pub fn remark(&self) -> Option<String> {
        self.decoder.remark()
    }

    /// The memory budget for decoding pictures.
    pub fn picture_memory(&self) -> MemoryBudget {
        self.decoder.memory()
    }

    /// Opens libraries to read them alone, if `is_read_only`.
    #[must_use]
    pub fn reading_only(self, is_read_only: bool) -> Self {
        Self { is_read_only, ..self }
    }

    /// The same session with another memory budget for the elements of a library's images, in
    /// megabytes.
    #[must_use]
    pub fn with_element_memory(self, megabytes: u64) -> Self {
        Self { elements_in_memory: (megabytes as usize) << 20, ..self }
    }

    /// How libraries are opened.
    fn opening(&self) -> LibraryOptions<'_> {
        LibraryOptions { elements_in_memory: self.elements_in_memory, ..LibraryOptions::new(Arc::clone(&self.decoder), &self.progress) }
    }

    /// Refuses to change the library in `folder` where libraries are opened to be read only, and a
    /// collection.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn check_writable(&self, folder: &Path) -> Result<(), Error> {
        let is_collection = CollectionFolder::is_one(folder).then_some(ReadOnly::Collection);
        is_collection.or(self.is_read_only.then_some(ReadOnly::Asked)).map_or(Ok(()), |why| Err(why.error(folder)))
    }

    /// Sets the memory budget for decoding pictures, in megabytes, for all of them together.
    pub fn limit_picture_memory(&self, megabytes: u64) {
        self.decoder.limit_memory(megabytes << 20);
    }

    /// Worker processes that have died while decoding so far.
    pub fn worker_deaths(&self) -> u64 {
        self.decoder.deaths()
    }

    /// The same session with another decoder.
    pub fn with_decoder(self, decoder: Arc<dyn Decoder>) -> Self {
        Self { decoder, ..self }
    }

    /// The data folder: the user's, unless another one was given.
    fn data_folder(&self) -> Option<PathBuf> {
        self.data.clone().or_else(dirs::data_dir)
    }

    /// The user's cache folder, or one in the data folder that was given.
    fn cache_folder(&self) -> Option<PathBuf> {
        self.data.as_ref().map(|data| data.join("cache")).or_else(dirs::cache_dir)
    }

    /// The same session on another number of threads.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn with_threads(self, threads: usize) -> Result<Self> {
        Ok(Self { pool: Self::new(threads, self.seed)?.pool, ..self })
    }

    /// The same session on a thread pool of its own, of the same size, so that its work does not
    /// wait for long work on this one.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn beside(&self) -> Result<Self> {
        self.clone().with_threads(self.pool.current_num_threads())
    }

    /// Runs `work` on this session's threads, after any other import has ended.
    fn in_turn<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let _turn = self.importing.lock().unwrap_or_else(PoisonError::into_inner);
        self.pool.install(work)
    }

    /// Runs `work` on the threads of this session, and on no others.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// The seed of all randomness.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The handle for progress and cancellation.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }
}
