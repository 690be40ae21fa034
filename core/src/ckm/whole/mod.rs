//! The likeness of whole images: one more value of a score for each class, learned in one pass.
//!
//! A score is the best way of composing a query from pieces. Where what a class has in common is
//! spread over the whole image (a meadow, a texture, a pose before any ground), pieces one by one
//! see little of it. A flat sum of products does: the sum over training images of a weight times a
//! product of leaf kernels over places, which is a kernel machine (R. Gens and P. Domingos,
//! *Compositional Kernel Machines*, section 2, where the support vector machine is this special
//! case). The kernel is Gaussian in the mean values of the dense kinds, the weights are those of
//! ridge regression on the classes, which has a closed form:
//!
//! - features of fixed random waves approximate the kernel, and what a network says of its own
//!   classes is compared by its product (`features`);
//! - sums over training images, kept in whole numbers, are all that the weights depend on, so an
//!   image is taken in and given back exactly (`sums`);
//! - the value of an image without its object follows from the same sums, so it is known for all
//!   training images, and how much the whole counts beside the pieces is fitted to these
//!   ([`super::class_terms`]).
//!
//! What a class gets is again a sum of values of training images: see [`Alike`].
//!
//! The sums are kept with a library ([`Ckm::whole_sums`]), so that they are not made anew whenever
//! it is opened.
//!
//! Complexity: 0.3 ms for the features of an image and 0.1 ms to add their products; 0.1 s for the
//! weights, at the first score after a change; 16 MB, and 9 KB for each class. Machines that were
//! not judged take none of this for their scores, but advisers ask small ones for these values, too
//! ([`Ckm::compares_wholes`]).

mod features;
mod sums;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::element::{ElementSet, Elements};
use super::kept::{Held, Kept};
use super::shortlist::sketch;
use super::{Ckm, Example, Object, Without};
use crate::bytes::{restored, stored};
use crate::error::{Error, Result};
use crate::ids::{ClassId, ItemId};
use crate::progress::Progress;
pub(crate) use features::are_there;
use features::{Features, WAVES, features, kept_part};
use sums::{Others, Solution, Sums, share, values_in_turn};

/// Training images up to which whole images are compared where the recogniser's own scores do not
/// need it: their sums take 0.4 ms an image.
const AT_MOST: usize = 2000;

/// Images of a class among which those are looked for that are like a query as a whole.
const LOOKED_AT: usize = 2048;

/// What is known of a machine's whole images: made when it is first asked for, and kept up to date
/// from then on. It is a function of the machine's images, so it takes no part in comparisons, and
/// clones of a machine share what one of them makes until their images differ.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole(Arc<Made>);

#[derive(Clone, Debug, Default)]
struct Made {
    sums: OnceLock<Arc<Sums>>,
    solution: OnceLock<Arc<Solution>>,
    /// Whether scores of a machine have asked for it, or of a clone.
    is_scored: OnceLock<()>,
    /// Whether elements of an image were lost when it was taken in or away: these sums serve as
    /// they are, but nobody else may take them over.
    is_short: OnceLock<()>,
}

impl PartialEq for Whole {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Whole {
    /// The sums, to be changed, where they were made already. What clones share they share no more.
    pub(super) fn changing(&mut self) -> Option<Changing<'_>> {
        if self.0.sums.get().is_none() {
            // A clone may be making those of before.
            *self = Self::default();
            return None;
        }
        let made = Arc::make_mut(&mut self.0);
        made.solution.take();
        made.sums.get_mut().map(|sums| Changing { sums: Arc::make_mut(sums), is_short: &made.is_short })
    }
}

/// Sums that follow a change of the training images.
pub(super) struct Changing<'a> {
    sums: &'a mut Sums,
    is_short: &'a OnceLock<()>,
}

impl Changing<'_> {
    pub(super) fn insert_class(&mut self, class: usize) {
        self.sums.insert_class(class);
    }

    pub(super) fn remove_class(&mut self, class: usize) {
        self.sums.remove_class(class);
    }

    pub(super) fn insert(&mut self, class: usize, kept: &Kept, kinds: &[super::ElementKind]) {
        self.sums.insert(class, &features(&read(kept, self.is_short), kinds));
    }

    pub(super) fn remove(&mut self, class: usize, kept: &Kept, kinds: &[super::ElementKind]) {
        self.sums.remove(class, &features(&read(kept, self.is_short), kinds));
    }
}

