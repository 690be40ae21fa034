//! Candidate lists: of all training elements, those that decide the scores of the images that
//! weights are learned from.
//!
//! An image's score by a class is a maximum over all elements of the class, and small changes of
//! weights change it only through the few that are best or nearly so. Lists keep these: for each
//! query element the best elements of the best images, for each pair of neighbours the best images
//! that have something like both. Scores from lists equal full scores at the weights they were made
//! at; at other weights they are at most the full scores, until lists are made anew.

use rayon::prelude::*;

use super::super::compare::Queries;
use super::super::element::Elements;
use super::super::kernel::LeafKernel;
use super::super::spf::{Architecture, Evidence, NO_IMAGE, Node};
use super::super::{Ckm, Example, Without};
use crate::error::Result;
use crate::ids::ClassId;
use crate::progress::Progress;

/// How much lists keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListSize {
    /// Images for each query element and class, at least 1.
    pub images: usize,
    /// Images for each pair of neighbours and class, at least 1.
    pub pair_images: usize,
    /// Classes beside the image's own: those with the best scores.
    pub rivals: usize,
}

impl ListSize {
    /// At most so many bytes are the lists of an image of `elements` elements that may each pair
    /// with `neighbours` others.
    pub(super) fn bytes(&self, elements: usize, neighbours: usize) -> usize {
        let an_element = self.images * size_of::<Piece>() + neighbours * self.pair_images * size_of::<PiecePair>();
        (self.rivals + 1) * elements * an_element
    }
}

/// Places of all training elements in one list of weights.
#[derive(Clone, Debug)]
pub struct Numbering {
    kinds: usize,
    /// The first number of each image and kind, images in the machine's order, and the end.
    starts: Vec<u32>,
    /// The number of the first image of each class.
    classes: Vec<u32>,
    /// The image of each element.
    images: Vec<u32>,
}

impl Numbering {
    /// Numbers the elements of a machine. O(elements).
    pub fn new(ckm: &Ckm) -> Self {
        let kinds = ckm.options().kinds.len();
        let (mut starts, mut classes, mut images) = (vec![0], Vec::new(), Vec::new());
        let mut image = 0;
        for class in ckm.classes() {
            classes.push(image);
            for example in &class.examples {
                for count in example.elements.counts() {
                    images.resize(images.len() + count, image);
                    starts.push(images.len() as u32);
                }
                image += 1;
            }
        }
        Self { kinds, starts, classes, images }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.images.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    /// The image of an element, as its position among the machine's.
    pub(super) fn image(&self, element: u32) -> u32 {
        self.images[element as usize]
    }

    /// The numbers of an image's elements of kind `k`.
    pub(super) fn elements(&self, image: usize, k: usize) -> std::ops::Range<usize> {
        self.starts[image * self.kinds + k] as usize..self.starts[image * self.kinds + k + 1] as usize
    }

    /// The weights that the elements of a machine have now.
    pub fn weights(&self, ckm: &Ckm) -> Vec<f32> {
        ckm.examples().flat_map(|(_, e)| e.elements.weights().into_iter().flatten()).collect()
    }

    /// Weights by image, kind and element, images in the machine's order: what `Ckm::set_weights`
    /// takes of each.
    pub fn split(&self, weights: &[f32]) -> Vec<Vec<Vec<f32>>> {
        let images = (self.starts.len() - 1) / self.kinds;
        let set = |image: usize, k: usize| weights[self.elements(image, k)].to_vec();
        (0..images).map(|image| (0..self.kinds).map(|k| set(image, k)).collect()).collect()
    }
}

/// An element that may be a query element's best.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// The kernel without the weight; minus infinity where a list is not full.
    kernel: f32,
    element: u32,
}

/// Two elements of one image that may be the best of a pair of neighbours.
#[derive(Clone, Copy, Debug)]
struct PiecePair {
    kernels: f32,
    elements: [u32; 2],
}

/// The lists of one kind of elements of an image.
#[derive(Clone, Debug)]
struct KindLists {
    architecture: Architecture,
    /// For each class listed and each query element, [`ListSize::images`] pieces.
    pieces: Vec<Piece>,
    /// For each class listed and each edge, [`ListSize::pair_images`] pairs.
    pairs: Vec<PiecePair>,
}

