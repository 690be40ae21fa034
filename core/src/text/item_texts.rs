//! The texts of all items, those of an item side by side.

use std::collections::BTreeMap;

use super::keys::{TextKey, put, take};
use crate::ids::ItemId;

/// A word of an index, by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WordId(pub(super) u32);

/// The words of a text as numbers, seven bits a byte: how many different ones there are, these in
/// the words' order, and for each word of the text which of them it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a>(&'a [u8]);

/// Texts by their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemTexts {
    /// Of each item its texts in order: which one it is, its length in bytes, and these.
    of: BTreeMap<ItemId, Box<[u8]>>,
    len: usize,
}

/// About the bytes that an item takes beside its own: of the map, and of the allocator.
const ITEM: usize = 32;

impl WordId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'a> Text<'a> {
    /// Appends a text. `different` are the words of `sequence`, each once, in the words' order.
    fn write(bytes: &mut Vec<u8>, different: &[WordId], sequence: &[WordId]) {
        put(bytes, different.len() as u32);
        different.iter().for_each(|id| put(bytes, id.0));
        let place = |id: &WordId| different.iter().position(|other| other == id).unwrap_or_default();
        sequence.iter().for_each(|id| put(bytes, place(id) as u32));
    }

    /// How often each word occurs. In the words' order, not that of their ids, so that sums do not
    /// depend on the past.
    pub(super) fn counts(self) -> Vec<(WordId, u32)> {
        let mut rest = self.0;
        let different = take(&mut rest).unwrap_or_default();
        let mut counts: Vec<(WordId, u32)> = (0..different).filter_map(|_| Some((WordId(take(&mut rest)?), 0))).collect();
        while let Some(place) = take(&mut rest) {
            counts[place as usize].1 += 1;
        }
        counts
    }

    /// The words in their order.
    pub(super) fn sequence(self) -> Vec<WordId> {
        let mut rest = self.0;
        let different = take(&mut rest).unwrap_or_default();
        let ids: Vec<WordId> = (0..different).filter_map(|_| take(&mut rest).map(WordId)).collect();
        std::iter::from_fn(|| take(&mut rest)).map(|place| ids[place as usize]).collect()
    }

    /// The texts that follow each other in `bytes`, with their numbers.
    fn all(mut bytes: &'a [u8]) -> impl Iterator<Item = (u32, Self)> {
        std::iter::from_fn(move || {
            let (part, length) = (take(&mut bytes)?, take(&mut bytes)?);
            let (text, rest) = bytes.split_at_checked(length as usize)?;
            bytes = rest;
            Some((part, Self(text)))
        })
    }
}

impl ItemTexts {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Enters a text where there is none. O(texts of the item).
    pub(super) fn insert(&mut self, key: TextKey, different: &[WordId], sequence: &[WordId]) {
        let mut text = Vec::with_capacity(2 * different.len() + sequence.len() + 1);
        Text::write(&mut text, different, sequence);
        self.replace(key, Some(&text));
        self.len += 1;
    }

    /// Takes a text out. O(texts of the item).
    pub(super) fn remove(&mut self, key: TextKey) {
        if self.get(key).is_some() {
            self.replace(key, None);
            self.len -= 1;
        }
    }

    fn replace(&mut self, key: TextKey, text: Option<&[u8]>) {
        let before = self.of.remove(&key.item).unwrap_or_default();
        let mut others: Vec<(u32, &[u8])> =
            Text::all(&before).map(|(part, text)| (part, text.0)).filter(|(part, _)| *part != key.part).collect();
        if let Some(text) = text {
            others.insert(others.partition_point(|(part, _)| *part < key.part), (key.part, text));
        }
        if others.is_empty() {
            return;
        }
        let mut bytes = Vec::with_capacity(before.len() + text.map_or(0, <[u8]>::len) + 6);
        for (part, text) in others {
            put(&mut bytes, part);
            put(&mut bytes, text.len() as u32);
            bytes.extend_from_slice(text);
        }
        self.of.insert(key.item, bytes.into());
    }

    /// The text at a key. O(log items + texts of the item).
    pub(super) fn get(&self, key: TextKey) -> Option<Text<'_>> {
        self.of_item(key.item).find(|(other, _)| *other == key).map(|(_, text)| text)
    }

    /// The texts of an item, in order.
    pub(super) fn of_item(&self, item: ItemId) -> impl Iterator<Item = (TextKey, Text<'_>)> {
        let bytes = self.of.get(&item).map_or(&[][..], |bytes| bytes);
        Text::all(bytes).map(move |(part, text)| (TextKey { item, part }, text))
    }

    /// All texts by key.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TextKey, Text<'_>)> {
        self.of.iter().flat_map(|(item, bytes)| Text::all(bytes).map(move |(part, text)| (TextKey { item: *item, part }, text)))
    }

    /// About the bytes that they take in memory.
    pub(super) fn bytes(&self) -> usize {
        self.of.values().map(|bytes| ITEM + size_of::<(ItemId, Box<[u8]>)>() + bytes.len()).sum()
    }
}
