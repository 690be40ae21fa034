//! The vectors of all images, one after another, for what looks at the collection as a whole.

use std::sync::Mutex;

use super::Look;
use super::grow::{Known, gather};
use super::likeness::Seen;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::{Library, glimpse};
use crate::linalg::single::norm;
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
}

/// The vectors of one kind of all images that have one in memory ([`Library::load_looks`]) or in
/// the index. The library is held only for moments. Four bytes for each value; O(images * values).
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn rows(library: &Mutex<Library>, look: &Look, progress: &Progress) -> Result<LookRows> {
    let known: Vec<Known> = gather(library, look, progress)?;
    let glimpses = || known.iter().filter_map(|known| if let Seen::Network(glimpse) = &known.seen { Some(&**glimpse) } else { None });
    let common = if *look == Look::Network { glimpse::common(glimpses()) } else { Vec::new() };
    let mut rows = LookRows::default();
    for known in &known {
        let vector = known.seen.vector(look, &common);
        // A set may have been brought anew, of other vectors, while this went on.
        if rows.images.is_empty() {
            rows.dimension = vector.len();
        } else if vector.len() != rows.dimension {
            continue;
        }
        let length = norm(&vector);
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        rows.images.push(known.id);
        rows.values.extend(vector.iter().map(|value| value * scale));
    }
    Ok(rows)
}
