//! Any bytes to the reader `packed`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("packed", bytes));
