//! Images of a library that look like one: by which of their vectors, how alike, and an index that
//! answers for many.
//!
//! Few images are all compared. From [`FIRST`] images on each kind of vector has an index of cells
//! ([`crate::ann::cells::CellCandidates`]), which names some hundred candidates; these are compared
//! exactly as all would be, so an index may leave an image out, but never changes a likeness or an
//! order. What it leaves out is measured on the library's own images ([`LookCurve`]), and a query
//! asks for a recall. An index follows every event: images that come are compared with each query
//! until they are entered, and images that go are never found. It is kept in the cache; where it is
//! lost, all images are compared until [`grow`] has made it again.

mod grow;
mod index;
mod likeness;
mod part;
mod rows;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

pub use grow::{CODES, grow};
pub use index::LookCurve;
pub(super) use index::LookIndex;
pub(super) use likeness::{Likeness, Seen};
pub use part::PartSeen;
pub use rows::{LookRows, rows};

use super::Library;
use super::cache::Cache;
use super::event::EventId;
use super::glimpse::Glimpse;
use super::hold;
use super::state::{Image, State};
use crate::bytes::{Reader, Stored, Writer, restored, stored};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::TopK;
use crate::picture::appearance::{Appearance, VERSION};
use crate::progress::Progress;

/// Images from which on there is an index.
pub const FIRST: usize = 4096;

/// The recall that is promised where none is asked for.
pub const RECALL: f64 = 0.95;

/// The vectors by which images are alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Look {
    /// Where edges run and where colours are, each for a half.
    Appearance,
    /// Where edges run.
    Edges,
    /// Where colours are.
    Colours,
    /// What the network sees.
    Network,
    /// The words of their captions.
    Words,
    /// The mean values of the recogniser's elements.
    Elements,
    /// A set of vectors that the user brought, by its name.
    Brought(Arc<str>),
}

impl Stored for Look {
    fn write(&self, out: &mut Writer) {
        out.put(&matches!(self, Self::Brought(_)));
        out.put(&self.name().to_owned());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (is_brought, name): (bool, String) = (from.get()?, from.get()?);
        let built_in = Self::BUILT_IN.into_iter().find(|look| look.name() == name);
        let look = if is_brought { Some(Self::Brought(name.as_str().into())) } else { built_in };
        look.ok_or_else(|| from.wrong("known vectors", name))
    }
}

impl Look {
    /// Those of every library.
    pub const BUILT_IN: [Self; 6] = [Self::Appearance, Self::Edges, Self::Colours, Self::Network, Self::Words, Self::Elements];

    /// Its name in files and on the command line.
    pub fn name(&self) -> &str {
        match self {
            Self::Appearance => "appearance",
            Self::Edges => "edges",
            Self::Colours => "colours",
            Self::Network => "network",
            Self::Words => "words",
            Self::Elements => "elements",
            Self::Brought(set) => set,
        }
    }

    /// What is compared, in words.
    pub fn words(&self) -> &str {
        match self {
            Self::Appearance => "edges and colours",
            Self::Edges => "edges",
            Self::Colours => "colours",
            Self::Network => "what the network sees",
            Self::Words => "words of captions",
            Self::Elements => "the recogniser's elements",
            Self::Brought(set) => set,
        }
    }

    /// Those of a library: the built-in ones, and the sets that the user brought. O(images).
    pub fn all(state: &State) -> impl Iterator<Item = Self> {
        Self::BUILT_IN.into_iter().chain(state.vector_sets().into_keys().map(|set| Self::Brought(set.into())))
    }

    /// Whether there can be an index of them. Not of vectors that depend on more than their image:
    /// what a word counts on all captions, elements on how the recogniser is built.
    pub fn has_index(&self) -> bool {
        !matches!(self, Self::Words | Self::Elements)
    }

    /// Whether the network must have looked at images for them.
    pub fn takes_network(&self) -> bool {
        matches!(self, Self::Network | Self::Elements)
    }

    /// Whether only an image of a library, as a whole, can have one.
    pub fn is_of_items(&self) -> bool {
        matches!(self, Self::Words | Self::Elements | Self::Brought(_))
    }

    /// The model whose checkpoint its index is.
    fn model(&self) -> String {
        match self {
            Self::Brought(set) => format!("looks by vectors {set}"),
            built_in => format!("looks by {}", built_in.name()),
        }
    }
}

