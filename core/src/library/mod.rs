//! A library: a folder that remembers images, labels, captions and everything that was done, and
//! teaches its models.
//!
//! `library.db` is precious: roots, images, labels, captions and the log of events. `cache.db` can
//! be made again from it and from the image files: elements, thumbnails, checkpoints of models.
//! Images stay where they are and are known by the hash of their bytes, so that files may be moved
//! and renamed.
//!
//! Whatever the user does is an [`event`]: it is on disk before the call returns, it reaches every
//! model ([`models::Models`]), and one [`Library::undo`] takes it back everywhere.
//!
//! [`Library`] itself holds the lock, commits events, and keeps store, state and models in step.
//! Each operation has a file of its own: the acts ([`draft::Acts`]), [`import`], [`relocate`], and
//! so on. They work on the parts of a library that they are given; the methods by which users reach
//! them stand in the file `api`.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use tessera_core::data::toys::{ToyOptions, generate};
//! use tessera_core::library::event::UserLabel;
//! use tessera_core::library::import::{ImportOptions, hold, import};
//! use tessera_core::library::search::{LibraryQuery, search};
//! use tessera_core::library::{Library, LibraryOptions};
//! use tessera_core::picture::InProcess;
//! use tessera_core::progress::Progress;
//! use tessera_core::text::TextQuery;
//!
//! let (folder, progress) = (tempfile::tempdir()?, Progress::default());
//! let images = folder.path().join("images");
//! generate(&ToyOptions { instances: 1, views: 1, side: 32, ..ToyOptions::default() }, &images, &progress)?;
//!
//! let opening = LibraryOptions::new(Arc::new(InProcess::default()), &progress);
//! let library = Mutex::new(Library::open_or_create(&folder.path().join("toys.tessera"), &opening)?);
//! import(&library, &images, &ImportOptions::default(), &progress)?;
//! let mut library = hold(&library);
//! let query = LibraryQuery::words(TextQuery::parse("boat"), 1);
//! let boat = search(&library, &query)[0].image;
//! library.label(&[boat], &UserLabel::Class("vessel".into()))?;
//! assert_eq!(library.state().image(boat).and_then(|image| image.label()), Some("vessel"));
//! library.undo()?;
//! assert_eq!(library.state().image(boat).and_then(|image| image.label()), Some("boat"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod acts;
mod api;
pub mod appearance;
mod apply;
pub mod backup;
pub mod bonds;
pub mod brought;
pub mod brought_vector;
pub mod cache;
pub mod captions;
mod catching_up;
pub mod chain;
mod check;
mod classes;
pub mod clearance;
pub mod clusters;
pub mod copies;
pub mod draft;
pub mod encoded;
pub mod event;
mod export;
pub mod features;
mod files;
mod forget;
pub mod fork;
mod glimpse;
pub mod guess;
pub mod health;
mod history;
mod hold;
mod image_vector;
pub mod import;
pub mod journal;
mod journal_sync;
pub mod kept_map;
mod kept_sums;
pub mod learned;
pub mod link;
mod lock;
pub mod looks;
pub mod models;
mod opening;
pub mod pair;
pub mod read_only;
pub mod ready_made;
pub mod relocate;
pub mod repair;
pub mod search;
mod shelf;
pub mod snapshot;
mod sqlite;
pub mod state;
mod store;
pub mod suggest;
mod told_vectors;
pub mod word_match;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ckm::CkmOptions;
use crate::ckm::presets::Preset;
use crate::error::{Result, contained};
use crate::ids::ItemId;
use crate::picture::Decoder;
use crate::progress::Progress;
use crate::storage::{Disk, Storage};
use crate::utc::now;
use appearance::Appearances;
use cache::Cache;
use draft::{Acts, Draft};
use event::{ContentHash, EventId, EventKind, RootId};
use features::{Extraction, FeatureStore};

