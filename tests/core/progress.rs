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

#[test]
fn work_that_is_paused_waits_at_its_next_step_and_can_be_cancelled_there() {
    let progress = Progress::default();
    progress.pause(true);
    let theirs = progress.clone();
    let work = std::thread::spawn(move || (theirs.step(), theirs.step()));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(progress.is_paused() && !work.is_finished());
    assert_eq!(progress.snapshot().done, 0);
    progress.pause(false);
    let (first, second) = work.join().unwrap();
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(progress.snapshot().done, 2);
    progress.pause(true);
    progress.cancel();
    assert!(progress.step().is_err(), "what is cancelled does not wait");
}
