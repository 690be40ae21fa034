//! Any bytes to the reader `norb`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("norb", bytes));
