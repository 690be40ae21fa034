//! Any bytes as the three files of a small NORB set.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tessera_core::data::norb::NorbSet;
use tessera_core::progress::Progress;

fuzz_target!(|parts: (&[u8], &[u8], &[u8])| {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir_in("/dev/shm").unwrap();
    }
    FOLDER.with(|folder| {
        for (part, bytes) in [("dat", parts.0), ("cat", parts.1), ("info", parts.2)] {
            std::fs::write(folder.path().join(format!("x-{part}.mat")), bytes).unwrap();
        }
        if let Ok(set) = NorbSet::open(&folder.path().join("x-dat.mat"), &Progress::default()) {
            for pair in 0..set.n_pairs().min(4) {
                let _ = (set.category_name(pair), set.rgb(2 * pair), set.meta(2 * pair), set.name(2 * pair));
            }
        }
    });
});
