//! Any bytes to the reader `multilabel`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("multilabel", bytes));
