//! x

mod data;
