//! What share of the exact answer an index of a shard finds, as it was measured on the shard
//! itself: on one half of a sample a way to search is chosen, on the other its recall is told.
//!
//! No more than `1 - 2 / m` is promised by the m questions of the half that chooses
//! ([`promised`]); where more is asked for, all are compared.

use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;

/// Recalls are added up in multiples of this, so that their sum is exact.
const PARTS: u64 = 1_000_000;

/// The recall of some shards, each of which counts by its images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredRecall {
    images: u64,
    /// The sum over images of the recall of their shard, in millionths.
    found: u128,
}

impl MeasuredRecall {
    /// That of a shard of so many images whose index found so many of those that it should have.
    pub(super) fn of(images: usize, (found, wanted): (u64, u64)) -> Self {
        let share = if wanted == 0 { PARTS } else { share_of(found, wanted) };
        Self { images: images as u64, found: u128::from(images as u64) * u128::from(share) }
    }

    /// That of a shard of so many images that were all compared.
    pub(super) fn exact(images: usize) -> Self {
        Self::of(images, (0, 0))
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { images: self.images.saturating_add(other.images), found: self.found.saturating_add(other.found) }
    }

    /// The mean share of the exact answer that is found: 1 where all images were compared.
    pub fn share(self) -> f64 {
        if self.images == 0 { 1.0 } else { self.found as f64 / (self.images as f64 * PARTS as f64) }
    }
}

/// The recall that m questions promise, which found such a share on average with such a standard
/// error: two standard errors less. Where all were answered right one of so many more may not be,
/// so it is `1 - 2 / m` at most.
pub(super) fn promised(mean: f64, error: f64, m: usize) -> f64 {
    mean - 2.0 * error.max(1.0 / m.max(1) as f64)
}

fn share_of(found: u64, wanted: u64) -> u64 {
    let share = u128::from(found.min(wanted)) * u128::from(PARTS) / u128::from(wanted);
    u64::try_from(share).unwrap_or(PARTS)
}

/// A way to search an index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RecallWay {
    /// What the index knows it by.
    pub(super) way: (u64, u64),
    /// The recall that may be promised, as [`promised`] has it by the first half of the sample.
    pub(super) promised: f64,
    /// What it found of the second half, and what it should have found.
    pub(super) told: (u64, u64),
}

/// What was measured for answers of so many images.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecallCurve {
    pub(super) k: u64,
    /// The cheapest first.
    pub(super) ways: Vec<RecallWay>,
}

/// The cheapest way that reaches a recall for k images; none where no way does, or that was not
/// measured: all are compared then.
pub(super) fn way_for(curves: &[RecallCurve], k: usize, recall: f64) -> Option<&RecallWay> {
    curves.iter().find(|curve| curve.k >= k as u64)?.ways.iter().find(|way| way.promised >= recall)
}

/// The next number, if it is a recall below one.
pub(super) fn read_recall(from: &mut Reader<'_>) -> Result<f64> {
    let recall: f64 = from.get()?;
    if recall > 0.0 && recall < 1.0 { Ok(recall) } else { Err(from.wrong("a recall above 0 and below 1", recall.to_string())) }
}

impl Stored for MeasuredRecall {
    fn write(&self, out: &mut Writer) {
        out.put(&self.images);
        out.put(&self.found);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { images: from.get()?, found: from.get()? })
    }
}

impl Stored for RecallWay {
    fn write(&self, out: &mut Writer) {
        out.put(&self.way);
        out.put(&self.promised);
        out.put(&self.told);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { way: from.get()?, promised: from.get()?, told: from.get()? })
    }
}

impl Stored for RecallCurve {
    fn write(&self, out: &mut Writer) {
        out.put(&self.k);
        out.put(&self.ways);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { k: from.get()?, ways: from.get()? })
    }
}
