//! How much memory all pictures that are being decoded may need at one time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::progress::Progress;

/// How often whoever waits looks whether the picture is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Memory for pictures that are being decoded, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryBudget {
    /// What those in work may need.
    pub reserved: u64,
    /// What all together may need; one picture alone is let in whatever it needs.
    pub limit: u64,
}

/// Bytes to be shared.
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

    /// Sets what all may need from now on.
    pub(super) fn limit(&self, bytes: u64) {
        self.hold().limit = bytes;
        self.freed.notify_all();
    }

    fn hold(&self) -> MutexGuard<'_, MemoryBudget> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A share of nothing, for work that `progress` may cancel.
    pub(super) fn share<'a>(&'a self, progress: &'a Progress) -> Share<'a> {
        Share { budget: self, progress, bytes: 0 }
    }
}

/// What one picture holds of a budget, given back when this is dropped.
pub(super) struct Share<'a> {
    budget: &'a Budget,
    progress: &'a Progress,
    bytes: u64,
}

impl Share<'_> {
    /// Gives back what is held, and waits until there is room for `bytes`; one share alone is
    /// always let in. Nobody waits with room in hand, so all who wait get their turn.
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
