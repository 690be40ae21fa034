//! An index of pieces: a query's elements are compared with those training elements alone that lie
//! near them in the space of features and positions.
//!
//! Problem: of each class and kind of element, find the training elements with the largest kernels
//! for a query element, where no training image is like the query as a whole, as in scenes of
//! several objects. An inverted file (H. Jégou, M. Douze, C. Schmid, *Product Quantization for
//! Nearest Neighbor Search*, 2011) with a list for each of some centres, which are elements
//! themselves, in two levels (M. Muja and D. Lowe, *Fast Matching of Binary Features*, 2012): a
//! query element is compared with the centres of the cells of each class, with those of the lists
//! in the nearest cells, and with the elements of the nearest lists. The kernel is not a distance
//! of one of the indexes of [`crate::ann`], and it wants the best of each image and not the nearest
//! elements, so lists are searched here.
//!
//! What is found is exact, as far as it was looked at: kernels are those of the exact comparison,
//! pair nodes join pieces of one image, and with all lists probed scores are the exact ones. The
//! lists of a class are a function of its images (see [`lists`]), so equal machines give equal
//! answers however they came about. An image that is left out gives no piece, and a list of which
//! all is left out is not counted among those probed; but its elements may stay centres, so that
//! answers without an image may differ from those of a machine that never had it.
//!
//! Complexity: a class with many elements has 2,048 to 4,096 lists, about 64 to a cell; a query
//! element is compared with the centres of all cells, with those of the lists in 8 cells, and with
//! the elements of the lists that are probed. An index takes about 1.9 times the bytes of the
//! descriptors, besides the images' own.

mod cell;
mod lists;
mod probe;

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use super::element::{ElementSet, Elements};
use super::spf::Evidence;
use super::{Ckm, Class, ElementKind, Example, KindEvidence, Without};
use crate::error::Result;
use crate::hamming::LANES;
use crate::linalg::single::least_few;
use crate::nearest::Cost;
use crate::progress::Progress;
use cell::List;
use lists::Lists;
use probe::Probe;

/// Cells of a class that a query element is compared with the centres of, unless these have too few
/// lists to probe.
const CELLS: usize = 8;

/// Query elements that one parallel task looks up.
const TASK: usize = 32;

/// Sums of two kernels are rounded by less.
const ROUNDING: f32 = 1e-4;

/// Images of a class in any order, each with its best kernel for a query element.
pub(super) type Pieces = Vec<(u32, f32)>;

/// The lists of each class and kind; indexes that are copies of each other share them until they
/// change.
#[derive(Clone)]
pub(super) struct Index {
    classes: Vec<Vec<Arc<Lists>>>,
}

/// The index of a machine while its search asks for one. Any two are taken for equal: an index is a
/// function of the machine's images.
#[derive(Clone, Default)]
pub(super) struct PieceIndex(Option<Arc<Index>>);

impl PieceIndex {
    /// As [`Index::new`].
    pub(super) fn new(classes: &[Class], kinds: &[ElementKind], progress: &Progress) -> Result<Self> {
        Ok(Self(Some(Arc::new(Index::new(classes, kinds, progress)?))))
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn get(&self) -> Option<&Index> {
        self.0.as_deref()
    }

    /// The index, to be changed; machines that are copies of each other share one until then.
    pub(super) fn changing(&mut self) -> Option<&mut Index> {
        self.0.as_mut().map(Arc::make_mut)
    }
}

impl PartialEq for PieceIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for PieceIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_there() { "an index" } else { "no index" })
    }
}

