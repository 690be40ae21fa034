//! The cells of an index, and the way of a query to them.

use rayon::prelude::*;

use super::super::corpus::{CodeQuery, Codes, PointSet, units_of, usual};
use super::super::kmeans::kmeans;
use super::super::rows::Rows;
use super::cell::{Buffers, Cell, Learned};
use super::shortlist::Least;
use super::{CellCodes, CellOptions};
use crate::error::Result;
use crate::linalg::axes::Axes;
use crate::linalg::dots::LANES;
use crate::linalg::single::{add_scaled, dot, least_few};
use crate::nearest::Metric;
use crate::progress::Progress;
use crate::random::{self, drawn};

/// Points that axes are found from, for each that the centre of a cell is.
const AXES_SAMPLE: usize = 128;

/// Cells near to a training query for which the regression is learned from it.
const NEAR: usize = 5;

/// What a query needs, kept from one to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    centred: Vec<f32>,
    projected: Vec<f32>,
    asked: CodeQuery,
    compared: Vec<[f32; LANES]>,
    buffers: Buffers,
    kept: Vec<u64>,
}

/// Where a point is: its cell, and its number there.
type Home = (u32, u32);

/// Points by the cells that they lie in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Partition {
    pub(super) axes: Axes,
    /// The axes in few bits, for queries.
    lens: Codes,
    metric: Metric,
    pub(super) centres: Codes,
    /// What twice the inner product with a query is taken off, for each centre.
    pub(super) offsets: Vec<f32>,
    /// Prepares queries for cells; it holds no vectors.
    asker: Codes,
    pub(super) cells: Vec<Cell>,
    homes: Vec<Home>,
}

impl Partition {
    /// Cells for some points, one or more of one value or more. Equal on any number of threads.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`].
    pub(super) fn new(points: &PointSet, options: &CellOptions, progress: &Progress) -> Result<Self> {
        let (n, metric) = (points.len(), points.metric());
        let mut rng = random::seeded(options.seed);
        progress.begin("Finding cells", 4);
        let some: Vec<f32> =
            drawn(n, options.sample.saturating_mul(AXES_SAMPLE), &mut rng).into_iter().flat_map(|i| points.row(i)).copied().collect();
        let d = points.dimension().max(1);
        let usual_ones = usual(some.chunks_exact(d));
        let some: Vec<f32> =
            some.chunks_exact(d).zip(usual_ones).filter(|(_, is_usual)| *is_usual).flat_map(|(row, _)| row).copied().collect();
        let axes = Axes::new(&some, points.dimension(), options.axes, &mut rng);
        drop(some);
        progress.step()?;
        let s = axes.count();
        let projected = axes.project_all(points.values());
        let row = |i: usize| &projected[i * s..][..s];
        let is_usual = usual((0..n).map(row));
        let usual_ones: Vec<usize> = (0..n).filter(|i| is_usual[*i]).collect();
        let count = ((options.cells * (n as f64).sqrt()) as usize).clamp(1, n.max(1));
        let mut some = Rows::new(s);
        let sample = drawn(usual_ones.len(), options.sample.saturating_mul(count), &mut rng);
        sample.into_iter().for_each(|i| some.push(row(usual_ones[i])));
        progress.step()?;
        let found = kmeans(&some, count, options.iterations, &mut rng);
        drop(some);
        progress.step()?;
        let centres: Vec<f32> = (0..found.len()).flat_map(|i| found.row(i)).collect();
        let has_length = metric != Metric::InnerProduct;
        let offset = |centre: &[f32]| if has_length { dot(centre, centre) } else { -2.0 * dot(centre, axes.offset()) };
        let offsets = (0..found.len()).map(|i| offset(&centres[i * s..][..s])).collect();
        let centres = Codes::of(&centres, s);
        let lens = Codes::of(&axes.rows(), points.dimension());
        let mut partition = Self { axes, lens, metric, centres, offsets, asker: Codes::default(), cells: Vec::new(), homes: Vec::new() };
        let near: Vec<Vec<u32>> = (0..n)
            .into_par_iter()
            .map_init(Scratch::default, |scratch, i| {
                scratch.projected.clear();
                scratch.projected.extend_from_slice(row(i));
                partition.nearest_cells(NEAR, scratch)
            })
            .collect();
        progress.step()?;
        let mut members = vec![(Vec::new(), Vec::new()); found.len()];
        for (near, i) in near.iter().zip(0..) {
            members[near[0] as usize].0.push(i);
            if is_usual[i] {
                near.iter().for_each(|cell| members[*cell as usize].1.push(i));
            }
        }
        let points_of = |members: &[usize]| members.iter().filter(|i| is_usual[**i]).flat_map(|i| row(*i)).copied().collect::<Vec<f32>>();
        let mut cells: Vec<Cell> = match options.codes {
            CellCodes::Regression(rank) => {
                let learn = |(number, (own, near)): (usize, &(Vec<usize>, Vec<usize>))| {
                    let rng = &mut random::stream(options.seed, number as u64);
                    // A cell of few points learns from those around it, for points to come.
                    let own = if own.len() < rank { near } else { own };
                    Learned::new(&points_of(own), near.iter().map(|i| row(*i)), s, rank, rng)
                };
                let learned: Vec<Learned> = members.par_iter().enumerate().map(learn).collect();
                let units = units_of(learned.iter().flat_map(|learned| learned.lens.chunks_exact(s)), s);
                learned.into_iter().map(|learned| Cell::learned(learned, &units)).collect()
            }
            CellCodes::Axes(short) => {
                let units = units_of(usual_ones.iter().map(|i| row(*i)), short.min(s));
                members.iter().map(|_| Cell::plain(units.clone())).collect()
            }
        };
        cells.par_iter_mut().zip(&members).for_each(|(cell, (own, _))| {
            for i in own {
                cell.push(*i as u32, row(*i), partition.offset(points.row(*i)));
            }
        });
        partition.asker = Codes::new(cells[0].units().to_vec());
        partition.cells = cells;
        partition.settle(n);
        Ok(partition)
    }

