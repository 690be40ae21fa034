//! One cell of the elements of a class: lists of elements by the centre that is nearest to them.

use super::super::element::ElementSet;
use super::probe::{Measure, Probe};
use crate::hamming::LANES;
use crate::ids::ItemId;
use crate::linalg::single::least;

/// A centre's name: its hash, its image and its number there. Centres are in the order of these.
pub(super) type Key = (u64, ItemId, u32);

/// Elements that others are nearest to, in the order of their keys.
#[derive(Clone)]
pub(super) struct Centres {
    pub(super) keys: Vec<Key>,
    pub(super) set: ElementSet,
}

impl Centres {
    /// No centres among elements of a form.
    pub(super) fn none(form: &ElementSet) -> Self {
        Self { keys: Vec::new(), set: ElementSet::like(form) }
    }

    /// Appends element `i` of a set; its key must come after the others.
    pub(super) fn push(&mut self, key: Key, set: &ElementSet, i: usize) {
        self.keys.push(key);
        self.set.push(set, i);
    }

    /// Inserts element `i` of a set before the centre at `at`. O(centres).
    pub(super) fn insert(&mut self, at: usize, key: Key, set: &ElementSet, i: usize) {
        self.keys.insert(at, key);
        let mut all = ElementSet::like(&self.set);
        (0..at).for_each(|other| all.push(&self.set, other));
        all.push(set, i);
        (at..self.set.len()).for_each(|other| all.push(&self.set, other));
        self.set = all;
    }

    /// Removes the centre at `at`. O(centres).
    pub(super) fn remove(&mut self, at: usize) {
        self.keys.remove(at);
        let mut all = ElementSet::like(&self.set);
        (0..self.set.len()).filter(|i| *i != at).for_each(|i| all.push(&self.set, i));
        self.set = all;
    }

    /// The place of the nearest centre, of equals the first; 0 without centres. O(centres).
    pub(super) fn home(&self, probe: &Probe, measure: &Measure, distances: &mut Vec<[f32; LANES]>) -> usize {
        probe.distances(measure, &self.set, distances);
        least(distances, self.keys.len())
    }
}

/// Elements that are nearest to one centre.
#[derive(Clone)]
pub(super) struct List {
    /// The elements, in any order.
    pub(super) set: ElementSet,
    /// Of each the place of its image in the class.
    pub(super) images: Vec<u32>,
    /// Of each its number in its image.
    pub(super) elements: Vec<u32>,
}

impl List {
    /// No elements of a form.
    pub(super) fn none(form: &ElementSet) -> Self {
        Self { set: ElementSet::like(form), images: Vec::new(), elements: Vec::new() }
    }

    /// Makes room for so many more elements and no others.
    pub(super) fn reserve(&mut self, count: usize) {
        self.set.reserve(count);
        self.images.reserve_exact(count);
        self.elements.reserve_exact(count);
    }

    pub(super) fn push(&mut self, set: &ElementSet, i: usize, image: u32, element: u32) {
        self.set.push(set, i);
        self.images.push(image);
        self.elements.push(element);
    }

    pub(super) fn swap_remove(&mut self, i: usize) {
        self.set.swap_remove(i);
        self.images.swap_remove(i);
        self.elements.swap_remove(i);
    }

    /// Moves the elements that `moves` names to another list.
    fn give(&mut self, to: &mut Self, moves: impl Fn(usize) -> bool) {
        for i in (0..self.images.len()).rev().filter(|i| moves(*i)) {
            to.push(&self.set, i, self.images[i], self.elements[i]);
            self.swap_remove(i);
        }
    }
}

/// The lists of one cell.
#[derive(Clone)]
pub(super) struct Cell {
    pub(super) centres: Centres,
    /// As many as centres, but at least one.
    pub(super) lists: Vec<List>,
}

/// Which elements of `set` are nearer to one element than to another, or as near where `first`.
pub(super) fn nearer(new: &Probe, old: &Probe, first: bool, set: &ElementSet, measure: &Measure) -> Vec<bool> {
    let (mut now, mut then) = (Vec::new(), Vec::new());
    new.distances(measure, set, &mut now);
    old.distances(measure, set, &mut then);
    let pairs = now.as_flattened().iter().zip(then.as_flattened()).take(set.len());
    pairs.map(|(now, then)| now < then || (first && now == then)).collect()
}

impl Cell {
    /// A cell without elements.
    pub(super) fn new(centres: Centres) -> Self {
        let lists = vec![List::none(&centres.set); centres.keys.len().max(1)];
        Self { centres, lists }
    }

    /// Appends elements, each to the list of its nearest centre. O(elements * centres).
    pub(super) fn push_all(&mut self, list: &List, measure: &Measure) {
        let mut distances = Vec::new();
        for (i, (image, element)) in list.images.iter().zip(&list.elements).enumerate() {
            let home = self.centres.home(&Probe::new(&list.set, i), measure, &mut distances);
            self.lists[home].push(&list.set, i, *image, *element);
        }
    }

    /// Makes element `i` of a set a centre. O(elements).
    pub(super) fn insert_centre(&mut self, key: Key, set: &ElementSet, i: usize, measure: &Measure) {
        let at = self.centres.keys.partition_point(|other| *other < key);
        let centre = Probe::new(set, i);
        // The list of a cell without centres is that of its first one.
        if !self.centres.keys.is_empty() {
            let mut own = List::none(set);
            for (l, list) in self.lists.iter_mut().enumerate() {
                let moves = nearer(&centre, &Probe::new(&self.centres.set, l), at <= l, &list.set, measure);
                list.give(&mut own, |i| moves[i]);
            }
            self.lists.insert(at, own);
        }
        self.centres.insert(at, key, set, i);
    }

    /// Makes a centre an element as others. O(centres * elements of its list).
    pub(super) fn remove_centre(&mut self, key: Key, measure: &Measure) {
        let Ok(at) = self.centres.keys.binary_search(&key) else { return };
        self.centres.remove(at);
        // Without centres the last list has all elements.
        if !self.centres.keys.is_empty() {
            let orphans = self.lists.remove(at);
            self.push_all(&orphans, measure);
        }
    }

    /// Takes out the elements, centres among them, that are nearer to the new centre of a cell than
    /// to that of this one, or as near where `first`. O(elements).
    pub(super) fn split(&mut self, new: &Probe, old: &Probe, first: bool, measure: &Measure) -> (Centres, List) {
        let mut gone = List::none(&self.centres.set);
        for list in &mut self.lists {
            let moves = nearer(new, old, first, &list.set, measure);
            list.give(&mut gone, |i| moves[i]);
        }
        let mut centres = Centres::none(&self.centres.set);
        for (i, moves) in nearer(new, old, first, &self.centres.set, measure).into_iter().enumerate() {
            if moves {
                centres.push(self.centres.keys[i], &self.centres.set, i);
            }
        }
        centres.keys.iter().for_each(|key| self.remove_centre(*key, measure));
        (centres, gone)
    }
}
