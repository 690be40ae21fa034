//! A budget of memory for all pictures that are being decoded at one time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::progress::Progress;

/// How often a thread that waits checks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Memory for pictures that are being decoded, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryBudget {
    /// The bytes that pictures being decoded have reserved.
    pub reserved: u64,
    /// The most that all together may reserve; a single picture alone is admitted whatever it
    /// needs.
    pub limit: u64,
}

/// The budget, shared by all threads that decode.
#[derive(Debug)]
pub(super) struct Budget {
    memory: Mutex<MemoryBudget>,
    freed: Condvar,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Self { memory: Mutex::new(MemoryBudget { reserved: 0, limit }), freed: Condvar::new() }
    }

    pub(super) fn memory(&self) -> MemoryBudget {
        *self.hold()
    }

    /// Sets the limit from now on.
    pub(super) fn limit(&self, bytes: u64) {
        self.hold().limit = bytes;
        self.freed.notify_all();
    }

    fn hold(&self) -> MutexGuard<'_, MemoryBudget> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty share, for work that `progress` may cancel.
    pub(super) fn share<'a>(&'a self, progress: &'a Progress) -> Share<'a> {
        Share { budget: self, progress, bytes: 0 }
    }
}

/// The bytes that one picture has reserved, released when this is dropped.
pub(super) struct Share<'a> {
    budget: &'a Budget,
    progress: &'a Progress,
    bytes: u64,
}

impl Share<'_> {
    /// Releases what is reserved, and waits until there is room for `bytes`; a single share alone
    /// is always admitted. No thread waits while it holds bytes, so waiting threads cannot block
    /// each other.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(super) fn wait_for(&mut self, bytes: u64) -> Result<()> {
        self.give_back();
        let mut memory = self.budget.hold();
        while memory.reserved > 0 && memory.reserved.saturating_add(bytes) > memory.limit {
            if self.progress.is_cancelled() {
                return Err(Error::Cancelled);
            }
            memory = self.budget.freed.wait_timeout(memory, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        memory.reserved = memory.reserved.saturating_add(bytes);
        self.bytes = bytes;
        Ok(())
    }

    /// Grows to `bytes` if there is room, without waiting.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let mut memory = self.budget.hold();
        let others = memory.reserved - self.bytes;
        if bytes > self.bytes {
            if others > 0 && others.saturating_add(bytes) > memory.limit {
                return false;
            }
            (memory.reserved, self.bytes) = (others.saturating_add(bytes), bytes);
        }
        true
    }

    fn give_back(&mut self) {
        self.budget.hold().reserved -= self.bytes;
        self.bytes = 0;
        self.budget.freed.notify_all();
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}
