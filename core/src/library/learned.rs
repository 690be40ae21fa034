//! Learned features of a library's images: what the network that comes with the program sees in
//! them, and the switch that takes all of it out of every answer.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::event::ContentHash;
use super::features::{Extraction, FeatureStore, from_file};
use super::glimpse::Glimpse;
use super::models::ModelUpdate;
use super::pair::{PAIR, Pair};
use super::state::{Image, State};
use super::{Library, hold};
use crate::ckm::CkmOptions;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::network::Network;
use crate::progress::Progress;

/// The fact in the store: whether learned features are on. They are where nothing was said.
pub(super) const SWITCH: &str = "learned features";
/// Images that are looked at between two moments in which the library is held.
const BATCH: usize = 16;
/// The share of the images that the network must have looked at before answers use what it sees, in
/// tenths; of the recogniser the share of the images with a class.
const ENOUGH: usize = 9;

/// The state of a library's learned features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearnedFeatures {
    /// Whether they are on.
    pub is_on: bool,
    /// Whether the recogniser compares cells of the network now.
    pub recognises: bool,
    /// Images that the network has looked at.
    pub seen: usize,
    /// Images that take part.
    pub images: usize,
}

impl Library {
    /// Whether learned features are on, and how far they are.
    ///
    /// # Errors
    /// [`Error::Io`] when the cache cannot be used.
    pub fn learned_features(&self) -> Result<LearnedFeatures> {
        let (seen, images) = self.looked_at(Glimpse::VERSION)?;
        Ok(LearnedFeatures { is_on: self.extraction.cells.is_some(), recognises: self.options.is_of_network(), seen, images })
    }

    /// Images of which the cache has a row of that version, and all that take part.
    pub(super) fn looked_at(&self, version: &str) -> Result<(usize, usize)> {
        let there = self.cache.with_feature(version)?;
        let images: Vec<ContentHash> = self.state.images().filter_map(|image| Some(image.content?.hash)).collect();
        Ok((images.iter().filter(|hash| there.contains(hash)).count(), images.len()))
    }

    /// Whether they are on. O(1).
    pub fn has_learned_features(&self) -> bool {
        self.extraction.cells.is_some()
    }

    /// Whether answers may use what the network sees: learned features are on, and that is kept of
    /// nine tenths of the images. O(images); the cache is asked where their number has changed.
    pub fn has_glimpses(&self) -> bool {
        let images = self.state.images().count();
        if let Some((_, is_enough)) = self.sees_enough.get().filter(|(of, _)| *of == images) {
            return self.has_learned_features() && is_enough;
        }
        let is_enough = self.looked_at(Glimpse::VERSION).is_ok_and(|(seen, all)| seen > 0 && 10 * seen >= ENOUGH * all);
        self.sees_enough.set(Some((images, is_enough)));
        self.has_learned_features() && is_enough
    }

    /// Whether learned features are on, and nine tenths of the images are seen in some way.
    pub(super) fn sees_enough(&self, is_seen: impl Fn(&Image) -> bool) -> bool {
        if !self.has_learned_features() {
            return false;
        }
        let (mut all, mut seen) = (0, 0);
        for image in self.state.images() {
            all += 1;
            seen += usize::from(is_seen(image));
        }
        seen > 0 && 10 * seen >= ENOUGH * all
    }

