//! colour.
