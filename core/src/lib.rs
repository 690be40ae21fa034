//! The methods, data readers and models of Tessera.
//!
//! Floors, lowest first; a module uses only lower floors, and modules of one floor do not know each other:
//!
//! 1. [`error`], [`random`], [`ids`], [`descriptor`], [`raw_path`], [`storage`], [`bytes`]
//! 2. [`progress`], [`envelope`], [`sparse`], [`learn`]
//! 3. [`linalg`]
//! 4. [`nearest`]
//! 5. [`picture`], [`hamming`], [`text`], [`online_linear`]
//! 6. [`features`], [`data`], [`cmt`], [`contextual`]
//! 7. [`ckm`]
//! 8. [`advise`]
//! 9. [`eval`], [`library`]

pub mod advise;
pub mod bytes;
pub mod ckm;
pub mod cmt;
pub mod contextual;
pub mod data;
pub mod descriptor;
pub mod envelope;
pub mod error;
pub mod eval;
pub mod features;
pub mod hamming;
pub mod ids;
pub mod learn;
pub mod library;
pub mod linalg;
pub mod nearest;
pub mod online_linear;
pub mod picture;
pub mod progress;
pub mod random;
pub mod raw_path;
pub mod sparse;
pub mod storage;
pub mod text;

pub use error::{Error, Result};
