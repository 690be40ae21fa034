//! The lists of one kind of elements of one class: each element is in the list of the centre that
//! is nearest to it.
//!
//! Centres are elements themselves, chosen by a hash of their image's identifier and their number,
//! as M. Muja and D. Lowe draw theirs at random (*Fast Matching of Binary Features*, 2012). Whether
//! an element is a centre depends on nothing else but on how many elements there are, to a power
//! of two. So the lists are a function of the set of images: one that comes or goes brings and
//! takes its own centres, and only elements that are nearer to these move.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::element::ElementSet;
use super::super::{ElementKind, Example};
use super::probe::{Measure, Probe};
use crate::hamming::LANES;
use crate::hash::hash64;
use crate::ids::ItemId;
use crate::linalg::single::least;

/// What one element in so many is a centre of, at least, as a power of two.
const LEAST: u32 = 6;

/// Lists that there are on average, at least, once there are that many times `1 << LEAST` elements;
/// up to twice as many.
const LISTS: usize = 2048;

/// A centre's name: its hash, its image and its number there. Centres are in the order of these.
type Key = (u64, ItemId, u32);

/// Elements that are nearest to one centre.
#[derive(Clone)]
pub(super) struct List {
    /// The elements, in any order.
    pub(super) set: ElementSet,
    /// Of each the place of its image in the class.
    pub(super) images: Vec<u32>,
    /// Of each its number in its image.
    elements: Vec<u32>,
}

impl List {
    fn push(&mut self, set: &ElementSet, i: usize, image: u32, element: u32) {
        self.set.push(set, i);
        self.images.push(image);
        self.elements.push(element);
    }

    fn swap_remove(&mut self, i: usize) {
        self.set.swap_remove(i);
        self.images.swap_remove(i);
        self.elements.swap_remove(i);
    }
}

/// The lists of one kind of elements of a class.
#[derive(Clone)]
pub(super) struct Lists {
    kind: usize,
    measure: Measure,
    /// Of elements one in 2^level is a centre.
    level: u32,
    /// All elements.
    len: usize,
    keys: Vec<Key>,
    /// The centres, in the order of their keys.
    pub(super) centres: ElementSet,
    /// As many as centres, but at least one.
    pub(super) all: Vec<List>,
}

fn level(elements: usize) -> u32 {
    (elements / LISTS).checked_ilog2().unwrap_or(0).max(LEAST)
}

/// The centres among an image's elements.
fn centres(example: &Example, kind: usize, level: u32) -> Vec<Key> {
    let key = |element: u32| (hash64(&[example.id.0.to_le_bytes(), element.to_le_bytes()].concat()), example.id, element);
    let n = example.elements.sets[kind].len() as u32;
    (0..n).map(key).filter(|key| key.0.trailing_zeros() >= level).collect()
}

impl Lists {
    /// The lists of images that are in a class in this order. O(elements * centres).
    pub(super) fn new(examples: &[Arc<Example>], kind: usize, element: &ElementKind) -> Self {
        let measure = Measure::of(element);
        let sets = || examples.iter().map(|example| &example.elements.sets[kind]);
        let len = sets().map(ElementSet::len).sum();
        let level = level(len);
        let mut chosen: Vec<(Key, usize)> = examples
            .iter()
            .enumerate()
            .flat_map(|(place, example)| centres(example, kind, level).into_iter().map(move |key| (key, place)))
            .collect();
        chosen.sort_unstable();
        let empty = examples.first().map_or_else(|| ElementSet::binary(&[], []), |example| ElementSet::like(&example.elements.sets[kind]));
        let mut centres = empty.clone();
        for (key, place) in &chosen {
            centres.push(&examples[*place].elements.sets[kind], key.2 as usize);
        }
        let keys: Vec<Key> = chosen.into_iter().map(|(key, _)| key).collect();
        let list = List { set: empty, images: Vec::new(), elements: Vec::new() };
        let all = vec![list; keys.len().max(1)];
        let mut lists = Self { kind, measure, level, len, keys, centres, all };
        let homes: Vec<Vec<usize>> = examples.par_iter().map(|example| lists.homes(&example.elements.sets[kind])).collect();
        for ((set, homes), image) in sets().zip(&homes).zip(0..) {
            for (i, home) in homes.iter().enumerate() {
                lists.all[*home].push(set, i, image, i as u32);
            }
        }
        lists
    }

    /// What the elements are compared by.
    pub(super) fn measure(&self) -> &Measure {
        &self.measure
    }

