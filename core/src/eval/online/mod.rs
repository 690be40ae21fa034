//! Online classification on streams, with every inequality of the proofs checked on demand, and
//! simulated labelling desks.

mod desk;
mod examples;
mod figures;
mod orders;
mod play;
mod streams;
mod things;
mod verify;

pub use desk::{Corrections, Desks, desks, draw};
pub use examples::dense;
pub use figures::{Long, figures};
pub use orders::StreamOrder;
pub use play::{Asked, OnlineLearner, OnlineSetting, Played, play};
pub use streams::StreamSource;
pub use things::{DeskItem, DeskItems, PictureValues};
