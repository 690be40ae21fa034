//! Threads that lock one library.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn a_thread_that_locks_the_library_again_and_again_leaves_it_to_others() {
    let place = Place::new(&["a.png"]);
    let library = place.open();
    let (turns, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let passed: usize = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let held = hold(&library);
                turns.fetch_add(1, Ordering::Relaxed);
                let start = Instant::now();
                while start.elapsed() < Duration::from_millis(1) {
                    std::hint::black_box(held.state());
                }
            }
        });
        while turns.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        let ask = |_| {
            let before = turns.load(Ordering::Relaxed);
            drop(hold(&library));
            turns.load(Ordering::Relaxed) - before
        };
        let passed = (0..200).map(ask).sum();
        is_over.store(true, Ordering::Relaxed);
        passed
    });
    assert!(passed <= 400, "the library was locked {passed} times while another thread waited for it, of 200 waits");
}