/// The elements of a training image; notes where some are lost.
fn read<'a>(kept: &'a Kept, is_short: &OnceLock<()>) -> Held<'a> {
    let elements = kept.get();
    if kept.counts().ne(elements.sets.iter().map(ElementSet::len)) {
        is_short.get_or_init(|| ());
    }
    elements
}

/// The waves of an image: their products with those of another, summed, are near a Gaussian kernel
/// of how far its elements are from the other's. None where no kind has any.
pub fn whole_features(elements: &Elements, kinds: &[super::ElementKind]) -> Option<Vec<i8>> {
    are_there(kinds).then(|| features(elements, kinds)[..WAVES].to_vec())
}

/// A training image's part in the likeness of whole images.
#[derive(Clone, Debug, PartialEq)]
pub struct Alike {
    /// The training image.
    pub image: ItemId,
    /// Its name.
    pub name: String,
    /// What it adds to the score of its class.
    pub value: f64,
}

/// What is there, or is made now. Making takes all threads, and one of them that waits takes up the
/// next image, which may want the same: so no one waits for who makes it, as in `get_or_init`
/// itself. Two that make it make equal ones, and the first stays.
fn made_once<T>(place: &OnceLock<Arc<T>>, make: impl FnOnce() -> T) -> &T {
    if let Some(there) = place.get() {
        return there;
    }
    let made = Arc::new(make());
    place.get_or_init(|| made)
}

impl Ckm {
    /// Whether whole images have a value: not where all kinds are binary or brought by the caller.
    pub(super) fn sees_whole_images(&self) -> bool {
        are_there(&self.options.kinds)
    }

    /// See [`kept_part`].
    pub(super) fn whole_part(&self) -> f64 {
        kept_part(&self.options.kinds)
    }

    fn scores_wholes(&self) -> bool {
        self.sees_whole_images() && self.terms.whole() > 0.0
    }

    /// Whether the first score will look at all training images, 0.4 ms each: no score of this
    /// machine, nor of a clone with the same images, has done so yet.
    pub fn is_to_be_prepared(&self) -> bool {
        self.scores_wholes() && self.whole.0.sums.get().is_none()
    }

    /// Makes what scores need that is the same for all queries and not there yet: before many are
    /// scored side by side, each of which would make it otherwise.
    pub fn prepare(&self) {
        if self.scores_wholes() {
            self.solution();
        }
    }

