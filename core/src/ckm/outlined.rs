//! Machines of training images whose elements are on a shelf, without reading them.

use std::sync::Arc;

use super::kept::{Away, Kept, Shelf};
use super::options::CkmOptions;
use super::outline::{Outline, Outlines};
use super::{Ckm, Example};
use crate::error::Result;
use crate::ids::ItemId;

/// A training image, known by its outline alone.
#[derive(Debug)]
pub struct Outlined<'a> {
    /// Its identifier, unique in the machine.
    pub id: ItemId,
    /// Its name.
    pub name: String,
    /// The object it shows, when known.
    pub group: Option<String>,
    /// Where its elements are.
    pub shelf: &'a Arc<dyn Shelf>,
    /// Their key there.
    pub key: u128,
    /// Its outline.
    pub outline: &'a Outline,
}

impl Ckm {
    /// The outlines of all training images whose elements are out of memory. Images that wait for
    /// cells of a network are left out, for they will have more elements. O(images).
    pub fn outlines(&self) -> Outlines {
        let kinds = &self.options.kinds;
        let mut all = Vec::new();
        for (c, class) in self.classes.iter().enumerate() {
            for (place, example) in class.examples.iter().enumerate() {
                let Some(Away { key, size, bytes, counts, .. }) = example.elements.away_from_here() else { continue };
                let waits = kinds.iter().zip(counts).any(|(kind, count)| *count == 0 && kind.source.is_of_network());
                let outline = || Outline { size: *size, bytes: *bytes, counts: counts.clone(), sketch: *self.sketches.get(c, place) };
                all.extend((!waits).then(|| (*key, outline())));
            }
        }
        Outlines::of(kinds.len(), all)
    }

    /// Adds a training image whose elements stay where they are, as [`Ckm::add`] would with them.
    /// O(images of the class).
    ///
    /// # Errors
    /// As [`Ckm::add`].
    pub fn add_outlined(&mut self, class: &str, image: Outlined<'_>) -> Result<()> {
        let Outlined { id, name, group, shelf, key, outline } = image;
        let elements = Kept::away(shelf, key, outline, &self.cut);
        self.put(class, Arc::new(Example { id, name, group, elements }), Some(&outline.sketch))
    }

    /// The outlines for other options that the shelf of this machine's elements has.
    pub(super) fn outlines_for(&self, options: &CkmOptions) -> Outlines {
        let away = self.examples().find_map(|(_, example)| example.elements.away_from_here());
        away.map(|away| away.shelf.outlines(options)).unwrap_or_default()
    }
}
