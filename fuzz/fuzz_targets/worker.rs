//! Any bytes as what a worker says.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use tessera_core::picture::workers::protocol::{Reply, read_reply};

fuzz_target!(|bytes: &[u8]| {
    let side = u32::from(bytes.first().copied().unwrap_or(0)) * 16;
    if let Ok(Reply::Picture(picture)) = read_reply(&mut &bytes[bytes.len().min(1)..], Path::new("x"), side) {
        let (width, height) = picture.pixels.dimensions();
        assert!(width.max(height) <= side && width <= picture.size.0 && height <= picture.size.1);
    }
});