/// The lists of one image.
#[derive(Clone, Debug)]
pub struct ImageLists {
    /// The image's class first, then its rivals.
    pub classes: Vec<ClassId>,
    kinds: Vec<KindLists>,
}

/// The lists of the images that weights are learned from, or judged by.
#[derive(Clone, Debug)]
pub struct Lists {
    /// One for each image whose class has a score without the image's object.
    pub images: Vec<ImageLists>,
    numbering: Numbering,
    kernels: Vec<LeafKernel>,
    size: ListSize,
}

impl Lists {
    /// Makes the lists of `queries`, each an image, its class and what is left out of its scores.
    /// Equal on any number of threads. O(queries * query elements * training elements).
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub fn make<'a>(ckm: &Ckm, queries: &[(ClassId, &'a Elements, Without<'a>)], size: ListSize, progress: &Progress) -> Result<Self> {
        let numbering = Numbering::new(ckm);
        let lists = queries.par_iter().map(|&(class, elements, without)| {
            progress.step()?;
            Ok(image_lists(ckm, &numbering, class, elements, without, size))
        });
        let images: Vec<Option<ImageLists>> = lists.collect::<Result<_>>()?;
        let kernels = ckm.options().kernels();
        Ok(Self { images: images.into_iter().flatten().collect(), numbering, kernels, size })
    }

    /// The numbers of the training elements.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// The scores of image `i` by the classes that its lists have, in their order, at `weights`.
    /// O(length of its lists).
    pub fn scores(&self, i: usize, weights: &[f32]) -> Vec<f64> {
        (0..self.images[i].classes.len()).map(|c| self.score(i, c, weights, None)).collect()
    }

    /// The score of image `i` by the class listed at `c`; `found` is told each element that made it
    /// and by how much the score grows with that element's weight.
    pub fn score(&self, i: usize, c: usize, weights: &[f32], mut found: Option<&mut dyn FnMut(u32, f32)>) -> f64 {
        let mut score = 0.0;
        for (lists, kernel) in self.images[i].kinds.iter().zip(&self.kernels) {
            let best = self.best(lists, self.images[i].classes.len(), c, weights);
            let (value, decomposition) = best.evidence.root(&lists.architecture, kernel.pair_bonus, kernel.floor());
            score += f64::from(kernel.weight) * value;
            if let Some(found) = found.as_deref_mut() {
                for node in &lists.architecture.decompositions[decomposition] {
                    best.elements(node, &lists.architecture, kernel, &mut |element| found(element, kernel.weight));
                }
            }
        }
        score
    }

    /// For each training image, the images whose lists have elements of it, in order.
    pub(super) fn mentions(&self) -> Vec<Vec<u32>> {
        let n = (self.numbering.starts.len() - 1) / self.numbering.kinds;
        let mut all: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (lists, i) in self.images.iter().zip(0..) {
            for kind in &lists.kinds {
                let pieces = kind.pieces.iter().filter(|piece| piece.kernel > f32::NEG_INFINITY).map(|piece| piece.element);
                let pairs = kind.pairs.iter().filter(|pair| pair.kernels > f32::NEG_INFINITY).flat_map(|pair| pair.elements);
                for element in pieces.chain(pairs) {
                    let mentions = &mut all[self.numbering.image(element) as usize];
                    if mentions.last() != Some(&i) {
                        mentions.push(i);
                    }
                }
            }
        }
        all
    }

    /// The best of the pieces of the class listed at `c`, of `classes` listed.
    fn best(&self, lists: &KindLists, classes: usize, c: usize, weights: &[f32]) -> BestPieces {
        let (length, pair_length) = (self.size.images, self.size.pair_images);
        let edges = lists.architecture.edges.len();
        let n = lists.pieces.len() / length / classes;
        let mut best = BestPieces { evidence: Evidence::new(n, edges), pieces: vec![[0; 2]; n], pairs: vec![[0; 2]; edges] };
        let pieces = &lists.pieces[c * n * length..][..n * length];
        for ((list, entry), chosen) in pieces.chunks_exact(length).zip(&mut best.evidence.unary).zip(&mut best.pieces) {
            for piece in list {
                let value = piece.kernel + weights[piece.element as usize];
                if value > entry[0].0 {
                    (*entry, *chosen) = ([(value, 0), entry[0]], [piece.element, chosen[0]]);
                } else if value > entry[1].0 {
                    (entry[1], chosen[1]) = ((value, 0), piece.element);
                }
            }
            for (entry, element) in entry.iter_mut().zip(chosen) {
                entry.1 = if entry.0 == f32::NEG_INFINITY { NO_IMAGE } else { self.numbering.image(*element) };
            }
        }
        let pairs = &lists.pairs[c * edges * pair_length..][..edges * pair_length];
        for ((list, entry), chosen) in pairs.chunks_exact(pair_length).zip(&mut best.evidence.same).zip(&mut best.pairs) {
            for pair in list {
                let [a, b] = pair.elements.map(|element| weights[element as usize]);
                let value = pair.kernels + (a + b);
                if value > entry.0 {
                    (*entry, *chosen) = ((value, 0), pair.elements);
                }
            }
            entry.1 = if entry.0 == f32::NEG_INFINITY { NO_IMAGE } else { self.numbering.image(chosen[0]) };
        }
        best
    }
}

