//! Any bytes to the reader `captions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("captions", bytes));
