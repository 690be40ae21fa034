//! Any bytes to the reader `vectors`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("vectors", bytes));
