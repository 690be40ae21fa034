//! Any bytes as a journal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tessera_core::envelope::hash64;
use tessera_core::library::journal::{read, read_line};

fuzz_target!(|bytes: &[u8]| {
    let (lines, problems) = read(bytes);
    assert!(lines.len() + problems.len() <= 2 * bytes.len());
    // The same as the body of a line with a true seal, so that what lies behind the seal is reached
    // too.
    let body = [b"\"n\":0,\"line\":", bytes].concat();
    let mut line = format!("{{\"xxh3\":\"{:016x}\",", hash64(&body)).into_bytes();
    line.extend(body);
    line.push(b'}');
    let _ = read_line(&line);
});
