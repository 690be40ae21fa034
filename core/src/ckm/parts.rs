//! Scores from machines that each hold some of the training images.
//!
//! What a machine's images say of a query are maxima ([`Evidence`]), and maxima of several machines
//! join to those of one machine that holds all of their images. Images are named by hashes, and of
//! equal values that of the lower hash counts, so it does not matter in which order parts join, or
//! how images were dealt to machines: the bytes of what comes out are the same.
//!
//! Pieces alone are joined, compared with all training images and without learned likeness of whole
//! images ([`super::whole`]).

use std::collections::BTreeMap;

use super::class_terms::ClassTerms;
use super::element::Elements;
use super::spf::{Evidence, NO_IMAGE};
use super::{Ckm, Scores, Without};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::ItemId;

/// What the training images of a machine say of one query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The hashes of the images that are named below by their places here: ascending, and none that
    /// is not named.
    images: Vec<u128>,
    classes: BTreeMap<String, ClassPart>,
}

/// What the images of a class say.
#[derive(Clone, Debug, PartialEq)]
struct ClassPart {
    /// How many images there are.
    examples: u64,
    /// One for each kind of elements.
    kinds: Vec<Evidence>,
}

impl Evidence {
    /// All images that it names.
    fn images(&mut self) -> impl Iterator<Item = &mut u32> {
        let unary = self.unary.iter_mut().flatten().map(|(_, image)| image);
        unary.chain(self.same.iter_mut().map(|(_, image)| image)).filter(|image| **image != NO_IMAGE)
    }

    /// How many query elements and edges it is of.
    fn shape(&self) -> (usize, usize) {
        (self.unary.len(), self.same.len())
    }
}

impl ClassPart {
    fn images(&mut self) -> impl Iterator<Item = &mut u32> {
        self.kinds.iter_mut().flat_map(Evidence::images)
    }
}

impl Ckm {
    /// What this machine's images say of a query, all of them compared; nothing for elements that
    /// were cut for another machine. `hash` names a training image; hashes ascend as identifiers
    /// do. Cost as [`Ckm::scores`].
    pub fn parts(&self, query: &Elements, without: Without<'_>, hash: impl Fn(ItemId) -> u128) -> Parts {
        if query.cut != self.cut {
            return Parts::default();
        }
        let mut kinds: Vec<_> = self.evidence(query, without).into_iter().map(|kind| kind.classes.into_iter()).collect();
        let mut parts = Parts::default();
        for (class, examples) in self.classes.iter().zip(self.counts(without)) {
            let kinds: Vec<Evidence> = kinds.iter_mut().filter_map(Iterator::next).collect();
            if examples == 0 {
                continue;
            }
            let mut part = ClassPart { examples: examples as u64, kinds };
            // Places within the class become places among all images.
            let first = parts.images.len() as u32;
            part.images().for_each(|image| *image += first);
            parts.images.extend(class.examples.iter().map(|example| hash(example.id)));
            parts.classes.insert(class.name.clone(), part);
        }
        parts.tidy();
        parts
    }

    /// The names of all classes of some parts, in order, with the scores of the query that the
    /// parts are of; terms are added where there are some. The machine itself may be empty: only
    /// its options count. O(query elements) for each class and decomposition.
    ///
    /// # Errors
    /// [`Error::Value`] for parts of another query or of a machine with other kinds.
    pub fn scores_of(&self, parts: &Parts, query: &Elements, terms: &ClassTerms) -> Result<(Vec<String>, Scores)> {
        let architectures: Vec<_> = (0..query.sets.len()).map(|k| self.architecture(k, query)).collect();
        let shapes: Vec<(usize, usize)> = query.sets.iter().zip(&architectures).map(|(set, own)| (set.len(), own.edges.len())).collect();
        parts.check(&shapes)?;
        let score = |part: &ClassPart| {
            let kinds = self.options.kinds.iter().zip(&part.kinds).zip(&architectures);
            let value = kinds.map(|((kind, evidence), architecture)| {
                let (value, _) = evidence.root(architecture, kind.kernel.pair_bonus, kind.kernel.floor());
                f64::from(kind.kernel.weight) * value
            });
            Some(value.sum())
        };
        let mut scores = Scores {
            of: parts.classes.values().map(score).collect(),
            examples: parts.classes.values().map(|part| part.examples as usize).collect(),
            mass: self.mass(query),
        };
        terms.add(parts.classes.keys().map(String::as_str), &[], &mut scores);
        Ok((parts.classes.keys().cloned().collect(), scores))
    }
}

