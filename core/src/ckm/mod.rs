//! Recognising images from few examples: compositional kernel machines over pieces of images.
//!
//! After R. Gens and P. Domingos, *Compositional Kernel Machines*, ICLR 2017 workshop, sections 2
//! and 3: a class's score for a query is the best way of composing the query from pieces of that
//! class's training images. Elements are compared by a leaf kernel ([`kernel`]), unary and pair
//! nodes maximise over all training elements of the class, and the root maximises over random
//! decompositions of the query into such nodes ([`spf`]); the semiring is max-sum, the weights
//! uniform, or learned ([`weights`]).
//!
//! Elements are cut from pictures, in kinds of which [`presets`] has the usual ones, or brought by
//! the caller ([`own`]). A score is the exact sum of its elements' contributions ([`explain`]);
//! [`confidence`] turns a lead into a probability, [`harm`] finds training images that mislead, and
//! [`model`] keeps a machine on disk.
//!
//! Beyond the paper: several kinds of elements join in one machine. The root is then a product (in
//! max-sum: a sum) over the kinds, whose scopes are disjoint, of one maximum over decompositions
//! for each kind.
//!
//! # Complexity
//!
//! Training stores elements, so it is one pass; an image is added or removed at the cost of that
//! image, and the machine is then equal to one trained without it. Leaving an image or its whole
//! group out of a score is a mask. A query costs O(its elements * training elements of the same
//! kind), 16 comparisons at a time, on all threads; with a shortlist ([`Search`]), O(images) and
//! then as if each class had no more images than the list; with an index O(its elements * cells of
//! all classes) and the comparisons with what is in those that are looked at. Memory is 44 bytes an
//! element with a binary descriptor; with a dense vector 16, and one byte a value; and 512 an
//! image; an index takes about as much again.
//!
//! ```
//! use image::{Rgb, RgbImage};
//! use tessera_core::ckm::presets::Preset;
//! use tessera_core::ckm::{Ckm, Example, Without};
//! use tessera_core::ids::ItemId;
//!
//! let mut machine = Ckm::new(Preset::Colour.options())?;
//! for (id, class, colour) in [(0, "poppy", [200, 30, 30]), (1, "cornflower", [40, 60, 200])] {
//!     let elements = machine.elements(&RgbImage::from_pixel(64, 64, Rgb(colour)).into())?;
//!     machine.add(class, Example { id: ItemId(id), name: format!("{class}.png"), group: None, elements: elements.into() })?;
//! }
//! let query = machine.elements(&RgbImage::from_pixel(80, 60, Rgb([180, 50, 40])).into())?;
//! let best = machine.scores(&query, Without::Nothing).ranking()[0].0;
//! assert_eq!(machine.classes()[best.index()].name, "poppy");
//! # Ok::<(), tessera_core::Error>(())
//! ```

pub mod accuracy;
pub mod class_terms;
mod compare;
pub mod confidence;
pub mod element;
pub mod explain;
pub mod fit;
pub mod harm;
pub mod held_out;
mod index;
pub mod judge;
pub mod kept;
pub mod kernel;
#[cfg(feature = "files")]
pub mod model;
mod options;
pub mod outline;
mod outlined;
pub mod own;
pub mod parts;
#[cfg(feature = "images")]
mod picture;
#[cfg(feature = "images")]
pub mod presets;
mod regression;
pub mod scales;
mod search;
mod shortlist;
pub mod spf;
mod sum_product;
pub mod told_apart;
pub mod tune;
pub mod unknown;
pub mod weights;
pub mod whole;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::hash::hash64;
use crate::ids::{ClassId, ItemId};
use class_terms::ClassTerms;
use compare::Queries;
use element::{Cut, Elements};
use index::{PieceIndex, Pieces};
use kept::{Held, Kept, Shelf};
use kernel::LeafKernel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use shortlist::{Sketch, Sketches, sketch as sketch_of};
use spf::{Architecture, Evidence};
use whole::Whole;

pub use options::{CkmOptions, ElementForm, ElementKind, ElementSource, OwnSource};
pub use outlined::Outlined;
pub use search::Search;

/// A training image.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its identifier, unique in the machine.
    pub id: ItemId,
    /// What people know it by: its path as it was given.
    pub name: String,
    /// The object it shows, when known: other images of the same object are near copies.
    pub group: Option<String>,
    /// Its elements.
    pub elements: Kept,
}

