//! What the user says of images: that some belong together, and that some do not. The newest word
//! holds; clusters follow it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Library;
use super::acts::which;
use super::draft::{Acts, Draft};
pub use super::event::Bond;
use super::event::{Change, EventId, EventKind, Field, Swap};
use super::state::{Image, State};
use crate::error::Result;
use crate::hash::hash64;
use crate::ids::ItemId;
use crate::joined::Joined;

/// Pairs of images of which the user said that they belong together, or that they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bonds {
    /// Each pair once, the image with the lower number first.
    pairs: BTreeMap<(ItemId, ItemId), Bond>,
}

impl Bonds {
    /// The pairs of which one thing was said, in order.
    pub fn of(&self, bond: Bond) -> impl Iterator<Item = (ItemId, ItemId)> + '_ {
        self.pairs.iter().filter(move |(_, said)| **said == bond).map(|(pair, _)| *pair)
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// A hash of all pairs: the same as long as the same is said.
    pub fn mark(&self) -> u64 {
        let bytes = |((a, b), bond): (&(ItemId, ItemId), &Bond)| {
            a.0.to_le_bytes().into_iter().chain(b.0.to_le_bytes()).chain([u8::from(*bond == Bond::Together)])
        };
        hash64(&self.pairs.iter().flat_map(bytes).collect::<Vec<u8>>())
    }

    /// Says that images belong together, each with the next. What was said against it is dropped.
    /// O((images + pairs) * log(pairs)).
    pub fn say_together(&mut self, images: &[ItemId]) {
        for pair in images.windows(2) {
            self.put(pair[0], pair[1], Bond::Together);
        }
        let mut joined = self.joined();
        self.pairs.retain(|(a, b), bond| *bond == Bond::Together || joined.first(*a) != joined.first(*b));
    }

    /// Says that no two of these images belong together. What was said against it is dropped: of
    /// images that belong together and hold two of these, all that was said to join them.
    /// O((images^2 + pairs) * log(pairs)).
    pub fn say_apart(&mut self, images: &[ItemId]) {
        let mut joined = self.joined();
        let mut named: BTreeMap<ItemId, usize> = BTreeMap::new();
        for image in images {
            *named.entry(joined.first(*image)).or_insert(0) += 1;
        }
        self.pairs.retain(|(a, _), bond| *bond == Bond::Apart || named.get(&joined.first(*a)).is_none_or(|count| *count < 2));
        for (place, one) in images.iter().enumerate() {
            images[place + 1..].iter().for_each(|other| self.put(*one, *other, Bond::Apart));
        }
    }

    /// Says something of a pair, unless it is an image and itself.
    fn put(&mut self, one: ItemId, other: ItemId, bond: Bond) {
        if one != other {
            self.pairs.insert((one.min(other), one.max(other)), bond);
        }
    }

    /// Pairs that hold the same images together as all pairs do, of images that `is_there` admits
    /// alone: those that others held together stay so when these are gone.
    /// O((images + pairs) * log(pairs)).
    pub fn together_among(&self, is_there: impl Fn(ItemId) -> bool) -> Vec<(ItemId, ItemId)> {
        let mut joined = self.joined();
        let images: BTreeSet<ItemId> = self.of(Bond::Together).flat_map(|(a, b)| [a, b]).filter(|image| is_there(*image)).collect();
        let mut last: BTreeMap<ItemId, ItemId> = BTreeMap::new();
        images.into_iter().filter_map(|image| Some((last.insert(joined.first(image), image)?, image))).collect()
    }

    /// Pairs to say besides these, so that images that are held together by others, which go, stay
    /// so. O((images + pairs) * log(pairs)).
    fn bridges(&self, gone: &BTreeSet<ItemId>) -> Vec<(ItemId, ItemId)> {
        let is_left = |(a, b): &(ItemId, ItemId)| !gone.contains(a) && !gone.contains(b);
        let mut left = Joined::of(self.of(Bond::Together).filter(is_left));
        self.together_among(|image| !gone.contains(&image)).into_iter().filter(|(a, b)| left.join(*a, *b)).collect()
    }

