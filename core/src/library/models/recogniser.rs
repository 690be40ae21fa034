//! The recogniser of a library: a compositional kernel machine that always holds every image with a
//! class.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::bytes::{restored, stored};
use crate::ckm::kept::{Kept, Shelf};
use crate::ckm::kernel::LeafKernel;
use crate::ckm::outline::Outlines;
use crate::ckm::weights::ImageWeights;
use crate::ckm::{Ckm, CkmOptions, Example, Outlined, Search};
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::event::ContentHash;
use crate::library::features;
use crate::library::models::model::{Model, ModelUpdate};
use crate::library::shelf::CacheShelf;
use crate::library::state::{Image, State};
use crate::progress::Progress;

/// Images whose elements are read before those of earlier ones are put out of memory.
const TURN: usize = 256;

/// Images that an index takes in one by one; after more at once it is made anew, which is faster.
const ONE_BY_ONE: usize = 256;

/// Outlines are written once more than one in so many is not kept.
const UNKEPT: usize = 50;

/// A machine that follows a library.
pub struct Recogniser {
    ckm: Arc<Ckm>,
    /// The same machine with learned weights.
    weighted: Option<Arc<Ckm>>,
    /// The kernels that it was built with, one for each kind of elements.
    usual: Vec<LeafKernel>,
    /// Which training images both compare; `None` leaves it to their number.
    search: Option<Search>,
    /// Whether events are being replayed: an index is made when all are there.
    is_behind: bool,
    /// Where elements are read from, once there are too many for memory.
    shelf: Option<Arc<CacheShelf>>,
    /// Images with a class without elements: neither in the cache nor from a file.
    missing: BTreeSet<ItemId>,
    /// Images out of memory whose outlines are not kept yet.
    unkept: usize,
}

/// What the machine holds of an image.
#[derive(PartialEq)]
struct Held<'a> {
    hash: ContentHash,
    class: &'a str,
    group: Option<&'a str>,
    name: String,
}

fn held(image: &Image) -> Option<Held<'_>> {
    let (hash, class) = hash_and_class(image)?;
    Some(Held { hash, class, group: image.folder.group.as_deref(), name: image.name() })
}

/// The first two of these, if the machine holds the image.
fn hash_and_class(image: &Image) -> Option<(ContentHash, &str)> {
    let (true, Some(content), Some(class)) = (image.is_live(), image.content, image.label()) else { return None };
    Some((content.hash, class))
}

/// A checkpoint: the images it holds and their classes. Their elements are in the cache or in their
/// files.
type Checkpoint = Vec<(ContentHash, String)>;

impl Recogniser {
    /// The machine as it is now. It never changes, and a clone of the pointer is cheap; later steps
    /// make a new one.
    pub fn ckm(&self) -> &Arc<Ckm> {
        &self.ckm
    }

    /// The machine with learned weights, if it was given some ([`Library::set_weights`]). It
    /// follows the library as the other one does: images keep their weights as others come and go,
    /// and a new image starts with weights of 0. Replaying events does not restore it.
    ///
    /// [`Library::set_weights`]: crate::library::Library::set_weights
    pub fn weighted(&self) -> Option<&Arc<Ckm>> {
        self.weighted.as_ref()
    }

    /// Sets which training images are compared from now on; `None` leaves it to their number.
    pub(in crate::library) fn set_search(&mut self, search: Option<Search>, progress: &Progress) -> Result<()> {
        let before = std::mem::replace(&mut self.search, search);
        let outcome = self.search_again(progress);
        if outcome.is_err() {
            self.search = before;
            self.search_again(&Progress::default())?;
        }
        outcome
    }

    fn search_again(&mut self, progress: &Progress) -> Result<()> {
        self.set_searches(self.search.unwrap_or_else(|| Search::for_images(self.ckm.examples().count())), progress)
    }

