//! The inverted file: lists of points by their nearest centre.

use std::borrow::Borrow as _;
use std::collections::HashMap;

use super::kmeans::{assign, kmeans};
use super::rows::Rows;
use super::vectors::Vectors;
use crate::error::{Error, Result};
use crate::hamming::{Blocks, LANES};
use crate::ids::ItemId;
use crate::linalg::single::{any, least, least_few};
use crate::nearest::{Cost, Dynamic, Filter, Growth, NeighborIndex, Neighbors, TopK, taken};
use crate::random;

/// How an inverted file is made and searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IvfOptions {
    /// Lists for each square root of the number of points, above 0.
    pub lists: f64,
    /// Lists that a query looks at, 1 or more.
    pub probes: usize,
    /// Points for each list, drawn at random, that its centre is found by, 1 or more.
    pub sample: usize,
    /// Iterations of k-means.
    pub iterations: usize,
    /// Points from which on there is more than one list.
    pub first: usize,
    /// The seed of sample and first centres.
    pub seed: u64,
}

impl Default for IvfOptions {
    fn default() -> Self {
        Self { lists: 4.0, probes: 8, sample: 64, iterations: 8, first: 1024, seed: 0 }
    }
}

#[derive(Clone, Debug)]
struct List<V> {
    points: V,
    ids: Vec<ItemId>,
}

impl<V: Vectors> List<V> {
    fn new(dimension: usize) -> Self {
        Self { points: V::new(dimension), ids: Vec::new() }
    }
}

/// An inverted file, after Jégou, Douze and Schmid (2011): centres of a sample, found by k-means,
/// and for each a list of the points that are nearest to it. A query looks at the lists of the
/// `probes` nearest centres, and at further ones as long as it has fewer than k points.
/// Approximate; exact with as many probes as lists.
///
/// An inserted point goes to the list of the nearest centre; centres are found anew when there are
/// twice as many points as then, or less than a quarter ([`Growth`]). So answers depend on the
/// order in which points came, but not on the number of threads.
///
/// Memory: 4 bytes a value, or 32 bytes for 256 bits, and about 28 a point. With points of d values
/// a query takes O((lists + probes * n / lists) d), an insertion O(lists * d) and its part of
/// finding centres anew, O(sample * lists^2 * d + n * lists * d).
#[derive(Clone, Debug)]
pub struct InvertedFile<V> {
    dimension: usize,
    options: IvfOptions,
    centres: V,
    /// As many as centres, but at least one.
    lists: Vec<List<V>>,
    place_of: HashMap<ItemId, (usize, usize)>,
    /// The number of points that centres were found for; 0: none were.
    grown_at: usize,
}

/// An [`InvertedFile`] over vectors by Euclidean distance.
pub type Ivf = InvertedFile<Rows>;

/// An [`InvertedFile`] over 256 bits by Hamming distance. Each bit of a centre is that of the
/// majority of its points.
pub type BinaryIvf = InvertedFile<Blocks>;

impl Ivf {
    /// An empty index over vectors of `dimension` values.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(dimension: usize, options: IvfOptions) -> Result<Self> {
        Self::empty(dimension, options)
    }
}

impl BinaryIvf {
    /// An empty index.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(options: IvfOptions) -> Result<Self> {
        Self::empty(0, options)
    }
}

impl<V: Vectors> InvertedFile<V> {
    fn empty(dimension: usize, options: IvfOptions) -> Result<Self> {
        if !(options.lists > 0.0 && options.lists.is_finite()) {
            return Err(Error::Option { name: "lists", found: options.lists.to_string(), expected: "a number above 0" });
        }
        for (name, value) in [("probes", options.probes), ("sample", options.sample), ("first", options.first)] {
            if value == 0 {
                return Err(Error::Option { name, found: "0".into(), expected: "1 or more" });
            }
        }
        let (centres, lists) = (V::new(dimension), vec![List::new(dimension)]);
        Ok(Self { dimension, options, centres, lists, place_of: HashMap::new(), grown_at: 0 })
    }

    /// How many lists a query looks at, from now on; at least one.
    pub fn set_probes(&mut self, probes: usize) {
        self.options.probes = probes.max(1);
    }

    /// The number of lists.
    pub fn lists(&self) -> usize {
        self.lists.len()
    }

    fn put(&mut self, list: usize, id: ItemId, point: &V::Point) {
        self.place_of.insert(id, (list, self.lists[list].ids.len()));
        self.lists[list].points.push(point);
        self.lists[list].ids.push(id);
    }