impl Index {
    /// The index of all images.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub(super) fn new(classes: &[Class], kinds: &[ElementKind], progress: &Progress) -> Result<Self> {
        progress.begin("Indexing pieces", (classes.len() * kinds.len()) as u64);
        let of_class = |class: &Class| -> Result<Vec<Arc<Lists>>> {
            let lists = |(k, kind)| {
                progress.step()?;
                Ok(Arc::new(Lists::new(&class.examples, k, kind)))
            };
            kinds.iter().enumerate().map(lists).collect()
        };
        Ok(Self { classes: classes.par_iter().map(of_class).collect::<Result<_>>()? })
    }

    pub(super) fn insert_class(&mut self, class: usize, kinds: &[ElementKind]) {
        let lists = kinds.iter().enumerate().map(|(k, kind)| Arc::new(Lists::new(&[], k, kind))).collect();
        self.classes.insert(class, lists);
    }

    pub(super) fn remove_class(&mut self, class: usize) {
        self.classes.remove(class);
    }

    /// Follows an image that came to a place of its class, which has these now.
    pub(super) fn insert(&mut self, class: usize, examples: &[Arc<Example>], place: usize, kinds: &[ElementKind]) {
        for (lists, kind) in self.classes[class].iter_mut().zip(kinds) {
            Arc::make_mut(lists).insert(examples, place, kind);
        }
    }

    /// Follows an image that went from a place of its class, which has these left.
    pub(super) fn remove(&mut self, class: usize, examples: &[Arc<Example>], place: usize, gone: &Example, kinds: &[ElementKind]) {
        for (lists, kind) in self.classes[class].iter_mut().zip(kinds) {
            Arc::make_mut(lists).remove(examples, place, gone, kind);
        }
    }

    /// Follows the weights of an image's elements.
    pub(super) fn set_weights(&mut self, class: usize, place: usize, weights: &[Vec<f32>]) {
        for (lists, weights) in self.classes[class].iter_mut().zip(weights) {
            Arc::make_mut(lists).set_weights(place, weights);
        }
    }
}

/// Finds the pieces of one class for query elements one after another.
struct Lookup<'a> {
    lists: &'a Lists,
    probes: usize,
    /// Whether each image takes part; empty where all do.
    admitted: &'a [bool],
    /// Images whose best is below the best of all by more than this play no part.
    window: f32,
    /// The best of each image: infinity where it takes no part, otherwise minus infinity but for
    /// those in `touched`.
    bests: Vec<f32>,
    touched: Vec<u32>,
    values: Vec<[f32; LANES]>,
    /// Distances to the centres of some cells, those of each from a new block on.
    near: Vec<[f32; LANES]>,
    cost: Cost,
}

impl Lookup<'_> {
    fn pieces(&mut self, probe: &Probe) -> Pieces {
        let n = self.lists.cells.len();
        let (mut opened, mut count, mut probed) = (0, CELLS.min(n), 0);
        let mut best = f32::NEG_INFINITY;
        self.cost.nodes += self.lists.coarse.keys.len() as u64;
        loop {
            probe.distances(self.lists.measure(), &self.lists.coarse.set, &mut self.values);
            if self.values.is_empty() {
                // Without centres there is one cell.
                self.values.push([0.0; LANES]);
            }
            let cells = least_few(&self.values, n, count);
            self.open(probe, &cells[opened..], &mut probed, &mut best);
            if probed == self.probes || count == n {
                break;
            }
            opened = count;
            count = (2 * count).min(n);
        }
        let all = self.touched.drain(..).map(|image| (image, std::mem::replace(&mut self.bests[image as usize], f32::NEG_INFINITY)));
        all.filter(|(_, value)| *value >= best - self.window).collect()
    }

    /// Compares with the nearest lists of some cells until as many as wanted were probed.
    fn open(&mut self, probe: &Probe, cells: &[u32], probed: &mut usize, best: &mut f32) {
        let lists = self.lists;
        let cell = |c: usize| &lists.cells[cells[c] as usize];
        self.near.clear();
        let mut starts = Vec::with_capacity(cells.len());
        for c in 0..cells.len() {
            starts.push(self.near.len() * LANES);
            let n = cell(c).lists.len();
            probe.distances(lists.measure(), &cell(c).centres.set, &mut self.values);
            self.cost.nodes += cell(c).centres.keys.len() as u64;
            if self.values.is_empty() {
                // Without centres there is one list.
                self.values.push([0.0; LANES]);
            }
            self.values.as_flattened_mut()[n..].fill(f32::INFINITY);
            self.near.extend_from_slice(&self.values);
        }
        let n = self.near.len() * LANES;
        let (mut seen, mut count) = (0, (self.probes - *probed).min(n));
        loop {
            for place in least_few(&self.near, n, count).into_iter().skip(seen).map(|place| place as usize) {
                let c = starts.partition_point(|start| *start <= place) - 1;
                if *probed < self.probes
                    && let Some(list) = cell(c).lists.get(place - starts[c])
                    && self.look(probe, list, best)
                {
                    *probed += 1;
                }
            }
            if *probed == self.probes || count == n {
                break;
            }
            // Some lists had nothing to look at.
            seen = count;
            count = (2 * count).min(n);
        }
    }

    /// Compares with a list. Returns whether it had an element that takes part.
    fn look(&mut self, probe: &Probe, list: &List, best: &mut f32) -> bool {
        let takes_part = |image: u32| self.admitted.get(image as usize).copied().unwrap_or(true);
        if !list.images.iter().any(|image| takes_part(*image)) {
            return false;
        }
        probe.values(self.lists.measure(), &list.set, &mut self.values);
        self.cost.leaves += 1;
        self.cost.points += list.images.len() as u64;
        *best = best.max(match self.admitted {
            [] => largest(&self.values),
            _ => {
                let all = self.values.as_flattened().iter().zip(&list.images);
                all.filter(|(_, image)| takes_part(**image)).fold(f32::NEG_INFINITY, |most, (value, _)| most.max(*value))
            }
        });
        let bar = *best - self.window;
        for (values, images) in self.values.iter().zip(list.images.chunks(LANES)) {
            let mut rest = values.iter().zip(0u32..).fold(0, |bits, (value, i)| bits | u32::from(*value >= bar) << i);
            // Lanes beyond the last element have no image.
            while let Some(&image) = images.get(rest.trailing_zeros() as usize) {
                let value = values[rest.trailing_zeros() as usize];
                rest &= rest - 1;
                let known = &mut self.bests[image as usize];
                if value > *known {
                    if *known == f32::NEG_INFINITY {
                        self.touched.push(image);
                    }
                    *known = value;
                }
            }
        }
        true
    }
}