    fn set_searches(&mut self, search: Search, progress: &Progress) -> Result<()> {
        for ckm in [Some(&mut self.ckm), self.weighted.as_mut()].into_iter().flatten() {
            if ckm.search() != search {
                Arc::make_mut(ckm).set_search_watched(search, progress)?;
            }
        }
        Ok(())
    }

    /// The kernels that it was built with, one for each kind of elements; those in use are its
    /// machine's.
    pub fn usual_kernels(&self) -> &[LeafKernel] {
        &self.usual
    }

    /// Compares elements with these kernels from now on, one for each kind, without learned
    /// weights.
    pub(in crate::library) fn set_kernels(&mut self, kernels: &[LeafKernel]) -> Result<()> {
        (self.ckm, self.weighted) = (Arc::new(self.ckm.with_kernels(kernels)?), None);
        let kept = self.shelf.as_ref().map(|shelf| shelf.outlines(self.ckm.options()).len());
        self.unkept = kept.map_or(0, |kept| self.images().saturating_sub(kept));
        Ok(())
    }

    fn images(&self) -> usize {
        self.ckm.classes().iter().map(|class| class.examples.len()).sum()
    }

    /// The outlines of its images and their name, where so many are not kept that the next opening
    /// would be slow; they count as kept from then on.
    pub(in crate::library) fn take_outlines(&mut self) -> Option<(String, Outlines)> {
        let shelf = self.shelf.as_ref()?;
        if self.unkept <= self.images() / UNKEPT {
            return None;
        }
        self.unkept = 0;
        Some((shelf.outlines_name(self.ckm.options()), self.ckm.outlines()))
    }

    /// Gives images learned weights, and all others weights of 0; `None` takes all weights away.
    pub(in crate::library) fn set_weights(&mut self, weights: Option<&[(ItemId, ImageWeights)]>) -> Result<()> {
        self.weighted = None;
        let Some(weights) = weights else { return Ok(()) };
        let mut ckm = Ckm::clone(&self.ckm);
        ckm.set_all_weights(weights.iter().map(|(image, weights)| (image, weights)))?;
        self.weighted = Some(Arc::new(ckm));
        Ok(())
    }

    /// Becomes a machine with these options that has learned nothing.
    pub(in crate::library) fn build(&mut self, options: &CkmOptions) -> Result<()> {
        let new = Self::new(options)?;
        self.close_shelf();
        *self = new;
        Ok(())
    }

    /// Becomes a machine with these options that holds the images of `update.after`, without
    /// learned weights. After an error it is as it was.
    pub(in crate::library) fn rebuild(&mut self, options: &CkmOptions, update: &ModelUpdate<'_>) -> Result<()> {
        let mut other = Self { search: self.search, is_behind: true, ..Self::new(options)? };
        let images: Vec<ItemId> = update.after.images().map(|image| image.id).collect();
        other.learn_all(&images, update)?;
        other.caught_up(update.progress)?;
        self.close_shelf();
        *self = other;
        Ok(())
    }

    /// Images with a class that it could not learn, because neither their elements nor their files
    /// were there.
    pub fn missing(&self) -> &BTreeSet<ItemId> {
        &self.missing
    }

    /// Nothing of an image that was forgotten may stay in memory, nor be written again.
    pub(in crate::library) fn close_shelf(&mut self) {
        if let Some(shelf) = self.shelf.take() {
            shelf.close();
        }
    }

    /// Learns all images that it will have, of which the cache may keep outlines.
    fn learn_all(&mut self, images: &[ItemId], update: &ModelUpdate<'_>) -> Result<()> {
        let left = self.learn_outlined(images, update)?;
        self.learn_images(&left, update)
    }

