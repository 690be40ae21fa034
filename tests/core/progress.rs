//! Looking at work under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tessera_core::progress::Progress;

#[test]
fn a_look_never_mixes_two_stages() {
    let progress = Progress::default();
    progress.begin("few", 1);
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !enough.load(Ordering::Relaxed) {
                for (stage, total) in [("few", 1), ("many", 2)] {
                    progress.begin(stage, total);
                    (0..total).for_each(|_| progress.step().unwrap());
                }
            }
        });
        let mixed = (0..300_000).map(|_| progress.snapshot()).find(|seen| {
            let total = if seen.stage == "few" { 1 } else { 2 };
            seen.total != total || seen.done > total
        });
        enough.store(true, Ordering::Relaxed);
        assert_eq!(mixed, None);
    });
}
