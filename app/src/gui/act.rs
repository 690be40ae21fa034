//! The effect of each action on the desk and on the state of the window.

use std::collections::HashSet;
use std::sync::Arc;

use egui::{Context, ViewportCommand};
use tessera_core::ids::ItemId;
use tessera_core::library::suggest::LabelOrder;

use super::actions::Action;
use super::app::App;
use super::dialogs::Purpose;
use super::listing::Scope;
use super::modal::Modal;
use super::page::Page;
use super::selection::AT_ONCE;
use super::theme;
use super::view::Viewer;
use super::widgets::grid::SIDES;
use super::words::count;
use crate::command::{Command, ImageQuery};
use crate::session::desk::NOTHING_OPEN;
use crate::session::desk::remote::NO_COLLECTION;
use crate::session::desk::view::{Notice, Tone};

/// The factor by which thumbnails get larger or smaller.
const STEP: f32 = 1.25;

impl App {
    /// Performs an action.
    pub(super) fn act(&mut self, ctx: &Context, action: Action) {
        let has_library = self.desk.state().is_some();
        let selected = self.view.selection.ids();
        match action {
            Action::Open => self.view.open(Modal::Path(Purpose::Open)),
            Action::AddFolder => self.view.open(Modal::Path(if has_library { Purpose::AddFolder } else { Purpose::Open })),
            Action::ReadTable => self.view.open(Modal::Path(Purpose::ReadTable)),
            Action::Export(what) if has_library => self.view.open(Modal::Path(Purpose::Export(what))),
            Action::Export(_) => self.view.toasts.note(NOTHING_OPEN),
            Action::RecogniseFile => self.view.open(Modal::Path(Purpose::Recognise)),
            Action::RecogniseFolder => self.view.open(Modal::Path(Purpose::RecogniseFolder)),
            Action::SimilarFile if has_library => self.view.open(Modal::Path(Purpose::Similar)),
            Action::SimilarFile => self.view.toasts.note(NOTHING_OPEN),
            Action::LoadModel => self.view.open(Modal::Path(Purpose::LoadModel)),
            Action::SaveModel => self.view.open(Modal::Path(Purpose::SaveModel)),
            Action::Lessons => self.view.open(Modal::Lessons),
            Action::Settings => self.view.open(Modal::Settings),
            Action::History => self.view.open(Modal::History),
            Action::Log => self.view.open(Modal::Log),
            Action::Menu => self.view.wants_menu = true,
            Action::Palette => self.view.open(Modal::Palette),
            Action::Keys => self.view.open(Modal::Keys),
            Action::About => self.view.open(Modal::About),
            Action::Sample => self.run(Command::OpenSample),
            Action::Close => self.run(Command::Close),
            Action::Rescan => self.run(Command::Rescan),
            Action::Relocate if has_library => self.relocate(),
            Action::Relocate => self.view.toasts.note(NOTHING_OPEN),
            Action::Check => self.run(Command::Check),
            Action::BackUp if has_library => self.view.open(Modal::Path(Purpose::BackUp)),
            Action::RestoreBackup => self.view.open(Modal::Path(Purpose::RestoreBackup)),
            Action::BackUp => self.view.toasts.note(NOTHING_OPEN),
            Action::Undo => self.run(Command::UndoByKey),
            Action::Redo => self.run(Command::Redo),
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::FullScreen => {
                let is_full = ctx.input(|input| input.viewport().fullscreen.unwrap_or(false));
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!is_full));
            }
            Action::Larger => self.resize_thumbnails(STEP),
            Action::Smaller => self.resize_thumbnails(1.0 / STEP),
            Action::Find => {
                self.turn_to(Page::Browse);
                self.view.search.wants_focus = true;
            }
            Action::SelectAll => self.view.selection.set(self.walked().iter().copied()),
            Action::SelectNone => self.view.selection.clear(),
            Action::Invert => self.view.selection.invert(&self.walked()),
            Action::Remove if !selected.is_empty() => self.run(Command::Remove(selected)),
            Action::Restore if !selected.is_empty() => self.run(Command::Restore(selected)),
            Action::Forget if !selected.is_empty() => self.view.open(Modal::Forget(selected)),
            Action::View if !selected.is_empty() => self.view.viewer = Some(Viewer::default()),
            Action::Remove | Action::Restore | Action::Forget | Action::View => {}
            Action::Reveal => {
                let path = self.view.selection.one().and_then(|id| self.desk.state().and_then(|state| state.path_of(state.image(id)?)));
                if let Some(path) = path {
                    self.run(Command::Reveal(path));
                }
            }
            Action::CopyPath => self.copy_paths(ctx, &selected),
            Action::Good | Action::Bad | Action::Unsaid => self.reward(action, &selected),
            Action::Like => {
                if let Some(id) = self.view.selection.one() {
                    let part = self.view.viewer.as_ref().and_then(|viewer| viewer.visible);
                    self.run(Command::SearchByImage(Some((ImageQuery::Item(id), part))));
                }
            }
            Action::Similar => {
                if let Some(id) = self.view.selection.one() {
                    let part = self.view.viewer.as_ref().and_then(|viewer| viewer.visible);
                    self.run(Command::Similar(ImageQuery::Item(id), part));
                }
            }
            Action::Recognise => {
                if let Some(id) = self.view.selection.one() {
                    self.run(Command::Recognise(ImageQuery::Item(id)));
                }
            }
            Action::Train => {
                self.turn_to(Page::Train);
                self.run(Command::Evaluate);
            }
            Action::FindClusters if has_library => {
                self.turn_to(Page::Clusters);
                self.pages.clusters.wants_to_find = true;
            }
            Action::FindClusters => self.view.toasts.note(NOTHING_OPEN),
            Action::AskCluster if self.desk.collection().is_some() => self.view.open(Modal::AskCluster),
            Action::AskCluster => self.view.toasts.note(NO_COLLECTION),
            Action::Show(page) => {
                if page != self.view.page {
                    // What is typed next is meant for that page.
                    ctx.memory_mut(|memory| memory.stop_text_input());
                }
                self.turn_to(page);
                if page == Page::Label {
                    self.pages.label.reviews = false;
                }
            }
            Action::LabelMany => {
                self.act(ctx, Action::Show(Page::Label));
                self.pages.label.wants_batch = true;
            }
            Action::UsefulFirst | Action::DisputedFirst | Action::ByFolder | Action::ByChance => {
                self.act(ctx, Action::Show(Page::Label));
                let only = self.desk.labelling().shown().and_then(|labelling| labelling.only.clone());
                if let Some(order) = action.order() {
                    self.run(Command::LabelFrom(only, order));
                }
            }
            Action::LabelThese if selected.is_empty() => {
                self.view.toasts.note("Select the images first, in Browse; Ctrl+2 goes through all without a class");
            }
            Action::LabelThese => {
                let from = self.view.page;
                self.pages.label = Default::default();
                self.turn_to(Page::Label);
                let (images, order) = match self.desk.clusters().answer().filter(|_| from == Page::Clusters) {
                    Some(answer) => (answer.arranged(&selected), LabelOrder::Given),
                    None => (selected, self.kept.settings.label_order),
                };
                self.run(Command::LabelFrom(Some(Arc::new(images)), order));
            }
            Action::Review => {
                self.turn_to(Page::Label);
                self.pages.label.begin_review();
                self.run(Command::Review);
            }
            Action::RenameClass | Action::ColourClass | Action::DeleteClass => self.change_class(action),
        }
    }

    /// Asks where the only folder of the library is now, or shows the folders to choose one of.
    fn relocate(&mut self) {
        self.turn_to(Page::Library);
        let mut roots = self.desk.state().into_iter().flat_map(|state| state.roots()).map(|(_, root)| root.path.clone());
        match (roots.next(), roots.next()) {
            (None, _) => self.view.toasts.note("This library has no folder yet"),
            (Some(folder), None) => self.view.ask_where_is(folder),
            _ => self.view.toasts.note("Press It moved… beside the folder, or right-click it in the tree of Browse"),
        }
    }

    /// The images that select commands and arrow keys work on: the answer that is on the screen,
    /// otherwise those that pass the filter.
    fn walked(&self) -> Arc<Vec<ItemId>> {
        if let Some(answer) = self.desk.clusters().answer().filter(|_| self.view.page == Page::Clusters) {
            return Arc::new(answer.all());
        }
        match (self.view.page, self.desk.searching().hits(), self.desk.similar().answer()) {
            (Page::Browse, Some(hits), _) => Arc::clone(&hits.images),
            (Page::Similar, _, Some(answer)) => Arc::new(answer.alikes.iter().map(|alike| alike.image).collect()),
            _ => self.view.shown.list(),
        }
    }

    fn resize_thumbnails(&mut self, factor: f32) {
        let side = &mut self.kept.settings.thumbnail_side;
        *side = (*side * factor).clamp(*SIDES.start(), *SIDES.end());
    }

    fn copy_paths(&mut self, ctx: &Context, images: &[ItemId]) {
        let Some(state) = self.desk.state() else { return };
        let paths = images.iter().filter_map(|id| state.path_of(state.image(*id)?));
        let text: Vec<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
        if !text.is_empty() {
            ctx.copy_text(text.join("\n"));
            self.view.toasts.push(Notice::new("Copied", Tone::Done));
        }
    }

    /// Rewards those of some images that are hits of the search.
    fn reward(&mut self, action: Action, images: &[ItemId]) {
        let answered = self.desk.searching().hits().filter(|hits| self.view.page == Page::Browse && !hits.query.trim().is_empty());
        let rewards: Vec<Command> = answered.map_or_else(Vec::new, |hits| {
            let all: HashSet<ItemId> = hits.images.iter().copied().collect();
            let answers = images.iter().filter(|id| all.contains(id));
            answers.map(|id| Command::Reward(hits.query.clone(), *id, action.reward())).collect()
        });
        if rewards.is_empty() {
            self.view.toasts.note("Search for words and choose an answer first");
        }
        if rewards.len() > AT_ONCE {
            let words = format!("{} are selected: rewards are for at most {AT_ONCE} answers at a time", count(rewards.len(), "answer"));
            return self.view.toasts.note(words);
        }
        rewards.into_iter().for_each(|reward| self.run(reward));
    }

    /// Opens the modal window that renames, colours or deletes the class that is shown.
    fn change_class(&mut self, action: Action) {
        let shown = self.view.shown.scopes.iter().find_map(|scope| match scope {
            Scope::Class(class) => Some(class.clone()),
            _ => None,
        });
        let Some(class) = shown else {
            return self.view.toasts.note("Show the class first: press it in the tree");
        };
        self.view.open(match action {
            Action::RenameClass => Modal::ClassName(Some(class)),
            Action::DeleteClass => Modal::DeleteClass(class),
            _ => {
                let look = self.desk.state().and_then(|state| state.class(&class)).unwrap_or_default();
                let [r, g, b, _] = theme::class(look.position, look.colour).to_array();
                Modal::Colour(class, [r, g, b])
            }
        });
    }
}
