//! A desk: one open library for a user interface that must never wait.
//!
//! [`Desk::run`] starts a command and returns at once; [`Desk::poll`] takes in the results that
//! have arrived since. Everything on display is plain data that the desk itself holds, so reading
//! it never waits for a file or a lock. Short tasks run on one thread in the order in which they
//! were requested; each long one is a job on a thread of its own.
//!
//! A desk is made of parts, each of which owns its fields and its messages. A new part is a file
//! and a line of `parts!`; a new command is a function of a part and a line of [`Desk::run`].

pub mod clusters;
mod context;
mod exporting;
mod files;
mod frame;
mod importing;
mod jobs;
pub mod labelling;
mod library_act;
pub mod map;
pub mod near_copies;
mod networks;
mod notices;
mod opening;
mod part;
mod pictures;
pub mod planning;
pub mod recognised_folder;
mod recognising;
pub mod remote;
mod searching;
pub mod similar;
mod thumbnails;
mod upkeep;
pub mod view;
mod worker;

use std::io;
use std::path::Path;
use std::sync::Arc;

use tessera_core::library::import::ImportOptions;
use tessera_core::library::state::State;
use tessera_core::library::{FirstImages, Library};

use super::Session;
use crate::command::{Command, Written};
use crate::job::JobKind;
use clusters::Clusters;
pub use context::NOTHING_OPEN;
use context::{Context, Event, Next};
pub use exporting::Exporting;
pub use files::Files;
use importing::{Refresher, Texts};
pub use jobs::Jobs;
use labelling::LabellingDesk;
use map::CollectionMap;
use near_copies::NearCopies;
pub use networks::{Networks, in_words as networks_in_words};
pub use notices::Notices;
use notices::{NewNotice, done, note};
use opening::Joins;
pub use opening::{Damaged, OpenedBackup, Opening};
use part::Part;
pub use pictures::Pictures;
use planning::Planning;
use recognised_folder::RecognisedFolder;
pub use recognising::Recognising;
use remote::AskedCluster;
pub use searching::Searching;
use similar::Similar;
pub use thumbnails::{Fetched, WantedThumbnail};
pub use upkeep::Upkeep;
use view::Notice;

/// Called when there is something to poll; wakes the user interface.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

part::parts! {
    /// Opening and closing libraries.
    opening: Opening,
    /// Imports that wait for the user.
    planning: Planning,
    /// The current search and its answer.
    searching: Searching,
    /// The labelling desk and its advisers.
    labelling: LabellingDesk,
    /// The last recognised image, and the model that recognised it.
    recognising: Recognising,
    /// The images of a folder that were recognised last.
    recognised_folder: RecognisedFolder,
    /// Exports, and the preview of one into class folders.
    exporting: Exporting,
    /// The health of the library.
    upkeep: Upkeep,
    /// Which paths exist, and what folders contain.
    files: Files,
    /// Near copies in the library.
    near_copies: NearCopies,
    /// Images like one, and the indexes that name them.
    similar: Similar,
    /// The map of the collection.
    map: CollectionMap,
    /// Clusters of images.
    clusters: Clusters,
    /// The cluster that is asked about a collection.
    asked_cluster: AskedCluster,
    /// The networks that the user brought.
    networks: Networks,
    /// The picture on display, and thumbnails.
    pictures: Pictures,
}

/// An open library, its running jobs and everything that is shown of it.
pub struct Desk {
    ctx: Context,
    parts: Parts,
    refresher: Refresher,
}

impl Desk {
    /// A desk without a library. `wake` is called from other threads when there is something to
    /// poll.
    ///
    /// # Errors
    /// When the system refuses to start a thread.
    pub fn new(session: Session, wake: Wake) -> anyhow::Result<Self> {
        let ctx = Context::new(session, wake)?;
        Ok(Self { parts: Parts::new(&ctx)?, ctx, refresher: Refresher::new() })
    }

