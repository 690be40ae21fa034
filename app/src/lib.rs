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

/// The usual allocator of Linux keeps more of what was freed: with 100,000 images some 80 MB.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
