//! The methods, data readers and models of Tessera.
//!
//! The modules stand on floors (layers), lowest first. A module uses only lower floors; modules of
//! one floor do not use each other:
//!
//! 1. [`error`], [`random`], [`ids`], [`descriptor`], [`hash`], [`raw_path`], [`storage`],
//!    [`bytes`], [`plural`]
//! 2. [`progress`], [`envelope`], [`sparse`], [`learn`]
//! 3. [`linalg`]
//! 4. [`nearest`]
//! 5. [`picture`], [`hamming`], [`text`], [`online_linear`]
//! 6. [`features`], [`network`], [`data`], [`cmt`], [`contextual`], [`ann`], [`copies`],
//!    [`cover_tree`]
//! 7. [`ckm`], [`canopy`], [`layout`]
//! 8. [`advise`]
//! 9. [`collection`], [`eval`], [`library`]
//!
//! Cargo features, all on by default; without any of them the crate is the methods alone, over data
//! that the caller brings:
//!
//! - `files`: models on disk ([`envelope`], [`storage`], [`ckm::model`]).
//! - `images`, with `files`: pictures, features of pictures, data sets and experiments
//!   ([`picture`], [`features`], [`copies`], [`data`], [`eval`], [`ckm::presets`]).
//! - `network`, with `images`: the convolutional network that comes with the program ([`network`]).
//! - `library`, with `images`: libraries of images in SQLite ([`library`]).
//! - `collections`, with `images`: images as Parquet shards, for work on many machines
//!   ([`collection`]).

pub mod advise;
pub mod ann;
pub mod bytes;
pub mod canopy;
pub mod ckm;
pub mod cmt;
#[cfg(feature = "collections")]
pub mod collection;
pub mod contextual;
#[cfg(feature = "images")]
pub mod copies;
pub mod cover_tree;
#[cfg(feature = "images")]
pub mod data;
pub mod descriptor;
#[cfg(feature = "files")]
pub mod envelope;
pub mod error;
#[cfg(feature = "images")]
pub mod eval;
#[cfg(feature = "images")]
pub mod features;
pub mod hamming;
pub mod hash;
pub mod ids;
pub mod joined;
#[cfg(feature = "images")]
pub mod json;
pub mod layout;
pub mod learn;
#[cfg(feature = "library")]
pub mod library;
pub mod linalg;
pub mod nearest;
#[cfg(feature = "network")]
pub mod network;
pub mod once;
pub mod online_linear;
#[cfg(feature = "images")]
pub mod picture;
pub mod plural;
pub mod progress;
pub mod random;
pub mod raw_path;
pub mod sparse;
#[cfg(feature = "files")]
pub mod storage;
pub mod text;
pub mod utc;

pub use error::{Error, Result};

/// The Rust of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