/// The best pieces of a class for the query elements of one kind, and their elements.
struct BestPieces {
    evidence: Evidence,
    /// As [`Evidence::unary`].
    pieces: Vec<[u32; 2]>,
    /// As [`Evidence::same`].
    pairs: Vec<[u32; 2]>,
}

impl BestPieces {
    /// The training elements that make a node's value.
    fn elements(&self, node: &Node, architecture: &Architecture, kernel: &LeafKernel, found: &mut dyn FnMut(u32)) {
        let single = |j: u32, image: u32| {
            let of = self.evidence.unary[j as usize].iter().position(|entry| entry.1 == image && image != NO_IMAGE);
            of.map(|at| self.pieces[j as usize][at])
        };
        match *node {
            Node::Single(j) => single(j, self.evidence.single(j, kernel.floor()).1).into_iter().for_each(found),
            Node::Pair(edge) => {
                let (_, images) = self.evidence.pair(edge, &architecture.edges, kernel.pair_bonus, kernel.floor());
                if images[0] == images[1] && images[0] != NO_IMAGE && images[0] == self.evidence.same[edge as usize].1 {
                    self.pairs[edge as usize].into_iter().for_each(found);
                } else {
                    let (a, b) = architecture.edges[edge as usize];
                    single(a, images[0]).into_iter().chain(single(b, images[1])).for_each(found);
                }
            }
        }
    }
}

/// The best images of a class for a query's elements and edges of one kind, the best first.
struct BestImages {
    evidence: Evidence,
    elements: Vec<(f32, u32)>,
    edges: Vec<(f32, u32)>,
}