    /// Starts a command; returns at once.
    pub fn run(&mut self, command: Command) {
        let Self { ctx, parts, .. } = self;
        if ctx.waits_for_models() && command.needs_models() {
            parts.opening.hold_back(ctx, command);
            return self.settle();
        }
        match command {
            Command::Open(path) => opening::open_path(ctx, path, Joins::No),
            Command::Add(path) => opening::open_path(ctx, path, Joins::Library),
            Command::AddSimilar(path) => opening::open_path(ctx, path, Joins::Similar),
            Command::OpenPlanned(path) => opening::open_path(ctx, path, Joins::Planned),
            Command::AddPlanned(path) => opening::open_path(ctx, path, Joins::LibraryPlanned),
            Command::OpenSample => parts.opening.open_sample(ctx),
            Command::Close => parts.opening.close(ctx),
            Command::RestoreSnapshot(path) => parts.opening.restore_snapshot(ctx, path),
            Command::Repair(folder) => parts.opening.repair(ctx, folder),
            Command::KeepHistory(folder, side) => parts.opening.keep_history(ctx, folder, side),
            Command::LookAtBackup(folder) => parts.opening.look_at_backup(ctx, folder),
            Command::RestoreBackup(restoration) => parts.opening.restore_backup(ctx, restoration),
            Command::Import { folder, labels, exclude, table } => {
                importing::import(ctx, folder, ImportOptions { labels, exclude, ..ImportOptions::default() }, Texts::Usual(table));
            }
            Command::ImportAgain(folder) => {
                let options = ImportOptions::earlier(ctx.state(), &folder);
                importing::import(ctx, folder, options, Texts::Usual(None));
            }
            Command::PlanImport(folder, options) => parts.planning.plan(ctx, folder, options),
            Command::GiveUpImport => parts.planning.give_up(ctx),
            Command::ImportPlanned(table) => parts.planning.import(ctx, table),
            Command::SaveReport(to) => parts.upkeep.save_report(ctx, to),
            Command::Rescan => importing::rescan(ctx),
            Command::ReadTable(path) => importing::read_table(ctx, path),
            Command::Relocate(old, new) => importing::relocate(ctx, old, new),
            Command::Forget(images) => importing::forget(ctx, images),
            Command::Label(images, label) => ctx.act(move |library| library.label(&images, &label)),
            Command::TakeIn(file, class) => recognising::take_in(ctx, file, class),
            Command::KeepPicture(to, class) => parts.recognising.keep_picture(ctx, to, class),
            Command::Caption(image, captions) => ctx.act(move |library| library.caption(image, captions)),
            Command::Remove(images) => ctx.act(move |library| library.set_removed(&images, true)),
            Command::FilesToBin(files) => near_copies::clear_files(ctx, files),
            Command::Clear(cleared) => ctx.act(move |library| library.clear(&cleared, false)),
            Command::RemoveToBin(cleared) => near_copies::clear(ctx, cleared),
            Command::Restore(images) => ctx.act(move |library| library.set_removed(&images, false)),
            Command::NewClass(name) => ctx.act(move |library| library.new_class(&name)),
            Command::RenameClass(from, to) => ctx.act(move |library| library.rename_class(&from, &to)),
            Command::RecolourClass(class, colour) => ctx.act(move |library| library.recolour_class(&class, colour)),
            Command::DeleteClass(class) => ctx.act(move |library| library.delete_class(&class)),
            Command::TakeRewardsBack(query) => ctx.act(move |library| library.take_rewards_back(&query)),
            Command::Reward(query, image, reward) => ctx.act(move |library| library.reward(&query, image, reward)),
            Command::AllowAgain(image, class) => ctx.act(move |library| library.reject(&[image], &class, false)),
            Command::RejectGuess(images, word) => ctx.act(move |library| library.reject_guess(&images, &word, true)),
            Command::Confirm(image, not) => ctx.act(move |library| library.confirm(image, &not)),
            Command::Undo | Command::UndoByKey if parts.near_copies.undo(ctx) => {}
            Command::Undo => undo(ctx, |_| None),
            Command::UndoByKey => undo(ctx, ask_before_import),
            Command::UndoAct(act) => undo(ctx, move |library| {
                let is_last = library.state().history().last().is_some_and(|last| last.id == act);
                (!is_last).then(|| note("Something else was done meanwhile: nothing was undone").into())
            }),
            Command::Redo => redo(ctx),
            Command::Search(text) => parts.searching.search(ctx, text),
            Command::SortHits => parts.searching.search_again(ctx),
            Command::SearchBy(engine) => parts.searching.search_by(ctx, engine),
            Command::SearchByImage(like) => parts.searching.look_for(ctx, like),
            Command::SearchLikeBy(by) => parts.searching.compare_by(ctx, by),
            Command::Narrow(only) => parts.searching.narrow(ctx, only),
            Command::Similar(query, crop) => parts.similar.find(ctx, query, crop),
            Command::SimilarPart(crop) => parts.similar.take_part(ctx, crop),
            Command::SimilarBack => parts.similar.go_back(ctx),
            Command::SimilarBy(by) => parts.similar.compare_by(ctx, by),
            Command::SimilarRecall(recall) => parts.similar.set_recall(ctx, recall),
            Command::ComparePartitions => parts.similar.compare_partitions(ctx),
            Command::LayOutMap(by) => parts.map.lay_out(ctx, by),
            Command::GoOnWithMap => parts.map.go_on(ctx),
            Command::FindClusters(aim) => parts.clusters.find(ctx, aim),
            Command::MergeClusters(clusters) => parts.clusters.merge(ctx, clusters),
            Command::SplitCluster(cluster) => parts.clusters.split(ctx, cluster),
            Command::SayBond(images, bond) => parts.clusters.say(ctx, Some((images, bond))),
            Command::DropBonds => parts.clusters.say(ctx, None),
            Command::MoreSimilar => parts.similar.show_more(ctx),
            Command::HitsInFull(images) => parts.searching.give_in_full(ctx, &images),
            Command::Why(image) => parts.searching.explain(ctx, image),
            Command::LabelFrom(only, order) => parts.labelling.label_from(ctx, only, order),
            Command::LabelNext(images, class, keys) => parts.labelling.label(ctx, images, class, keys),
            Command::RejectAll(image) => parts.labelling.reject_all(ctx, image),
            Command::Reject(image, class) => parts.labelling.reject(ctx, image, class),
            Command::Skip(image) => parts.labelling.skip(ctx, image),
            Command::TakeUp(image) => parts.labelling.take_up(ctx, image),
            Command::GoBack => parts.labelling.go_back(ctx),
            Command::Review => labelling::review(ctx),
            Command::Recognise(query) => parts.recognising.recognise(ctx, query),
            Command::RecogniseFolder(folder) => {
                if let Some(answerer) = parts.recognising.folder_answerer(ctx) {
                    parts.recognised_folder.recognise(ctx, folder, answerer);
                }
            }
            Command::CloseRecognisedFolder => parts.recognised_folder.close(ctx),
            Command::SaveAnswers(to, answered) => parts.recognised_folder.save(ctx, to, answered),
            Command::UseLibrary => parts.recognising.use_library(ctx),
            Command::ExportPicture(to) => parts.recognising.export_picture(ctx, to, false),
            Command::DrawCollage => parts.recognising.draw_collage(ctx),
            Command::LeaveOut(image) => parts.recognising.leave_out(ctx, image),
            Command::Evaluate => recognising::judge(ctx, false),
            Command::FindHarm => recognising::find_harm(ctx),
            Command::FindCopies(distance) => near_copies::find(ctx, distance),
            Command::DrawDifference(image, copy) => near_copies::draw_difference(ctx, image, copy),
            Command::NotCopies(one, other) => ctx.act(move |library| library.not_copies(one, other, true)),
            Command::ChooseSearch(choice) => recognising::choose_search(ctx, choice),
            Command::ChooseWeights(choice) => recognising::choose_weights(ctx, choice),
            Command::ChooseKinds(choice) => parts.recognising.choose_kinds(ctx, None, Some(choice)),
            Command::ChooseSubject(subject) => parts.recognising.choose_kinds(ctx, Some(subject), None),
            Command::KindsBack => parts.recognising.kinds_back(ctx),
            Command::UseLearnedFeatures(on) => recognising::switch_learned(ctx, on),
            Command::UseWordsNetwork(name) => recognising::use_words_network(ctx, name),
            Command::SaveModel(to) => recognising::save_model(ctx, to, false),
            Command::LoadModel(path) => recognising::load_model(ctx, path),
            Command::AskCluster(cluster, question) => parts.asked_cluster.ask(ctx, cluster, question),
            Command::AddNetwork(path, name) => networks::add(ctx, path, name),
            Command::BringVectorsBy(name) => networks::bring(ctx, name),
            Command::RemoveNetwork(name) => networks::remove(ctx, name),
            Command::DeleteModel(path) => recognising::delete_model(ctx, path),
            Command::Export(what, to) => exporting::export(ctx, what, to, false),
            Command::Replace(Written::Export(what), to) => exporting::export(ctx, what, to, true),
            Command::Replace(Written::Model, to) => recognising::save_model(ctx, to, true),
            Command::Replace(Written::Explanation, to) => parts.recognising.export_picture(ctx, to, true),
            Command::Replace(Written::Picture, to) => parts.recognising.replace_by_picture(ctx, to),
            Command::Replace(Written::Answers, to) => parts.recognised_folder.replace(ctx, to),
            Command::PreviewExport(to) => parts.exporting.plan_class_folders(ctx, to),
            Command::Check => upkeep::check(ctx),
            Command::BackUp(to) => upkeep::back_up(ctx, to),
            Command::LookAtHealth => upkeep::look_at_health(ctx),
            Command::ListFolder(folder) => files::list_folder(ctx, folder),
            Command::TakeSnapshot => upkeep::take_snapshot(ctx),
            Command::RetrySkipped => upkeep::retry_skipped(ctx),
            Command::Reveal(path) => files::reveal(ctx, path),
            Command::Cancel(id) => parts.opening.cancel(ctx, id),
            Command::PutOff(id, is_put_off) => ctx.jobs.put_off(id, is_put_off),
        }
        self.settle();
        self.ctx.jobs.give_way();
    }

