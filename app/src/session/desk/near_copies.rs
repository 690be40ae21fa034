//! Near copies in the library, as last looked for.

use std::io;
use std::sync::Arc;

use tessera_core::ids::ItemId;
use tessera_core::library::copies::{Copies, Copy, find_copies};
use tessera_core::library::state::State;

use super::context::{Context, Event};
use super::part::Part;
use crate::job::JobKind;

/// Near copies, as last looked for.
#[derive(Default)]
pub struct NearCopies {
    found: Option<(f64, Copies)>,
    groups: Arc<Vec<CopyGroup>>,
}

/// Images of which all but the first are copies of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyGroup {
    /// The images, the best first. One alone lies in several files.
    pub images: Vec<Copy>,
    /// The files of all of them.
    pub files: usize,
}

impl CopyGroup {
    /// All images but one.
    pub fn others(&self, kept: ItemId) -> impl Iterator<Item = ItemId> {
        self.images.iter().map(|copy| copy.image).filter(move |image| *image != kept)
    }
}

/// The distance that was asked for, and what was found.
pub(super) struct Message(f64, Copies);

impl Part for NearCopies {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        self.found = Some((message.0, message.1));
        self.regroup(ctx);
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => *self = Self::default(),
            Event::Changed => self.regroup(ctx),
            Event::First | Event::Opened | Event::Ready => {}
        }
    }
}

impl NearCopies {
    /// The groups of images that take part now, those with the most files first.
    pub fn groups(&self) -> &Arc<Vec<CopyGroup>> {
        &self.groups
    }

    /// The distance that was last looked for; `None` before that.
    pub fn distance(&self) -> Option<f64> {
        self.found.as_ref().map(|(distance, _)| *distance)
    }

    /// Leaves out images that were removed since, or said to be no copies; they come back with an
    /// undo.
    fn regroup(&mut self, ctx: &Context) {
        let Some(((_, found), state)) = self.found.as_ref().zip(ctx.state()) else { return };
        self.groups = Arc::new(found.groups.iter().filter_map(|group| present(group, state)).collect());
    }
}

/// What is still there of a group, if that is more than one file.
fn present(group: &[Copy], state: &State) -> Option<CopyGroup> {
    let is_live = |image| state.image(image).is_some_and(|image| image.is_live());
    let best = group.iter().map(|copy| copy.image).find(|image| is_live(*image))?;
    let is_there = |copy: &&Copy| is_live(copy.image) && !state.are_no_copies(best, copy.image);
    let files = group.iter().filter(is_there).count();
    let mut images: Vec<Copy> = group.iter().filter(is_there).cloned().collect();
    images.dedup_by_key(|copy| copy.image);
    (files > 1).then_some(CopyGroup { images, files })
}

/// Looks for near copies within a distance.
pub(super) fn find(ctx: &mut Context, distance: f64) {
    ctx.library_job(JobKind::FindCopies, move |session, library| {
        Ok(super::Message::from(Message(distance, find_copies(library, distance, session.progress())?)))
    });
}
