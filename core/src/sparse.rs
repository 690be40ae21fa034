//! Vectors of which most components are zero.
//!
//! ```
//! use tessera_core::sparse::SparseVec;
//!
//! let x = SparseVec::from_pairs([(7, 1.0), (2, 3.0), (7, 1.0)])?;
//! assert_eq!(x.entries(), [(2, 3.0), (7, 2.0)]);
//! assert_eq!(x.dot(&SparseVec::new(&[7, 9], &[0.5, 1.0])?), 1.0);
//! # Ok::<(), tessera_core::Error>(())
//! ```

use std::cmp::Ordering;

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};

/// The components of a vector that are not zero: indices ascending, each once; values finite.
///
/// 8 bytes a component, side by side; the square of the length is kept. Components are f32, sums of
/// products f64, added in the order of indices, so that equal vectors give equal sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseVec {
    entries: Box<[(u32, f32)]>,
    square: f64,
}

impl SparseVec {
    /// The vector with `values[i]` at `indices[i]`. O(n).
    ///
    /// # Errors
    /// [`Error::Value`] when the two differ in number, the indices do not ascend, or a value is
    /// zero or not finite.
    pub fn new(indices: &[u32], values: &[f32]) -> Result<Self> {
        if indices.len() != values.len() {
            return Err(wrong("as many values as indices", format!("{} and {}", values.len(), indices.len())));
        }
        Self::from_entries(indices.iter().copied().zip(values.iter().copied()).collect())
    }

    /// The vector that these components add up to, in any order; zeros are left out. O(n log n).
    ///
    /// # Errors
    /// [`Error::Value`] when a value, or a sum of values at one index, is not finite.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (u32, f32)>) -> Result<Self> {
        let mut entries: Vec<(u32, f32)> = pairs.into_iter().collect();
        entries.sort_by_key(|entry| entry.0);
        entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        entries.retain(|entry| entry.1 != 0.0);
        Self::from_entries(entries)
    }

    fn from_entries(entries: Vec<(u32, f32)>) -> Result<Self> {
        if let Some(&(index, value)) = entries.iter().find(|(_, value)| !value.is_finite() || *value == 0.0) {
            return Err(wrong("finite values other than zero", format!("{value} at {index}")));
        }
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return Err(wrong("indices that ascend", format!("{} after {}", pair[1].0, pair[0].0)));
        }
        let square = sum(entries.iter().map(|&(_, value)| f64::from(value) * f64::from(value)));
        Ok(Self { entries: entries.into(), square })
    }

    /// The components that are not zero, by ascending index.
    pub fn entries(&self) -> &[(u32, f32)] {
        &self.entries
    }

    /// How many components are not zero.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether this is the zero vector.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The component at `index`. O(log n).
    pub fn get(&self, index: u32) -> f32 {
        self.entries.binary_search_by_key(&index, |entry| entry.0).map_or(0.0, |at| self.entries[at].1)
    }

    /// The square of the Euclidean length. O(1).
    pub fn square(&self) -> f64 {
        self.square
    }

    /// The Euclidean length. O(1).
    pub fn norm(&self) -> f64 {
        self.square.sqrt()
    }

    /// The inner product. O(n + m).
    pub fn dot(&self, other: &Self) -> f64 {
        sum(self.common(other).map(|(_, a, b)| f64::from(a) * f64::from(b)))
    }

    /// The cosine of the angle; 0 when one of the two is the zero vector. O(n + m).
    pub fn cosine(&self, other: &Self) -> f64 {
        let lengths = (self.square * other.square).sqrt();
        if lengths > 0.0 { self.dot(other) / lengths } else { 0.0 }
    }

    /// The square of the Euclidean distance, from the differences themselves: exact to rounding
    /// also for near copies. O(n + m).
    pub fn distance_squared(&self, other: &Self) -> f64 {
        let difference = |(_, a, b): (u32, f32, f32)| f64::from(a) - f64::from(b);
        sum(self.union(other).map(difference).map(|d| d * d))
    }

    /// `(index, own, other's)` wherever at least one of the two is not zero, by ascending index.
    /// O(n + m).
    pub fn union<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u32, f32, f32)> + 'a {
        let (mut a, mut b) = (&self.entries[..], &other.entries[..]);
        std::iter::from_fn(move || {
            let order = match (a.first(), b.first()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(x), Some(y)) => x.0.cmp(&y.0),
            };
            let mut item = (0, 0.0, 0.0);
            if order.is_le() {
                item = (a[0].0, a[0].1, 0.0);
                a = &a[1..];
            }
            if order.is_ge() {
                item = (b[0].0, item.1, b[0].1);
                b = &b[1..];
            }
            Some(item)
        })
    }

    /// `(index, own, other's)` wherever neither is zero, by ascending index. O(n + m).
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (u32, f32, f32)> + 'a {
        let (mut a, mut b) = (&self.entries[..], &other.entries[..]);
        std::iter::from_fn(move || {
            while let (Some(x), Some(y)) = (a.first(), b.first()) {
                let order = x.0.cmp(&y.0);
                if order.is_le() {
                    a = &a[1..];
                }
                if order.is_ge() {
                    b = &b[1..];
                }
                if order.is_eq() {
                    return Some((x.0, x.1, y.1));
                }
            }
            None
        })
    }
}

/// The sum from the first on; of nothing it is 0, not -0.
fn sum(products: impl Iterator<Item = f64>) -> f64 {
    products.fold(0.0, |sum, product| sum + product)
}

fn wrong(expected: &'static str, found: String) -> Error {
    Error::value("vector", expected, found)
}

impl Stored for SparseVec {
    fn write(&self, out: &mut Writer) {
        out.count(self.len());
        for (index, value) in &self.entries {
            out.put(index);
            out.put(value);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let n = from.count()?;
        Self::from_entries((0..n).map(|_| Ok((from.get()?, from.get()?))).collect::<Result<_>>()?)
    }
}