    /// As [`Ckm::prepare`], of which it reports progress.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn prepare_by(&self, progress: &Progress) -> Result<()> {
        if self.is_to_be_prepared() {
            progress.begin("Comparing whole images", self.examples().count() as u64);
            let sums = self.make_sums(progress);
            if progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            made_once(&self.whole.0.sums, || sums);
        }
        self.prepare();
        Ok(())
    }

    /// Whether [`Ckm::scores_and_whole`] compares whole images: where scores do, or where there are
    /// some training images, but no more than 2,000.
    pub fn compares_wholes(&self) -> bool {
        let are_few = || !self.classes.is_empty() && self.classes.iter().map(|class| class.examples.len()).sum::<usize>() <= AT_MOST;
        self.sees_whole_images() && (self.terms.whole() > 0.0 || are_few())
    }

    /// As [`Ckm::prepare`], for [`Ckm::scores_and_whole`].
    pub fn prepare_with_whole(&self) {
        if self.compares_wholes() {
            self.solution();
        }
    }

    /// The sums by which scores compare whole images, as bytes, once scores have asked for them;
    /// `None` also where elements of an image were lost. O(classes).
    pub fn whole_sums(&self) -> Option<Vec<u8>> {
        if !self.has_whole_sums() { None } else { self.whole.0.sums.get().map(|sums| stored(&**sums)) }
    }

    /// Whether [`Ckm::whole_sums`] gives some. O(1).
    pub fn has_whole_sums(&self) -> bool {
        let Made { sums, is_scored, is_short, .. } = &*self.whole.0;
        sums.get().is_some() && is_scored.get().is_some() && is_short.get().is_none()
    }

    /// Takes over the sums of a machine with the same images by their elements, from
    /// [`Ckm::whole_sums`], unless it has some. Bytes that cannot be sums of so many images of each
    /// class are left alone; returns whether these could. O(classes).
    pub fn take_whole_sums(&self, bytes: &[u8]) -> bool {
        let sums = restored::<Sums>("sums over whole images", bytes).ok();
        let images = || self.classes.iter().map(|class| class.examples.len());
        let Some(sums) = sums.filter(|sums| sums.are_of(images())) else { return false };
        made_once(&self.whole.0.sums, || sums);
        self.whole.0.is_scored.get_or_init(|| ());
        true
    }

    /// Drops the sums where nothing asks for them any more, so that they need not follow.
    pub(super) fn drop_wholes(&mut self) {
        let is_scored = self.whole.0.is_scored.get().is_some();
        if self.whole.0.sums.get().is_some() && !is_scored && !self.compares_wholes() {
            self.whole = Whole::default();
        }
    }

    /// The sums over all images; over some of them once `progress` is cancelled.
    fn make_sums(&self, progress: &Progress) -> Sums {
        let images: Vec<(ClassId, &Example)> = self.examples().collect();
        let of = |(class, example): &(ClassId, &Example)| {
            progress.step().ok()?;
            Some((class.index(), features(&read(&example.elements, &self.whole.0.is_short), &self.options.kinds)))
        };
        Sums::of(self.classes.len(), &images, of)
    }

    fn sums(&self) -> &Sums {
        made_once(&self.whole.0.sums, || self.make_sums(&Progress::default()))
    }

    fn solution(&self) -> &Solution {
        if self.scores_wholes() {
            self.whole.0.is_scored.get_or_init(|| ());
        }
        made_once(&self.whole.0.solution, || self.sums().solve())
    }

    fn left_out(&self, without: Without<'_>) -> Vec<(usize, Features)> {
        if without == Without::Nothing {
            return Vec::new();
        }
        let left_out = self.examples().filter(|(_, example)| without.leaves_out(example));
        left_out.map(|(class, example)| (class.index(), features(&example.elements.get(), &self.options.kinds))).collect()
    }

    /// How like a query is to each class as a whole image; nothing where whole images have no
    /// value. O(1,152 * (values of the query's means + classes)), and what the module says after a
    /// change and for images left out.
    pub fn whole_values(&self, query: &Elements, without: Without<'_>) -> Vec<f64> {
        if !self.sees_whole_images() || query.cut != self.cut {
            return Vec::new();
        }
        let query = features(query, &self.options.kinds);
        self.sums().without(self.solution(), &self.left_out(without)).values(&query)
    }

    /// How new a query is to this machine, 0..=1: the part of it as a whole image that no training
    /// image explains, 1 where none is like it. It is the variance of the Gaussian process whose
    /// mean [`Ckm::whole_values`] are, as a share of what it is without training images. `None`
    /// where whole images have no value, and where the network has not looked at the query yet.
    /// O(1,152^2), and what the module says after a change and for images left out.
    pub fn novelty(&self, query: &Elements, without: Without<'_>) -> Option<f64> {
        if !self.sees_whole_images() || query.cut != self.cut || query.lacks_network() {
            return None;
        }
        let query = features(query, &self.options.kinds);
        Some(self.sums().without(self.solution(), &self.left_out(without)).novelty(&query))
    }

    /// For each training image that `is_wanted` the values of [`Ckm::whole_values`] without its
    /// object. An image may cease to be wanted meanwhile, so that this ends sooner.
    pub(crate) fn held_out_whole_values(&self, is_wanted: impl Fn(ItemId) -> bool + Sync) -> BTreeMap<ItemId, Vec<f64>> {
        self.held_out_by(is_wanted, |others, _, features| others.values(features))
    }

    /// As [`Ckm::held_out_whole_values`], with how new each image is.
    pub(super) fn held_out_wholes(&self, is_wanted: impl Fn(ItemId) -> bool + Sync) -> BTreeMap<ItemId, (Vec<f64>, Option<f64>)> {
        self.held_out_by(is_wanted, |others, example, features| {
            let novelty = (!example.elements.get().lacks_network()).then(|| others.novelty(features));
            (others.values(features), novelty)
        })
    }

    /// What `tell` makes of each training image that `is_wanted`, and of the others without its
    /// object.
    fn held_out_by<T: Send>(
        &self,
        is_wanted: impl Fn(ItemId) -> bool + Sync,
        tell: impl Fn(&Others<'_>, &Example, &Features) -> T + Sync,
    ) -> BTreeMap<ItemId, T> {
        if !self.sees_whole_images() {
            return BTreeMap::new();
        }
        let mut objects: BTreeMap<Object<'_>, Vec<(ClassId, &Example)>> = BTreeMap::new();
        for (class, example) in self.examples() {
            objects.entry(example.object()).or_default().push((class, example));
        }
        let (sums, solution) = (self.sums(), self.solution());
        let told = |images: &Vec<(ClassId, &Example)>| -> Vec<(ItemId, T)> {
            let object: Vec<(usize, Features)> =
                images.iter().map(|(class, example)| (class.index(), features(&example.elements.get(), &self.options.kinds))).collect();
            let others = sums.without(solution, &object);
            let wanted = images.iter().zip(&object).filter(|((_, example), _)| is_wanted(example.id));
            wanted.map(|((_, example), (_, features))| (example.id, tell(&others, example, features))).collect()
        };
        let wanted = objects.par_iter().filter(|(_, images)| images.iter().any(|(_, example)| is_wanted(example.id)));
        wanted.flat_map_iter(|(_, images)| told(images)).collect()
    }

    /// For each of some training images in order, what [`Ckm::whole_values`] of a machine would be
    /// that holds only those of them that come before it: one value for each class of this machine,
    /// 0 where none of its images came before. No values of images that it does not have, where
    /// whole images have none, and of more than 2,000 images.
    /// O(images^2 * (1,152 + images + classes)).
    pub fn whole_values_in_turn(&self, order: &[ItemId]) -> Vec<Vec<f64>> {
        let mut values = vec![Vec::new(); order.len()];
        if !self.sees_whole_images() || order.len() > AT_MOST {
            return values;
        }
        let of: BTreeMap<ItemId, (ClassId, &Example)> = self.examples().map(|(class, example)| (example.id, (class, example))).collect();
        let known = || order.iter().enumerate().filter_map(|(turn, id)| Some((turn, of.get(id)?)));
        let images: Vec<(usize, Features)> =
            known().map(|(_, (class, example))| (class.index(), features(&example.elements.get(), &self.options.kinds))).collect();
        for ((turn, _), found) in known().zip(values_in_turn(self.classes.len(), &images)) {
            values[turn] = found;
        }
        values
    }

    /// What the likeness of whole images adds to the score of each of `classes`: the total, and the
    /// largest values of the class's own images, at most `count` of them. The rest is what images
    /// of other classes take off. Of a class with more than 2,048 images only those 2,048 are
    /// looked at whose sketches are nearest to the query's ([`super::shortlist`]), for elements may
    /// have to be read. O(images) for sketches, O(2,048) for elements of each class.
    pub(super) fn whole_parts(&self, query: &Elements, without: Without<'_>, classes: &[ClassId], count: usize) -> Vec<(f64, Vec<Alike>)> {
        let factor = self.mass(query) * self.terms.whole();
        if factor == 0.0 {
            return vec![(0.0, Vec::new()); classes.len()];
        }
        let totals = self.whole_values(query, without);
        let shares = self.solution().shares(&features(query, &self.options.kinds));
        let of_image = |example: &Arc<Example>| {
            let value = factor * share(&shares, &features(&example.elements.get(), &self.options.kinds));
            Alike { image: example.id, name: example.name.clone(), value }
        };
        let is_wanted = |class: usize, place: usize| {
            let is_asked = classes.iter().any(|asked| asked.index() == class);
            is_asked && !without.leaves_out(&self.classes[class].examples[place])
        };
        let near = self.sketches.nearest(&sketch(query, &self.options.kinds), LOOKED_AT, is_wanted);
        let of_class = |class: &ClassId| {
            let examples = &self.classes[class.index()].examples;
            let mut alike: Vec<Alike> = near[class.index()].par_iter().map(|place| of_image(&examples[*place])).collect();
            alike.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.image.cmp(&b.image)));
            alike.truncate(count);
            (totals.get(class.index()).map_or(0.0, |value| factor * value), alike)
        };
        classes.iter().map(of_class).collect()
    }
}
