//! Thumbnails for the window: fetched by threads of their own, the last wanted first.

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

/// A thumbnail that is wanted: by the hash of its file, and where the file lies in case none is kept.
#[derive(Clone, Debug)]
pub struct WantedThumbnail {
    /// The hash of the file's bytes.
    pub hash: ContentHash,
    /// The file.
    pub path: Option<PathBuf>,
}

/// A thumbnail: its pixels, or none when there is neither a kept copy nor a file that can be read.
pub type Fetched = (ContentHash, Option<RgbImage>);

/// The threads that fetch thumbnails of one library; they end when this is dropped.
pub(super) struct Thumbnails {
    wanted: Arc<Queue>,
    fetched: Receiver<Fetched>,
}

#[derive(Default)]
struct Queue {
    list: Mutex<(Vec<WantedThumbnail>, bool)>,
    woken: Condvar,
}

const THREADS: usize = 2;

impl Thumbnails {
    pub(super) fn new(session: &Session, cache: &Path, wake: &Arc<dyn Fn() + Send + Sync>) -> Self {
        let wanted = Arc::new(Queue::default());
        let (send, fetched) = mpsc::channel();
        for _ in 0..THREADS {
            let (queue, session, wake, send) = (Arc::clone(&wanted), session.clone(), Arc::clone(wake), send.clone());
            let cache = cache.to_owned();
            // Without threads there are grey squares in place of thumbnails, and everything else goes on.
            let _ = thread::Builder::new().name("thumbnails".into()).spawn(move || fetch(&queue, &session, &cache, &send, &*wake));
        }
        Self { wanted, fetched }
    }

    /// Says which thumbnails are wanted now, the most wanted last; what was wanted before and is not any more is dropped.
    pub(super) fn want(&self, wanted: Vec<WantedThumbnail>) {
        self.wanted.list.lock().unwrap_or_else(PoisonError::into_inner).0 = wanted;
        self.wanted.woken.notify_all();
    }

    /// What was fetched since this was last asked.
    pub(super) fn take(&self) -> Vec<Fetched> {
        self.fetched.try_iter().collect()
    }
}

impl Drop for Thumbnails {
    fn drop(&mut self) {
        self.wanted.list.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.wanted.woken.notify_all();
    }
}

fn fetch(queue: &Queue, session: &Session, cache: &Path, send: &Sender<Fetched>, wake: &(dyn Fn() + Send + Sync)) {
    let cache = Cache::beside(cache).ok();
    loop {
        let next = {
            let mut list = queue.list.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                if list.1 {
                    return;
                }
                match list.0.pop() {
                    Some(next) => break next,
                    None => list = queue.woken.wait(list).unwrap_or_else(PoisonError::into_inner),
                }
            }
        };
        let kept = cache.as_ref().and_then(|cache| cache.thumbnail(next.hash).ok().flatten());
        let from_file = || Some(thumbnail::shrink(&session.picture(next.path.as_deref()?, SIDE).ok()?.pixels));
        let picture = kept.and_then(|bytes| thumbnail::decode(&bytes)).or_else(from_file);
        if send.send((next.hash, picture)).is_err() {
            return;
        }
        wake();
    }
}
