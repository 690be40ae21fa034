//! Any bytes to the reader `journal`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("journal", bytes));