    /// Takes in the results that have arrived since the last call. Returns whether anything
    /// changed. Never waits.
    pub fn poll(&mut self) -> bool {
        let news = self.ctx.news();
        let has_changed = !news.is_empty() | self.parts.pictures.poll();
        for message in news {
            self.take_in(message);
        }
        if has_changed {
            self.parts.exporting.forget_uncounted(&self.ctx);
        }
        self.refresher.refresh(&mut self.ctx);
        self.settle();
        // Parts have heard by now of what has changed.
        if self.ctx.is_ready() {
            self.parts.recognising.judge_if_due(&mut self.ctx);
            self.parts.similar.grow_if_due(&mut self.ctx);
            self.parts.clusters.assign_if_due(&mut self.ctx);
        }
        self.settle();
        self.ctx.jobs.give_way();
        has_changed
    }

    /// Delivers the events and runs the commands that parts have queued.
    fn settle(&mut self) {
        while let Some(next) = self.ctx.next() {
            match next {
                Next::Hear(event) => self.hear(event),
                Next::Run(command) => self.run(command),
            }
        }
    }

    /// The folder of the open library.
    pub fn folder(&self) -> Option<&Path> {
        self.ctx.library.as_ref().map(|open| open.folder.as_path())
    }

    /// What the user named to open it: a library, or a folder of images.
    pub fn source(&self) -> Option<&Path> {
        self.ctx.library.as_ref().map(|open| open.source.as_path())
    }