    /// A partition of parts that were read, if each point is in one cell.
    pub(super) fn restored(
        axes: Axes,
        (n, d): (usize, usize),
        metric: Metric,
        centres: Codes,
        offsets: Vec<f32>,
        cells: Vec<Cell>,
    ) -> Option<Self> {
        let s = axes.count();
        let lens = Codes::of(&axes.rows(), d);
        let fits = centres.dimension() == s
            && !cells.is_empty()
            && offsets.len() == cells.len()
            && s > 0
            && centres.len() == cells.len()
            && cells[0].units().len() <= s
            && cells.iter().all(|cell| cell.units() == cells[0].units() && (!cell.has_map() || cell.units().len() == s));
        let mut places: Vec<u32> = cells.iter().flat_map(|cell| cell.places()).copied().collect();
        places.sort_unstable();
        let is_whole = places.len() == n && places.into_iter().eq(0..n as u32);
        let asker = cells.first().map_or_else(Codes::default, |cell| Codes::new(cell.units().to_vec()));
        let mut partition = Self { axes, lens, metric, centres, offsets, asker, cells, homes: Vec::new() };
        (fits && is_whole).then(|| {
            partition.settle(n);
            partition
        })
    }

    /// Notes where each of n points is.
    fn settle(&mut self, n: usize) {
        self.homes = vec![(0, 0); n];
        for (cell, number) in self.cells.iter().zip(0..) {
            cell.places().iter().zip(0..).for_each(|(place, at)| self.homes[*place as usize] = (number, at));
        }
    }

    /// What twice the inner product of a query, from the mean, with a point from the mean is taken
    /// off, so that the distances of points are in the same order.
    fn offset(&self, point: &[f32]) -> f32 {
        let unit = self.axes.unit();
        let of_unit = |values: &[f32]| values.iter().map(|value| value / unit).collect::<Vec<f32>>();
        match self.metric {
            Metric::Euclidean => {
                let mut centred = point.to_vec();
                add_scaled(&mut centred, -1.0, self.axes.mean());
                let centred = of_unit(&centred);
                dot(&centred, &centred).min(f32::MAX)
            }
            Metric::Cosine | Metric::InnerProduct => (-2.0 * dot(&of_unit(point), &of_unit(self.axes.mean()))).clamp(f32::MIN, f32::MAX),
        }
    }

