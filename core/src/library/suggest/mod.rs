//! Suggestions of classes for a library's images: an ensemble of advisers that follows the labels.
//!
//! The advisers use an image's appearance, the words of its captions and its elements, which are
//! the recogniser's. What was learned of a label that is taken back or changed is unlearned: see
//! [`crate::advise::CheckpointedEnsemble`].

mod kept;
mod order;
mod review;
mod suggester;
mod suggestion;
mod views;

pub use order::{LabelOrder, POOL};
pub use review::{Doubt, Review, Reviewed};
pub use suggester::{FreshLabels, ImageViews, LEARNED, LabelSnapshot, Suggester};
pub use suggestion::{Suggestion, Vote};
