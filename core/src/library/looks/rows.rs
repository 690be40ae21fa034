//! The vectors of all images, one after another, for what looks at the collection as a whole.

use std::sync::Mutex;

use super::Look;
use super::grow::{Known, gather};
use super::likeness::Seen;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::{Library, glimpse};
use crate::linalg::single::direction;
use crate::progress::Progress;

/// The vectors of one kind that images have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LookRows {
    /// The images, in order.
    pub images: Vec<ItemId>,
    /// Values of each.
    pub dimension: usize,
    /// The vectors, one after another, each of length 1, or of zeros: what is near by Euclidean
    /// distance is alike.
    pub values: Vec<f32>,
    /// What is common to the vectors of all images and was taken off, where that is done.
    pub(in crate::library) common: Vec<f64>,
}

/// The vectors of one kind of all images that have one in memory ([`Library::load_looks`]), in
/// the index or in the cache. The library is held only for moments. Four bytes for each value;
/// O(images * values).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn rows(library: &Mutex<Library>, look: &Look, progress: &Progress) -> Result<LookRows> {
    let known: Vec<Known> = gather(library, look, progress)?;
    let glimpses = || known.iter().filter_map(|known| if let Seen::Network(glimpse) = &known.seen { Some(&**glimpse) } else { None });
    let common = if *look == Look::Network { glimpse::common(glimpses()) } else { Vec::new() };
    let mut rows = LookRows { common, ..LookRows::default() };
    for known in &known {
        let vector = known.seen.vector(look, &rows.common);
        // A set may have been brought anew, of other vectors, while this went on.
        if rows.images.is_empty() {
            rows.dimension = vector.len();
        } else if vector.len() != rows.dimension {
            continue;
        }
        rows.images.push(known.id);
        rows.values.extend(direction(&vector));
    }
    Ok(rows)
}
