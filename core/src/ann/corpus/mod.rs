//! The points that an index selects candidates among, and the nearest of the candidates.

mod bytes;
pub mod codes;
mod fine;
mod outliers;
mod places;
mod point_set;
mod rounding;
mod steps;

use bytes::Bytes;
pub(super) use codes::{CodeQuery, Codes, units_of};
use fine::Fine;
pub(super) use outliers::usual;
pub(super) use places::Places;
pub use point_set::PointSet;
pub(super) use rounding::{Rounding, Shortlist};

use self::steps::is_unit;
use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::nearest::Metric;

/// Values of a point from which on rounded ones are compared first.
const LONG: usize = 64;

/// What most candidates are excluded by.
#[derive(Clone, Debug)]
enum Quick {
    /// Nothing: points have few values.
    None,
    Bytes(Bytes),
    Rounded(Fine),
}

impl Quick {
    fn of(points: &PointSet) -> Self {
        match Bytes::of(points) {
            Some(bytes) => Self::Bytes(bytes),
            None if points.dimension() >= LONG => Self::Rounded(Fine::new(points)),
            None => Self::None,
        }
    }
}

/// A candidate that was compared with a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) place: u32,
    pub(super) id: ItemId,
    pub(super) distance: f64,
}

/// Points, each with an identifier and a place: its number, which changes when others are removed.
///
/// Memory: the points, a quarter of that for rounded values where there are many, and about 30
/// bytes a point.
#[derive(Clone, Debug)]
pub(super) struct Corpus {
    points: PointSet,
    places: Places,
    quick: Quick,
}

/// The points, their identifiers, and how they are rounded.
impl Stored for Corpus {
    fn write(&self, out: &mut Writer) {
        out.put(&self.points);
        out.put(&self.ids().iter().map(|id| id.0).collect::<Vec<u32>>());
        let (middle, units): (&[f32], &[f32]) = if let Quick::Rounded(fine) = &self.quick { fine.frame() } else { (&[], &[]) };
        out.put(&middle.to_vec());
        out.put(&units.to_vec());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let points: PointSet = from.get()?;
        let ids: Vec<u32> = from.get()?;
        let (middle, units) = (from.finite_values()?, from.finite_values()?);
        let d = points.dimension();
        let quick = if !middle.is_empty() {
            if middle.len() != d || units.len() != d || !units.iter().all(|unit| is_unit(*unit)) {
                return Err(from.wrong(format!("a middle and steps of {d} values"), format!("{} and {}", middle.len(), units.len())));
            }
            Quick::Rounded(Fine::around(middle, units, &points))
        } else if let Some(bytes) = Bytes::of(&points) {
            Quick::Bytes(bytes)
        } else if d < LONG {
            Quick::None
        } else {
            return Err(from.wrong(format!("a middle and steps of {d} values"), "none"));
        };
        Self::with(points, ids.into_iter().map(ItemId).collect(), quick)
    }
}

impl Corpus {
    /// # Errors
    /// [`Error::Value`] when there are not as many identifiers as points, or one twice.
    pub(super) fn new(points: PointSet, ids: Vec<ItemId>) -> Result<Self> {
        let quick = Quick::of(&points);
        Self::with(points, ids, quick)
    }

    fn with(points: PointSet, ids: Vec<ItemId>, quick: Quick) -> Result<Self> {
        if ids.len() != points.len() {
            return Err(Error::value("identifiers", format!("one for each of {} points", points.len()), ids.len().to_string()));
        }
        Ok(Self { quick, points, places: Places::new(ids)? })
    }

    pub(super) fn points(&self) -> &PointSet {
        &self.points
    }

    pub(super) fn ids(&self) -> &[ItemId] {
        self.places.ids()
    }

    pub(super) fn len(&self) -> usize {
        self.ids().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids().is_empty()
    }

    /// A query as points are kept.
    ///
    /// # Errors
    /// [`Error::Value`] when it cannot be compared with the points.
    pub(super) fn prepared(&self, query: &[f32]) -> Result<Vec<f32>> {
        self.points.check(query)?;
        Ok(self.points.prepared(query))
    }

    /// Adds a point in the last place.
    ///
    /// # Errors
    /// [`Error::Value`] when the identifier is in use, or the point is refused by
    /// [`PointSet::push`].
    pub(super) fn push(&mut self, id: ItemId, point: &[f32]) -> Result<()> {
        let place = self.points.len();
        self.places.check_free(id)?;
        self.points.push(point)?;
        self.places.push(id);
        let row = self.points.row(place);
        match &mut self.quick {
            Quick::Rounded(fine) => fine.push(row, self.points.metric()),
            Quick::Bytes(bytes) => {
                if !bytes.push(row) {
                    self.quick = Quick::of(&self.points);
                }
            }
            Quick::None => {}
        }
        Ok(())
    }

    /// Removes a point and returns the place where it was; the last point is there now.
    pub(super) fn swap_remove(&mut self, id: ItemId) -> Option<u32> {
        let place = self.places.swap_remove(id)?;
        self.points.swap_remove(place as usize);
        match &mut self.quick {
            Quick::Rounded(fine) => fine.swap_remove(place as usize),
            Quick::Bytes(bytes) => bytes.swap_remove(place as usize),
            Quick::None => {}
        }
        Some(place)
    }

    /// The at most `k` nearest of some points to a prepared query, nearest first, of equals the
    /// lower identifier. O(places * dimension).
    pub(super) fn nearest(&self, query: &[f32], k: usize, mut places: Vec<u32>) -> Vec<Compared> {
        if let Quick::Rounded(fine) = &self.quick
            && places.len() > k
        {
            places = fine.nearest(query, k, &places);
        }
        let compared = |place: u32| {
            let distance = f64::from(match &self.quick {
                Quick::Bytes(bytes) => bytes.distance(query, place as usize),
                Quick::Rounded(_) | Quick::None => self.points.distance(query, place as usize),
            });
            let distance = if self.points.metric() == Metric::Euclidean { distance.sqrt() } else { distance };
            Compared { place, id: self.ids()[place as usize], distance }
        };
        let mut nearest: Vec<Compared> = places.into_iter().map(compared).collect();
        let by_distance = |a: &Compared, b: &Compared| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id));
        if nearest.len() > k && k > 0 {
            nearest.select_nth_unstable_by(k - 1, by_distance);
        }
        nearest.truncate(k);
        nearest.sort_unstable_by(by_distance);
        nearest
    }

    /// Chooses the steps of rounded values anew, for the points that there are now.
    pub(super) fn round_anew(&mut self) {
        self.quick = Quick::of(&self.points);
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        let quick = match &self.quick {
            Quick::Bytes(bytes) => bytes.bytes(),
            Quick::Rounded(fine) => fine.bytes(),
            Quick::None => 0,
        };
        self.points.bytes() + self.places.bytes() + quick
    }
}
