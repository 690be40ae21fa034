//! The program Tessera as a library, so that its tests and both its faces share one
//! [`session::Session`].

pub mod cli;
pub mod command;
pub mod ending;
#[cfg(feature = "window")]
pub mod gui;
pub mod job;
pub mod session;
pub mod settings;
