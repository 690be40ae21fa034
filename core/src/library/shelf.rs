//! The elements of a recogniser that has too many for memory, read from `cache.db` when they are
//! compared. Those read last stay in memory, up to a number of bytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache::{Cache, CacheRow};
use super::event::ContentHash;
use super::features::{Extraction, FeatureStore, from_file, outlines, outlines_name};
use super::state::State;
use crate::ckm::CkmOptions;
use crate::ckm::element::Elements;
use crate::ckm::kept::Shelf;
use crate::ckm::outline::Outlines;
use crate::picture::Decoder;
use crate::progress::Progress;

/// Elements in `cache.db`, by the hashes of files.
pub(super) struct CacheShelf {
    rows: Mutex<Rows>,
    decoder: Arc<dyn Decoder>,
    options: CkmOptions,
    extraction: Extraction,
    /// Where files are, for rows that are damaged.
    state: Mutex<State>,
    recent: Mutex<Recent>,
}

/// The share of the budget for elements that those read last may take, as one over a number.
const RECENT: usize = 4;

/// Where elements are kept.
struct Rows {
    cache: Cache,
    /// Whether nothing may be written any more: what is forgotten would come back.
    is_closed: bool,
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
    /// Images whose elements could be neither read nor computed from a file, since the library
    /// changed last.
    lost: HashSet<u128>,
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
            rows: Mutex::new(Rows { cache: features.cache.again()?, is_closed: false }),
            decoder: Arc::clone(features.decoder),
            options: features.options.clone(),
            extraction: features.extraction.clone(),
            state: Mutex::new(state.clone()),
            recent: Mutex::new(Recent {
                limit: features.in_memory / RECENT,
                bytes: 0,
                elements: HashMap::new(),
                turns: BTreeMap::new(),
                turn: 0,
                lost: HashSet::new(),
            }),
        })
    }

    /// The name under which the outlines of a machine with these options are kept.
    pub(super) fn outlines_name(&self, options: &CkmOptions) -> String {
        outlines_name(options, &self.extraction)
    }

    /// Notes where files are now.
    pub(super) fn follow(&self, state: &State) {
        *lock(&self.state) = state.clone();
        lock(&self.recent).lost.clear();
    }

    /// Drops everything, and from now on writes nothing and keeps nothing in memory. Machines of
    /// before still read what is there.
    pub(super) fn close(&self) {
        lock(&self.rows).is_closed = true;
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
            let rows = lock(&self.rows);
            let row = |version: &str| rows.cache.feature(hash, version).ok();
            (row(own)?, cells.map_or(Some(CacheRow::Absent), row)?)
        };
        // With the file decoded anew, both rows are computed again.
        if cells == CacheRow::Damaged {
            return None;
        }
        self.extraction.read(own.sound().as_deref(), cells.sound().as_deref(), &self.options)
    }

    fn computed(&self, hash: ContentHash) -> Option<Elements> {
        let state = lock(&self.state).clone();
        let image = state.with_hash(hash)?;
        let picture = from_file(&state, image, &*self.decoder, &Progress::default())?;
        let cut = self.extraction.cut(hash, &picture).ok()?;
        let rows = lock(&self.rows);
        if !rows.is_closed {
            // Where it cannot be kept it is computed again.
            let _ = rows.cache.put(std::slice::from_ref(&cut));
        }
        drop(rows);
        self.extraction.read_cut(&cut, &self.options)
    }
}

impl Shelf for CacheShelf {
    fn read(&self, key: u128) -> Option<Arc<Elements>> {
        {
            let mut recent = lock(&self.recent);
            if let Some(known) = recent.get(key) {
                return Some(known);
            }
            if recent.lost.contains(&key) {
                return None;
            }
        }
        let hash = ContentHash(key);
        let found = self.cached(hash).or_else(|| self.computed(hash)).map(Arc::new);
        let mut recent = lock(&self.recent);
        match &found {
            Some(elements) => recent.put(key, elements),
            None => {
                recent.lost.insert(key);
            }
        }
        found
    }

    fn outlines(&self, options: &CkmOptions) -> Outlines {
        outlines(&lock(&self.rows).cache, options, &self.extraction)
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
