//! How much memory all pictures that are being decoded may need at one time.

use std::sync::{Condvar, Mutex, PoisonError};

/// Bytes to be shared.
#[derive(Debug)]
pub(super) struct Budget {
    total: u64,
    reserved: Mutex<u64>,
    freed: Condvar,
}

impl Budget {
    pub(super) fn new(total: u64) -> Self {
        Self { total, reserved: Mutex::new(0), freed: Condvar::new() }
    }

    /// A share of nothing.
    pub(super) fn share(&self) -> Share<'_> {
        Share { budget: self, bytes: 0 }
    }
}

/// What one picture holds of a budget, given back when this is dropped.
pub(super) struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Share<'_> {
    /// Gives back what is held, and waits until there is room for `bytes`; one share alone is always let in. Nobody waits
    /// with room in hand, so all who wait get their turn.
    pub(super) fn wait_for(&mut self, bytes: u64) {
        self.give_back();
        let mut reserved = self.budget.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        while *reserved > 0 && reserved.saturating_add(bytes) > self.budget.total {
            reserved = self.budget.freed.wait(reserved).unwrap_or_else(PoisonError::into_inner);
        }
        *reserved = reserved.saturating_add(bytes);
        self.bytes = bytes;
    }

    /// Grows to `bytes` if there is room, without waiting.
    pub(super) fn grow(&mut self, bytes: u64) -> bool {
        let mut reserved = self.budget.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let others = *reserved - self.bytes;
        if bytes > self.bytes {
            if others > 0 && others.saturating_add(bytes) > self.budget.total {
                return false;
            }
            (*reserved, self.bytes) = (others.saturating_add(bytes), bytes);
        }
        true
    }

    fn give_back(&mut self) {
        *self.budget.reserved.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.bytes = 0;
        self.budget.freed.notify_all();
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}
