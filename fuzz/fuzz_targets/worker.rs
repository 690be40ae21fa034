//! Any bytes to the reader `worker`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("worker", bytes));