    fn learn_images(&mut self, images: &[ItemId], update: &ModelUpdate<'_>) -> Result<()> {
        let wanted: Vec<&Image> = images.iter().filter_map(|id| update.after.image(*id)).map(Arc::as_ref).collect();
        let wanted: Vec<&Image> = wanted.into_iter().filter(|image| hash_and_class(image).is_some()).collect();
        if images.len() > ONE_BY_ONE {
            self.set_searches(Search::Exact, update.progress)?;
        }
        if let Some(shelf) = &self.shelf {
            shelf.follow(update.after);
        }
        for id in images {
            for ckm in [Some(&mut self.ckm), self.weighted.as_mut()].into_iter().flatten().map(Arc::make_mut) {
                ckm.remove(*id);
            }
            self.missing.remove(id);
        }
        let mut left = wanted.len();
        for turn in wanted.chunks(TURN) {
            let found = update.features.of(update.after, turn, update.progress)?;
            for (image, elements) in turn.iter().zip(found) {
                match (held(image), elements) {
                    (Some(held), Some(elements)) => self.add(image.id, &held, elements.into())?,
                    _ => {
                        self.missing.insert(image.id);
                    }
                }
            }
            left -= turn.len();
            self.spare_memory(left, update)?;
        }
        if self.is_behind { Ok(()) } else { self.search_again(&Progress::default()) }
    }

    /// Takes in those images of which the cache keeps outlines, if their elements are too many for
    /// memory, and returns the others.
    fn learn_outlined(&mut self, images: &[ItemId], update: &ModelUpdate<'_>) -> Result<Vec<ItemId>> {
        let outlines = update.features.outlines(self.ckm.options());
        let known = |id: &ItemId| outlines.get(update.after.image(*id)?.content?.hash.0);
        let bytes: usize = images.iter().filter_map(known).map(|outline| outline.bytes as usize).sum();
        if outlines.is_empty() || bytes <= update.features.in_memory {
            return Ok(images.to_vec());
        }
        let Some(shelf) = CacheShelf::new(update.features, update.after).map(Arc::new) else { return Ok(images.to_vec()) };
        self.shelf = Some(Arc::clone(&shelf));
        let shelf: Arc<dyn Shelf> = shelf;
        let mut others = Vec::new();
        for id in images {
            let held = update.after.image(*id).and_then(|image| held(image));
            let Some((outline, held)) = known(id).zip(held) else {
                others.push(*id);
                continue;
            };
            let group = held.group.map(str::to_owned);
            let image = Outlined { id: *id, name: held.name, group, shelf: &shelf, key: held.hash.0, outline: &outline };
            Arc::make_mut(&mut self.ckm).add_outlined(held.class, image)?;
        }
        Ok(others)
    }

    fn add(&mut self, id: ItemId, held: &Held<'_>, elements: Kept) -> Result<()> {
        let example = Arc::new(Example { id, name: held.name.clone(), group: held.group.map(str::to_owned), elements });
        if let Some(weighted) = &mut self.weighted {
            Arc::make_mut(weighted).add(held.class, Arc::clone(&example))?;
        }
        // Without a second machine the elements are the first one's own.
        Arc::make_mut(&mut self.ckm).add(held.class, example)
    }

    /// Puts elements out of memory once there are more than may be in it, or will be when as many
    /// images as are `left` have come.
    fn spare_memory(&mut self, left: usize, update: &ModelUpdate<'_>) -> Result<()> {
        if self.shelf.is_none() {
            let sizes = self.ckm.examples().map(|(_, example)| example.elements.bytes());
            let (images, bytes) = sizes.fold((0u32, 0usize), |(images, sum), bytes| (images + 1, sum + bytes));
            let mean = bytes as f64 / f64::from(images.max(1));
            if bytes as f64 + mean * left as f64 > update.features.in_memory as f64 {
                self.shelf = CacheShelf::new(update.features, update.after).map(Arc::new);
            }
        }
        let Some(shelf) = &self.shelf else { return Ok(()) };
        let hash = |image: ItemId| Some(update.after.image(image)?.content?.hash);
        let here = self.ckm.examples().filter(|(_, example)| example.elements.is_here()).map(|(_, example)| example.id);
        let mut keys: BTreeMap<ItemId, u128> = BTreeMap::new();
        for (image, hash) in here.filter_map(|image| Some((image, hash(image)?))) {
            if update.features.has(hash)? {
                keys.insert(image, hash.0);
            }
        }
        if !keys.is_empty() {
            self.unkept = self.unkept.saturating_add(keys.len());
            let shelf: Arc<dyn Shelf> = Arc::<CacheShelf>::clone(shelf);
            for ckm in [Some(&mut self.ckm), self.weighted.as_mut()].into_iter().flatten() {
                Arc::make_mut(ckm).put_away(&shelf, |image| keys.get(&image).copied());
            }
        }
        Ok(())
    }