use forget::Purge;
use lock::Lock;
use looks::LookIndexes;
use models::{Log, ModelUpdate, Models};
use pair::Pair;
use read_only::{ReadCopy, ReadOnly};
use snapshot::{Snapshots, next_time};
use state::{Place, Root, State};
use store::Store;
use told_vectors::Wholes;

pub use catching_up::CatchingUp;
pub use export::spellings;
pub use files::{CACHE, DATABASE, MODELS, is_library};
use glimpse::SeenClasses;
pub use glimpse::{Glimpse, GlimpseLikeness};
pub use hold::hold;
pub use opening::first_images;
pub use repair::has_lost_its_database;
pub use store::first::FirstImages;

const LATER: &str = "the change is saved, and learned when the library is next opened";

/// An open library. One process has it at a time.
pub struct Library {
    folder: PathBuf,
    store: Store,
    cache: Cache,
    state: State,
    models: Models,
    appearances: Appearances,
    /// What the network sees in images, as far as it is in memory; `None` where it has not looked.
    glimpses: HashMap<ContentHash, Option<Glimpse>>,
    /// Of what the network sees the classes alone, by which words are guessed.
    seen_classes: HashMap<ContentHash, Option<SeenClasses>>,
    /// Whether what the network sees is kept of nine tenths of so many images.
    sees_enough: Cell<Option<(usize, bool)>>,
    /// The features of whole images, as far as they are in memory.
    wholes: Wholes,
    /// The hash of the images whose sums the cache has ([`Library::keep_sums`]).
    sums_kept: Option<u128>,
    /// The indexes that name images which look alike.
    looks: LookIndexes,
    /// The pair of encoders by which words find images, if one was chosen.
    pair: Pair,
    decoder: Arc<dyn Decoder>,
    /// How the recogniser is built now: one of the next two.
    options: CkmOptions,
    plain: CkmOptions,
    learned: Option<CkmOptions>,
    extraction: Extraction,
    in_memory: usize,
    mended: Vec<String>,
    /// The damage that was found when it was opened, in sentences.
    found: Vec<String>,
    remarks: Vec<String>,
    /// What was found to be lost, in sentences.
    lost: Vec<String>,
    /// The act that an import which is running takes images in by.
    importing: Option<EventId>,
    storage: Arc<dyn Storage>,
    /// Why nothing is written to it.
    read_only: Option<ReadOnly>,
    // Held as long as the library is open; the system frees it with the process, however that ends.
    _lock: Option<Arc<Lock>>,
    /// What is read in place of the files where nothing is written to them.
    _copy: Option<ReadCopy>,
}

/// Bytes of elements that a recogniser keeps in memory if nobody says otherwise.
pub const ELEMENTS_IN_MEMORY: usize = 128 << 20;

/// How a library is opened.
pub struct LibraryOptions<'a> {
    /// What decodes image files.
    pub decoder: Arc<dyn Decoder>,
    /// How the recogniser is built without learned features; by the preset for all kinds of
    /// elements that take no network unless given.
    pub options: CkmOptions,
    /// How it is built with learned features: as without, and cells of the network. `None` opens
    /// the library without them, whatever its switch says.
    pub learned: Option<CkmOptions>,
    /// Where files beside the database are kept.
    pub storage: Arc<dyn Storage>,
    /// Whether the models stay as they are when it is opened to be written to, and catch up while
    /// it is in use: see [`Library::begin_to_catch_up`].
    pub later: bool,
    /// Bytes of elements that the recogniser keeps in memory, usually [`ELEMENTS_IN_MEMORY`]: those
    /// of a larger library are read from `cache.db` when they are compared, and a quarter as many
    /// bytes of those read last stay in memory. Answers are the same.
    pub elements_in_memory: usize,
    /// Reports progress and carries cancellation.
    pub progress: &'a Progress,
}

impl<'a> LibraryOptions<'a> {
    /// The usual recogniser, and files on disk.
    pub fn new(decoder: Arc<dyn Decoder>, progress: &'a Progress) -> Self {
        let (options, learned) = (Preset::Mixed.options(), Some(Preset::All.options()));
        Self { decoder, options, learned, storage: Arc::new(Disk), later: false, elements_in_memory: ELEMENTS_IN_MEMORY, progress }
    }
}

