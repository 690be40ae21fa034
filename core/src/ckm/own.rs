//! Elements that the caller brings: descriptors from elsewhere, parts of a sound, atoms of a
//! molecule, anything with a place.
//!
//! A kind of them is an [`ElementSource::Own`](super::ElementSource::Own) among the machine's
//! kinds: a name and a form. The machine needs no picture then, and no more of this crate than its
//! methods. Kinds of both sorts may stand in one machine: see `Ckm::elements_with`.
//!
//! ```
//! use tessera_core::ckm::kernel::LeafKernel;
//! use tessera_core::ckm::own::{OwnElements, OwnValues};
//! use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, Example, Without};
//! use tessera_core::ids::ItemId;
//!
//! // Likeness ends at a distance of 0.5; 40 pixels away or more cost 0.2.
//! let kernel = LeafKernel { rho: 0.5, cost: 0.2, reach: 40.0, pair_bonus: 0.1, weight: 1.0 };
//! let form = ElementForm::Dense { dimension: 2, low: 0.0, high: 1.0 };
//! let mut machine = Ckm::new(CkmOptions::own("stain", form, kernel))?;
//! let places = [[10.0, 12.0], [80.0, 31.0]];
//! for (id, class, features) in [(0, "oak", [0.9, 0.1, 0.8, 0.2]), (1, "elm", [0.2, 0.7, 0.1, 0.9])] {
//!     let parts = OwnElements { positions: &places, values: OwnValues::Dense(&features) };
//!     let elements = machine.elements_from_own((100, 100), &[parts])?;
//!     machine.add(class, Example { id: ItemId(id), name: class.to_owned(), group: None, elements: elements.into() })?;
//! }
//! let query = OwnElements { positions: &places, values: OwnValues::Dense(&[0.85, 0.15, 0.8, 0.1]) };
//! let scores = machine.scores(&machine.elements_from_own((100, 100), &[query])?, Without::Nothing);
//! assert_eq!(machine.classes()[scores.ranking()[0].0.index()].name, "oak");
//! # Ok::<(), tessera_core::Error>(())
//! ```

use super::Ckm;
use super::element::{ElementSet, Elements};
use super::options::{ElementForm, ElementKind, OwnSource};
use crate::descriptor::Descriptor;
use crate::error::{Error, Result};

/// Elements of one kind of one image, or of whatever else has parts with places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnElements<'a> {
    /// Where they are, in the image's own pixels: x to the right, y down, the origin at the top
    /// left corner.
    pub positions: &'a [[f32; 2]],
    /// Their features, in the order of the positions.
    pub values: OwnValues<'a>,
}

/// The features of elements that the caller brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnValues<'a> {
    /// For [`ElementForm::Binary`].
    Binary(&'a [Descriptor]),
    /// For [`ElementForm::Dense`]: the vectors one after another, row-major
    /// `(elements, dimension)`.
    Dense(&'a [f32]),
}

impl Ckm {
    /// Makes the elements of an image from those that the caller brings. The image has the `size`
    /// (width and height in the unit of the positions); its longer side becomes the machine's
    /// working size. `own` has a list for each of the machine's kinds, in their order. O(values).
    ///
    /// # Errors
    /// [`Error::Value`] for another number of lists than kinds, another form or number of values
    /// than the kind has, a size of 0, a position or value that is not finite, and for a machine
    /// with kinds that are cut from pictures.
    pub fn elements_from_own(&self, size: (u32, u32), own: &[OwnElements<'_>]) -> Result<Elements> {
        let (side, kinds) = (self.options().side, &self.options().kinds);
        let sets = sets(size, side, kinds, own)?;
        if sets.len() != kinds.len() {
            let found = format!("a machine with {} kinds cut from pictures", kinds.len() - sets.len());
            return Err(Error::value("elements", "a machine whose kinds are all the caller's own", found));
        }
        Ok(Elements::new(sets, size, &self.cut))
    }
}

/// The sets of those of `kinds` that the caller brings.
pub(super) fn sets(size: (u32, u32), side: u32, kinds: &[ElementKind], own: &[OwnElements<'_>]) -> Result<Vec<ElementSet>> {
    let sources: Vec<&OwnSource> = kinds.iter().filter_map(|kind| kind.source.own()).collect();
    if own.len() != sources.len() {
        let expected = format!("a list for each kind that the caller brings, {} in all", sources.len());
        return Err(Error::value("elements", expected, own.len().to_string()));
    }
    if !own.is_empty() && (size.0 == 0 || size.1 == 0) {
        return Err(Error::value("size", "1 by 1 or more", format!("{} by {}", size.0, size.1)));
    }
    let middle = [(size.0 as f32 - 1.0) / 2.0, (size.1 as f32 - 1.0) / 2.0];
    let scale = size.0.max(size.1) as f32 / side as f32;
    let set = |(own, source): (&OwnElements<'_>, &OwnSource)| {
        let positions: Vec<[f32; 2]> = own.positions.iter().map(|[x, y]| [(x - middle[0]) / scale, (y - middle[1]) / scale]).collect();
        if positions.iter().flatten().any(|value| !value.is_finite()) {
            return Err(Error::value("position", "finite numbers", "one that is not"));
        }
        let n = positions.len();
        let expect = |found: usize, all: usize| {
            if found == all {
                Ok(())
            } else {
                Err(Error::value("elements", format!("{all} values of `{}`", source.name), found.to_string()))
            }
        };
        match (source.form, own.values) {
            (ElementForm::Binary, OwnValues::Binary(descriptors)) => {
                expect(descriptors.len(), n)?;
                Ok(ElementSet::binary(&positions, descriptors.iter().copied()))
            }
            (ElementForm::Dense { dimension, .. }, OwnValues::Dense(values)) => {
                expect(values.len(), n * dimension)?;
                if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                    return Err(Error::value("elements", format!("finite values of `{}`", source.name), value.to_string()));
                }
                let rows: Vec<u8> = values.iter().map(|value| source.form.quantised(*value)).collect();
                Ok(ElementSet::dense(&positions, &rows, dimension))
            }
            (ElementForm::Binary, _) => Err(Error::value("elements", format!("descriptors of `{}`", source.name), "dense vectors")),
            (ElementForm::Dense { .. }, _) => Err(Error::value("elements", format!("dense vectors of `{}`", source.name), "descriptors")),
        }
    };
    own.iter().zip(sources).map(set).collect()
}