    /// The bytes of elements that are in memory, and of sketches of images.
    pub fn bytes(&self) -> usize {
        let of = |ckm: &Arc<Ckm>| ckm.bytes();
        of(&self.ckm) + self.weighted.as_ref().map_or(0, of) + self.shelf.as_ref().map_or(0, |shelf| shelf.bytes())
    }
}

impl Model for Recogniser {
    fn new(options: &CkmOptions) -> Result<Self> {
        Ok(Self {
            ckm: Arc::new(Ckm::new(options.clone())?),
            weighted: None,
            usual: options.kernels(),
            search: None,
            is_behind: false,
            shelf: None,
            missing: BTreeSet::new(),
            unkept: 0,
        })
    }

    fn name(&self) -> String {
        format!("recogniser-2-{}", features::version(self.ckm.options()))
    }

    fn clear(&mut self) {
        let ckm = Ckm::new(self.ckm.options().clone());
        // The options were checked when the machine was made.
        if let Ok(ckm) = ckm {
            self.ckm = Arc::new(ckm);
        }
        (self.weighted, self.is_behind, self.unkept) = (None, true, 0);
        self.close_shelf();
        self.missing.clear();
    }

    fn caught_up(&mut self, progress: &Progress) -> Result<()> {
        self.is_behind = false;
        if let Some(ckm) = Arc::get_mut(&mut self.ckm) {
            ckm.shrink();
        }
        self.search_again(progress)
    }

    fn learn(&mut self, update: &ModelUpdate<'_>) -> Result<()> {
        if let Some(shelf) = &self.shelf {
            shelf.follow(update.after);
        }
        let view = |state: &State, id: &ItemId| state.image(*id).cloned();
        let changed: Vec<ItemId> = update
            .images
            .iter()
            .filter(|id| {
                let (before, after) = (view(update.before, id), view(update.after, id));
                before.as_deref().and_then(held) != after.as_deref().and_then(held)
                    || (self.missing.contains(id) && after.as_deref().and_then(held).is_some())
            })
            .copied()
            .collect();
        if changed.is_empty() { Ok(()) } else { self.learn_images(&changed, update) }
    }

    fn everything(&self, state: &State) -> Vec<u8> {
        let kept = |image: &Arc<Image>| hash_and_class(image).map(|(hash, class)| (hash, class.to_owned()));
        let checkpoint: Checkpoint = state.images().filter(|image| !self.missing.contains(&image.id)).filter_map(kept).collect();
        stored(&checkpoint)
    }

    fn restore(&mut self, bytes: &[u8], update: &ModelUpdate<'_>) -> Result<bool> {
        let Ok(kept) = restored::<Checkpoint>("recogniser", bytes) else { return Ok(false) };
        let here: Vec<(ItemId, (ContentHash, &str))> =
            update.after.images().filter_map(|image| Some((image.id, hash_and_class(image)?))).collect();
        // Images that the checkpoint lacks had no readable file then, and are tried again.
        let known: BTreeSet<(ContentHash, &str)> = here.iter().map(|(_, held)| *held).collect();
        if !kept.iter().all(|(hash, class)| known.contains(&(*hash, class.as_str()))) {
            return Ok(false);
        }
        let ids: Vec<ItemId> = here.into_iter().map(|(id, _)| id).collect();
        self.learn_all(&ids, update)?;
        Ok(true)
    }
}
