//! The lists of one kind of elements of one class, in two levels: each element is in the cell whose
//! centre is nearest to it, and there in the list whose centre is.
//!
//! Centres are elements themselves, chosen by a hash of their image's identifier and their number,
//! as M. Muja and D. Lowe draw theirs at random (*Fast Matching of Binary Features*, 2012). Whether
//! an element is a centre depends on nothing else but on how many elements there are, to a power
//! of two. So the lists are a function of the set of images: one that comes or goes brings and
//! takes its own centres, and only elements that are nearer to these move. A new centre of a list
//! is compared with the elements of one cell; only that of a cell is compared with all, and of
//! these one comes with so many elements that it costs little on average.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::element::ElementSet;
use super::super::{ElementKind, Example};
use super::cell::{Cell, Centres, Key, List};
use super::probe::{Measure, Probe};
use crate::hash::hash64;

/// What one element in so many is a centre of, at least, as a power of two.
const LEAST: u32 = 6;

/// Lists that there are on average, at least, once there are that many times `1 << LEAST` elements;
/// up to twice as many.
const LISTS: usize = 2048;

/// Of the centres of lists one in so many is that of a cell, as a power of two.
const CELL: u32 = 6;

/// The lists of one kind of elements of a class.
#[derive(Clone)]
pub(super) struct Lists {
    kind: usize,
    measure: Measure,
    /// Of elements one in 2^level is the centre of a list.
    level: u32,
    /// All elements.
    len: usize,
    /// The centres of the cells.
    pub(super) coarse: Centres,
    /// As many as their centres, but at least one.
    pub(super) cells: Vec<Cell>,
}

fn level(elements: usize) -> u32 {
    (elements / LISTS).checked_ilog2().unwrap_or(0).max(LEAST)
}

/// The centres of lists among an image's elements.
fn centres(example: &Example, kind: usize, level: u32) -> Vec<Key> {
    let key = |element: u32| (hash64(&[example.id.0.to_le_bytes(), element.to_le_bytes()].concat()), example.id, element);
    let n = example.elements.counts().nth(kind).unwrap_or(0) as u32;
    (0..n).map(key).filter(|key| key.0.trailing_zeros() >= level).collect()
}

impl Lists {
    /// The lists of images that are in a class in this order. O(elements * (cells + centres of a
    /// cell)).
    pub(super) fn new(examples: &[Arc<Example>], kind: usize, element: &ElementKind) -> Self {
        let measure = Measure::of(element);
        let len = examples.iter().map(|example| example.elements.counts().nth(kind).unwrap_or(0)).sum();
        let level = level(len);
        let mut chosen: Vec<(Key, usize)> = examples
            .iter()
            .enumerate()
            .flat_map(|(place, example)| centres(example, kind, level).into_iter().map(move |key| (key, place)))
            .collect();
        chosen.sort_unstable();
        let form =
            examples.first().map_or_else(|| ElementSet::binary(&[], []), |example| ElementSet::like(&example.elements.get().sets[kind]));
        let mut coarse = Centres::none(&form);
        for (key, place) in chosen.iter().filter(|(key, _)| key.0.trailing_zeros() >= level + CELL) {
            coarse.push(*key, &examples[*place].elements.get().sets[kind], key.2 as usize);
        }
        let mut fine = vec![Centres::none(&form); coarse.keys.len().max(1)];
        for (key, place) in &chosen {
            let (elements, i) = (examples[*place].elements.get(), key.2 as usize);
            let set = &elements.sets[kind];
            fine[coarse.home(&Probe::new(set, i), &measure, &mut Vec::new())].push(*key, set, i);
        }
        let cells = fine.into_iter().map(Cell::new).collect();
        let mut lists = Self { kind, measure, level, len, coarse, cells };
        let homes: Vec<Vec<(usize, usize)>> = examples.par_iter().map(|example| lists.homes(&example.elements.get().sets[kind])).collect();
        let mut counts: Vec<Vec<usize>> = lists.cells.iter().map(|cell| vec![0; cell.lists.len()]).collect();
        homes.iter().flatten().for_each(|(cell, list)| counts[*cell][*list] += 1);
        lists.all().zip(counts.into_iter().flatten()).for_each(|(list, count)| list.reserve(count));
        for ((example, homes), image) in examples.iter().zip(&homes).zip(0..) {
            lists.push_all(&example.elements.get().sets[kind], homes, image);
        }
        lists
    }

    /// What the elements are compared by.
    pub(super) fn measure(&self) -> &Measure {
        &self.measure
    }

    /// The cell and the list of each element of a set. O(elements * (cells + centres of a cell)).
    fn homes(&self, set: &ElementSet) -> Vec<(usize, usize)> {
        let mut distances = Vec::new();
        let home = |i: usize| {
            let probe = Probe::new(set, i);
            let cell = self.coarse.home(&probe, &self.measure, &mut distances);
            (cell, self.cells[cell].centres.home(&probe, &self.measure, &mut distances))
        };
        (0..set.len()).map(home).collect()
    }

    /// The cell of element `i` of a set.
    fn cell(&self, set: &ElementSet, i: usize) -> usize {
        self.coarse.home(&Probe::new(set, i), &self.measure, &mut Vec::new())
    }