    /// The collection that the open library shows, if it shows one.
    pub fn collection(&self) -> Option<&Path> {
        self.ctx.library.as_ref().filter(|open| open.is_collection).map(|open| open.source.as_path())
    }

    /// The name of the open library.
    pub fn name(&self) -> Option<&str> {
        self.ctx.library.as_ref().map(|open| open.name.as_str())
    }

    /// The state of the open library.
    pub fn state(&self) -> Option<&State> {
        self.ctx.state()
    }

    /// The first images of the library that is being opened, until all of it is there.
    pub fn first(&self) -> Option<&FirstImages> {
        let is_opening = self.ctx.library.is_none() && self.ctx.jobs.is_running(&JobKind::Open);
        self.ctx.first.as_ref().filter(|_| is_opening).map(|first| &first.images)
    }

    /// Whether a library is open whose models have learned everything: until then searches and
    /// recognition wait.
    pub fn is_ready(&self) -> bool {
        self.ctx.is_ready()
    }

    /// Whether work would be lost by closing the library: that of running jobs, or what waits for
    /// the models.
    pub fn would_lose_work(&self) -> bool {
        self.ctx.jobs.would_lose_work() || self.parts.opening.waiting().next().is_some()
    }

    /// The jobs under way.
    pub fn jobs(&self) -> &Jobs {
        &self.ctx.jobs
    }