/// What images are to look like.
#[derive(Clone, Debug, PartialEq)]
pub struct LookQuery {
    /// The appearance.
    pub appearance: Appearance,
    /// What the network sees in it, where learned features are on.
    pub glimpse: Option<Glimpse>,
    /// The quarters of a part of an image: images are found by their most alike parts then, where
    /// what the network sees is compared.
    pub part: Option<Arc<PartSeen>>,
    /// The image it was taken of, if of the whole image: that image is not found itself.
    pub of: Option<ItemId>,
    /// The vectors that are compared; where none are named, what the network sees, if it has looked
    /// at nine tenths of the images, and otherwise appearances.
    pub by: Option<Look>,
    /// The share of the most alike images that an index is to find, 0 to 1; with 1 all images are
    /// compared.
    pub recall: f64,
    /// Whether an index also answers where there are fewer images than it is made for.
    pub also_few: bool,
}

impl LookQuery {
    /// Images like this one, by the usual vectors and with the usual recall.
    pub fn new(appearance: Appearance, glimpse: Option<Glimpse>, of: Option<ItemId>) -> Self {
        Self { appearance, glimpse, part: None, of, by: None, recall: RECALL, also_few: false }
    }
}

/// An image that looks like what was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookAlike {
    /// The image.
    pub image: ItemId,
    /// How alike it is: at most 1, which is the same.
    pub likeness: f64,
    /// The probability that it is one of the most alike images of all, as it was measured for its
    /// place; 1 where all images were compared.
    pub probability: f64,
}

/// How look-alikes were found.
#[derive(Clone, Debug, PartialEq)]
pub struct LookSearch {
    /// By which vectors.
    pub by: Look,
    /// Images that were compared.
    pub compared: usize,
    /// Of these, images whose parts were compared, not only they as wholes.
    pub by_parts: usize,
    /// The recall of the index, measured on images of the library; none where all were compared.
    pub recall: Option<f64>,
}

/// Look-alikes, the most alike first, and how they were found.
#[derive(Clone, Debug, PartialEq)]
pub struct LookAlikes {
    /// The images.
    pub list: Vec<LookAlike>,
    /// How they were found.
    pub search: LookSearch,
}

/// The indexes of a library.
#[derive(Debug, Default)]
pub(super) struct LookIndexes {
    of: BTreeMap<Look, LookIndex>,
    /// Whether the cache was asked for them.
    is_read: bool,
    /// Images whose vectors should be in the cache and are not.
    lost: RefCell<BTreeSet<ItemId>>,
    /// How often they were given up, as what was forgotten must be in none.
    given_up: u64,
}

impl LookIndexes {
    /// Follows an event that changed some images.
    pub(super) fn follow(&mut self, state: &State, images: &[ItemId]) {
        self.of.values_mut().for_each(|index| index.follow(state, images));
    }

    /// Gives all of them up, also those that are being made.
    pub(super) fn give_up(&mut self) {
        *self = Self { given_up: self.given_up + 1, ..Self::default() };
    }

    /// Whether the cache has one otherwise.
    pub(super) fn are_changed(&self) -> bool {
        self.of.values().any(|index| index.is_changed) || !self.lost.borrow().is_empty()
    }

    /// Takes out images whose vectors are lost: they wait to be looked at again.
    fn drop_lost(&mut self) {
        for id in std::mem::take(self.lost.get_mut()) {
            self.of.values_mut().for_each(|index| index.leave(id));
        }
    }

    /// Reads those that are in the cache. One that is damaged or of another version is as if it
    /// were not there.
    fn read(&mut self, cache: &Cache, state: &State) -> Result<()> {
        if self.is_read {
            return Ok(());
        }
        for look in Look::all(state) {
            let found = cache.checkpoint(&look.model())?;
            if let Some(mut index) =
                found.and_then(|(_, bytes)| restored::<LookIndex>("index of looks", &bytes).ok()).filter(|index| *index.look() == look)
            {
                index.follow_all(state);
                self.of.insert(look, index);
            }
        }
        self.is_read = true;
        Ok(())
    }

