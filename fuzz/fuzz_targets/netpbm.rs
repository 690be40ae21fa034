//! Any bytes to the reader `netpbm`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("netpbm", bytes));
