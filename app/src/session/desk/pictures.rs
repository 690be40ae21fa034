//! The picture on display, the next one, which is decoded ahead, and the thumbnails.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

use image::RgbImage;
use tessera_core::ids::ItemId;
use tessera_core::library::CACHE;
use tessera_core::library::event::ContentHash;
use tessera_core::progress::Progress;

use super::context::{Context, Event};
use super::part::Part;
use super::thumbnails::{Fetched, Thumbnails, WantedThumbnail};
use crate::job::{Job, JobKind};

/// The longer side, in pixels, of pictures in the viewer.
const VIEWED: u32 = 8192;

/// An image, with the contents of its file at the last scan.
type Key = (ItemId, Option<ContentHash>);
type Outcome = Result<Arc<RgbImage>, String>;

/// At most two pictures, the job that decodes one, and the thumbnails of the library.
#[derive(Default)]
pub struct Pictures {
    wanted: Option<Key>,
    /// The picture on display; until it is decoded, the one before it.
    shown: Option<(Key, Outcome)>,
    /// The next picture; `None` inside when it cannot be decoded, which is reported when it is
    /// displayed.
    next: Option<(Key, Option<Arc<RgbImage>>)>,
    job: Option<(Key, Job<Arc<RgbImage>>)>,
    thumbnails: Option<Thumbnails>,
}

impl Part for Pictures {
    /// Decoding is cancelled as soon as another picture is needed, so it is no job of the desk and
    /// sends no messages.
    type Message = Infallible;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Infallible) {
        match message {}
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => *self = Self::default(),
            Event::First | Event::Opened => {
                let thumbnails = |folder: &Path| Thumbnails::new(&ctx.session, &folder.join(CACHE), &ctx.outbox.wake);
                let first = || ctx.first.as_ref().map(|first| first.folder.as_path());
                self.thumbnails = ctx.library.as_ref().map(|open| open.folder.as_path()).or_else(first).map(thumbnails);
            }
            Event::Ready | Event::Changed | Event::Learned(_) | Event::Seen => {}
        }
    }
}

impl Pictures {
    /// The picture on display, or why it cannot be decoded; the one before it while it is being
    /// decoded.
    pub fn shown(&self) -> Option<(ItemId, Result<&Arc<RgbImage>, &str>)> {
        self.shown.as_ref().map(|((id, _), picture)| (*id, picture.as_ref().map_err(String::as_str)))
    }

    /// The next picture, once it is decoded.
    pub fn next(&self) -> Option<(ItemId, &Arc<RgbImage>)> {
        let ((id, _), picture) = self.next.as_ref()?;
        Some((*id, picture.as_ref()?))
    }

    /// Requests a picture, and then the one that is likely to be needed next.
    pub(super) fn want(&mut self, ctx: &Context, image: ItemId, next: Option<ItemId>) {
        let state = ctx.state();
        let key = |id: ItemId| (id, state.and_then(|state| Some(state.image(id)?.content?.hash)));
        self.decode(key(image), next.map(key), |(image, _)| {
            let path = state.and_then(|state| state.path_of(state.image(image)?))?;
            let (session, wake) = (ctx.quick.clone(), Arc::clone(&ctx.outbox.wake));
            let decode = move |progress: &Progress| {
                let picture = session.with_progress(progress).picture(&path, VIEWED);
                picture.map(|picture| Arc::new(picture.pixels)).map_err(|error| error.to_string())
            };
            Some(Job::spawn(JobKind::Picture, ctx.quick.progress().another(), move || wake(), decode))
        });
    }

    /// Calls `decode` for what is missing: the picture, or else the next one. A running job for any
    /// other is cancelled.
    fn decode(&mut self, image: Key, next: Option<Key>, decode: impl FnOnce(Key) -> Option<Job<Arc<RgbImage>>>) {
        self.wanted = Some(image);
        let is_shown = |shown: &Option<(Key, Outcome)>| shown.as_ref().is_some_and(|(key, _)| *key == image);
        if !is_shown(&self.shown)
            && let Some((_, Some(picture))) = self.next.take_if(|(key, _)| *key == image)
        {
            self.shown = Some((image, Ok(picture)));
        }
        let is_there = |key: &Key| self.next.as_ref().is_some_and(|(there, _)| there == key);
        let missing = if is_shown(&self.shown) { next.filter(|next| *next != image && !is_there(next)) } else { Some(image) };
        if self.job.as_ref().map(|(key, _)| *key) != missing {
            self.job = missing.and_then(|key| Some((key, decode(key)?)));
        }
    }

    /// Takes in a decoded picture. Returns whether there was one.
    pub(super) fn poll(&mut self) -> bool {
        let Some(outcome) = self.job.as_ref().and_then(|(_, job)| job.poll()) else { return false };
        let Some((key, _)) = self.job.take() else { return false };
        if self.wanted == Some(key) {
            self.shown = Some((key, outcome));
        } else {
            self.next = Some((key, outcome.ok()));
        }
        true
    }

    /// Drops the pictures; the thumbnails stay.
    pub(super) fn clear(&mut self) {
        *self = Self { thumbnails: self.thumbnails.take(), ..Self::default() };
    }

    /// Sets which thumbnails are needed now, the most urgent last.
    pub(super) fn want_thumbnails(&self, wanted: Vec<WantedThumbnail>) {
        if let Some(thumbnails) = &self.thumbnails {
            thumbnails.want(wanted);
        }
    }

    /// The thumbnails that have come since the last call.
    pub(super) fn take_thumbnails(&self) -> Vec<Fetched> {
        self.thumbnails.as_ref().map(Thumbnails::take).unwrap_or_default()
    }
}
