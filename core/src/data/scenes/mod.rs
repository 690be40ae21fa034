//! Scenes of objects that are cut out of pictures and pasted anew: data sets that ask for
//! composition and for symmetry, after sections 3.3 and 3.4 of Gens and Domingos, *Compositional
//! Kernel Machines*.
//!
//! [`compositions`] shows three objects at once, and the class is which of two collections they
//! come from; [`symmetries`] shows an object shifted, turned, scaled and lit in other ways, on
//! clutter and beside a distractor. The objects come from a [`Gallery`]: the built-in toys,
//! photographs with masks such as ETH-80's, or a NORB set.
//!
//! A picture depends only on the seed, its number and the gallery. Views of objects are split once
//! in two halves, one for training and one for test pictures; both show all objects.

mod canvas;
pub mod compositions;
mod gallery;
pub mod symmetries;
mod write;

pub use gallery::Gallery;
pub use write::{SceneReport, claim};
