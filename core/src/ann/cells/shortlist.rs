//! The few least of many estimates.

use crate::linalg::dots::LANES;
use crate::linalg::single::any;

/// At most `length` points of least estimates, of equals those in the lower places, as long as all
/// are offered that are not above the bar.
#[derive(Debug)]
pub(super) struct Least<'a> {
    length: usize,
    kept: &'a mut Vec<u64>,
    bar: f32,
}

/// A number that sorts as the estimate does, then as the place.
fn key(estimate: f32, place: u32) -> u64 {
    let bits = estimate.to_bits();
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    u64::from(ordered) << 32 | u64::from(place)
}

fn estimate(key: u64) -> f32 {
    let ordered = (key >> 32) as u32;
    f32::from_bits(if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered })
}

impl<'a> Least<'a> {
    /// An empty list, of at least one point, in a buffer.
    pub(super) fn new(length: usize, kept: &'a mut Vec<u64>) -> Self {
        kept.clear();
        Self { length: length.max(1), kept, bar: f32::INFINITY }
    }

    /// Offers points, a block of estimates for each [`LANES`] places.
    pub(super) fn offer(&mut self, estimates: &[[f32; LANES]], places: &[u32], is_wanted: impl Fn(u32) -> bool) {
        for (estimates, places) in estimates.iter().zip(places.chunks(LANES)) {
            let bar = self.bar;
            if !any(estimates, |estimate| estimate <= bar) {
                continue;
            }
            for (estimate, place) in estimates.iter().zip(places) {
                if *estimate <= bar && is_wanted(*place) {
                    self.kept.push(key(*estimate, *place));
                }
            }
            if self.kept.len() >= self.length.saturating_mul(2).saturating_add(LANES) {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        self.kept.select_nth_unstable(self.length - 1);
        self.kept.truncate(self.length);
        self.bar = estimate(self.kept[self.length - 1]);
    }

    /// The number of points that are kept.
    pub(super) fn len(&self) -> usize {
        self.kept.len().min(self.length)
    }

    /// The places, that of the least estimate first.
    pub(super) fn finish(mut self) -> Vec<u32> {
        if self.kept.len() > self.length {
            self.cut();
        }
        self.kept.sort_unstable();
        self.kept.iter().map(|key| *key as u32).collect()
    }
}
