//! What a desk does at once: labels, captions, classes, undo, search.

use std::sync::Arc;

use tessera_core::Result;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::text::TextQuery as Words;

use super::super::Session;
use super::super::search::SearchRequest;
use super::view::{Hits, Notice, SavedModel, Tone};
use super::{Desk, Message, WAIT, done, health, note, problem};
use crate::command::{Command, Crop, ImageQuery};

/// The name of the job that finds out what is to be looked like.
pub(super) const LOOKING: &str = "Looking for alike";
/// Images whose appearances a search brings into the machine.
const NEW: usize = 64;

impl Desk {
    /// Starts what is asked for.
    pub fn run(&mut self, command: Command) {
        match command {
            Command::Label(images, label) => self.act(move |library| library.label(&images, &label)),
            Command::Caption(image, captions) => self.act(move |library| library.caption(image, captions)),
            Command::Remove(images) => self.act(move |library| library.set_removed(&images, true)),
            Command::Restore(images) => self.act(move |library| library.set_removed(&images, false)),
            Command::NewClass(name) => self.act(move |library| library.new_class(&name)),
            Command::RenameClass(from, to) => self.act(move |library| library.rename_class(&from, &to)),
            Command::RecolourClass(class, colour) => self.act(move |library| library.recolour_class(&class, colour)),
            Command::DeleteClass(class) => self.act(move |library| library.delete_class(&class)),
            Command::Undo => self.history(
                |library| Ok(library.undo()?.map(|(act, _)| format!("Undone: {}; Ctrl+Shift+Z does it again", act.words))),
                "Nothing to undo",
            ),
            Command::Redo => {
                self.history(|library| Ok(library.redo()?.map(|(act, _)| format!("Done again: {}", act.words))), "Nothing to redo")
            }
            Command::Search(text) => self.search(text),
            Command::SearchBy(engine) => {
                self.engine = engine;
                self.search_again();
            }
            Command::Like(None) => {
                self.jobs.retain(|_, job| job.name() != LOOKING);
                self.like = None;
                self.search_again();
            }
            Command::Like(Some((query, crop))) => self.look_for_alike(query, crop),
            Command::Narrow(only) => {
                self.only = only;
                self.search_again();
            }
            Command::Why(image) => self.explain(image),
            Command::Reward(query, image, reward) => self.act(move |library| library.reward(&query, image, reward)),
            Command::Recognise(query) => {
                self.recognition = None;
                self.recognise(query);
            }
            Command::UseLibrary => {
                self.loaded = None;
                self.recognise_again();
            }
            Command::DeleteModel(path) => self.delete_model(path),
            Command::LabelFrom(only, order) => {
                self.label_order = order;
                self.start_labelling(only, order);
            }
            Command::Give(images, class, keys) => self.give(images, class, keys),
            Command::Refuse(image, class) => self.refuse(image, class),
            Command::Allow(image, class) => self.act(move |library| library.reject(&[image], &class, false)),
            Command::Skip(image) => self.skip(image),
            Command::TakeUp(image) => self.take_up(image),
            Command::GoBack => self.go_back(),
            Command::Review => self.review(),
            Command::Confirm(image, not) => self.act(move |library| library.confirm(image, &not)),
            Command::Plan(None) => self.forget_plan(),
            Command::Plan(Some(to)) => self.plan_class_folders(to),
            Command::Check => self.check(),
            Command::LookAtHealth => self.look_at_health(),
            Command::ListFolder(folder) => self.list_folder(folder),
            Command::TakeSnapshot => self.with_library(|_, library| match library.take_snapshot() {
                Ok(_) => Message::Several(vec![health(library), Message::Notice(done("Made a snapshot of labels, captions and history"))]),
                Err(error) => problem(error.to_string()),
            }),
            Command::RetrySkipped => {
                self.with_library(|_, library| {
                    library.retry_skipped().map_or_else(|error| problem(error.to_string()), |()| Message::Nothing)
                });
                self.run(Command::Rescan);
            }
            Command::Cancel(id) => {
                if let Some(job) = self.jobs.get(&id) {
                    job.cancel();
                }
            }
            Command::Reveal(path) => self.short(move || match opener::reveal(&path) {
                Ok(()) => Message::Nothing,
                Err(error) => problem(format!("{}: no file manager could show it ({error}); its path can be copied", path.display())),
            }),
            Command::Close => self.close(),
            long => self.run_long(long),
        }
    }

