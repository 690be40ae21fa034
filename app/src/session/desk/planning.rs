//! Imports that wait for the user, who sees first what each would take in.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use image::RgbImage;
use tessera_core::data::Labels;
use tessera_core::data::plan::ImportPlan;
use tessera_core::error::display_name;
use tessera_core::library::import::ImportOptions;

use super::context::{Context, Event};
use super::importing::{self, Texts};
use super::notices::{count, note};
use super::part::Part;
use crate::job::JobKind;

/// The longer side of small pictures, in pixels.
const SIDE: u32 = 96;

/// The import that waits for the user, and the folders after it.
#[derive(Default)]
pub struct Planning {
    now: Option<PlannedImport>,
    waiting: VecDeque<PathBuf>,
}

/// An import that waits for the user.
pub struct PlannedImport {
    /// The folder.
    pub folder: PathBuf,
    /// How it is to be imported.
    pub options: ImportOptions,
    /// What that would take in, or why it cannot be done, as last computed; `None` before that.
    pub outcome: Option<Result<Arc<ImportPlan>, String>>,
    /// Whether the outcome is that of the options; otherwise it is being computed.
    pub is_current: bool,
    /// Small pictures of the examples, as they come.
    pub pictures: Vec<(PathBuf, Arc<RgbImage>)>,
}

impl PlannedImport {
    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&ImportPlan> {
        self.outcome.as_ref()?.as_deref().ok()
    }
}

/// News of plans.
pub(super) enum Message {
    /// What an import of a folder would take in.
    Planned(PathBuf, Planned),
    /// A small picture of a file in the folder.
    Picture(PathBuf, PathBuf, Arc<RgbImage>),
}

/// What an import would take in.
pub(super) struct Planned {
    /// The options of the import that waited when it was asked.
    asked: ImportOptions,
    /// Those that it was worked out with.
    options: ImportOptions,
    outcome: Result<Arc<ImportPlan>, String>,
}

impl Part for Planning {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, _: &mut Context, message: Message) {
        let Some(now) = &mut self.now else { return };
        match message {
            // The user may have chosen otherwise meanwhile.
            Message::Planned(folder, planned) if folder == now.folder && planned.asked == now.options => {
                (now.options, now.outcome, now.is_current) = (planned.options, Some(planned.outcome), true);
            }
            Message::Picture(folder, path, picture) if folder == now.folder => {
                now.pictures.retain(|(known, _)| *known != path);
                now.pictures.push((path, picture));
            }
            _ => {}
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            *self = Self::default();
        }
    }
}

impl Planning {
    /// The import that waits for the user.
    pub fn now(&self) -> Option<&PlannedImport> {
        self.now.as_ref()
    }

    /// Works out what an import of a folder would take in, in place of an earlier plan for it. A
    /// plan for another folder comes first.
    pub(super) fn plan(&mut self, ctx: &mut Context, folder: PathBuf, options: Option<ImportOptions>) {
        if ctx.shared().is_none() {
            return;
        }
        match &self.now {
            Some(now) if now.folder != folder => {
                if !self.waiting.contains(&folder) {
                    self.waiting.push_back(folder);
                }
                return;
            }
            _ => {}
        }
        let is_proposed = options.is_none();
        let propose = || ctx.state().map_or_else(ImportOptions::default, |state| ImportOptions::proposed(state, &folder));
        let mut options = options.unwrap_or_else(propose);
        let before = self.now.take();
        // What is proposed counts once the user sees it.
        let seen = || before.as_ref().map_or_else(|| ImportOptions::earlier(ctx.state(), &folder), |now| now.options.clone());
        let asked = if is_proposed { seen() } else { options.clone() };
        let (outcome, pictures) = before.map(|now| (now.outcome, now.pictures)).unwrap_or_default();
        self.now = Some(PlannedImport { folder: folder.clone(), options: asked.clone(), outcome, is_current: false, pictures });
        let outbox = ctx.outbox.clone();
        let known: Vec<PathBuf> = self.now.iter().flat_map(|now| &now.pictures).map(|(path, _)| path.clone()).collect();
        let state = ctx.state().cloned();
        ctx.job(JobKind::PlanImport, move |session| {
            let mut plan = session.plan_import(state.as_ref(), &folder, &options).map(Arc::new);
            if is_proposed && plan.is_err() && options.labels != Labels::Auto {
                // What was chosen for another folder need not fit this one.
                options.labels = Labels::Auto;
                plan = session.plan_import(state.as_ref(), &folder, &options).map(Arc::new);
            }
            session.progress().step()?;
            let outcome = plan.as_ref().map(Arc::clone).map_err(ToString::to_string);
            outbox.send(Message::Planned(folder.clone(), Planned { asked, options, outcome }));
            let Ok(plan) = plan else { return Ok(()) };
            for example in plan.examples.iter().filter(|example| !known.contains(&example.path)) {
                session.progress().step()?;
                if let Ok(picture) = session.picture(&plan.root.join(&example.path), SIDE) {
                    outbox.send(Message::Picture(folder.clone(), example.path.clone(), Arc::new(picture.pixels)));
                }
            }
            Ok(())
        });
    }

    /// Gives the import that waits up, and goes on with the next folder.
    pub(super) fn give_up(&mut self, ctx: &mut Context) {
        ctx.jobs.stop(&JobKind::PlanImport);
        self.now = None;
        if let Some(next) = self.waiting.pop_front() {
            self.plan(ctx, next, None);
        }
    }

    /// Starts the import that waits, and reads a table of captions or labels after it.
    pub(super) fn import(&mut self, ctx: &mut Context, table: Option<PathBuf>) {
        if let Some(PlannedImport { folder, options, outcome, .. }) = self.now.take() {
            let unread = outcome.as_ref().and_then(|outcome| outcome.as_deref().ok()).and_then(ImportPlan::captions_table);
            let is_new = ctx.state().is_some_and(|state| state.roots().all(|(_, root)| root.path != folder || root.is_of_files()));
            if let Some(unread) = unread.filter(|unread| is_new && table.is_none() && unread.matched_captions > 0) {
                let (captions, name) = (count(unread.matched_captions, "caption"), display_name(&unread.path));
                ctx.tell(note(format!("{captions} in {name} left aside; File > Read captions or labels… takes them in at any time")));
            }
            // Before there is a plan the tables are not known, of which one could be chosen.
            let texts = if outcome.is_none() { Texts::Usual(None) } else { Texts::Only(table) };
            importing::import(ctx, folder, options, texts);
        }
        self.give_up(ctx);
    }
}
