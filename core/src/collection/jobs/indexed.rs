//! The images that look most like some, by an index of each shard: few are compared, and some may
//! be missed. How many is measured on images of the shard itself.

use rayon::prelude::*;

use super::nearest::{CollectionLook, NearImage, NearestImages};
use super::recall::{MeasuredRecall, RecallCurve, RecallWay, promised, read_recall, way_for};
use super::{ShardJob, job_bytes, read_state};
use crate::ann::PointSet;
use crate::ann::cells::{CandidateCurve, CellCandidates, CellCodes, CellOptions, CellWay};
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::Shard;
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::{Metric, TopK};
use crate::picture::appearance::Appearance;
use crate::progress::Progress;
use crate::random::{drawn, seeded};

/// Images from which on a shard has an index.
const FIRST: usize = 512;
/// Images that a way to search is chosen by, and as many by which its recall is told.
const ASKED: usize = 200;
/// Neighbours for which recall is measured.
const NEIGHBORS: [usize; 2] = [10, 100];

/// Makes the index of a shard's images by their looks, which any number of questions can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookIndexes {
    /// By what images are compared.
    pub look: CollectionLook,
}

/// The index of a shard; none of few images, which are all compared.
#[derive(Debug)]
pub struct LookIndex {
    cells: Option<CellCandidates>,
    /// For few neighbours first.
    curves: Vec<RecallCurve>,
}

/// The images that are looked for by the indexes of shards.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedNearest {
    /// Which they are.
    pub nearest: NearestImages,
    /// The share of the exact answer that is to be found: above 0 and below 1.
    pub recall: f64,
}

/// What was found by indexes.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedFound {
    /// The images found, for each that was asked for.
    pub found: Vec<Vec<NearImage>>,
    /// What share of the exact answer these are likely to be.
    pub recall: MeasuredRecall,
}

/// How cells are made: fewer values for each image than usual, as shards are small.
fn options() -> CellOptions {
    CellOptions { codes: CellCodes::Regression(24), ..CellOptions::default() }
}

impl CollectionLook {
    /// The vector whose cosine with others is the likeness.
    fn vector(self, appearance: &Appearance) -> Vec<f32> {
        let values = match self {
            Self::Appearance => appearance.whole(),
            Self::Edges => appearance.edges(),
            Self::Colours => appearance.colours(),
        };
        values.iter().map(|value| f32::from(*value)).collect()
    }
}

impl LookIndexes {
    /// What ways to search find, for answers of k images: chosen by the first half of the sample,
    /// told of the second. `truth` are the nearest others of each image of the sample.
    fn curve(
        cells: &CellCandidates,
        points: &PointSet,
        (sample, truth): (&[usize], &[Vec<ItemId>]),
        k: usize,
        progress: &Progress,
    ) -> Result<RecallCurve> {
        let (mut queries, mut own, mut lists) = (PointSet::new(points.dimension(), points.metric()), Vec::new(), Vec::new());
        for (i, list) in sample.iter().zip(truth).step_by(2) {
            queries.push(points.row(*i))?;
            own.push(ItemId(*i as u32));
            lists.push(list[..k].to_vec());
        }
        let told: Vec<(usize, &[ItemId])> = sample.iter().zip(truth).skip(1).step_by(2).map(|(i, list)| (*i, &list[..k])).collect();
        let way = |curve: CandidateCurve| -> Result<RecallWay> {
            let way = curve.measured.way;
            let promised = promised(curve.measured.recall, curve.measured.spread, lists.len());
            let found = |(i, list): &(usize, &[ItemId])| -> Result<u64> {
                let named = cells.candidates(points.row(*i), way, k, |id| id.0 as usize != *i)?;
                Ok(named.iter().filter(|id| list.contains(id)).count() as u64)
            };
            let found: Vec<u64> = told.par_iter().map(found).collect::<Result<_>>()?;
            let way = (way.probes as u64, way.shortlist as u64);
            Ok(RecallWay { way, promised, told: (found.into_iter().sum(), (told.len() * k) as u64) })
        };
        let ways = cells.curve(&queries, &own, &lists, progress)?.into_iter().map(way).collect::<Result<_>>()?;
        Ok(RecallCurve { k: k as u64, ways })
    }
}

