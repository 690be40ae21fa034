//! An index of cells as bytes and back: it answers afterwards as it did before, bit for bit.

use super::candidates::CellCandidates;
use super::cell::{Cell, Map};
use super::index::CellIndex;
use super::partition::Partition;
use crate::ann::corpus::{Codes, Corpus, PointSet};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ItemId;
use crate::linalg::axes::Axes;
use crate::nearest::Metric;

impl Stored for Map {
    fn write(&self, out: &mut Writer) {
        out.put(&self.lens);
        out.put(&self.rows);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { lens: from.get()?, rows: from.finite_values()? })
    }
}

impl Stored for Cell {
    fn write(&self, out: &mut Writer) {
        out.put(&self.map.iter().cloned().collect::<Vec<Map>>());
        out.put(&self.places);
        out.put(&self.offsets.as_flattened()[..self.places.len()].to_vec());
        out.put(&self.codes);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let mut maps: Vec<Map> = from.get()?;
        let map = maps.pop();
        let (places, offsets): (Vec<u32>, Vec<f32>) = (from.get()?, from.finite_values()?);
        let codes: Codes = from.get()?;
        Self::restored(map, places, &offsets, codes)
            .filter(|_| maps.is_empty())
            .ok_or_else(|| from.wrong("a cell", "parts of different sizes"))
    }
}

impl Partition {
    pub(super) fn write(&self, out: &mut Writer) {
        let Self { axes, centres, offsets, cells, .. } = self;
        out.put(&axes.mean().to_vec());
        out.put(&axes.rows());
        out.put(&axes.unit());
        out.put(centres);
        out.put(offsets);
        out.put(cells);
    }

    /// A partition of `n` points of `d` values that was written.
    pub(super) fn read(from: &mut Reader<'_>, (n, d): (usize, usize), metric: Metric) -> Result<Self> {
        let (mean, rows, unit) = (from.finite_values()?, from.finite_values()?, from.finite()?);
        if mean.len() != d || rows.len() > d.saturating_mul(d) || !rows.len().is_multiple_of(d.max(1)) || unit <= 0.0 {
            return Err(from.wrong(format!("axes of {d} values"), format!("{} and {}", mean.len(), rows.len())));
        }
        let columns: Vec<Vec<f32>> = rows.chunks_exact(d.max(1)).map(<[f32]>::to_vec).collect();
        let axes = Axes::with(mean, &columns, unit);
        let (centres, offsets, cells) = (from.get()?, from.finite_values()?, from.get()?);
        let partition = Self::restored(axes, (n, d), metric, centres, offsets, cells);
        partition.ok_or_else(|| from.wrong("cells that hold each point once", "others"))
    }
}

impl Stored for CellIndex {
    fn write(&self, out: &mut Writer) {
        out.options(&self.options);
        out.put(&self.corpus);
        out.put(&(self.grown_at as u64));
        out.put(&self.reliability);
        out.put(&self.partition.is_some());
        if let Some(partition) = &self.partition {
            partition.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let options: super::CellOptions = from.options()?;
        let corpus: Corpus = from.get()?;
        let (grown_at, reliability) = (from.get::<u64>()? as usize, from.finite_values()?);
        let mut index = Self::empty(options, corpus)?;
        (index.grown_at, index.reliability) = (grown_at, reliability);
        if from.get()? {
            let points = index.corpus.points();
            index.partition = Some(Partition::read(from, (points.len(), points.dimension()), points.metric())?);
        }
        Ok(index)
    }
}

impl Stored for CellCandidates {
    fn write(&self, out: &mut Writer) {
        out.options(&self.options);
        out.put(&self.frame);
        out.put(&self.places.ids().iter().map(|id| id.0).collect::<Vec<u32>>());
        out.put(&(self.grown_at as u64));
        self.partition.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let options: super::CellOptions = from.options()?;
        options.check()?;
        let frame: PointSet = from.get()?;
        let ids: Vec<u32> = from.get()?;
        let grown_at = from.get::<u64>()? as usize;
        if !frame.is_empty() {
            return Err(from.wrong("no points", frame.len().to_string()));
        }
        let partition = Partition::read(from, (ids.len(), frame.dimension()), frame.metric())?;
        Self::with(options, frame, ids.into_iter().map(ItemId).collect(), partition, grown_at)
    }
}