fn image_lists(
    ckm: &Ckm,
    numbering: &Numbering,
    class: ClassId,
    query: &Elements,
    without: Without<'_>,
    size: ListSize,
) -> Option<ImageLists> {
    let kept: Vec<Vec<(u32, &Example)>> = ckm
        .classes()
        .iter()
        .map(|class| (0..).zip(class.examples.iter().map(|e| &**e)).filter(|(_, e)| !without.leaves_out(e)).collect())
        .collect();
    if kept[class.index()].is_empty() {
        return None;
    }
    let kinds = &ckm.options().kinds;
    let mut scores = vec![0.0; kept.len()];
    let mut found = Vec::with_capacity(kinds.len());
    for (k, kind) in kinds.iter().enumerate() {
        let architecture = ckm.architecture(k, query);
        let queries = Queries::new(&query.sets[k], kind);
        let best: Vec<BestImages> = kept.iter().map(|images| best_images(k, images, &queries, &architecture, size)).collect();
        for (score, best) in scores.iter_mut().zip(&best) {
            let (value, _) = best.evidence.root(&architecture, kind.kernel.pair_bonus, kind.kernel.floor());
            *score += f64::from(kind.kernel.weight) * value;
        }
        found.push((architecture, queries, best));
    }
    let mut rivals: Vec<usize> = (0..kept.len()).filter(|&c| c != class.index() && !kept[c].is_empty()).collect();
    rivals.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    rivals.truncate(size.rivals);
    let classes: Vec<ClassId> = std::iter::once(class).chain(rivals.into_iter().map(|c| ClassId(c as u32))).collect();
    let lists = |(k, (architecture, queries, best)): (usize, (Architecture, Queries<'_>, Vec<BestImages>))| {
        let mut lists = KindLists { architecture, pieces: Vec::new(), pairs: Vec::new() };
        for &class in &classes {
            let examples = &ckm.classes()[class.index()].examples;
            let first = numbering.classes[class.index()];
            let piece = |j: u32, image: u32| -> Option<Piece> {
                let elements = examples.get(image as usize)?.elements.get();
                let (element, kernel) = queries.piece(&elements.sets[k], j as usize)?;
                Some(Piece { kernel, element: numbering.elements((first + image) as usize, k).start as u32 + element as u32 })
            };
            lists.list(&best[class.index()], size, piece);
        }
        lists
    };
    let kinds = found.into_iter().enumerate().map(lists).collect();
    Some(ImageLists { classes, kinds })
}

const NO_PIECE: Piece = Piece { kernel: f32::NEG_INFINITY, element: 0 };
const NO_PAIR: PiecePair = PiecePair { kernels: f32::NEG_INFINITY, elements: [0; 2] };

impl KindLists {
    /// Adds the lists of a class; `piece` finds the best element of an image for a query element.
    fn list(&mut self, best: &BestImages, size: ListSize, piece: impl Fn(u32, u32) -> Option<Piece>) {
        let start = self.pieces.len();
        for (list, j) in best.elements.chunks_exact(size.images).zip(0..) {
            self.pieces.extend(list.iter().map(|&(_, image)| piece(j, image).unwrap_or(NO_PIECE)));
        }
        // Most images of a pair are among those of its elements already.
        let known = |pieces: &[Piece], j: u32, image: u32| {
            let at = best.elements[j as usize * size.images..][..size.images].iter().position(|entry| entry.1 == image);
            at.map(|at| pieces[start + j as usize * size.images + at]).or_else(|| piece(j, image))
        };
        for (list, &(a, b)) in best.edges.chunks_exact(size.pair_images).zip(&self.architecture.edges) {
            for &(_, image) in list {
                let both = known(&self.pieces, a, image).zip(known(&self.pieces, b, image));
                self.pairs
                    .push(both.map_or(NO_PAIR, |(x, y)| PiecePair { kernels: x.kernel + y.kernel, elements: [x.element, y.element] }));
            }
        }
    }
}

fn best_images(k: usize, images: &[(u32, &Example)], queries: &Queries<'_>, architecture: &Architecture, size: ListSize) -> BestImages {
    let (n, edges) = (queries.len(), &architecture.edges);
    let none = (f32::NEG_INFINITY, NO_IMAGE);
    let mut best = BestImages {
        evidence: Evidence::new(n, edges.len()),
        elements: vec![none; n * size.images],
        edges: vec![none; edges.len() * size.pair_images],
    };
    let (mut comparison, mut bests) = (queries.comparison(), vec![0.0; n]);
    for &(image, example) in images {
        comparison.bests(&example.elements.get().sets[k], &mut bests);
        best.evidence.add(image, &bests, edges);
        for (list, &value) in best.elements.chunks_exact_mut(size.images).zip(&bests) {
            insert(list, (value, image));
        }
        for (list, &(a, b)) in best.edges.chunks_exact_mut(size.pair_images).zip(edges) {
            insert(list, (bests[a as usize] + bests[b as usize], image));
        }
    }
    best
}

/// Puts a value into a list that is sorted from the largest down; of equals the first stays before.
fn insert(list: &mut [(f32, u32)], new: (f32, u32)) {
    if list.last().is_some_and(|last| new.0 > last.0) {
        let at = list.partition_point(|entry| entry.0 >= new.0);
        list[at..].rotate_right(1);
        list[at] = new;
    }
}
