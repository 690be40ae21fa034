//! The methods, data readers and models of Tessera.
//!
//! Floors, lowest first; a module uses only lower floors, and modules of one floor do not know each other:
//! `error random ids descriptor`, `progress`, `picture`, ...

pub mod data;
pub mod descriptor;
pub mod error;
pub mod ids;
pub mod picture;
pub mod progress;
pub mod random;

pub use error::{Error, Result};
