//! Which memory was made from which text of which image, and the images that have a word.

use std::collections::BTreeMap;

use super::runs::Runs;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ItemId;

/// Which text of an image a memory was made from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemorySource {
    /// Its class.
    Class,
    /// One of its captions.
    Caption(u32),
    /// A query that it answers.
    Lesson(String),
}

/// The text of each memory, and the other way round. Most memories are of classes and captions,
/// which are told apart by a number: 0 is the class.
#[derive(Default)]
pub(super) struct Sources {
    of: Runs<ItemId, (ItemId, u32)>,
    texts: Runs<(ItemId, u32), ItemId>,
    of_lessons: BTreeMap<ItemId, (ItemId, String)>,
    lessons: BTreeMap<(ItemId, String), ItemId>,
}

fn source(number: u32) -> MemorySource {
    number.checked_sub(1).map_or(MemorySource::Class, MemorySource::Caption)
}

/// The number of a source that is no lesson.
fn number(of: &MemorySource) -> Option<u32> {
    match of {
        MemorySource::Class => Some(0),
        MemorySource::Caption(n) => Some(n.saturating_add(1)),
        MemorySource::Lesson(_) => None,
    }
}

impl Sources {
    pub(super) fn insert(&mut self, id: ItemId, image: ItemId, source: MemorySource) {
        match (number(&source), source) {
            (Some(number), _) => {
                self.of.insert(id, (image, number));
                self.texts.insert((image, number), id);
            }
            (None, MemorySource::Lesson(query)) => {
                self.of_lessons.insert(id, (image, query.clone()));
                self.lessons.insert((image, query), id);
            }
            (None, _) => {}
        }
    }

    pub(super) fn remove(&mut self, image: ItemId, source: &MemorySource) -> Option<ItemId> {
        let id = match (number(source), source) {
            (Some(number), _) => self.texts.remove((image, number)),
            (None, MemorySource::Lesson(query)) => self.lessons.remove(&(image, query.clone())),
            (None, _) => None,
        }?;
        self.of.remove(id);
        self.of_lessons.remove(&id);
        Some(id)
    }

    /// The memory of a text of an image.
    pub(super) fn id(&self, image: ItemId, source: &MemorySource) -> Option<ItemId> {
        match (number(source), source) {
            (Some(number), _) => self.texts.get((image, number)),
            (None, MemorySource::Lesson(query)) => self.lessons.get(&(image, query.clone())).copied(),
            (None, _) => None,
        }
    }

    /// The image of a memory, and its text.
    pub(super) fn get(&self, id: ItemId) -> Option<(ItemId, MemorySource)> {
        let of_text = self.of.get(id).map(|(image, number)| (image, source(number)));
        of_text.or_else(|| self.of_lessons.get(&id).map(|(image, query)| (*image, MemorySource::Lesson(query.clone()))))
    }

    /// The memories of the class and the captions of an image.
    pub(super) fn of_image(&self, image: ItemId) -> impl Iterator<Item = (MemorySource, ItemId)> {
        let of_image = self.texts.from((image, 0)).take_while(move |((of, _), _)| *of == image);
        of_image.map(|((_, number), id)| (source(number), id))
    }

    pub(super) fn len(&self) -> usize {
        self.of.len() + self.of_lessons.len()
    }

    /// The bytes that they take in memory, without lessons.
    pub(super) fn bytes(&self) -> usize {
        self.of.bytes() + self.texts.bytes()
    }

    /// All memories in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ItemId, ItemId, MemorySource)> {
        let mut ids: Vec<ItemId> = self.of.iter().map(|(id, _)| id).chain(self.of_lessons.keys().copied()).collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.get(id).map(|(image, source)| (id, image, source)))
    }
}

/// The images that have a word, in order, with how much of a text it is.
pub(super) type Having = Runs<ItemId, f32>;

impl Stored for MemorySource {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Class => out.put(&0u8),
            Self::Caption(n) => {
                out.put(&1u8);
                out.put(n);
            }
            Self::Lesson(query) => {
                out.put(&2u8);
                out.put(query);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.get::<u8>()? {
            0 => Ok(Self::Class),
            1 => Ok(Self::Caption(from.get()?)),
            2 => Ok(Self::Lesson(from.get()?)),
            other => Err(from.wrong("a source of a memory, 0 to 2", other.to_string())),
        }
    }
}
