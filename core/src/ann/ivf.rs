//! The inverted file: lists of vectors by their nearest centre.

use std::collections::HashMap;

use super::kmeans::{assign, kmeans};
use super::rows::{LANES, Rows};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::linalg::single::least;
use crate::nearest::{Cost, Distance as _, Dynamic, Filter, Growth, Metric, NeighborIndex, Neighbors, TopK, taken};
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
struct List {
    rows: Rows,
    ids: Vec<ItemId>,
}

/// An inverted file over vectors by Euclidean distance, after Jégou, Douze and Schmid (2011):
/// k-means centres of a sample, and for each a list of the points that are nearest to it. A query
/// looks at the lists of the `probes` nearest centres, and at further ones as long as it has fewer
/// than k points. Approximate; exact with as many probes as lists.
///
/// An inserted point goes to the list of the nearest centre; centres are found anew when there are
/// twice as many points as then, or less than a quarter ([`Growth`]). So answers depend on the
/// order in which points came, but not on the number of threads.
///
/// Memory: 4 bytes a value and about 28 a point. A query takes O((lists + probes * n / lists) d),
/// an insertion O(lists * d) and its part of finding centres anew, O(sample * lists^2 * d + n *
/// lists * d).
#[derive(Clone, Debug)]
pub struct Ivf {
    dimension: usize,
    options: IvfOptions,
    centres: Rows,
    /// As many as centres, but at least one.
    lists: Vec<List>,
    place_of: HashMap<ItemId, (usize, usize)>,
    /// The number of points that centres were found for; 0: none were.
    grown_at: usize,
}

impl Ivf {
    /// An empty index over vectors of `dimension` values.
    ///
    /// # Errors
    /// [`Error::Option`] when an option is out of range.
    pub fn new(dimension: usize, options: IvfOptions) -> Result<Self> {
        if !(options.lists > 0.0 && options.lists.is_finite()) {
            return Err(Error::Option { name: "lists", found: options.lists.to_string(), expected: "a number above 0" });
        }
        for (name, value) in [("probes", options.probes), ("sample", options.sample), ("first", options.first)] {
            if value == 0 {
                return Err(Error::Option { name, found: "0".into(), expected: "1 or more" });
            }
        }
        let (centres, lists) = (Rows::new(dimension), vec![List { rows: Rows::new(dimension), ids: Vec::new() }]);
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

    fn check(&self, point: &[f32]) -> Result<()> {
        if point.len() != self.dimension {
            return Err(Error::value("point", format!("{} values", self.dimension), point.len().to_string()));
        }
        Metric::Euclidean.check(point, None)
    }

    fn put(&mut self, list: usize, id: ItemId, point: &[f32]) {
        self.place_of.insert(id, (list, self.lists[list].ids.len()));
        self.lists[list].rows.push(point);
        self.lists[list].ids.push(id);
    }

    /// Finds centres anew if that is due.
    fn regrow(&mut self) {
        let n = self.place_of.len();
        if !(Growth { first: self.options.first }).is_due(n, self.grown_at) || self.dimension == 0 {
            return;
        }
        let mut ids: Vec<(ItemId, (usize, usize))> = self.place_of.iter().map(|(id, place)| (*id, *place)).collect();
        ids.sort_unstable();
        let matrix: Vec<f32> = ids.iter().flat_map(|(_, (list, row))| self.lists[*list].rows.row(*row)).collect();
        let k = ((self.options.lists * (n as f64).sqrt()) as usize).clamp(1, n);
        let mut rng = random::seeded(self.options.seed);
        let size = self.options.sample.saturating_mul(k).min(n);
        let mut drawn = rand::seq::index::sample(&mut rng, n, size).into_vec();
        drawn.sort_unstable();
        let sample: Vec<f32> = drawn.iter().flat_map(|i| &matrix[i * self.dimension..][..self.dimension]).copied().collect();
        self.centres = kmeans(&sample, self.dimension, k, self.options.iterations, &mut rng);
        self.lists = vec![List { rows: Rows::new(self.dimension), ids: Vec::new() }; self.centres.len()];
        let homes = assign(&matrix, self.dimension, &self.centres);
        for (((id, _), row), home) in ids.iter().zip(matrix.chunks_exact(self.dimension)).zip(homes) {
            self.put(home, *id, row);
        }
        self.grown_at = n;
    }
}

impl NeighborIndex for Ivf {
    type Point = [f32];

    fn len(&self) -> usize {
        self.place_of.len()
    }

    /// Approximate: see [`Ivf`]. The filter is called only for points that would otherwise be among
    /// the nearest so far.
    fn nearest(&self, query: &[f32], k: usize, admits: Filter<'_>) -> Result<Neighbors> {
        self.check(query)?;
        if k == 0 {
            return Ok(Neighbors::default());
        }
        let mut squares = Vec::new();
        self.centres.squares(query, &mut squares);
        let mut order: Vec<(f32, u32)> = squares.as_flattened()[..self.centres.len()].iter().copied().zip(0..).collect();
        if order.is_empty() {
            order.push((0.0, 0));
        }
        let by_distance = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        // Mostly no list but the first few is looked at, so only they are sorted.
        let few = self.options.probes.min(order.len());
        if few < order.len() {
            order.select_nth_unstable_by(few, by_distance);
        }
        order[..few].sort_unstable_by(by_distance);
        let mut nearest = TopK::new(k);
        let mut cost = Cost { nodes: self.centres.len() as u64, ..Cost::default() };
        for turn in 0..order.len() {
            if turn >= self.options.probes && nearest.bound() < f64::INFINITY {
                break;
            }
            if turn == few {
                order[few..].sort_unstable_by(by_distance);
            }
            let list = &self.lists[order[turn].1 as usize];
            list.rows.squares(query, &mut squares);
            cost.leaves += 1;
            cost.points += list.ids.len() as u64;
            let mut bar = nearest.bound() as f32;
            for (squares, ids) in squares.iter().zip(list.ids.chunks(LANES)) {
                if squares.iter().all(|square| *square > bar) {
                    continue;
                }
                for (square, id) in squares.iter().zip(ids) {
                    if nearest.admits(*id, f64::from(*square)) && admits(*id) {
                        nearest.offer(*id, f64::from(*square));
                    }
                }
                bar = nearest.bound() as f32;
            }
        }
        cost.values = (cost.nodes + cost.points) * self.dimension as u64;
        let mut list = nearest.finish();
        list.iter_mut().for_each(|neighbour| neighbour.distance = neighbour.distance.sqrt());
        Ok(Neighbors { list, cost })
    }
}

impl Dynamic for Ivf {
    fn insert(&mut self, id: ItemId, point: &[f32]) -> Result<()> {
        self.check(point)?;
        if self.place_of.contains_key(&id) {
            return Err(taken(id));
        }
        let mut squares = Vec::new();
        self.centres.squares(point, &mut squares);
        self.put(least(&squares, self.centres.len()), id, point);
        self.regrow();
        Ok(())
    }

    fn remove(&mut self, id: ItemId) -> bool {
        let Some((list, row)) = self.place_of.remove(&id) else { return false };
        let own = &mut self.lists[list];
        own.rows.swap_remove(row);
        own.ids.swap_remove(row);
        if let Some(&moved) = own.ids.get(row) {
            self.place_of.insert(moved, (list, row));
        }
        self.regrow();
        true
    }
}
