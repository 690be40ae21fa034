//! Any bytes to the reader `settings`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("settings", bytes));