    /// Turns learned features on or off. Off, no answer has anything of them any more; what was
    /// computed is kept, so that they are back at once. Images that came while they were off are
    /// looked at by [`compute`].
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Cancelled`], and all is as before then; [`Error::Data`] when the
    /// library was opened without learned features.
    pub fn set_learned_features(&mut self, on: bool, progress: &Progress) -> Result<()> {
        if on && self.learned.is_none() {
            let advice = "open it with the options of a recogniser that compares cells of the network";
            return Err(Error::data(&self.folder, "a library with learned features", "one opened without", advice));
        }
        let before = (self.switch()?, self.extraction.clone());
        self.store.set_fact(SWITCH, i64::from(on))?;
        self.extraction = Extraction::new(&self.plain, self.learned.as_ref().filter(|_| on), self.pair.hash.as_deref());
        let outcome = self.settle_recogniser(false, progress);
        if outcome.is_err() {
            self.store.set_fact(SWITCH, i64::from(before.0))?;
            self.extraction = before.1;
        }
        outcome
    }

    fn switch(&self) -> Result<bool> {
        Ok(self.store.fact(SWITCH)? != Some(0))
    }

    /// Chooses the recogniser before it learns anything, when the library is opened.
    pub(super) fn choose_recogniser(&mut self) -> Result<()> {
        let learned = self.learned.as_ref().filter(|_| self.switch().unwrap_or(false));
        self.pair = Pair::of(self.store.fact(PAIR)?);
        self.extraction = Extraction::new(&self.plain, learned, self.pair.hash.as_deref());
        self.options = self.wanted()?;
        self.models.recogniser.build(&self.options)
    }

    /// The options of the recogniser: those with cells of the network where learned features are on
    /// and nine tenths of the images with a class have some. Those of which the cache has nothing
    /// are looked at anew, and have some then.
    fn wanted(&self) -> Result<CkmOptions> {
        let Some((learned, cells)) = self.learned.as_ref().zip(self.extraction.cells.as_ref()) else { return Ok(self.plain.clone()) };
        let (there, own) = (self.cache.with_feature(&cells.version)?, self.cache.with_feature(self.extraction.own_version())?);
        let with_class = self.state.images().filter(|image| image.label().is_some()).filter_map(|image| Some(image.content?.hash));
        let (mut all, mut known) = (0, 0);
        for hash in with_class {
            all += 1;
            known += usize::from(there.contains(&hash) || !own.contains(&hash));
        }
        Ok(if 10 * known >= ENOUGH * all { learned.clone() } else { self.plain.clone() })
    }

    /// Lets the recogniser compare what it should; `anew` is whether there are new cells.
    fn settle_recogniser(&mut self, anew: bool, progress: &Progress) -> Result<()> {
        let wanted = self.wanted()?;
        if wanted == self.options && !(anew && wanted.is_of_network()) {
            return Ok(());
        }
        let features = FeatureStore {
            cache: &self.cache,
            decoder: &self.decoder,
            options: &wanted,
            extraction: &self.extraction,
            in_memory: self.in_memory,
        };
        let update = ModelUpdate { before: &State::default(), after: &self.state, images: &[], features: &features, progress };
        self.models.recogniser.rebuild(&wanted, &update)?;
        self.options = wanted;
        self.read_sums();
        Ok(())
    }

    /// Images of which the cache lacks a row of one of these versions, one for each file's bytes.
    pub(super) fn lacking(&self, versions: &[&str]) -> Result<Vec<Arc<Image>>> {
        let there: Vec<HashSet<ContentHash>> = versions.iter().map(|version| self.cache.with_feature(version)).collect::<Result<_>>()?;
        let images = self.state.images().filter_map(|image| Some((image.content?.hash, image)));
        let lacks = |hash: &ContentHash| there.iter().any(|there| !there.contains(hash));
        let wanted: BTreeMap<ContentHash, &Arc<Image>> = images.filter(|(hash, _)| lacks(hash)).collect();
        let mut wanted: Vec<Arc<Image>> = wanted.into_values().cloned().collect();
        wanted.sort_by_key(|image| image.id);
        Ok(wanted)
    }

    /// Whether an image still has these bytes: what was forgotten meanwhile leaves nothing behind.
    pub(super) fn has_bytes(&self, image: ItemId, hash: ContentHash) -> bool {
        self.state.image(image).and_then(|image| image.content).is_some_and(|content| content.hash == hash)
    }
}

/// Has the network look at all images that it has not looked at, where learned features are on, and
/// then lets the recogniser compare cells. The library is held only for moments. Images without a
/// readable file are left out. Returns how many were looked at; cancelling keeps these.
///
/// # Errors
/// [`Error::Io`] when the cache cannot be used, [`Error::Cancelled`].
///
/// # Complexity
/// About 20 ms and the time of decoding for an image.
pub fn compute(library: &Mutex<Library>, progress: &Progress) -> Result<usize> {
    let (wanted, decoder) = {
        let library = hold(library);
        let Some(cells) = &library.extraction.cells else { return Ok(0) };
        (library.lacking(&[&cells.version, Glimpse::VERSION])?, Arc::clone(&library.decoder))
    };
    progress.begin("Looking at images with the network", wanted.len() as u64);
    let mut looked = 0;
    for batch in wanted.chunks(BATCH) {
        let (state, extraction) = {
            let library = hold(library);
            (library.state.clone(), library.extraction.clone())
        };
        // Somebody turned them off.
        let Some(cells) = &extraction.cells else { return Ok(looked) };
        let look = |image: &Arc<Image>| {
            progress.step()?;
            let Some(hash) = image.content.map(|content| content.hash) else { return Ok(None) };
            let Some(picture) = from_file(&state, image, &*decoder, progress) else { return Ok(None) };
            let seen = Network::shipped()?.look_at(&picture.pixels)?;
            let row = extraction.cells_of(&seen, picture.size)?.map(|(_, bytes)| bytes);
            Ok(row.map(|row| (image.id, hash, row, Glimpse::of(&seen).to_bytes())))
        };
        let found: Vec<_> = batch.par_iter().map(look).collect::<Result<_>>()?;
        let mut library = hold(library);
        let found: Vec<_> = found.into_iter().flatten().filter(|(id, hash, ..)| library.has_bytes(*id, *hash)).collect();
        looked += found.len();
        let (rows, glimpses): (Vec<_>, Vec<_>) = found.into_iter().map(|(_, hash, row, glimpse)| ((hash, row), (hash, glimpse))).unzip();
        library.cache.put_features(&cells.version, &rows)?;
        library.cache.put_features(Glimpse::VERSION, &glimpses)?;
        // They are read when they are next needed.
        library.sees_enough.take();
        for (hash, _) in &glimpses {
            library.glimpses.remove(hash);
            library.seen_classes.remove(hash);
            library.wholes.give_up(*hash);
        }
    }
    hold(library).settle_recogniser(looked > 0, progress)?;
    Ok(looked)
}