    /// Does something with the library in its turn.
    pub(super) fn with_library(&mut self, task: impl FnOnce(&Session, &mut Library) -> Message + Send + 'static) {
        let Some(open) = &self.open else {
            return self.tell(note("Open a folder or a library first"));
        };
        let (library, session) = (Arc::clone(&open.library), self.session.clone());
        self.short(move || task(&session, &mut hold(&library)));
    }

    /// An act that can be taken back.
    fn act(&mut self, act: impl FnOnce(&mut Library) -> Result<Option<EventId>> + Send + 'static) {
        self.with_library(|_, library| {
            let outcome = act(library);
            let state = Message::State(library.state().clone());
            match outcome {
                Ok(None) => state,
                Ok(Some(_)) => {
                    let (words, undo) = library.state().history().last().map(|act| (act.words.clone(), act.id)).unzip();
                    let words = words.unwrap_or_default();
                    let mut messages = vec![state, Message::Notice(Notice { words, tone: Tone::Done, undo })];
                    messages.extend(library.take_remarks().into_iter().map(problem));
                    Message::Several(messages)
                }
                // What became durable before the error is shown.
                Err(error) => Message::Several(vec![state, problem(error.to_string())]),
            }
        });
    }

    fn history(&mut self, step: impl FnOnce(&mut Library) -> Result<Option<String>> + Send + 'static, nothing: &'static str) {
        self.with_library(move |_, library| {
            let outcome = step(library);
            let state = Message::State(library.state().clone());
            match outcome {
                Ok(Some(words)) => Message::Several(vec![state, Message::Notice(done(words))]),
                Ok(None) => Message::Notice(note(nothing)),
                Err(error) => Message::Several(vec![state, problem(error.to_string())]),
            }
        });
    }

    /// Searches for words, and for what looks like what is shown; an empty search for nothing shows nothing.
    pub(super) fn search(&mut self, text: String) {
        self.searched += 1;
        let number = self.searched;
        self.words.clone_from(&text);
        if text.trim().is_empty() && self.like.is_none() {
            self.hits = None;
            return;
        }
        let asked = self.asked_for(&text);
        self.with_library(move |session, library| {
            let wanted = asked();
            // New images come a few at a time, and one that cannot be had now is found no worse than the others later.
            let unseen = if wanted.like.is_some() { library.bring_appearances(NEW).unwrap_or(0) } else { 0 };
            let hits = session.search(library, &wanted);
            let unknown = session.unknown_words(library, &wanted.query);
            let SearchRequest { like, engine, .. } = wanted;
            Message::Hits(
                number,
                Hits {
                    number,
                    query: text,
                    like,
                    unseen,
                    hits,
                    memories: library.words().memories(),
                    unknown,
                    engine,
                    lessons: library.recall().rewards().len(),
                },
            )
        });
    }

    /// Searches again for what was asked for last, whether it was answered or not.
    pub(super) fn search_again(&mut self) {
        self.search(self.words.clone());
    }

    /// What a search for these words is to find now, to be made by the thread that searches.
    fn asked_for(&self, text: &str) -> impl FnOnce() -> SearchRequest + Send + use<> {
        let (query, like, only) = (Words::typing(text), self.like.clone(), self.only.clone());
        let (k, engine, leaves) = (self.hit_limit, self.engine, self.search_leaves);
        move || SearchRequest {
            query,
            like,
            only: only.map(|only| Arc::new(only.iter().copied().collect())),
            k,
            keeps_judged: true,
            engine,
            leaves,
        }
    }

