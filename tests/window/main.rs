//! The window, driven without a screen.
#![allow(clippy::unwrap_used, reason = "a test that unwraps in vain has failed")]

mod classes;
mod clusters;
mod collections;
mod copies;
mod histories;
mod import;
mod journey;
mod keeping;
mod keys;
mod label;
mod map;
mod networks;
mod recognise;
mod search;
mod similar;
mod snapshots;
mod views;
mod world;
