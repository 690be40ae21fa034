//! Any bytes to the reader `kept`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("kept", bytes));