    /// The notices to the user.
    pub fn notices(&self) -> &Notices {
        &self.ctx.notices
    }
}

impl Drop for Desk {
    /// Cancels all jobs, then waits until the short tasks that were requested are done and the
    /// library is closed.
    fn drop(&mut self) {
        self.run(Command::Close);
        self.parts.labelling.finish();
        self.ctx.finish();
        self.parts.opening.finish();
    }
}

impl From<Notice> for Message {
    fn from(notice: Notice) -> Self {
        Self::NewNotice(notice.into())
    }
}

impl From<Vec<Message>> for Message {
    fn from(messages: Vec<Message>) -> Self {
        Self::Several(messages)
    }
}

impl From<()> for Message {
    fn from((): ()) -> Self {
        Self::Several(Vec::new())
    }
}

/// What is said instead of taking back a part of an import.
const NOT_WHOLE: &str = "The import is under way: stop it or let it end, and undo takes back all of it";

/// The question whether the last act, an import of several images, is to be undone.
fn ask_before_import(library: &Library) -> Option<Message> {
    let last = library.state().history().last().filter(|act| act.takes_in_several() && library.read_only().is_none());
    last.map(|act| upkeep::Message::AskBeforeUndo(Arc::clone(act)).into())
}

/// Undoes the last act, unless something is to be told instead.
fn undo(ctx: &mut Context, instead: impl FnOnce(&Library) -> Option<Message> + Send + 'static) {
    ctx.with_library(|_, library| {
        if library.is_last_act_under_way() {
            return vec![note(NOT_WHOLE).into()];
        }
        if let Some(told) = instead(library) {
            return vec![told];
        }
        let before = library.state().clone();
        let mut is_with_files = false;
        let acted = library_act::act(
            library,
            |library| library.undo(),
            |undone, _| {
                Some(match undone {
                    Some((act, _)) if act.is_with_files() => {
                        is_with_files = true;
                        done(format!("Undone: {}", act.words)).into()
                    }
                    Some((act, _)) => done(format!("Undone: {}; Ctrl+Shift+Z does it again", act.words)).into(),
                    None => note("Nothing to undo").into(),
                })
            },
        );
        let mut told = acted.told;
        if is_with_files {
            told.push(near_copies::Message::Undone(Box::new((before, library.state().clone()))).into());
        }
        told
    });
}

/// Redoes the act that was undone last.
fn redo(ctx: &mut Context) {
    ctx.with_library(|_, library| {
        let acted = library_act::act(
            library,
            |library| library.redo(),
            |redone, _| {
                Some(match redone {
                    Some((act, _)) if act.is_with_files() => done(format!("Done again: {}; no file is moved again", act.words)).into(),
                    Some((act, _)) => done(format!("Done again: {}", act.words)).into(),
                    None => note("Nothing to redo").into(),
                })
            },
        );
        acted.told
    });
}
