//! A recognised image from elsewhere is taken into the library with its label.

use std::path::PathBuf;
use std::sync::Mutex;

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::UserLabel;
use tessera_core::library::import::{TakenFile, hold};

use super::super::Message as DeskMessage;
use super::super::context::Context;
use super::super::exporting::occupied;
use super::super::library_act::{last_act, state_and};
use super::super::notices::note;
use super::{Message, Recognising};
use crate::command::{ImageQuery, Written};
use crate::job::JobKind;

/// Takes an image file in where it lies, and labels it.
pub(in super::super) fn take_in(ctx: &mut Context, file: PathBuf, class: String) {
    ctx.library_job(JobKind::TakeIn, move |session, library| {
        let taken = session.import_file(library, &file, &UserLabel::Class(class))?;
        Ok(tell(library, taken, ImageQuery::File(file)))
    });
}

fn tell(library: &Mutex<Library>, taken: TakenFile, query: ImageQuery) -> Vec<DeskMessage> {
    let told = match taken.event {
        Some(_) => last_act(&hold(library)),
        None => note("Nothing to change: it is so already"),
    };
    let mut messages = state_and(library, told);
    messages.push(Message::TakenIn(query, taken.image).into());
    messages
}

impl Recognising {
    /// Saves the pasted picture that was recognised, takes it in and labels it.
    pub(in super::super) fn keep_picture(&mut self, ctx: &mut Context, to: PathBuf, class: String) {
        self.kept_as = Some(class);
        self.write_picture(ctx, to, false);
    }

    /// Does so in place of the file that was in the way.
    pub(in super::super) fn replace_by_picture(&self, ctx: &mut Context, to: PathBuf) {
        self.write_picture(ctx, to, true);
    }

    fn write_picture(&self, ctx: &mut Context, to: PathBuf, replaces: bool) {
        let (Some(ImageQuery::Pixels(picture)), Some(class)) = (self.asked.clone(), self.kept_as.clone()) else {
            return ctx.tell(note("Paste a picture and recognise it first"));
        };
        ctx.library_job(JobKind::TakeIn, move |session, library| {
            match session.keep_picture(library, &picture, &to, &UserLabel::Class(class), replaces) {
                Ok(taken) => Ok(tell(library, taken, ImageQuery::Pixels(picture))),
                Err(error) => Ok(vec![occupied(error, Written::Picture)?]),
            }
        });
    }

    /// From now on the image that was taken in is one of the library.
    pub(super) fn taken_in(&mut self, ctx: &mut Context, query: &ImageQuery, image: ItemId) {
        if self.asked.as_ref().is_some_and(|asked| asked.is_same(query)) {
            self.asked = Some(ImageQuery::Item(image));
            self.recognise_again(ctx);
        }
    }
}
