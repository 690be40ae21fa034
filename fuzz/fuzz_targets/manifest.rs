//! Any text as the manifest of a model, with a true checksum under it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tessera_core::ckm::model::Recognizer;
use tessera_core::envelope::{MANIFEST, hash_hex};

fuzz_target!(|text: &str| {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir_in("/dev/shm").unwrap();
    }
    FOLDER.with(|folder| {
        let sealed = format!("{text}\n// xxh3-128 of everything above: {}\n", hash_hex(format!("{text}\n").as_bytes()));
        std::fs::write(folder.path().join(MANIFEST), sealed).unwrap();
        if let Err(error) = Recognizer::load(folder.path()) {
            assert!(!error.to_string().is_empty());
        }
    });
});
