//! The contract of a model that follows the events of a library.

use crate::ckm::CkmOptions;
use crate::error::Result;
use crate::ids::ItemId;
use crate::library::features::FeatureStore;
use crate::library::state::State;
use crate::progress::Progress;

/// A model that follows the events of a library.
///
/// What it has learned is a function of the events: whichever way it got there, by following them
/// one at a time, from a checkpoint, or anew from the first, [`Model::everything`] gives the same
/// bytes. An undo is an update like any other whose `after` is the earlier state. To add one, write
/// a file beside the others, declare it in [`super`], and add a line to the list in
/// [`super::registry`]: the test of this contract then runs on it too.
pub trait Model: Send {
    /// A model that has learned nothing yet. `options` are the recogniser's, which say how features
    /// are computed.
    ///
    /// # Errors
    /// [`crate::Error::Option`] when the options are out of range.
    fn new(options: &CkmOptions) -> Result<Self>
    where
        Self: Sized;

    /// The name under which its checkpoints are kept, which includes the version of their format:
    /// checkpoints of another name are not read.
    fn name(&self) -> String;

    /// Goes back to what [`Model::new`] gave.
    fn clear(&mut self);

    /// Learns the step from one state of the library to the next.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]; [`crate::Error::Io`] when the cache cannot be used.
    fn learn(&mut self, update: &ModelUpdate<'_>) -> Result<()>;

    /// Called when it has learned all events after [`Model::clear`].
    ///
    /// # Errors
    /// As [`Model::learn`].
    fn caught_up(&mut self, _progress: &Progress) -> Result<()> {
        Ok(())
    }

    /// Everything it learned, as bytes that can be compared. Images are named by the hashes of
    /// their bytes, for their identifiers differ between libraries.
    fn everything(&self, state: &State) -> Vec<u8>;

    /// The bytes from which [`Model::restore`] continues. O(images).
    fn checkpoint(&self, state: &State) -> Vec<u8> {
        self.everything(state)
    }

    /// Continues from a checkpoint of the library in the state `update.after`, after
    /// [`Model::clear`]. `false` when it cannot: the model is then taught from the first event.
    ///
    /// # Errors
    /// As [`Model::learn`].
    fn restore(&mut self, bytes: &[u8], update: &ModelUpdate<'_>) -> Result<bool>;
}

/// A step from one state of a library to the next.
pub struct ModelUpdate<'a> {
    /// The records of these images before the step.
    pub before: &'a State,
    /// The whole state after the step.
    pub after: &'a State,
    /// The images that changed, in order.
    pub images: &'a [ItemId],
    /// Where the elements of images come from.
    pub features: &'a FeatureStore<'a>,
    /// Reports progress and carries cancellation.
    pub progress: &'a Progress,
}
