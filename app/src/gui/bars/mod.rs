//! The bars on top and at the bottom of the window.

pub(super) mod bottom;
mod search;
pub(super) mod top;