    /// The list of each element of a set. O(elements * centres).
    fn homes(&self, set: &ElementSet) -> Vec<usize> {
        let mut distances = Vec::new();
        let home = |i: usize| {
            Probe::new(set, i).distances(&self.measure, &self.centres, &mut distances);
            least(&distances, self.keys.len())
        };
        (0..set.len()).map(home).collect()
    }

    /// Follows an image that came to a place of the class, `examples`. O(its elements * centres +
    /// elements of the class); as [`Lists::new`] where their number passes a power of two.
    pub(super) fn insert(&mut self, examples: &[Arc<Example>], place: usize, element: &ElementKind) {
        let example = &examples[place];
        let set = &example.elements.sets[self.kind];
        if level(self.len + set.len()) != self.level || examples.len() == 1 {
            *self = Self::new(examples, self.kind, element);
            return;
        }
        self.len += set.len();
        if place + 1 < examples.len() {
            let later = self.all.iter_mut().flat_map(|list| &mut list.images).filter(|image| **image >= place as u32);
            later.for_each(|image| *image += 1);
        }
        for key in centres(example, self.kind, self.level) {
            self.insert_centre(key, set);
        }
        for (i, home) in self.homes(set).into_iter().enumerate() {
            self.all[home].push(set, i, place as u32, i as u32);
        }
    }

    /// Follows an image that went from a place of the class, of which `examples` are left.
    pub(super) fn remove(&mut self, examples: &[Arc<Example>], place: usize, gone: &Example, element: &ElementKind) {
        let n = gone.elements.sets[self.kind].len();
        if level(self.len - n) != self.level {
            *self = Self::new(examples, self.kind, element);
            return;
        }
        self.len -= n;
        for list in &mut self.all {
            for i in (0..list.images.len()).rev() {
                match list.images[i].cmp(&(place as u32)) {
                    std::cmp::Ordering::Equal => list.swap_remove(i),
                    std::cmp::Ordering::Greater => list.images[i] -= 1,
                    std::cmp::Ordering::Less => {}
                }
            }
        }
        for key in centres(gone, self.kind, self.level) {
            self.remove_centre(key);
        }
    }

    /// Gives the elements of an image new weights.
    pub(super) fn set_weights(&mut self, place: usize, weights: &[f32]) {
        for list in &mut self.all {
            for (i, image) in list.images.iter().enumerate() {
                if *image == place as u32 {
                    list.set.set_weight(i, weights[list.elements[i] as usize]);
                }
            }
        }
    }

    fn insert_centre(&mut self, key: Key, set: &ElementSet) {
        let at = self.keys.partition_point(|other| *other < key);
        let centre = Probe::new(set, key.2 as usize);
        let mut own = List { set: ElementSet::like(&self.centres), images: Vec::new(), elements: Vec::new() };
        let (mut new, mut old) = (Vec::new(), Vec::new());
        for (l, list) in self.all.iter_mut().enumerate() {
            centre.distances(&self.measure, &list.set, &mut new);
            if !self.keys.is_empty() {
                Probe::new(&self.centres, l).distances(&self.measure, &list.set, &mut old);
            }
            for i in (0..list.images.len()).rev() {
                let now = new[i / LANES][i % LANES];
                // Of equally near centres an element has the first.
                let is_nearer = self.keys.is_empty() || {
                    let then = old[i / LANES][i % LANES];
                    now < then || (now == then && at <= l)
                };
                if is_nearer {
                    own.push(&list.set, i, list.images[i], list.elements[i]);
                    list.swap_remove(i);
                }
            }
        }
        if self.keys.is_empty() {
            self.all.clear();
        }
        self.all.insert(at, own);
        self.keys.insert(at, key);
        let mut centres = ElementSet::like(&self.centres);
        for i in 0..self.keys.len() {
            match i.cmp(&at) {
                std::cmp::Ordering::Less => centres.push(&self.centres, i),
                std::cmp::Ordering::Equal => centres.push(set, key.2 as usize),
                std::cmp::Ordering::Greater => centres.push(&self.centres, i - 1),
            }
        }
        self.centres = centres;
    }

    fn remove_centre(&mut self, key: Key) {
        let Ok(at) = self.keys.binary_search(&key) else { return };
        self.keys.remove(at);
        let mut centres = ElementSet::like(&self.centres);
        (0..self.centres.len()).filter(|i| *i != at).for_each(|i| centres.push(&self.centres, i));
        self.centres = centres;
        if self.keys.is_empty() {
            // The last list has all elements already.
            return;
        }
        let orphans = self.all.remove(at);
        for (i, home) in self.homes(&orphans.set).into_iter().enumerate() {
            self.all[home].push(&orphans.set, i, orphans.images[i], orphans.elements[i]);
        }
    }
}
