//! Thumbnails for the window, fetched by threads of their own, the most urgent first.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use image::RgbImage;
use tessera_core::library::cache::Cache;
use tessera_core::library::event::ContentHash;
use tessera_core::picture::decode::SIDE;
use tessera_core::picture::thumbnail;

use super::super::Session;

/// A request for a thumbnail: the hash of its file, and the file's path in case it is not in the
/// cache.
#[derive(Clone, Debug)]
pub struct WantedThumbnail {
    /// The hash of the file's bytes.
    pub hash: ContentHash,
    /// The file.
    pub path: Option<PathBuf>,
}

/// A thumbnail by the hash of its file: its pixels, or none when it is not in the cache and the
/// file cannot be read.
pub type Fetched = (ContentHash, Option<RgbImage>);

/// The threads that fetch thumbnails of one library; they end when this is dropped.
pub(super) struct Thumbnails {
    queue: Arc<Queue>,
    fetched: Receiver<Fetched>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    woken: Condvar,
}

#[derive(Default)]
struct QueueState {
    wanted: Vec<WantedThumbnail>,
    /// Whether the threads are to end.
    is_over: bool,
}

impl Queue {
    /// Changes something, and wakes the threads.
    fn change(&self, change: impl FnOnce(&mut QueueState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.woken.notify_all();
    }

    /// Waits for the next request; `None` when the threads are to end.
    fn next(&self) -> Option<WantedThumbnail> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.is_over {
                return None;
            }
            match state.wanted.pop() {
                Some(next) => return Some(next),
                None => state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

const THREADS: usize = 2;

impl Thumbnails {
    pub(super) fn new(session: &Session, cache: &Path, wake: &Arc<dyn Fn() + Send + Sync>) -> Self {
        let queue = Arc::new(Queue::default());
        let (send, fetched) = mpsc::channel();
        for _ in 0..THREADS {
            let (shared, session, wake, send) = (Arc::clone(&queue), session.clone(), Arc::clone(wake), send.clone());
            let cache = cache.to_owned();
            // Without threads there are grey squares in place of thumbnails; nothing else is
            // affected.
            let _ = thread::Builder::new().name("thumbnails".into()).spawn(move || fetch(&shared, &session, &cache, &send, &*wake));
        }
        Self { queue, fetched }
    }

    /// Replaces the requests by these, the most urgent last.
    pub(super) fn want(&self, wanted: Vec<WantedThumbnail>) {
        self.queue.change(|state| state.wanted = wanted);
    }

    /// The thumbnails that have come since the last call.
    pub(super) fn take(&self) -> Vec<Fetched> {
        self.fetched.try_iter().collect()
    }
}

impl Drop for Thumbnails {
    fn drop(&mut self) {
        self.queue.change(|state| state.is_over = true);
    }
}

fn fetch(queue: &Queue, session: &Session, cache: &Path, send: &Sender<Fetched>, wake: &(dyn Fn() + Send + Sync)) {
    let cache = Cache::beside(cache).ok();
    while let Some(next) = queue.next() {
        let kept = cache.as_ref().and_then(|cache| cache.thumbnail(next.hash).ok().flatten());
        let from_file = || Some(thumbnail::shrink(&session.picture(next.path.as_deref()?, SIDE).ok()?.pixels));
        let picture = kept.and_then(|bytes| thumbnail::decode(&bytes)).or_else(from_file);
        if send.send((next.hash, picture)).is_err() {
            return;
        }
        wake();
    }
}
