//! Locks an open library for a thread; those that wait come before the one that had it last.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use super::Library;

/// Threads that wait for a library, by where it is in memory; those of two libraries are seldom
/// counted together.
static WAITING: [AtomicUsize; 61] = [const { AtomicUsize::new(0) }; 61];
/// How long those that wait may need to wake up, on a busy machine.
const WAKING: Duration = Duration::from_millis(20);
/// The time between two looks at whether they have it.
const LOOK: Duration = Duration::from_micros(50);

/// Locks the library, after those that wait for it: a thread that unlocks it and locks it again at
/// once would otherwise have it before another has woken up. When a thread has panicked while it
/// held the lock, everything is read from the files again first.
pub fn hold(library: &Mutex<Library>) -> MutexGuard<'_, Library> {
    let waiting = &WAITING[std::ptr::from_ref(library).addr() / align_of::<Mutex<Library>>() % WAITING.len()];
    let asked = Instant::now();
    while waiting.load(Ordering::Relaxed) > 0 && asked.elapsed() < WAKING {
        thread::sleep(LOOK);
    }
    waiting.fetch_add(1, Ordering::Relaxed);
    let locked = library.lock();
    waiting.fetch_sub(1, Ordering::Relaxed);
    locked.unwrap_or_else(|poisoned| {
        let mut held = poisoned.into_inner();
        held.recover();
        library.clear_poison();
        held
    })
}
