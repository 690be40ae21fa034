//! Readers, writers and generators of data sets.

pub mod toys;
