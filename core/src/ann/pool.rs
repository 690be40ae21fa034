//! Buffers that queries leave behind for later ones.

use std::sync::{Mutex, PoisonError};

/// Buffers that no query uses just now.
#[derive(Debug, Default)]
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    /// Does some work with buffers that earlier work left behind, or with new ones.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let done = work(&mut buffers);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
        done
    }
}