    fn explain(&mut self, image: ItemId) {
        let Some(hits) = self.hits.clone() else { return };
        let Some(hit) = hits.hits.iter().find(|hit| hit.image == image).cloned() else { return };
        let asked = self.asked_for(&hits.query);
        self.with_library(move |session, library| Message::Why(hits.number, session.why(library, &asked(), &hit)));
    }

    fn look_for_alike(&mut self, query: ImageQuery, crop: Option<Crop>) {
        let Some(open) = &self.open else {
            return self.tell(note("Open a folder or a library first"));
        };
        let library = Arc::clone(&open.library);
        self.job(LOOKING, true, move |session| {
            session.bring_appearances(&library)?;
            match session.like(&library, &query, crop) {
                Ok(like) => Ok(Message::Like(Arc::new(like))),
                Err(tessera_core::Error::Cancelled) => Err(tessera_core::Error::Cancelled),
                Err(error) => Ok(problem(error.to_string())),
            }
        });
    }

    pub(super) fn recognise(&mut self, query: ImageQuery) {
        let answerer = match (&self.loaded, &self.open) {
            (Some((name, model)), _) => super::recognition::Answerer::Model(Arc::clone(model), name.clone()),
            (None, Some(open)) => super::recognition::Answerer::Library(Arc::clone(&open.library)),
            (None, None) => return self.tell(note("Open a folder, a library or a model first")),
        };
        self.asked = Some(query.clone());
        let (quick, state) = (self.quick.clone(), self.open.as_ref().map(|open| open.state.clone()));
        self.job("Recognising", true, move |session| {
            super::recognition::recognise(&quick.with_progress(session.progress()), &answerer, state.as_ref(), &query)
                .map(|answer| Message::Recognised(Box::new(answer)))
                .or_else(|error| match error {
                    tessera_core::Error::Cancelled => Err(error),
                    error => Ok(Message::NotRecognised(error.to_string())),
                })
        });
    }

    fn delete_model(&mut self, path: std::path::PathBuf) {
        self.with_library(move |session, library| match tessera_core::envelope::remove_model(&path) {
            Ok(()) => Message::Several(vec![models(session, library), Message::Notice(done(format!("Deleted {}", path.display())))]),
            Err(error) => problem(error.to_string()),
        });
    }

    fn check(&mut self) {
        self.with_library(|_, library| match library.check() {
            Ok(problems) if problems.is_empty() => {
                Message::Several(vec![health(library), Message::Notice(done("Checked: everything is as it should be"))])
            }
            Ok(problems) => Message::Several(problems.into_iter().map(problem).collect()),
            Err(error) => problem(error.to_string()),
        });
    }

    /// Stops all jobs, and closes the library once everything asked for before is done. Returns at once.
    pub(super) fn close(&mut self) {
        self.number += 1;
        self.jobs.clear();
        self.forget_answers();
        let Some(open) = self.open.take() else { return };
        self.closing = Arc::downgrade(&open.library);
        let (mut library, send, wake, number) = (open.library, self.send.clone(), Arc::clone(&self.wake), self.number);
        let closer = std::thread::Builder::new().name("closing".into()).spawn(move || {
            let library = loop {
                // Jobs that were stopped and acts that were asked for still have it.
                match Arc::try_unwrap(library) {
                    Ok(library) => break library,
                    Err(shared) => library = shared,
                }
                std::thread::sleep(WAIT);
            };
            if let Ok(library) = library.into_inner()
                && let Err(error) = library.close()
            {
                let _ = send.send((number, problem(error.to_string())));
                wake();
            }
        });
        // Without a thread it is closed by dropping it, which loses nothing.
        self.closers.retain(|closer| !closer.is_finished());
        self.closers.extend(closer);
    }
}

/// The models saved with a library.
pub(super) fn models(session: &Session, library: &Library) -> Message {
    Message::Models(saved_models(session, library.folder()))
}

pub(super) fn saved_models(session: &Session, folder: &std::path::Path) -> Vec<SavedModel> {
    session.saved_models(folder).into_iter().map(|(name, path, bytes)| SavedModel { path, name, bytes }).collect()
}