    /// The `count` cells whose centres are nearest to the projected query, the nearest first.
    fn nearest_cells(&self, count: usize, scratch: &mut Scratch) -> Vec<u32> {
        let Scratch { projected, asked, compared, .. } = scratch;
        self.centres.ask(projected, asked, &mut []);
        self.centres.products(asked, compared);
        for (values, offsets) in compared.iter_mut().zip(self.offsets.chunks(LANES)) {
            for (value, offset) in values.iter_mut().zip(offsets) {
                *value = offset - 2.0 * *value;
            }
        }
        least_few(compared, self.offsets.len(), count)
    }

    /// Adds a prepared point in the last place.
    pub(super) fn push(&mut self, point: &[f32]) {
        let mut scratch = Scratch::default();
        self.axes.project(point, &mut scratch.projected);
        let cell = self.nearest_cells(1, &mut scratch)[0];
        let offset = self.offset(point);
        let at = self.cells[cell as usize].push(self.homes.len() as u32, &scratch.projected, offset);
        self.homes.push((cell, at));
    }

    /// Removes the point in a place, which the one in the last place takes.
    pub(super) fn swap_remove(&mut self, place: u32) {
        let (cell, at) = self.homes.swap_remove(place as usize);
        if let Some(moved) = self.cells[cell as usize].swap_remove(at) {
            // The one that moved within the cell may be the last of all, which takes the place.
            let moved = if moved as usize == self.homes.len() { place } else { moved };
            self.homes[moved as usize].1 = at;
        }
        if let Some((cell, at)) = self.homes.get(place as usize) {
            self.cells[*cell as usize].set_place(*at, place);
        }
    }

    /// The coordinates of a query along the axes, about.
    fn project(&self, query: &[f32], scratch: &mut Scratch) {
        let Scratch { projected, asked, compared, centred, .. } = scratch;
        centred.clear();
        centred.extend(query.iter().zip(self.axes.mean()).map(|(value, mean)| value - mean));
        self.lens.ask(centred, asked, &mut []);
        self.lens.products(asked, compared);
        projected.clear();
        projected.extend_from_slice(&compared.as_flattened()[..self.axes.count()]);
    }

    /// The number of cells.
    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// Of the points in the `probes` cells nearest to a prepared query, and in further ones as long
    /// as there are fewer than `k`, at most `length` that are estimated to be nearest, the nearest
    /// first; then how many cells and points were looked at.
    pub(super) fn select(
        &self,
        query: &[f32],
        (probes, length, k): (usize, usize, usize),
        is_wanted: impl Fn(u32) -> bool,
        scratch: &mut Scratch,
    ) -> (Vec<u32>, usize, usize) {
        self.project(query, scratch);
        let mut order = self.nearest_cells(probes, scratch);
        let ask = |scratch: &mut Scratch| self.asker.ask(&scratch.projected[..self.asker.dimension()], &mut scratch.asked, &mut []);
        ask(scratch);
        let mut kept = std::mem::take(&mut scratch.kept);
        let mut least = Least::new(length.max(k), &mut kept);
        let (mut turn, mut points) = (0, 0);
        while turn < probes || least.len() < k {
            if turn == order.len() {
                if turn == self.cells.len() {
                    break;
                }
                // Mostly no cell but the first few is looked at, so only they are sorted at first.
                order = self.nearest_cells(self.cells.len(), scratch);
                ask(scratch);
            }
            let cell = &self.cells[order[turn] as usize];
            cell.estimate(&scratch.asked, &mut scratch.buffers);
            least.offer(&scratch.buffers.values, cell.places(), &is_wanted);
            points += cell.len();
            turn += 1;
        }
        let places = least.finish();
        scratch.kept = kept;
        (places, turn, points)
    }

    /// Values that are multiplied for a query, beside those of its cells: projection and centres.
    pub(super) fn fixed_values(&self) -> usize {
        self.axes.count() * (self.axes.mean().len() + self.offsets.len())
    }

    /// Bytes read for each point that is looked at, on average.
    pub(super) fn bytes_per_point(&self) -> f64 {
        self.cells.iter().map(Cell::read_bytes).sum::<usize>() as f64 / self.homes.len().max(1) as f64
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.axes.bytes()
            + self.lens.bytes()
            + self.centres.bytes()
            + self.cells.iter().map(Cell::bytes).sum::<usize>()
            + size_of_val(&self.homes[..])
    }
}
