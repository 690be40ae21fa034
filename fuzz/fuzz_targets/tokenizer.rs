//! Any bytes to the reader `tokenizer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tessera_fuzz::read("tokenizer", bytes));
