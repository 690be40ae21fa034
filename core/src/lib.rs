//! The methods, data readers and models of Tessera.
//!
//! Floors, lowest first; a module uses only lower floors, and modules of one floor do not know each other:
//! `error random ids descriptor`, `progress`, `picture`, ...

pub mod ckm;
pub mod descriptor;
pub mod envelope;
pub mod error;
pub mod features;
pub mod hamming;
pub mod ids;
pub mod picture;
pub mod progress;
pub mod random;

pub use error::{Error, Result};