    /// Finds centres anew if that is due.
    fn regrow(&mut self) {
        let n = self.place_of.len();
        // Points of no values have nothing to be parted by.
        if !(Growth { first: self.options.first }).is_due(n, self.grown_at) || self.centres.dimension() == 0 {
            return;
        }
        let mut ids: Vec<(ItemId, (usize, usize))> = self.place_of.iter().map(|(id, place)| (*id, *place)).collect();
        ids.sort_unstable();
        let mut all = V::new(self.dimension);
        ids.iter().for_each(|(_, (list, i))| all.push(self.lists[*list].points.get(*i).borrow()));
        let k = ((self.options.lists * (n as f64).sqrt()) as usize).clamp(1, n);
        let mut rng = random::seeded(self.options.seed);
        let mut sample = V::new(self.dimension);
        let drawn = random::drawn(n, self.options.sample.saturating_mul(k), &mut rng);
        drawn.into_iter().for_each(|i| sample.push(all.get(i).borrow()));
        self.centres = kmeans(&sample, k, self.options.iterations, &mut rng);
        self.lists = vec![List::new(self.dimension); self.centres.points()];
        let homes = assign(&all, &self.centres);
        for (i, ((id, _), home)) in ids.iter().zip(homes).enumerate() {
            self.put(home, *id, all.get(i).borrow());
        }
        self.grown_at = n;
    }
}

impl<V: Vectors> NeighborIndex for InvertedFile<V> {
    type Point = V::Point;

    fn len(&self) -> usize {
        self.place_of.len()
    }

    /// Approximate: see [`InvertedFile`]. The filter is called only for points that would otherwise
    /// be among the nearest so far.
    fn nearest(&self, query: &V::Point, k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        V::check(query, self.dimension)?;
        if k == 0 {
            return Ok(Neighbors::default());
        }
        let (n, probes) = (self.lists.len(), self.options.probes.min(self.lists.len()));
        let mut compared = Vec::new();
        self.centres.compare(query, &mut compared);
        if compared.is_empty() {
            // Without centres there is one list.
            compared.push([0.0; LANES]);
        }
        let mut order = least_few(&compared, n, probes);
        let mut nearest = TopK::new(k);
        let mut cost = Cost { nodes: self.centres.points() as u64, ..Cost::default() };
        for turn in 0..n {
            if turn >= probes && nearest.bound() < f64::INFINITY {
                break;
            }
            if turn == order.len() {
                // Mostly no list but the first few is looked at, so only they are sorted at first.
                self.centres.compare(query, &mut compared);
                order = least_few(&compared, n, n);
            }
            let list = &self.lists[order[turn] as usize];
            list.points.compare(query, &mut compared);
            cost.leaves += 1;
            cost.points += list.ids.len() as u64;
            let mut bar = nearest.bound() as f32;
            for (block, ids) in compared.iter().zip(list.ids.chunks(LANES)) {
                if !any(block, |value| value <= bar) {
                    continue;
                }
                for (value, id) in block.iter().zip(ids) {
                    if *value <= bar && nearest.admits(*id, f64::from(*value)) && admits(*id) {
                        nearest.offer(*id, f64::from(*value));
                    }
                }
                bar = nearest.bound() as f32;
            }
        }
        cost.values = (cost.nodes + cost.points) * self.centres.dimension() as u64;
        let mut list = nearest.finish();
        list.iter_mut().for_each(|neighbour| neighbour.distance = V::distance(neighbour.distance));
        Ok(Neighbors { list, cost })
    }
}

impl<V: Vectors> Dynamic for InvertedFile<V> {
    fn insert(&mut self, id: ItemId, point: &V::Point) -> Result<()> {
        V::check(point, self.dimension)?;
        if self.place_of.contains_key(&id) {
            return Err(taken(id));
        }
        let mut compared = Vec::new();
        self.centres.compare(point, &mut compared);
        self.put(least(&compared, self.centres.points()), id, point);
        self.regrow();
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        let Some((list, i)) = self.place_of.remove(&id) else { return false };
        let own = &mut self.lists[list];
        own.points.swap_remove(i);
        own.ids.swap_remove(i);
        if let Some(&moved) = own.ids.get(i) {
            self.place_of.insert(moved, (list, i));
        }
        self.regrow();
        true
    }
}
