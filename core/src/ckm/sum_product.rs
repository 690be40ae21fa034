//! Scores by the sum-product semiring instead of max-sum: all virtual instances count, not only the
//! best.
//!
//! The paper (section 3.1) prefers max-sum; this is the other one, to compare. A pair node is
//!
//! `sum over z, z' of K(z) K(z') phi(z, z')`, where phi is the bonus when z and z' come from one
//! image and 1 otherwise.
//!
//! With `a_j[i]` the sum of the kernels of element j over image i this is the sum of `a_j[i]
//! a_j'[i']` over pairs of different images, plus the bonus times that over single images. Both are
//! kept while images pass by, so a pair costs O(elements) here too, and no term is negative.

use rayon::prelude::*;

use super::element::{ElementSet, Elements, Values};
use super::options::ElementKind;
use super::spf::semiring::{LogSumProduct, Semiring};
use super::spf::{Architecture, Node};
use super::{CHUNK, Ckm, Scores, Without};
use crate::hamming::LANES;

/// Terms below the largest by more than this many temperatures change no digit of a sum.
const NEGLIGIBLE: f64 = 40.0;

/// The sums over a class's training images that the nodes of a query need.
#[derive(Clone)]
struct Sums {
    /// Of each query element, over all training elements.
    unary: Vec<f64>,
    /// Of each edge: products of two kernels from one image, and from different images.
    same: Vec<f64>,
    apart: Vec<f64>,
}

impl Sums {
    fn new(elements: usize, edges: usize) -> Self {
        let none = |n| vec![f64::NEG_INFINITY; n];
        Self { unary: none(elements), same: none(edges), apart: none(edges) }
    }

    /// The sums over one image, from those of its elements.
    fn of_image(unary: Vec<f64>, edges: &[(u32, u32)]) -> Self {
        let same = edges.iter().map(|&(a, b)| unary[a as usize] + unary[b as usize]).collect();
        Self { unary, same, apart: vec![f64::NEG_INFINITY; edges.len()] }
    }

    /// Adds the sums over other images.
    fn merge(&mut self, other: &Self, edges: &[(u32, u32)], semiring: &LogSumProduct) {
        for (e, &(a, b)) in edges.iter().enumerate() {
            let (a, b) = (a as usize, b as usize);
            let crossed = [self.unary[a] + other.unary[b], other.unary[a] + self.unary[b]];
            self.apart[e] = semiring.sum(&[self.apart[e], other.apart[e], crossed[0], crossed[1]]);
            self.same[e] = semiring.sum(&[self.same[e], other.same[e]]);
        }
        for (sum, &other) in self.unary.iter_mut().zip(&other.unary) {
            *sum = semiring.sum(&[*sum, other]);
        }
    }

    /// The root's value. A class without elements of the kind has one stand-in for each query
    /// element, worth `floor`.
    fn root(&self, architecture: &Architecture, bonus: f64, floor: f64, semiring: &LogSumProduct) -> f64 {
        let is_empty = self.unary.iter().all(|&sum| sum == f64::NEG_INFINITY);
        let node = |node: &Node| match *node {
            Node::Single(_) if is_empty => floor,
            Node::Pair(_) if is_empty => 2.0 * floor,
            Node::Single(j) => self.unary[j as usize],
            Node::Pair(edge) => semiring.sum(&[self.apart[edge as usize], self.same[edge as usize] + bonus]),
        };
        let decompositions: Vec<f64> = architecture.decompositions.iter().map(|nodes| nodes.iter().map(node).sum()).collect();
        semiring.sum(&decompositions)
    }
}