/// What an image shows, as far as that is known: the object of its group, or nothing that any other
/// image shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object<'a> {
    Group(&'a str),
    Image(ItemId),
}

/// A class and its training images in ascending order of their identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The class's name.
    pub name: String,
    /// Its training images, at least one. Machines that are copies of each other share them.
    pub examples: Vec<Arc<Example>>,
}

/// The training images that a score leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without<'a> {
    /// Nothing.
    Nothing,
    /// One training image.
    Image(ItemId),
    /// All training images of a group.
    Group(&'a str),
    /// These training images.
    Images(&'a BTreeSet<ItemId>),
}

impl Without<'_> {
    /// Whether a training image is left out.
    pub fn leaves_out(&self, example: &Example) -> bool {
        match self {
            Self::Nothing => false,
            Self::Image(id) => example.id == *id,
            Self::Group(group) => example.group.as_deref() == Some(group),
            Self::Images(images) => images.contains(&example.id),
        }
    }
}

impl Example {
    fn object(&self) -> Object<'_> {
        self.group.as_deref().map_or(Object::Image(self.id), Object::Group)
    }

    /// What to leave out when this very image is scored, so that neither it nor its near copies
    /// help: its group, or only itself where no group is known.
    pub fn without_itself(&self) -> Without<'_> {
        self.group.as_deref().map_or(Without::Image(self.id), Without::Group)
    }
}

/// A compositional kernel machine. Equal machines give equal answers, however they came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Ckm {
    options: CkmOptions,
    /// The working size and the kinds of its elements.
    cut: Arc<Cut>,
    classes: Vec<Class>,
    terms: ClassTerms,
    search: Search,
    sketches: Sketches,
    /// There while the search asks for it.
    pieces: PieceIndex,
    whole: Whole,
}

/// The scores of a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// One for each class, in the machine's order; `None` for a class that has no training image
    /// but those left out.
    pub of: Vec<Option<f64>>,
    /// For each class, the number of training images that were not left out.
    pub examples: Vec<usize>,
    /// The total weight of the query's elements: a score divided by it is the mean over elements.
    pub mass: f64,
}

impl Scores {
    /// Classes from the best down; ties go to the class with more training images, then to the
    /// first by name. Classes without a score are left out.
    pub fn ranking(&self) -> Vec<(ClassId, f64)> {
        let mut ranking: Vec<_> = self.of.iter().zip(0..).filter_map(|(score, c)| score.map(|s| (ClassId(c), s))).collect();
        ranking.sort_by(|a, b| {
            let more = self.examples[b.0.index()].cmp(&self.examples[a.0.index()]);
            b.1.total_cmp(&a.1).then(more).then(a.0.cmp(&b.0))
        });
        ranking
    }

    /// The share of training images that the largest class has, in 0..=1: the only evidence there
    /// is for a query without elements.
    pub fn prior(&self) -> f64 {
        let all: usize = self.examples.iter().sum();
        self.examples.iter().max().map_or(0.0, |&most| most as f64 / all.max(1) as f64)
    }

    /// The best class's lead over the second, divided by [`Scores::mass`]; 0 without elements or
    /// with one class.
    pub fn margin(&self) -> f64 {
        match self.ranking().as_slice() {
            [first, second, ..] if self.mass > 0.0 => (first.1 - second.1) / self.mass,
            _ => 0.0,
        }
    }
}

/// What the elements of one kind contribute to a query's scores.
struct KindEvidence {
    architecture: Architecture,
    /// One for each class.
    classes: Vec<Evidence>,
    /// Of each class and query element the images of its pieces with their values, where these were
    /// found by an index; empty where all of an image was compared.
    pieces: Vec<Vec<Pieces>>,
}

impl KindEvidence {
    /// The value that an image of class `c` has for query element `j`, where an index may have
    /// missed its best piece.
    fn found(&self, c: usize, j: usize, image: u32) -> Option<f32> {
        let pieces = self.pieces.get(c)?.get(j)?;
        pieces.iter().find(|piece| piece.0 == image).map(|piece| piece.1)
    }
}

/// Training images that one parallel task of a query compares.
const CHUNK: usize = 48;