impl ShardJob for LookIndexes {
    type State = LookIndex;
    const NAME: &'static str = "look index";

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<LookIndex> {
        let appearances = shards[0].appearances()?;
        let n = appearances.len();
        if n < FIRST {
            return Ok(LookIndex { cells: None, curves: Vec::new() });
        }
        let mut points = PointSet::new(self.look.vector(&appearances[0]).len(), Metric::Cosine);
        appearances.iter().try_for_each(|appearance| points.push(&self.look.vector(appearance)))?;
        let cells = CellCandidates::new(&points, (0..n as u32).map(ItemId).collect(), options(), progress)?;
        let sample = drawn(n, 2 * ASKED, &mut seeded(1));
        progress.begin("Comparing some images with all", sample.len() as u64);
        let most = NEIGHBORS[NEIGHBORS.len() - 1].min(n - 1);
        let nearest = |i: &usize| -> Result<Vec<ItemId>> {
            progress.step()?;
            let others = (0..n).filter(|other| other != i);
            let distances = others.map(|other| (ItemId(other as u32), -self.look.likeness(&appearances[*i], &appearances[other])));
            Ok(TopK::of(most, distances).into_iter().map(|found| found.id).collect())
        };
        let truth: Vec<Vec<ItemId>> = sample.par_iter().map(nearest).collect::<Result<_>>()?;
        let curve = |k: usize| Self::curve(&cells, &points, (&sample, &truth), k.min(most), progress);
        let curves = NEIGHBORS.into_iter().map(curve).collect::<Result<_>>()?;
        Ok(LookIndex { cells: Some(cells), curves })
    }

    fn join(&self, _: LookIndex, _: LookIndex) -> Result<LookIndex> {
        Err(Error::value("states", "one: an index is of one shard", "more"))
    }
}

impl IndexedNearest {
    fn by(&self, shard: &Shard, index: &LookIndex, progress: &Progress) -> Result<IndexedFound> {
        let (n, k) = (shard.hashes().len(), self.nearest.k);
        let way = way_for(&index.curves, k, self.recall);
        let Some((cells, way)) = index.cells.as_ref().zip(way) else {
            let found = self.nearest.state(&[shard], progress)?;
            return Ok(IndexedFound { found, recall: MeasuredRecall::exact(n) });
        };
        if cells.len() != n {
            return Err(Error::value("index", format!("that of a shard of {n} images"), format!("one of {}", cells.len())));
        }
        let appearances = shard.appearances()?;
        let search = CellWay { probes: way.way.0 as usize, shortlist: (way.way.1 as usize).max(k) };
        progress.begin("Looking for the nearest images", self.nearest.like.len() as u64);
        let of = |like: &Vec<u8>| -> Result<Vec<NearImage>> {
            progress.step()?;
            let like = NearestImages::read_like(like)?;
            let named = cells.candidates(&self.nearest.look.vector(&like), search, k, |_| true)?;
            Ok(self.nearest.best(shard, &appearances, &like, named.into_iter().map(|id| id.0 as usize).filter(|i| *i < n)))
        };
        let found = self.nearest.like.par_iter().map(of).collect::<Result<_>>()?;
        Ok(IndexedFound { found, recall: MeasuredRecall::of(n, way.told) })
    }

    fn indexes(&self) -> LookIndexes {
        LookIndexes { look: self.nearest.look }
    }
}

impl ShardJob for IndexedNearest {
    type State = IndexedFound;
    const NAME: &'static str = "nearest images by index";

    fn index(&self) -> Option<Vec<u8>> {
        Some(job_bytes(&self.indexes()))
    }

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<IndexedFound> {
        self.by(shards[0], &self.indexes().state(shards, progress)?, progress)
    }

    fn state_by(&self, shards: &[&Shard], index: &[u8], progress: &Progress) -> Result<IndexedFound> {
        self.by(shards[0], &read_state(&self.indexes(), index)?, progress)
    }

    fn join(&self, one: IndexedFound, other: IndexedFound) -> Result<IndexedFound> {
        Ok(IndexedFound { found: self.nearest.join(one.found, other.found)?, recall: one.recall.plus(other.recall) })
    }
}

impl Stored for LookIndexes {
    fn write(&self, out: &mut Writer) {
        out.put(&self.look);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { look: from.get()? })
    }
}

impl Stored for LookIndex {
    fn write(&self, out: &mut Writer) {
        out.put(&self.cells.is_some());
        if let Some(cells) = &self.cells {
            out.put(cells);
        }
        out.put(&self.curves);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let cells = if from.get()? { Some(from.get()?) } else { None };
        Ok(Self { cells, curves: from.get()? })
    }
}

impl Stored for IndexedNearest {
    fn write(&self, out: &mut Writer) {
        out.put(&self.nearest);
        out.put(&self.recall);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { nearest: from.get()?, recall: read_recall(from)? })
    }
}

impl Stored for IndexedFound {
    fn write(&self, out: &mut Writer) {
        out.put(&self.found);
        out.put(&self.recall);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { found: from.get()?, recall: from.get()? })
    }
}
