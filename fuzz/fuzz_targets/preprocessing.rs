//! Any bytes to the reader `preprocessing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("preprocessing", bytes));