impl Ckm {
    /// A machine without training images.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(options: CkmOptions) -> Result<Self> {
        options.check()?;
        let cut = Cut::of(options.side, &options.kinds);
        Ok(Self {
            options,
            cut,
            classes: Vec::new(),
            terms: ClassTerms::default(),
            search: Search::Exact,
            sketches: Sketches::default(),
            pieces: PieceIndex::default(),
            whole: Whole::default(),
        })
    }

    /// The options that the machine was built with.
    pub fn options(&self) -> &CkmOptions {
        &self.options
    }

    /// The same machine with other kernels, one for each kind, and without class terms: these were
    /// fitted to the scores of before. O(elements), and with an index the time of making it.
    ///
    /// # Errors
    /// [`Error::Option`] when a kernel is out of range or their number is another.
    pub fn with_kernels(&self, kernels: &[LeafKernel]) -> Result<Self> {
        if kernels.len() != self.options.kinds.len() {
            let found = kernels.len().to_string();
            return Err(Error::Option { name: "kernels", found, expected: "one for each kind of elements" });
        }
        let mut other = Self { search: self.search, ..Self::new(self.options.with_kernels(kernels))? };
        let outlines = self.outlines_for(&other.options);
        for class in &self.classes {
            for example in &class.examples {
                let known = example.elements.away_from_here().and_then(|away| outlines.get(away.key));
                other.put(&class.name, Arc::clone(example), known.as_ref().map(|outline| &outline.sketch))?;
            }
        }
        if other.options.kinds == self.options.kinds {
            // The same numbers, so that they are in memory once.
            other.sketches = self.sketches.clone();
        }
        other.shrink();
        other.set_search(self.search)?;
        // Whole images do not depend on kernels.
        other.whole = self.whole.clone();
        Ok(other)
    }

    /// The classes in order of their names; a [`ClassId`] is a position here.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The class of that name.
    pub fn class_id(&self, name: &str) -> Option<ClassId> {
        self.classes.binary_search_by(|class| class.name.as_str().cmp(name)).ok().map(|i| ClassId(i as u32))
    }

    /// All training images with their classes.
    pub fn examples(&self) -> impl Iterator<Item = (ClassId, &Example)> {
        self.classes.iter().zip(0..).flat_map(|(class, c)| class.examples.iter().map(move |example| (ClassId(c), &**example)))
    }

    /// The training image of that identifier in the class of that name. O(log images).
    pub fn example(&self, class: &str, id: ItemId) -> Option<&Example> {
        let examples = &self.classes[self.class_id(class)?.index()].examples;
        examples.binary_search_by_key(&id, |example| example.id).ok().map(|at| &*examples[at])
    }

    /// The share of training images that the largest class has, in 0..=1; 0 without images.
    pub fn largest_class(&self) -> f64 {
        let most = self.classes.iter().map(|class| class.examples.len()).max().unwrap_or(0);
        most as f64 / self.examples().count().max(1) as f64
    }

    /// The bytes in memory of training images: their elements, as far as they are there, and their
    /// sketches. O(images).
    pub fn bytes(&self) -> usize {
        let of = |(_, example): (ClassId, &Example)| size_of::<Example>() + example.name.len() + example.elements.bytes();
        self.examples().map(of).sum::<usize>() + self.sketches.bytes()
    }

    /// The number of training elements that are pieces of images.
    pub fn n_elements(&self) -> usize {
        let pieces = |example: &Example| -> usize {
            let kinds = self.options.kinds.iter().zip(example.elements.counts());
            kinds.filter(|(kind, _)| kind.source.has_pieces()).map(|(_, count)| count).sum()
        };
        self.examples().map(|(_, example)| pieces(example)).sum()
    }

    /// Adds a training image to the class of that name, which begins with its first image; an image
    /// already there under the same identifier is replaced. O(images of the class).
    ///
    /// # Errors
    /// [`Error::Option`] when the elements were cut for a machine of another side or other kinds.
    pub fn add(&mut self, class: &str, example: impl Into<Arc<Example>>) -> Result<()> {
        self.put(class, example.into(), None)
    }

    /// As [`Ckm::add`]; the sketch is that of the elements, which need not be read then.
    fn put(&mut self, class: &str, mut example: Arc<Example>, sketch: Option<&Sketch>) -> Result<()> {
        if *example.elements.cut() != self.cut {
            let found = "those of another machine".into();
            return Err(Error::Option { name: "elements", found, expected: "cut at this machine's side into its kinds" });
        }
        // Elements that were read one by one each have a description of their own: one serves all.
        if let Some(own) = Arc::get_mut(&mut example) {
            own.elements.share_cut(&self.cut);
        }
        self.remove(example.id);
        self.drop_wholes();
        let at = self.classes.binary_search_by(|c| c.name.as_str().cmp(class)).unwrap_or_else(|at| {
            self.classes.insert(at, Class { name: class.to_owned(), examples: Vec::new() });
            self.sketches.insert_class(at);
            if let Some(mut whole) = self.whole.changing() {
                whole.insert_class(at);
            }
            if let Some(index) = self.pieces.changing() {
                index.insert_class(at, &self.options.kinds);
            }
            at
        });
        let examples = &mut self.classes[at].examples;
        let place = examples.partition_point(|other| other.id < example.id);
        let whole = self.whole.changing();
        if let (None, Some(sketch)) = (&whole, sketch) {
            self.sketches.insert(at, place, sketch);
        } else {
            let elements = example.elements.get();
            self.sketches.insert(at, place, &sketch_of(&elements, &self.options.kinds));
            if let Some(mut whole) = whole {
                whole.insert(at, &example.elements, &self.options.kinds);
            }
        }
        examples.insert(place, example);
        if let Some(index) = self.pieces.changing() {
            index.insert(at, examples, place, &self.options.kinds);
        }
        Ok(())
    }

    /// Puts the elements of training images out of memory; `key` is that of an image on `shelf`,
    /// `None` where they are not there. Answers stay the same. O(images).
    pub fn put_away(&mut self, shelf: &Arc<dyn Shelf>, key: impl Fn(ItemId) -> Option<u128>) {
        for example in self.classes.iter_mut().flat_map(|class| &mut class.examples) {
            if example.elements.is_here()
                && let Some(key) = key(example.id)
            {
                let (id, name, group) = (example.id, example.name.clone(), example.group.clone());
                *example = Arc::new(Example { id, name, group, elements: example.elements.put_away(shelf, key) });
            }
        }
    }

    /// Gives back memory that was set aside for more training images while many came.
    pub fn shrink(&mut self) {
        self.sketches.shrink();
        self.classes.iter_mut().for_each(|class| class.examples.shrink_to_fit());
    }

    /// Removes a training image, and its class with its last image. Returns whether it was there.
    /// O(images).
    pub fn remove(&mut self, id: ItemId) -> bool {
        let place =
            self.classes.iter().zip(0..).find_map(|(class, c): (&Class, usize)| {
                class.examples.binary_search_by_key(&id, |example| example.id).ok().map(|at| (c, at))
            });
        let Some((class, at)) = place else { return false };
        self.drop_wholes();
        let gone = self.classes[class].examples.remove(at);
        self.sketches.remove(class, at);
        if let Some(mut whole) = self.whole.changing() {
            whole.remove(class, &gone.elements, &self.options.kinds);
        }
        if let Some(index) = self.pieces.changing() {
            index.remove(class, &self.classes[class].examples, at, &gone, &self.options.kinds);
        }
        if self.classes[class].examples.is_empty() {
            let gone = self.classes.remove(class);
            self.terms.remove(&gone.name);
            self.sketches.remove_class(class);
            if let Some(mut whole) = self.whole.changing() {
                whole.remove_class(class);
            }
            if let Some(index) = self.pieces.changing() {
                index.remove_class(class);
            }
        }
        true
    }

    /// What is added to the scores of the classes. None until they are set, and none for a class
    /// that is new since.
    pub fn terms(&self) -> &ClassTerms {
        &self.terms
    }

    /// Sets what is added to the scores of the classes: see [`judge::judge`].
    pub fn set_terms(&mut self, terms: ClassTerms) {
        self.terms = terms;
    }

    /// The score of each class; no class has one for elements that were cut for a machine of
    /// another side or other kinds. Equal on any number of threads. O(query elements * elements of
    /// the training images that are compared).
    pub fn scores(&self, query: &Elements, without: Without<'_>) -> Scores {
        let whole = if self.terms.whole() > 0.0 { self.whole_values(query, without) } else { Vec::new() };
        self.scores_with(query, without, &whole)
    }

    /// As [`Ckm::scores`], without the likeness of whole images, of which [`Ckm::prepare`] may take
    /// long: a first guess.
    pub fn scores_by_pieces(&self, query: &Elements, without: Without<'_>) -> Scores {
        self.scores_with(query, without, &[])
    }

    /// As [`Ckm::scores`], with the values of [`Ckm::whole_values`] where whole images are compared
    /// ([`Ckm::compares_wholes`]) and the network has looked at the query if it is to.
    pub fn scores_and_whole(&self, query: &Elements, without: Without<'_>) -> (Scores, Vec<f64>) {
        if !self.compares_wholes() || query.lacks_network() {
            return (self.scores(query, without), Vec::new());
        }
        let whole = self.whole_values(query, without);
        (self.scores_with(query, without, &whole), whole)
    }

    fn scores_with(&self, query: &Elements, without: Without<'_>, whole: &[f64]) -> Scores {
        let mut scores = self.scores_without_terms(query, without);
        self.terms.add(self.classes.iter().map(|class| class.name.as_str()), whole, &mut scores);
        scores
    }

    /// As [`Ckm::scores`], by pieces alone.
    fn scores_without_terms(&self, query: &Elements, without: Without<'_>) -> Scores {
        if query.cut != self.cut {
            let n = self.classes.len();
            return Scores { of: vec![None; n], examples: vec![0; n], mass: 0.0 };
        }
        let evidence = self.evidence(query, without);
        let examples = self.counts(without);
        let score = |c: usize| (examples[c] > 0).then(|| self.roots(&evidence, c).map(|(value, _)| value).sum());
        Scores { of: (0..self.classes.len()).map(score).collect(), examples, mass: self.mass(query) }
    }

    /// The scores of a query by parts of the machine, each as by a machine that was trained on the
    /// images of that part alone, without class terms, comparing all of them; `holds(part, image)`
    /// tells whether a part has an image. Each comparison of two images is made once for all parts.
    /// O(query elements * training elements), and O(query elements) for each image of each part.
    pub fn scores_by_parts(&self, query: &Elements, parts: usize, holds: impl Fn(usize, ItemId) -> bool) -> Vec<Scores> {
        let n = self.classes.len();
        let none = Scores { of: vec![None; n], examples: vec![0; n], mass: 0.0 };
        let mut all = vec![none; parts];
        if query.cut != self.cut {
            return all;
        }
        for scores in &mut all {
            scores.mass = self.mass(query);
        }
        for (k, kind) in self.options.kinds.iter().enumerate() {
            let set = &query.sets[k];
            let architecture = self.architecture(k, query);
            let queries = Queries::new(set, kind);
            let mut comparison = queries.comparison();
            let mut bests = vec![0.0; queries.len()];
            for (c, class) in self.classes.iter().enumerate() {
                let mut evidence = vec![Evidence::new(set.len(), architecture.edges.len()); parts];
                let mut examples = vec![0; parts];
                for (i, example) in class.examples.iter().enumerate() {
                    // A kind without weight adds nothing, so it is compared with nothing.
                    if kind.kernel.weight > 0.0 {
                        comparison.bests(&example.elements.get().sets[k], &mut bests);
                    }
                    for part in (0..parts).filter(|&part| holds(part, example.id)) {
                        evidence[part].add(i as u32, &bests, &architecture.edges);
                        examples[part] += 1;
                    }
                }
                for ((scores, evidence), examples) in all.iter_mut().zip(&evidence).zip(examples) {
                    let (value, _) = evidence.root(&architecture, kind.kernel.pair_bonus, kind.kernel.floor());
                    scores.examples[c] = examples;
                    if examples > 0 {
                        scores.of[c] = Some(scores.of[c].unwrap_or(0.0) + f64::from(kind.kernel.weight) * value);
                    }
                }
            }
        }
        all
    }

    /// For each class, the number of training images that are not left out.
    fn counts(&self, without: Without<'_>) -> Vec<usize> {
        if without == Without::Nothing {
            return self.classes.iter().map(|class| class.examples.len()).collect();
        }
        self.classes.iter().map(|class| class.examples.iter().filter(|e| !without.leaves_out(e)).count()).collect()
    }

    fn mass(&self, query: &Elements) -> f64 {
        self.options.kinds.iter().zip(&query.sets).map(|(kind, set)| f64::from(kind.kernel.weight) * set.len() as f64).sum()
    }

    /// For each kind, its weighted value for class `c` and the decomposition that gave it.
    fn roots<'a>(&'a self, evidence: &'a [KindEvidence], c: usize) -> impl Iterator<Item = (f64, usize)> + 'a {
        self.options.kinds.iter().zip(evidence).map(move |(kind, evidence)| {
            let (value, p) = evidence.classes[c].root(&evidence.architecture, kind.kernel.pair_bonus, kind.kernel.floor());
            (f64::from(kind.kernel.weight) * value, p)
        })
    }

    fn evidence(&self, query: &Elements, without: Without<'_>) -> Vec<KindEvidence> {
        if let (Search::Index { probes }, Some(index)) = (self.search, self.pieces.get()) {
            return self.probed(index, probes, query, without).0;
        }
        // A kind without weight adds nothing, so it is compared with nothing.
        let kinds: Vec<(usize, &ElementKind)> = self.options.kinds.iter().enumerate().collect();
        let used = |(_, kind): &(usize, &ElementKind)| kind.kernel.weight > 0.0;
        let (wanted, others): (Vec<_>, Vec<_>) = kinds.into_iter().partition(used);
        let mut all: Vec<(usize, KindEvidence)> = Vec::new();
        for (kinds, compared) in [(wanted, self.compared(query, without)), (others, Vec::new())] {
            let evidence = self.kinds_evidence(&kinds, query, &compared);
            all.extend(kinds.iter().map(|(k, _)| *k).zip(evidence));
        }
        all.sort_by_key(|(k, _)| *k);
        all.into_iter().map(|(_, evidence)| evidence).collect()
    }

    /// The decompositions of a query's elements of a kind.
    fn architecture(&self, k: usize, query: &Elements) -> Architecture {
        let set = &query.sets[k];
        let positions: Vec<_> = (0..set.len()).map(|i| set.position(i)).collect();
        let seed = hash64(bytemuck::cast_slice(&positions)) ^ self.options.seed;
        Architecture::draw(&positions, self.options.neighbours, self.options.decompositions, seed)
    }

    /// What some kinds contribute, each compared as it says with the images at these places of each
    /// class. Elements that are not in memory are read once for all kinds.
    fn kinds_evidence(&self, kinds: &[(usize, &ElementKind)], query: &Elements, compared: &[Vec<usize>]) -> Vec<KindEvidence> {
        let architectures: Vec<Architecture> = kinds.iter().map(|(k, _)| self.architecture(*k, query)).collect();
        let queries: Vec<Queries<'_>> = kinds.iter().map(|(k, kind)| Queries::new(&query.sets[*k], kind)).collect();
        let empty = |of: usize| Evidence::new(queries[of].len(), architectures[of].edges.len());
        let tasks: Vec<(usize, &[usize])> =
            compared.iter().enumerate().flat_map(|(c, places)| places.chunks(CHUNK).map(move |chunk| (c, chunk))).collect();
        let parts: Vec<Vec<Evidence>> = tasks
            .par_iter()
            .map(|&(c, places)| {
                let examples: Vec<(u32, Held<'_>)> =
                    places.iter().map(|&i| (i as u32, self.classes[c].examples[i].elements.get())).collect();
                let part = |of: usize| {
                    let mut part = empty(of);
                    let mut comparison = queries[of].comparison();
                    let mut bests = vec![0.0; queries[of].len()];
                    for (i, elements) in &examples {
                        comparison.bests(&elements.sets[kinds[of].0], &mut bests);
                        part.add(*i, &bests, &architectures[of].edges);
                    }
                    part
                };
                (0..kinds.len()).map(part).collect()
            })
            .collect();
        let mut classes: Vec<Vec<Evidence>> = (0..kinds.len()).map(|of| vec![empty(of); self.classes.len()]).collect();
        for ((c, _), part) in tasks.iter().zip(&parts) {
            classes.iter_mut().zip(part).for_each(|(classes, part)| classes[*c].merge(part));
        }
        let evidence = |(architecture, classes)| KindEvidence { architecture, classes, pieces: Vec::new() };
        architectures.into_iter().zip(classes).map(evidence).collect()
    }
}
