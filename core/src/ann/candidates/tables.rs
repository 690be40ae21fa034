//! What the leaves of a tree hold: labels, and how often each.

use super::ground::Labels;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;

/// The labels of each leaf, side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Where the labels of each leaf begin, and where the last ones end.
    starts: Vec<u32>,
    labels: Vec<u32>,
    counts: Vec<u16>,
    /// One over the number of training points of each leaf.
    shares: Vec<f32>,
}

impl Table {
    /// The table of a tree of `depth` levels, given the leaf of each training point. A leaf holds
    /// the labels of its training points, or without labels the points themselves.
    pub(super) fn new(leaves: impl Iterator<Item = u32> + Clone, depth: usize, labels: Option<&Labels<'_>>) -> Self {
        let mut ends = vec![0u32; (1 << depth) + 1];
        leaves.clone().for_each(|leaf| ends[leaf as usize + 1] += 1);
        for leaf in 1..ends.len() {
            ends[leaf] += ends[leaf - 1];
        }
        let starts = ends.clone();
        let mut members = vec![0u32; starts[1 << depth] as usize];
        let mut next = ends;
        for (point, leaf) in (0..).zip(leaves) {
            members[next[leaf as usize] as usize] = point;
            next[leaf as usize] += 1;
        }
        let mut table = Self::default();
        let mut all = Vec::new();
        for leaf in 0..1 << depth {
            let points = &members[starts[leaf] as usize..starts[leaf + 1] as usize];
            table.starts.push(table.labels.len() as u32);
            table.shares.push(1.0 / points.len().max(1) as f32);
            all.clear();
            match labels {
                Some(labels) => points.iter().for_each(|point| all.extend_from_slice(labels.of(*point))),
                None => all.extend_from_slice(points),
            }
            all.sort_unstable();
            for equal in all.chunk_by(|a, b| a == b) {
                table.labels.push(equal[0]);
                table.counts.push(equal.len().min(usize::from(u16::MAX)) as u16);
            }
        }
        table.starts.push(table.labels.len() as u32);
        table
    }

    /// The labels of a leaf with their counts, and one over its number of training points.
    pub(super) fn leaf(&self, leaf: u32) -> (&[u32], &[u16], f32) {
        let range = self.starts[leaf as usize] as usize..self.starts[leaf as usize + 1] as usize;
        (&self.labels[range.clone()], &self.counts[range], self.shares[leaf as usize])
    }

    pub(super) fn largest_label(&self) -> Option<u32> {
        self.labels.iter().copied().max()
    }

    /// The number of leaves.
    pub(super) fn leaves(&self) -> usize {
        self.shares.len()
    }

    /// The number of labels with a count, in all leaves, and the sum of the counts.
    pub(super) fn entries(&self) -> (usize, u64) {
        (self.labels.len(), self.counts.iter().map(|count| u64::from(*count)).sum())
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.labels[..]) + size_of_val(&self.counts[..]) + size_of_val(&self.shares[..])
    }
}

impl Stored for Table {
    fn write(&self, out: &mut Writer) {
        let Self { starts, labels, counts, shares } = self;
        out.put(starts);
        out.put(labels);
        out.put(&counts.iter().map(|count| u32::from(*count)).collect::<Vec<u32>>());
        out.put(shares);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (starts, labels): (Vec<u32>, Vec<u32>) = (from.get()?, from.get()?);
        let (counts, shares): (Vec<u32>, Vec<f32>) = (from.get()?, from.finite_values()?);
        let counts: Vec<u16> = counts.into_iter().filter_map(|count| u16::try_from(count).ok()).collect();
        let is_whole = starts.first() == Some(&0) && starts.last().is_some_and(|end| *end as usize == labels.len());
        if !is_whole || !starts.is_sorted() || counts.len() != labels.len() || shares.len() + 1 != starts.len() {
            return Err(from.wrong("the labels of each leaf", format!("{} labels of {} leaves", labels.len(), shares.len())));
        }
        Ok(Self { starts, labels, counts, shares })
    }
}