    fn push_all(&mut self, set: &ElementSet, homes: &[(usize, usize)], image: u32) {
        for (i, (cell, list)) in homes.iter().enumerate() {
            self.cells[*cell].lists[*list].push(set, i, image, i as u32);
        }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut List> {
        self.cells.iter_mut().flat_map(|cell| &mut cell.lists)
    }

    /// Follows an image that came to a place of the class, `examples`. O(its elements * (cells +
    /// elements of a list) + elements of the class behind it); as [`Lists::new`] where their number
    /// passes a power of two.
    pub(super) fn insert(&mut self, examples: &[Arc<Example>], place: usize, element: &ElementKind) {
        let example = &examples[place];
        let elements = example.elements.get();
        let set = &elements.sets[self.kind];
        if level(self.len + set.len()) != self.level || examples.len() == 1 {
            *self = Self::new(examples, self.kind, element);
            return;
        }
        self.len += set.len();
        if place + 1 < examples.len() {
            let later = self.all().flat_map(|list| &mut list.images);
            later.for_each(|image| *image += u32::from(*image >= place as u32));
        }
        let keys = centres(example, self.kind, self.level);
        let rank = self.level + CELL;
        for key in keys.iter().filter(|key| key.0.trailing_zeros() >= rank) {
            self.insert_cell(*key, set);
        }
        for key in keys {
            let (cell, measure) = (self.cell(set, key.2 as usize), self.measure);
            self.cells[cell].insert_centre(key, set, key.2 as usize, &measure);
        }
        let homes = self.homes(set);
        self.push_all(set, &homes, place as u32);
    }

    /// Follows an image that went from a place of the class, of which `examples` are left.
    pub(super) fn remove(&mut self, examples: &[Arc<Example>], place: usize, gone: &Example, element: &ElementKind) {
        let elements = gone.elements.get();
        let set = &elements.sets[self.kind];
        let is_lost = gone.elements.counts().nth(self.kind) != Some(set.len());
        if is_lost || level(self.len - set.len()) != self.level {
            *self = Self::new(examples, self.kind, element);
            return;
        }
        self.len -= set.len();
        for list in self.all() {
            for i in (0..list.images.len()).rev() {
                match list.images[i].cmp(&(place as u32)) {
                    std::cmp::Ordering::Equal => list.swap_remove(i),
                    std::cmp::Ordering::Greater => list.images[i] -= 1,
                    std::cmp::Ordering::Less => {}
                }
            }
        }
        let keys = centres(gone, self.kind, self.level);
        for key in &keys {
            let (cell, measure) = (self.cell(set, key.2 as usize), self.measure);
            self.cells[cell].remove_centre(*key, &measure);
        }
        keys.iter().for_each(|key| self.remove_cell(*key));
    }

    /// Gives the elements of an image new weights.
    pub(super) fn set_weights(&mut self, place: usize, weights: &[f32]) {
        for list in self.all() {
            for (i, image) in list.images.iter().enumerate() {
                if *image == place as u32 {
                    list.set.set_weight(i, weights[list.elements[i] as usize]);
                }
            }
        }
    }

    /// Makes the element of a key the centre of a cell. O(elements of the class).
    fn insert_cell(&mut self, key: Key, set: &ElementSet) {
        let at = self.coarse.keys.partition_point(|other| *other < key);
        let new = Probe::new(set, key.2 as usize);
        // The only cell, if it has no centre, is that of the first one.
        if !self.coarse.keys.is_empty() {
            let measure = self.measure;
            let parts: Vec<(Centres, List)> = self
                .cells
                .iter_mut()
                .enumerate()
                .map(|(c, cell)| cell.split(&new, &Probe::new(&self.coarse.set, c), at <= c, &measure))
                .collect();
            let mut centres: Vec<(Key, usize, usize)> = Vec::new();
            for (p, (part, _)) in parts.iter().enumerate() {
                centres.extend(part.keys.iter().enumerate().map(|(i, key)| (*key, p, i)));
            }
            centres.sort_unstable();
            let mut own = Centres::none(set);
            centres.into_iter().for_each(|(key, p, i)| own.push(key, &parts[p].0.set, i));
            let mut cell = Cell::new(own);
            parts.iter().for_each(|(_, list)| cell.push_all(list, &measure));
            self.cells.insert(at, cell);
        }
        self.coarse.insert(at, key, set, key.2 as usize);
    }

    /// Makes the centre of a cell, if it is one, an element as others. O(elements of the cell *
    /// (cells + centres of a cell)).
    fn remove_cell(&mut self, key: Key) {
        let Ok(at) = self.coarse.keys.binary_search(&key) else { return };
        self.coarse.remove(at);
        // Without centres the last cell has all elements.
        if self.coarse.keys.is_empty() {
            return;
        }
        let (orphans, measure) = (self.cells.remove(at), self.measure);
        for (i, key) in orphans.centres.keys.iter().enumerate() {
            let cell = self.cell(&orphans.centres.set, i);
            self.cells[cell].insert_centre(*key, &orphans.centres.set, i, &measure);
        }
        for list in &orphans.lists {
            for (i, (cell, home)) in self.homes(&list.set).into_iter().enumerate() {
                self.cells[cell].lists[home].push(&list.set, i, list.images[i], list.elements[i]);
            }
        }
    }
}
