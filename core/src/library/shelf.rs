//! The elements of a recogniser that has too many for memory, read from `cache.db` when they are
//! compared. Those read last stay in memory, up to a number of bytes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache::Cache;
use super::event::ContentHash;
use super::features::{Extraction, FeatureStore, from_file};
use super::state::State;
use crate::ckm::CkmOptions;
use crate::ckm::element::Elements;
use crate::ckm::kept::Shelf;
use crate::picture::Decoder;
use crate::progress::Progress;

/// Elements in `cache.db`, by the hashes of files.
pub(super) struct CacheShelf {
    cache: Mutex<Cache>,
    decoder: Arc<dyn Decoder>,
    options: CkmOptions,
    extraction: Extraction,
    /// Where files are, for rows that are damaged.
    state: Mutex<State>,
    recent: Mutex<Recent>,
}

/// The elements that were read last.
struct Recent {
    /// The most bytes; 0 when it is closed.
    limit: usize,
    bytes: usize,
    /// Each with the turn in which it was last asked for.
    elements: HashMap<u128, (u64, Arc<Elements>)>,
    turns: BTreeMap<u64, u128>,
    turn: u64,
    /// Images whose elements could not be read, nor computed from a file.
    lost: u64,
}

impl fmt::Debug for CacheShelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheShelf").finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CacheShelf {
    /// The elements that `features` has; `None` where they are in no file.
    pub(super) fn new(features: &FeatureStore<'_>, state: &State) -> Option<Self> {
        Some(Self {
            cache: Mutex::new(features.cache.again()?),
            decoder: Arc::clone(features.decoder),
            options: features.options.clone(),
            extraction: features.extraction.clone(),
            state: Mutex::new(state.clone()),
            recent: Mutex::new(Recent {
                limit: features.in_memory / 2,
                bytes: 0,
                elements: HashMap::new(),
                turns: BTreeMap::new(),
                turn: 0,
                lost: 0,
            }),
        })
    }

    /// Notes where files are now.
    pub(super) fn follow(&self, state: &State) {
        *lock(&self.state) = state.clone();
    }

    /// Drops everything, and keeps nothing in memory from now on.
    pub(super) fn close(&self) {
        *lock(&self.state) = State::default();
        let mut recent = lock(&self.recent);
        (recent.limit, recent.bytes) = (0, 0);
        (recent.elements, recent.turns) = Default::default();
    }

    /// The bytes of elements that are in memory.
    pub(super) fn bytes(&self) -> usize {
        lock(&self.recent).bytes
    }

    /// The rows are read one after the other; everything else is done by the thread that asks.
    fn cached(&self, hash: ContentHash) -> Option<Elements> {
        let (own, cells) = self.extraction.versions(&self.options);
        let (own, cells) = {
            let cache = lock(&self.cache);
            let row = |version: &str| cache.feature(hash, version).ok()?.sound();
            (row(own), cells.and_then(row))
        };
        self.extraction.read(own.as_deref(), cells.as_deref(), &self.options)
    }

    fn computed(&self, hash: ContentHash) -> Option<Elements> {
        let state = lock(&self.state).clone();
        let image = state.with_hash(hash)?;
        let picture = from_file(&state, image, &*self.decoder, &Progress::default())?;
        let cut = self.extraction.cut(hash, &picture).ok()?;
        // Where it cannot be kept it is computed again.
        let _ = lock(&self.cache).put(std::slice::from_ref(&cut));
        self.extraction.read_cut(&cut, &self.options)
    }
}

impl Shelf for CacheShelf {
    fn read(&self, key: u128) -> Option<Arc<Elements>> {
        if let Some(known) = lock(&self.recent).get(key) {
            return Some(known);
        }
        let hash = ContentHash(key);
        let found = self.cached(hash).or_else(|| self.computed(hash)).map(Arc::new);
        let mut recent = lock(&self.recent);
        match &found {
            Some(elements) => recent.put(key, elements),
            None => recent.lost += 1,
        }
        found
    }
}

impl Recent {
    fn get(&mut self, key: u128) -> Option<Arc<Elements>> {
        let (turn, elements) = self.elements.get_mut(&key)?;
        self.turns.remove(turn);
        self.turn += 1;
        *turn = self.turn;
        self.turns.insert(self.turn, key);
        Some(Arc::clone(elements))
    }

    fn put(&mut self, key: u128, elements: &Arc<Elements>) {
        let bytes = elements.bytes();
        if bytes > self.limit || self.elements.contains_key(&key) {
            return;
        }
        self.bytes += bytes;
        while self.bytes > self.limit
            && let Some((_, oldest)) = self.turns.pop_first()
        {
            self.bytes -= self.elements.remove(&oldest).map_or(0, |(_, gone)| gone.bytes());
        }
        self.turn += 1;
        self.turns.insert(self.turn, key);
        self.elements.insert(key, (self.turn, Arc::clone(elements)));
    }
}