/// The parts of a library, for the operations on them.
impl Library {
    /// The folder of the library.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Everything it holds at this moment. Clones are cheap.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The models that follow its events, as they are now.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Where the elements of its images come from.
    pub fn features(&self) -> FeatureStore<'_> {
        FeatureStore {
            cache: &self.cache,
            decoder: &self.decoder,
            options: &self.options,
            extraction: &self.extraction,
            in_memory: self.in_memory,
        }
    }

    /// Works out the changes of acts in the present state, without performing them.
    pub fn acts(&self) -> Acts<'_> {
        Acts { library: &self.folder, state: &self.state }
    }

    fn extraction(&self) -> &Extraction {
        &self.extraction
    }

    fn decoder(&self) -> &Arc<dyn Decoder> {
        &self.decoder
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn cache(&self) -> &Cache {
        &self.cache
    }

    fn snapshots(&self) -> Snapshots<'_> {
        Snapshots { library: &self.folder, storage: &*self.storage }
    }
}

/// What changes a library: store, state and models are kept in step.
impl Library {
    /// Writes an event, on disk when this returns, and teaches the models. Without changes no event
    /// is written.
    fn commit(&mut self, act: Option<EventId>, kind: EventKind, draft: Draft) -> Result<Option<EventId>> {
        if draft.changes.is_empty() { Ok(None) } else { self.append(act, kind, draft).map(Some) }
    }

    fn append(&mut self, act: Option<EventId>, kind: EventKind, draft: Draft) -> Result<EventId> {
        let event = self.store.append(now(), act, kind, &draft.words, draft.changes)?;
        let images = event.images();
        let before = self.state.part(&images);
        self.state.step(&event);
        self.looks.follow(&self.state, &images);
        self.teach(&before, &images);
        if self.models.are_due(event.id)
            && let Err(error) = self.save_checkpoints()
        {
            self.remarks.push(error.to_string());
        }
        Ok(event.id)
    }

    /// Enters a root at a path that has none.
    fn enter_root(&mut self, root: Root) -> Result<RootId> {
        let id = self.store.root(&root)?;
        Arc::make_mut(&mut self.state.roots).insert(id, root);
        Ok(id)
    }