impl Ckm {
    /// The score of each class under the sum-product semiring in the log domain. As its temperature
    /// goes to 0 these become those of [`Ckm::scores`], which is faster. All elements have weight
    /// one: with [`LogSumProduct`], a class with more of them has the larger sums. O(query elements
    /// * training elements).
    pub fn sum_product_scores(&self, query: &Elements, without: Without<'_>, semiring: &LogSumProduct) -> Scores {
        let n = self.classes.len();
        if query.cut != self.cut {
            return Scores { of: vec![None; n], examples: vec![0; n], mass: 0.0 };
        }
        let examples = self.counts(without);
        let mut of: Vec<Option<f64>> = examples.iter().map(|&count| (count > 0).then_some(0.0)).collect();
        for (k, kind) in self.options.kinds.iter().enumerate() {
            let architecture = self.architecture(k, query);
            let set = Plain::new(&query.sets[k], kind);
            let tasks: Vec<(usize, usize)> =
                (0..n).flat_map(|c| (0..self.classes[c].examples.len()).step_by(CHUNK).map(move |start| (c, start))).collect();
            let part = |&(c, start): &(usize, usize)| {
                let mut sums = Sums::new(set.len(), architecture.edges.len());
                let examples = self.classes[c].examples.iter().skip(start).take(CHUNK);
                for example in examples.filter(|example| !without.leaves_out(example)) {
                    let unary = set.sums(&Plain::new(&example.elements.get().sets[k], kind), kind, semiring.temperature());
                    sums.merge(&Sums::of_image(unary, &architecture.edges), &architecture.edges, semiring);
                }
                sums
            };
            let parts: Vec<Sums> = tasks.par_iter().map(part).collect();
            let mut classes = vec![Sums::new(set.len(), architecture.edges.len()); n];
            for ((c, _), part) in tasks.iter().zip(&parts) {
                classes[*c].merge(part, &architecture.edges, semiring);
            }
            let (bonus, floor) = (f64::from(kind.kernel.pair_bonus), f64::from(kind.kernel.floor()));
            for (score, sums) in of.iter_mut().zip(&classes) {
                if let Some(score) = score {
                    *score += f64::from(kind.kernel.weight) * sums.root(&architecture, bonus, floor, semiring);
                }
            }
        }
        Scores { of, examples, mass: self.mass(query) }
    }
}

/// Elements one after another, without the layout that is made for maxima.
struct Plain<'a> {
    set: &'a ElementSet,
    /// Dense values, `dimension` an element, and their squared lengths.
    rows: Vec<i16>,
    norms: Vec<i32>,
    dimension: usize,
}

impl<'a> Plain<'a> {
    fn new(set: &'a ElementSet, kind: &ElementKind) -> Self {
        let dimension = kind.source.dimension();
        let rows: Vec<i16> = (0..set.len()).flat_map(|i| set.row(i)).map(i16::from).collect();
        let norms = rows.chunks_exact(dimension.max(1)).map(|row| dot(row, row)).collect();
        Self { set, rows, norms, dimension }
    }

    fn len(&self) -> usize {
        self.set.len()
    }

    fn row(&self, i: usize) -> &[i16] {
        &self.rows[i * self.dimension..][..self.dimension]
    }

    /// For each element of this query, the sum of its kernels with the elements of one training
    /// image.
    fn sums(&self, image: &Self, kind: &ElementKind, temperature: f64) -> Vec<f64> {
        let mut kernels = vec![0.0; image.len()];
        let sum = |j: usize| {
            let [x, y] = self.set.position(j);
            for (z, value) in kernels.iter_mut().enumerate() {
                let distance = match image.set.values {
                    Values::Binary(_) => self.set.descriptor(j).hamming(&image.set.descriptor(z)) as f32,
                    Values::Dense { .. } => {
                        let square = self.norms[j] + image.norms[z] - 2 * dot(self.row(j), image.row(z));
                        (square as f32).sqrt() * (1.0 / kind.source.unit())
                    }
                };
                let places = &image.set.places[z / LANES];
                let (likeness, nearness) = kind.kernel.parts(distance, x - places.x[z % LANES], y - places.y[z % LANES]);
                *value = likeness + nearness + places.weight[z % LANES];
            }
            let most = kernels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let least = most - (NEGLIGIBLE * temperature) as f32;
            let terms = kernels.iter().filter(|&&value| value > least);
            let sum: f64 = terms.map(|value| (f64::from(value - most) / temperature).exp()).sum();
            f64::from(most) + temperature * sum.ln()
        };
        (0..self.len()).map(sum).collect()
    }
}

fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).fold(0, |sum, (a, b)| sum.wrapping_add(i32::from(*a).wrapping_mul(i32::from(*b))))
}