impl Parts {
    /// Joins what other images say of the same query: associative and commutative. O(both).
    ///
    /// # Errors
    /// [`Error::Value`] for parts of another query.
    pub fn join(mut self, mut other: Self) -> Result<Self> {
        if let Some(part) = self.classes.values().next() {
            other.check(&part.kinds.iter().map(Evidence::shape).collect::<Vec<_>>())?;
        }
        let mut images: Vec<u128> = self.images.iter().chain(&other.images).copied().collect();
        images.sort_unstable();
        images.dedup();
        self.rename(&images);
        other.rename(&images);
        self.images = images;
        for (name, part) in other.classes {
            match self.classes.get_mut(&name) {
                None => drop(self.classes.insert(name, part)),
                Some(own) => {
                    own.examples = own.examples.saturating_add(part.examples);
                    own.kinds.iter_mut().zip(&part.kinds).for_each(|(own, part)| own.merge(part));
                }
            }
        }
        self.tidy();
        Ok(self)
    }

    fn check(&self, shapes: &[(usize, usize)]) -> Result<()> {
        let fits = |part: &ClassPart| part.kinds.iter().map(Evidence::shape).eq(shapes.iter().copied());
        if self.classes.values().all(fits) {
            return Ok(());
        }
        Err(Error::value("parts of a score", "those of the same query and kinds of elements", "others"))
    }

    /// Sorts the images and drops those that are not named.
    fn tidy(&mut self) {
        let mut is_named = vec![false; self.images.len()];
        self.classes.values_mut().flat_map(ClassPart::images).for_each(|image| is_named[*image as usize] = true);
        let mut images: Vec<u128> = self.images.iter().zip(is_named).filter(|(_, is_named)| *is_named).map(|(hash, _)| *hash).collect();
        images.sort_unstable();
        images.dedup();
        self.rename(&images);
        self.images = images;
    }

    /// Names images by their places in a sorted list that has all that are named.
    fn rename(&mut self, to: &[u128]) {
        let places: Vec<u32> = self.images.iter().map(|hash| to.partition_point(|other| other < hash) as u32).collect();
        self.classes.values_mut().flat_map(ClassPart::images).for_each(|image| *image = places[*image as usize]);
    }
}

impl Stored for Evidence {
    fn write(&self, out: &mut Writer) {
        out.count(self.unary.len());
        out.count(self.same.len());
        self.unary.iter().flatten().chain(&self.same).for_each(|entry| out.put(entry));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (elements, edges) = (from.count()?, from.count()?);
        let unary = (0..elements).map(|_| Ok([from.get()?, from.get()?])).collect::<Result<_>>()?;
        let same = (0..edges).map(|_| from.get()).collect::<Result<_>>()?;
        Ok(Self { unary, same })
    }
}

impl Stored for Parts {
    fn write(&self, out: &mut Writer) {
        out.put(&self.images);
        out.count(self.classes.len());
        for (name, part) in &self.classes {
            out.put(name);
            out.put(&part.examples);
            out.put(&part.kinds);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let images: Vec<u128> = from.get()?;
        let mut classes = BTreeMap::new();
        for _ in 0..from.count()? {
            let name: String = from.get()?;
            let mut part = ClassPart { examples: from.get()?, kinds: from.get()? };
            if let Some(image) = part.images().find(|image| **image as usize >= images.len()) {
                return Err(from.wrong(format!("one of {} images", images.len()), image.to_string()));
            }
            classes.insert(name, part);
        }
        Ok(Self { images, classes })
    }
}