    /// Writes those that have changed to the cache.
    pub(super) fn keep(&mut self, cache: &mut Cache, after: EventId) -> Result<()> {
        self.drop_lost();
        for (look, index) in self.of.iter_mut().filter(|(_, index)| index.is_changed) {
            cache.put_checkpoint(&look.model(), after, stored(index))?;
            index.is_changed = false;
        }
        Ok(())
    }
}

/// Images whose vectors are loaded between two moments in which the library is free.
const TURN: usize = 1000;

/// Calls `load` with a number of images, which returns how many are left, until none are; the
/// library is free in between.
///
/// # Errors
/// Those of `load`; [`crate::Error::Cancelled`].
pub fn load_in_turns(library: &Mutex<Library>, progress: &Progress, load: impl Fn(&mut Library, usize) -> Result<usize>) -> Result<()> {
    let mut total = None;
    loop {
        let left = load(&mut hold(library), TURN)?;
        let all = *total.get_or_insert(left);
        if all > 0 && left == all {
            progress.begin("Looking at images", all.div_ceil(TURN) as u64);
        }
        if left == 0 {
            return Ok(());
        }
        progress.step()?;
    }
}

/// Prepares a search for images that look like one, by these vectors or by the usual ones: loads
/// what is not in an index ([`Library::load_looks`]). Returns the vectors that are compared.
///
/// # Errors
/// As [`Library::load_looks`]; [`crate::Error::Cancelled`].
pub fn load(library: &Mutex<Library>, by: Option<&Look>, progress: &Progress) -> Result<Look> {
    let load = |look: &Look| load_in_turns(library, progress, |library, n| library.load_looks(look, n));
    if let Some(look) = by {
        load(look)?;
        return Ok(look.clone());
    }
    if hold(library).has_learned_features() {
        load(&Look::Network)?;
    }
    let look = hold(library).usual_look();
    if look != Look::Network {
        load(&look)?;
    }
    Ok(look)
}

impl Library {
    /// Whether the network has looked at nine tenths of the images, as far as that is in memory or
    /// in an index; before any index was read, as far as it is in the cache.
    fn sees(&self) -> bool {
        let is_known = |image: &Image| self.is_indexed(&Look::Network, image) || self.glimpse(image).is_some();
        self.sees_enough(is_known) || !self.looks.is_read && self.has_glimpses()
    }

    /// The vectors that a query compares.
    pub fn look_of(&self, query: &LookQuery) -> Look {
        query.by.clone().unwrap_or_else(|| if query.glimpse.is_some() && self.sees() { Look::Network } else { Look::Appearance })
    }

    /// Whether an image may have a vector of this kind, which is then loaded by
    /// [`Library::load_looks`].
    pub fn can_have(&self, look: &Look, image: ItemId) -> bool {
        self.state.image(image).is_some_and(|image| match look {
            Look::Words => !image.captions.is_empty(),
            Look::Brought(set) => image.vectors.contains_key(&**set),
            Look::Network => self.has_learned_features(),
            Look::Appearance | Look::Edges | Look::Colours | Look::Elements => true,
        })
    }

    /// Whether an image has a vector of this kind, in memory ([`Library::load_looks`]) or in the
    /// cache.
    pub fn has_look(&self, look: &Look, image: ItemId) -> bool {
        self.state.image(image).is_some_and(|image| image.is_live() && self.seen_anywhere(look, image).is_some())
    }

    /// The vectors that are compared where none are named.
    pub fn usual_look(&self) -> Look {
        if self.sees() { Look::Network } else { Look::Appearance }
    }

