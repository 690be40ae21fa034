//! A recognised image from elsewhere is taken into the library with its label.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::UserLabel;
use tessera_core::library::import::hold;

use super::super::Message as DeskMessage;
use super::super::context::Context;
use super::super::library_act::{last_act, state_and};
use super::super::notices::note;
use super::{Message, Recognising};
use crate::command::ImageQuery;
use crate::job::JobKind;
use crate::session::Session;
use crate::session::export::save_png;

/// Takes an image file in where it lies, and labels it.
pub(in super::super) fn take_in(ctx: &mut Context, file: PathBuf, class: String) {
    ctx.library_job(JobKind::TakeIn, move |session, library| taken(session, library, &file, class, ImageQuery::File(file.clone())));
}

fn taken(session: &Session, library: &Mutex<Library>, file: &Path, class: String, query: ImageQuery) -> Result<Vec<DeskMessage>> {
    let taken = session.import_file(library, file, &UserLabel::Class(class))?;
    let told = match taken.event {
        Some(_) => last_act(&hold(library)),
        None => note("Nothing to change: it is so already"),
    };
    let mut messages = state_and(library, told);
    messages.push(Message::TakenIn(query, taken.image).into());
    Ok(messages)
}

impl Recognising {
    /// Saves the pasted picture that was recognised, takes it in and labels it.
    pub(in super::super) fn keep_picture(&self, ctx: &mut Context, to: PathBuf, class: String) {
        let Some(ImageQuery::Pixels(picture)) = self.asked.clone() else {
            return ctx.tell(note("Paste a picture and recognise it first"));
        };
        ctx.library_job(JobKind::TakeIn, move |session, library| {
            save_png(&picture, &to, false)?;
            taken(session, library, &to, class, ImageQuery::Pixels(picture))
        });
    }

    /// From now on the image that was taken in is one of the library.
    pub(super) fn taken_in(&mut self, ctx: &mut Context, query: &ImageQuery, image: ItemId) {
        let is_it = match (query, &self.asked) {
            (ImageQuery::File(taken), Some(ImageQuery::File(asked))) => taken == asked,
            (ImageQuery::Pixels(taken), Some(ImageQuery::Pixels(asked))) => Arc::ptr_eq(taken, asked),
            _ => false,
        };
        if is_it {
            self.asked = Some(ImageQuery::Item(image));
            self.recognise_again(ctx);
        }
    }
}