    /// The images that belong together, also by way of others.
    fn joined(&self) -> Joined<ItemId> {
        Joined::of(self.of(Bond::Together))
    }

    /// The changes after which `self` is said and no longer `before`.
    fn changes_since(&self, before: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        let all: BTreeMap<_, _> = before.pairs.iter().chain(&self.pairs).collect();
        for pair in all.into_keys() {
            let (was, is) = (before.pairs.get(pair).copied(), self.pairs.get(pair).copied());
            if was != is {
                changes.push(Change::Image(pair.0, Field::Bond(pair.1, Swap(was, is))));
            }
        }
        changes
    }
}

impl State {
    /// What the user said of pairs of images, removed ones too. O(images).
    pub fn bonds(&self) -> Bonds {
        let of = |image: &Arc<Image>| image.bonds.iter().map(|(other, bond)| ((image.id, *other), *bond)).collect::<Vec<_>>();
        Bonds { pairs: self.records().iter().flat_map(of).collect() }
    }
}

impl Acts<'_> {
    /// Says that images belong together, or that no two of them do.
    ///
    /// # Errors
    /// As [`Acts::label`]; [`crate::Error::Unfit`] for fewer than two images.
    pub fn say_bond(&self, images: &[ItemId], bond: Bond) -> Result<Draft> {
        let known = self.present(images)?;
        if known.len() < 2 {
            return Err(self.unfit("images", "fewer than two".into(), "two different images or more"));
        }
        let before = self.state.bonds();
        let mut after = before.clone();
        let verb = match bond {
            Bond::Together => {
                after.say_together(images);
                "belong together"
            }
            Bond::Apart => {
                after.say_apart(images);
                "do not belong together"
            }
        };
        let changes = after.changes_since(&before);
        // An event that says more than this pair would keep the names when one of the two is
        // forgotten.
        let which = match (&known[..], changes.len()) {
            ([one, other], ..=1) => format!("{} and {}", one.file_name(), other.file_name()),
            _ => which(self.state, images),
        };
        Ok(Draft::new(format!("Said that {which} {verb}"), changes))
    }

    /// Drops all that was said of pairs of images.
    pub fn drop_bonds(&self) -> Draft {
        let before = self.state.bonds();
        let words = format!("Dropped what was said of {}", crate::plural::count(before.len(), "pair"));
        Draft::new(words, Bonds::default().changes_since(&before))
    }
}

impl Library {
    /// Says that images belong together, or that no two of them do. Returns its event, or `None`
    /// when it would change nothing.
    ///
    /// # Errors
    /// As [`Acts::say_bond`]; [`crate::Error::Io`].
    pub fn say_bond(&mut self, images: &[ItemId], bond: Bond) -> Result<Option<EventId>> {
        let draft = self.acts().say_bond(images, bond)?;
        self.commit(None, EventKind::Act, draft)
    }

    /// As [`Library::say_bond`], told by other words: those of what it was said for.
    pub(super) fn say_bond_for(&mut self, images: &[ItemId], bond: Bond, words: String) -> Result<Option<EventId>> {
        let draft = Draft { words, ..self.acts().say_bond(images, bond)? };
        self.commit(None, EventKind::Act, draft)
    }

    /// Says that images belong together that do so now by others alone, which are to be forgotten.
    pub(super) fn bridge_bonds(&mut self, gone: &BTreeSet<ItemId>) -> Result<()> {
        let say = |(one, other)| Change::Image(one, Field::Bond(other, Swap(None, Some(Bond::Together))));
        let changes = self.state.bonds().bridges(gone).into_iter().map(say).collect();
        self.commit(None, EventKind::Final, Draft::new("Said anew that images belong together".to_owned(), changes)).map(|_| ())
    }

    /// Drops all that was said of pairs of images. Returns its event, or `None` when nothing was.
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn drop_bonds(&mut self) -> Result<Option<EventId>> {
        let draft = self.acts().drop_bonds();
        self.commit(None, EventKind::Act, draft)
    }
}
