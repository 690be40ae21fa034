//! Any bytes to the reader `weights`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("weights", bytes));
