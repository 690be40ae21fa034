//! The tests of `tessera-core`, in one program.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed, and says where")]

mod advise;
mod canopy;
mod ckm;
mod cmt;
mod collection;
mod contextual;
mod copies;
mod cover_tree;
mod data;
mod envelope;
mod eval;
mod features;
mod hamming;
mod joined;
mod layout;
mod library;
mod linalg;
mod made;
mod model;
mod nearest;
mod network;
mod networks;
mod online;
mod online_linear;
mod picture;
mod progress;
mod recognition;
mod scenes;
mod sparse;
mod storage;
mod text;
mod tidy;
mod toys;