    /// Prepares for queries by these vectors: what the cache has of an index is read, and the
    /// vectors of at most `n` images that are not in it are loaded and entered. Returns the number
    /// of images still to be loaded: call it until that is 0. O(images + n vectors).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn load_looks(&mut self, look: &Look, n: usize) -> Result<usize> {
        self.looks.read(&self.cache, &self.state)?;
        self.looks.drop_lost();
        // Its own vectors need not be in memory.
        let index = self.looks.of.remove(look);
        let is_needless = |image: &Image| index.as_ref().is_some_and(|index| index.holds(image));
        let left = match look {
            Look::Network => self.load_glimpses_except(n, is_needless),
            Look::Appearance | Look::Edges | Look::Colours => self.load_appearances_except(n, is_needless),
            Look::Elements => self.load_wholes(n),
            Look::Words | Look::Brought(_) => Ok(0),
        };
        let Some(mut index) = index else { return left };
        for id in index.waiting() {
            if let Some((image, seen)) = self.state.image(id).and_then(|image| Some((image, self.seen(look, image)?))) {
                index.enter(image, &seen);
            }
        }
        self.looks.of.insert(look.clone(), index);
        left
    }

    /// Of which elements these vectors are told; empty for those that are told of none.
    pub(super) fn look_version(&self, look: &Look) -> String {
        if *look == Look::Elements { self.whole_version() } else { String::new() }
    }

    /// Whether an image is in the index of these vectors.
    fn is_indexed(&self, look: &Look, image: &Image) -> bool {
        self.looks.of.get(look).is_some_and(|index| index.holds(image))
    }

    /// The kinds of vectors whose index should be made, or made anew: there are [`FIRST`] images or
    /// more, and it is not there or was made for half as many. Of those that are not usual only
    /// `also` is named. Indexes that no query has needed so far are read for it, and not kept in
    /// memory. O(images).
    ///
    /// # Errors
    /// [`crate::Error::Io`] when the cache cannot be used.
    pub fn looks_due(&self, also: Option<&Look>) -> Result<Vec<Look>> {
        if self.read_only.is_some() || self.state.images().nth(FIRST - 1).is_none() {
            return Ok(Vec::new());
        }
        let mut read = LookIndexes::default();
        if !self.looks.is_read {
            read.read(&self.cache, &self.state)?;
        }
        let indexes = if self.looks.is_read { &self.looks.of } else { &read.of };
        let is_wanted = |look: &Look| match look {
            Look::Network => self.has_learned_features(),
            Look::Appearance if !self.has_learned_features() => true,
            other => also == Some(other) || indexes.contains_key(other),
        };
        let is_due = |look: &Look| indexes.get(look).is_none_or(LookIndex::is_due);
        Ok(Look::all(&self.state).filter(Look::has_index).filter(is_wanted).filter(is_due).collect())
    }

    /// What was measured of the index of these vectors on the library's own images, for queries of
    /// `k` neighbours: of each way to search that none other beats its recall, the cheapest first.
    /// None where there is no index or it was not measured for so many: all images are compared
    /// then.
    pub fn look_curve(&self, look: &Look, k: usize) -> Option<&LookCurve> {
        self.looks.of.get(look)?.curve(k)
    }

    /// What is known of an image's look, in memory, or else in the cache if the index has it.
    fn seen(&self, look: &Look, image: &Image) -> Option<Seen<'_>> {
        let row = |version| {
            let hash = image.content.filter(|_| self.is_indexed(look, image))?.hash;
            let found = self.cache.feature(hash, version).ok()?.sound();
            if found.is_none() {
                self.looks.lost.borrow_mut().insert(image.id);
            }
            found
        };
        match look {
            Look::Network => {
                self.extraction.cells.as_ref()?;
                let in_cache = || Glimpse::from_bytes(&row(Glimpse::VERSION)?).map(Cow::Owned);
                self.glimpse(image).map(Cow::Borrowed).or_else(in_cache).map(Seen::Network)
            }
            Look::Appearance | Look::Edges | Look::Colours => {
                let in_cache = || Appearance::from_bytes(&row(VERSION)?).map(Cow::Owned);
                self.appearance(image).map(Cow::Borrowed).or_else(in_cache).map(Seen::Appearance)
            }
            Look::Words => self.caption_vector(image).map(Seen::Vector),
            Look::Elements => self.whole(image).map(Seen::Vector),
            Look::Brought(set) => image.vectors.get(&**set).cloned().map(Seen::Vector),
        }
    }

    /// What is known of an image's look, in memory or in the cache, whether there is an index or
    /// not.
    pub(super) fn seen_anywhere(&self, look: &Look, image: &Image) -> Option<Seen<'_>> {
        self.seen(look, image).or_else(|| match look {
            Look::Network => self.glimpse_of(image).map(Cow::Owned).map(Seen::Network),
            Look::Appearance | Look::Edges | Look::Colours => self.appearance_of(image).map(Cow::Owned).map(Seen::Appearance),
            Look::Elements => self.kept_whole(image).map(Seen::Vector),
            Look::Words | Look::Brought(_) => None,
        })
    }

    /// What the network sees in an image, in memory or in the cache, if learned features are on.
    pub fn glimpse_of(&self, image: &Image) -> Option<Glimpse> {
        self.extraction.cells.as_ref()?;
        let in_cache = || Glimpse::from_bytes(&self.cache.feature(image.content?.hash, Glimpse::VERSION).ok()?.sound()?);
        self.glimpse(image).cloned().or_else(in_cache)
    }

    /// Prepares to measure how alike images are to what is looked for; `None` where its vector is
    /// not known. O(images) where that takes what is common to all and there is no index.
    pub(super) fn likeness_to(&self, query: &LookQuery) -> Option<Likeness> {
        let look = self.look_of(query);
        let seen = match &look {
            Look::Network => Seen::Network(Cow::Borrowed(query.glimpse.as_ref()?)),
            Look::Appearance | Look::Edges | Look::Colours => Seen::Appearance(Cow::Borrowed(&query.appearance)),
            Look::Words | Look::Elements | Look::Brought(_) => self.seen_anywhere(&look, self.state.image(query.of?)?)?,
        };
        let common = self.looks.of.get(&look).map(|index| index.common().to_vec());
        let all = || self.state.images().filter_map(|image| self.glimpse(image));
        let mean = || if look == Look::Network { super::glimpse::common(all()) } else { Vec::new() };
        Some(Likeness::new(look.clone(), seen.into_owned(), common.unwrap_or_else(mean)))
    }

    /// How alike an image is by a prepared measure; `None` for an image of which what that takes is
    /// neither in memory nor in an index.
    pub(super) fn likeness_of(&self, likeness: &Likeness, image: &Image) -> Option<f64> {
        self.seen(likeness.look(), image).and_then(|seen| likeness.of(&seen))
    }

    /// The `k` images that are most alike to what is looked for and that `fits` admits, most alike
    /// first; of equals the lower identifier comes first. By an index where there is one, a recall
    /// below 1 is asked for, and most images are admitted; otherwise of all images that are in
    /// memory ([`Library::load_looks`]), in O(images). A part of an image is compared with the
    /// parts of the 1,000 images that are most alike to it as wholes.
    pub fn look_alikes(&self, query: &LookQuery, k: usize, fits: impl Fn(ItemId) -> bool) -> LookAlikes {
        let Some(likeness) = self.likeness_to(query) else {
            let by = self.look_of(query);
            return LookAlikes { list: Vec::new(), search: LookSearch { by, compared: 0, by_parts: 0, recall: None } };
        };
        let measured = |image: &Arc<Image>| Some((image.id, self.likeness_of(&likeness, image)?));
        let is_used = |index: &&LookIndex| query.recall < 1.0 && (query.also_few || index.len() >= FIRST / 2);
        let index = self.looks.of.get(likeness.look()).filter(is_used);
        let named = index
            .and_then(|index| index.candidates(&likeness, query.recall, (k, if query.part.is_some() { part::COMPARED } else { 0 }), &fits));
        let (found, probabilities, recall): (Vec<(ItemId, f64)>, _, _) = match named {
            Some(named) => {
                let images = named.images.iter().filter_map(|id| self.state.image(*id)).filter(|image| image.is_live());
                (images.filter_map(measured).collect(), named.probabilities, Some(named.recall))
            }
            None => (self.state.images().filter(|image| fits(image.id)).filter_map(measured).collect(), &[][..], None),
        };
        let compared = found.len();
        let by_parts = self.by_parts(query, &likeness, &found);
        let n_by_parts = by_parts.as_ref().map_or(0, Vec::len);
        let found = by_parts.unwrap_or(found);
        // The larger the likeness, the nearer.
        let nearest = TopK::of(k, found.into_iter().map(|(id, likeness)| (id, -likeness)));
        let alike = |(place, found): (usize, crate::ids::Neighbor)| LookAlike {
            image: found.id,
            likeness: -found.distance,
            probability: probabilities.get(place).map_or(1.0, |share| f64::from(*share)),
        };
        let list = nearest.into_iter().enumerate().map(alike).collect();
        LookAlikes { list, search: LookSearch { by: likeness.look().clone(), compared, by_parts: n_by_parts, recall } }
    }
}