/// The largest value; minus infinity where there is none.
fn largest(values: &[[f32; LANES]]) -> f32 {
    let mut most = [f32::NEG_INFINITY; LANES];
    for values in values {
        most.iter_mut().zip(values).for_each(|(most, value)| *most = if *value > *most { *value } else { *most });
    }
    most.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

impl Ckm {
    /// The evidence for a query's elements from the nearest `probes` lists of each class, and what
    /// finding it took.
    pub(super) fn probed(&self, index: &Index, probes: usize, query: &Elements, without: Without<'_>) -> (Vec<KindEvidence>, Cost) {
        let admitted = |class: &Class| -> Vec<bool> {
            if without == Without::Nothing {
                return Vec::new();
            }
            class.examples.iter().map(|example| !without.leaves_out(example)).collect()
        };
        let admitted: Vec<Vec<bool>> = self.classes.iter().map(admitted).collect();
        let mut cost = Cost::default();
        let of_kind = |(k, set): (usize, &ElementSet)| {
            let kernel = &self.options.kinds[k].kernel;
            let window = if kernel.pair_bonus < 0.0 { f32::INFINITY } else { kernel.pair_bonus + ROUNDING };
            let architecture = self.architecture(k, query);
            let probing: Vec<Probe> = (0..set.len()).map(|i| Probe::new(set, i)).collect();
            let tasks: Vec<(usize, &[Probe])> =
                (0..self.classes.len()).flat_map(|c| probing.chunks(TASK).map(move |part| (c, part))).collect();
            let look_up = |&(c, part): &(usize, &[Probe])| {
                let mut lookup = Lookup {
                    lists: &index.classes[c][k],
                    probes,
                    admitted: &admitted[c],
                    window,
                    bests: match admitted[c].as_slice() {
                        [] => vec![f32::NEG_INFINITY; self.classes[c].examples.len()],
                        admitted => admitted.iter().map(|admitted| if *admitted { f32::NEG_INFINITY } else { f32::INFINITY }).collect(),
                    },
                    touched: Vec::new(),
                    values: Vec::new(),
                    near: Vec::new(),
                    cost: Cost::default(),
                };
                let pieces: Vec<Pieces> = part.iter().map(|probe| lookup.pieces(probe)).collect();
                (pieces, lookup.cost)
            };
            let found: Vec<(Vec<Pieces>, Cost)> = tasks.par_iter().map(look_up).collect();
            let mut pieces = vec![Vec::with_capacity(set.len()); self.classes.len()];
            for ((c, _), (part, spent)) in tasks.iter().zip(found) {
                pieces[*c].extend(part);
                cost += spent;
            }
            let of_class = |(pieces, class): (&Vec<Pieces>, &Class)| Evidence::of_pieces(pieces, &architecture.edges, class.examples.len());
            let classes = pieces.par_iter().zip(&self.classes).map(of_class).collect();
            KindEvidence { architecture, classes, pieces }
        };
        let evidence = query.sets.iter().enumerate().map(of_kind).collect();
        (evidence, cost)
    }
}
