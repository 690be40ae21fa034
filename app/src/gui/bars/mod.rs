//! The bars on top and at the bottom of the window.

pub(super) mod bottom;
pub(super) mod top;
