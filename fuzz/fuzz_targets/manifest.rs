//! Any bytes to the reader `manifest`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("manifest", bytes));
