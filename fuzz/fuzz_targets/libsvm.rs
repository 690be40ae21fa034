//! Any bytes to the reader `libsvm`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("libsvm", bytes));
