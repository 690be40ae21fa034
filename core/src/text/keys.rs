//! The texts that have a word: a sorted set of keys, in about two bytes a key.

use crate::ids::ItemId;

/// One of the texts of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey {
    /// The item.
    pub item: ItemId,
    /// Which of its texts.
    pub part: u32,
}

/// Keys of a full run.
const RUN: usize = 128;

/// A sorted set of keys, cut into runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys {
    runs: Vec<Run>,
    len: usize,
}

/// Keys side by side: the first and the last, and between them the steps from each to the next.
#[derive(Clone, Debug)]
struct Run {
    first: TextKey,
    last: TextKey,
    /// For each key but the first how much higher its item is, and its part, or how much higher
    /// that is where the item is the same; seven bits a byte, the lowest first.
    steps: Vec<u8>,
    len: u32,
}

/// Appends a number, seven bits a byte, the lowest first.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number that [`put`] appended.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

impl Run {
    fn of(keys: &[TextKey]) -> Option<Self> {
        let (first, rest) = keys.split_first()?;
        let mut run = Self { first: *first, last: *first, steps: Vec::new(), len: 1 };
        rest.iter().for_each(|key| run.push(*key));
        run.steps.shrink_to_fit();
        Some(run)
    }

    /// Appends a key that is higher than all.
    fn push(&mut self, key: TextKey) {
        let items = key.item.0 - self.last.item.0;
        put(&mut self.steps, items);
        put(&mut self.steps, if items > 0 { key.part } else { key.part - self.last.part });
        (self.last, self.len) = (key, self.len + 1);
    }

    fn keys(&self) -> impl Iterator<Item = TextKey> + use<'_> {
        let (mut key, mut steps) = (self.first, &self.steps[..]);
        let rest = std::iter::from_fn(move || {
            let (items, part) = (take(&mut steps)?, take(&mut steps)?);
            key = TextKey { item: ItemId(key.item.0 + items), part: if items > 0 { part } else { key.part + part } };
            Some(key)
        });
        std::iter::once(self.first).chain(rest)
    }
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// In ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = TextKey> + use<'_> {
        self.runs.iter().flat_map(Run::keys)
    }

    /// The bytes that they take in memory.
    pub(super) fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>() + self.runs.iter().map(|run| run.steps.capacity()).sum::<usize>()
    }

    /// Adds a key. O(runs), and in the middle O(a run).
    pub(super) fn insert(&mut self, key: TextKey) {
        let at = self.runs.partition_point(|run| run.last < key);
        match self.runs.get(at) {
            // Behind all others, as they mostly come.
            None => match self.runs.last_mut().filter(|run| (run.len as usize) < RUN) {
                Some(run) => run.push(key),
                None => {
                    if let Some(full) = self.runs.last_mut() {
                        full.steps.shrink_to_fit();
                    } else {
                        self.runs.reserve_exact(1);
                    }
                    self.runs.push(Run { first: key, last: key, steps: Vec::new(), len: 1 });
                }
            },
            Some(run) => {
                let mut keys: Vec<TextKey> = run.keys().collect();
                let Err(place) = keys.binary_search(&key) else { return };
                keys.insert(place, key);
                let (one, two) = keys.split_at(if keys.len() > RUN { keys.len() / 2 } else { 0 });
                self.runs.splice(at..=at, [one, two].into_iter().filter_map(Run::of));
            }
        }
        self.len += 1;
    }

    /// Removes a key. O(runs + a run).
    pub(super) fn remove(&mut self, key: TextKey) {
        let at = self.runs.partition_point(|run| run.last < key);
        let Some(run) = self.runs.get(at) else { return };
        let mut keys: Vec<TextKey> = run.keys().collect();
        let Ok(place) = keys.binary_search(&key) else { return };
        keys.remove(place);
        self.runs.splice(at..=at, Run::of(&keys));
        self.len -= 1;
    }
}