    /// Records places of images; each comes with the image that had it before, if any.
    fn put_places(&mut self, places: &[(ItemId, Place, Option<ItemId>)]) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        self.store.put_places(&places.iter().map(|(image, place, _)| (*image, place)).collect::<Vec<_>>())?;
        let before = self.state.clone();
        for (id, place, former) in places {
            self.state.move_place(*id, place.clone(), *former);
        }
        // Models use the names of files, so they have to learn this too.
        let images: BTreeSet<ItemId> = places.iter().flat_map(|(id, _, former)| [Some(*id), *former]).flatten().collect();
        self.teach(&before, &images.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    /// Removes places from their images.
    fn drop_places(&mut self, places: &[(ItemId, RootId, PathBuf)]) -> Result<()> {
        self.store.drop_places(&places.iter().map(|(_, root, path)| (*root, path.clone())).collect::<Vec<_>>())?;
        let before = self.state.clone();
        for (id, root, path) in places {
            self.state.edit(*id).places.retain(|place| place.root != *root || place.path != *path);
        }
        self.teach(&before, &places.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
        Ok(())
    }

    /// Forgets images: their rows, their part in every event, their features and thumbnails are
    /// purged from the files of the library, and the models learn everything else from the first
    /// event on. Afterwards each model is equal, byte for byte, to one that never saw them. The
    /// image files themselves stay where they are; a perceptual_hash keeps later imports from
    /// taking them in again. Cannot be taken back.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] for an image that is not there; [`crate::Error::Io`];
    /// [`crate::Error::Cancelled`] before anything was purged.
    ///
    /// # Complexity
    /// O(events): the log is rewritten and replayed.
    pub fn forget(&mut self, images: &[ItemId], progress: &Progress) -> Result<EventId> {
        self.acts().known(images)?;
        self.store.check_writable()?;
        // With a damaged index, rows that must go might not be found.
        if let Some(found) = self.store.integrity()?.first() {
            return Err(self.store.damaged(found));
        }
        progress.step()?;
        let images: BTreeSet<ItemId> = images.iter().copied().collect();
        self.bridge_bonds(&images)?;
        let log = self.store.events_after(0)?;
        let purge = Purge::of(images, &self.state, log, self.store.next_event()?, next_time(&self.folder));
        forget::delete_copies(&self.folder)?;
        self.snapshots().drop_all()?;
        // Work that goes on with the recogniser of before may have the file of an image at hand.
        self.models.recogniser.close_shelf();
        // The cache goes first, because it can be made again if this ends in the middle.
        let purged = self.cache.purge(&purge.hashes, &purge.paths).and_then(|()| self.store.forget(&purge, self.state.next_image));
        // An error may come after the database was changed, so the state is read again in any case.
        self.state = self.store.load()?;
        self.appearances = Appearances::default();
        self.glimpses.clear();
        self.seen_classes.clear();
        self.sees_enough.take();
        self.wholes.clear();
        self.looks.give_up();
        self.pair.clear();
        self.models.outdate();
        purged?;
        // Relearning cannot be cancelled: models that saw half of the rest would be wrong.
        self.catch_up(&Progress::default())?;
        self.save_checkpoints()?;
        Ok(purge.event.id)
    }

    /// Writes checkpoints of the models, so that the next opening is quick.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn save_checkpoints(&mut self) -> Result<()> {
        self.models.keep(&self.state, &mut self.cache)?;
        self.keep_looks()
    }

    /// Writes the indexes of looks that have changed to the cache.
    fn keep_looks(&mut self) -> Result<()> {
        self.looks.keep(&mut self.cache, self.state.last_event().unwrap_or(EventId(0)))
    }

    /// Reads everything again after a panic in the middle of an operation on this library.
    fn recover(&mut self) {
        self.importing = None;
        let outcome = contained(|| {
            self.models.outdate();
            self.state = self.store.load()?;
            self.looks.give_up();
            self.catch_up(&Progress::default())
        });
        if let Some(words) = outcome.map_or_else(Some, |outcome| outcome.err().map(|error| error.to_string())) {
            self.remarks.push(format!("{words}; {LATER}"));
        }
    }

    /// Brings the models up to date.
    fn catch_up(&mut self, progress: &Progress) -> Result<()> {
        let Self { store, cache, state, models, decoder, options, extraction, in_memory, .. } = self;
        let features = FeatureStore { cache, decoder, options, extraction, in_memory: *in_memory };
        let log = Log::of(models, store, cache, state)?;
        if !models.catch_up(&log, state, &features, progress)? {
            models.catch_up(&Log::whole(store)?, state, &features, progress)?;
        }
        self.read_sums();
        Ok(())
    }

    /// Teaches the models a step that changed some images. The step itself is on disk already:
    /// models that fail to learn it are taught again from their last checkpoint, and if that fails
    /// too, when the library is next opened.
    fn teach(&mut self, before: &State, images: &[ItemId]) {
        if self.models.are_behind() {
            return;
        }
        // An update of a few images is never cancelled, and neither is catching up after it.
        let progress = Progress::default();
        let Self { cache, state, models, decoder, options, extraction, in_memory, .. } = self;
        let features = FeatureStore { cache, decoder, options, extraction, in_memory: *in_memory };
        let update = ModelUpdate { before, after: state, images, features: &features, progress: &progress };
        let words = match contained(|| models.learn(&update)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(words) => words,
        };
        if !matches!(contained(|| self.catch_up(&progress)), Ok(Ok(()))) {
            self.remarks.push(format!("{words}; {LATER}"));
        }
    }
}
