//! Recognising: the last recognised image, the model that answers, and the report on the library's
//! own recogniser.

mod answer;
mod learned;
mod take_in;
mod what_if;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tessera_core::ckm::Ckm;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::Subject;
use tessera_core::ckm::weights::LearnOptions;
use tessera_core::error::display;
use tessera_core::eval::report::Report;
use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::learned::LearnedFeatures;
use tessera_core::library::pair::WordsNetwork;
use tessera_core::plural::count;
use tessera_core::{Error, envelope};

use super::Message as DeskMessage;
use super::context::{Context, Event};
use super::exporting::occupied;
use super::notices::{done, note, problem, stopped};
use super::part::Part;
use super::recognised_folder::FolderAnswerer;
use super::view::{FirstLook, Recognition, SavedModel, WithoutImage};
use crate::command::{ImageQuery, KindChoice, SearchChoice, WeightChoice, Written};
use crate::job::JobKind;
use crate::session::collage::Collage;
use crate::session::export::save_png;
use crate::session::harm::{self, HarmReport, last_harm};
use crate::session::kinds_kept::KindSetting;
use crate::session::library_kinds::{KindUse, kind_use};
use crate::session::library_weights::{self, WeightUse, weight_use};
use crate::session::models;
use crate::session::recognise::RecognisedImage;
use crate::session::reports::{self, last_report};
use crate::session::search_choice::search_choice;
use answer::{Answer, Answerer, Drawn, LIBRARY};
pub(super) use learned::{switch as switch_learned, use_words_network};
pub(super) use take_in::take_in;

/// The last recognised image, and the model that recognised it.
#[derive(Default)]
pub struct Recognising {
    /// The loaded model that answers in place of the library's own recogniser.
    loaded: Option<Loaded>,
    recognition: Option<Arc<Recognition>>,
    /// What is shown of the image until its recognition is there.
    first_look: Option<Arc<FirstLook>>,
    drawn: Option<Drawn>,
    /// The best virtual instance of the recognition, once it was painted.
    collage: Option<Arc<Collage>>,
    /// The recognition without one more training image, as last requested.
    without: Option<Arc<WithoutImage>>,
    /// The image that was last requested.
    asked: Option<ImageQuery>,
    /// The class with which a pasted picture was last to be taken in.
    kept_as: Option<String>,
    /// Whether the recognition is visible, and whether it is of an earlier state of the library.
    is_watched: bool,
    is_stale: bool,
    /// The models saved with the library.
    models: Vec<SavedModel>,
    report: Option<Judged>,
    harm: Option<Arc<HarmReport>>,
    search: SearchChoice,
    weights: WeightUse,
    kinds: KindUse,
    /// What was last chosen of that.
    wished_kinds: Option<KindSetting>,
    learned: LearnedFeatures,
    /// The pair of encoders by which words find images.
    words_network: Option<WordsNetwork>,
    /// The last event of the library.
    last_event: Option<EventId>,
    /// Whether the library has changed since it was last looked whether an evaluation is due.
    may_be_due: bool,
    /// The labelled images and the classes when one was last started without a request of the user.
    tried: (usize, Vec<String>),
}

/// A model that was loaded.
struct Loaded {
    name: String,
    model: Arc<RecogniserModel>,
    /// Whether no library was open when it was loaded.
    is_alone: bool,
}

/// A report on the library's recogniser, and the event after which it was made.
pub(super) struct Judged {
    at: Option<EventId>,
    report: Arc<Report>,
}

/// Results of the jobs.
pub(super) enum Message {
    /// What a library that was opened keeps.
    Known(Box<Known>),
    /// What it keeps of another recogniser, with learned features or without.
    Switched(Box<Known>),
    /// The network has looked at so many images.
    Looked(Box<Known>, usize),
    /// Files that could not be read may be there again.
    Back(Box<Known>),
    /// Which training images are compared was chosen; the last report is of before.
    Chosen(SearchChoice, Option<Judged>),
    /// Which weights of pieces and of kinds are in use, and the last reports on them and on harm.
    Weighed(WeightUse, KindUse, Option<Judged>, Option<HarmReport>),
    /// What is seen of an image that is being recognised, by how it was asked for.
    FirstLook(ImageQuery, FirstLook),
    /// An answer.
    Recognised(Box<(Recognition, Drawn)>),
    /// What the recogniser needs for its answers and has not yet.
    Unprepared(Arc<Ckm>),
    /// Whether it has it now, or it was stopped before.
    Prepared(bool),
    /// Why an image could not be recognised.
    NotRecognised(String),
    /// An image that was recognised was taken in: how it was asked for, and what it is now.
    TakenIn(ImageQuery, ItemId),
    /// A model with its name.
    Loaded(String, Arc<RecogniserModel>),
    /// The models saved with the library.
    Models(Vec<SavedModel>),
    /// What each training image does to answers.
    Harm(HarmReport),
    /// The collage of an answer.
    Collage(Arc<RecognisedImage>, Option<Collage>),
    /// The scores of an answer without one more training image.
    Without(Arc<RecognisedImage>, WithoutImage),
}

/// What a library keeps of its recogniser.
pub(super) struct Known {
    report: Option<Judged>,
    harm: Option<HarmReport>,
    search: SearchChoice,
    weights: WeightUse,
    kinds: KindUse,
    learned: LearnedFeatures,
    words_network: Option<WordsNetwork>,
    models: Vec<SavedModel>,
}

impl Part for Recognising {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self { is_watched: true, ..Self::default() })
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Known(known) => {
                self.keep(*known);
                self.compute_learned(ctx);
            }
            Message::Switched(known) => {
                let name = |network: &Option<WordsNetwork>| network.as_ref().map(|network| network.hash.clone());
                let before = (self.learned.is_on, name(&self.words_network));
                self.keep(*known);
                if before.0 != self.learned.is_on {
                    ctx.announce(Event::Learned(self.learned.is_on));
                }
                (self.may_be_due, self.tried) = (true, Default::default());
                self.recognise_again(ctx);
                if before != (true, name(&self.words_network)) {
                    self.compute_learned(ctx);
                }
            }
            Message::Looked(known, looked) => {
                if looked > 0 {
                    ctx.announce(Event::Seen);
                }
                let tried = self.tried.clone();
                self.take_in(ctx, Message::Switched(known));
                if looked == 0 {
                    // What could not be judged before cannot be now, and was told.
                    self.tried = tried;
                }
            }
            Message::Back(known) => {
                self.take_in(ctx, Message::Switched(known));
                self.compute_learned(ctx);
            }
            Message::Chosen(search, report) => {
                (self.search, self.report, self.harm) = (search, report, None);
                self.recognise_again(ctx);
            }
            Message::Weighed(weights, kinds, report, harm) => {
                (self.weights, self.kinds, self.report, self.harm) = (weights, kinds, report, harm.map(Arc::new));
                self.recognise_again(ctx);
            }
            Message::Harm(harm) => self.harm = Some(Arc::new(harm)),
            Message::Collage(answer, collage) if self.is_of(&answer) => self.collage = collage.map(Arc::new),
            Message::Without(answer, without) if self.is_of(&answer) => self.without = Some(Arc::new(without)),
            Message::Collage(..) | Message::Without(..) => {}
            Message::FirstLook(query, first) => {
                if self.asked.as_ref().is_some_and(|asked| asked.is_same(&query)) && self.recognition.is_none() {
                    self.first_look = Some(Arc::new(first));
                }
            }
            Message::Recognised(answer) => self.recognised(*answer),
            Message::Unprepared(ckm) => prepare(ctx, ckm),
            Message::Prepared(true) => self.recognise_again(ctx),
            Message::Prepared(false) => {
                if self.recognition.is_none() {
                    (self.asked, self.first_look) = (None, None);
                }
                ctx.tell(stopped());
            }
            Message::NotRecognised(words) => {
                (self.asked, self.recognition, self.first_look) = (None, None, None);
                self.drop_drawn();
                ctx.tell(problem(words));
            }
            Message::Loaded(name, model) => {
                ctx.tell(done(format!("Recognising with {name}")));
                self.loaded = Some(Loaded { name, model, is_alone: ctx.library.is_none() });
                self.recognise_again(ctx);
            }
            Message::TakenIn(query, image) => self.taken_in(ctx, &query, image),
            Message::Models(models) => self.models = models,
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => {
                // A model that was loaded before any library was opened answers from then on.
                let loaded = self.loaded.take().filter(|loaded| loaded.is_alone);
                *self = Self { loaded, is_watched: self.is_watched, ..Self::default() };
            }
            Event::First | Event::Ready | Event::Learned(_) | Event::Seen => {}
            Event::Opened => (self.last_event, self.may_be_due) = (ctx.last_event(), true),
            Event::Changed => {
                (self.last_event, self.may_be_due) = (ctx.last_event(), true);
                if !ctx.jobs.is_importing() {
                    self.recognise_again(ctx);
                }
            }
        }
    }
}

impl Recognising {
    /// The image that was recognised last.
    pub fn recognition(&self) -> Option<&Arc<Recognition>> {
        self.recognition.as_ref()
    }

    /// What is shown of an image until its recognition is there.
    pub fn first_look(&self) -> Option<&Arc<FirstLook>> {
        self.first_look.as_ref()
    }

    /// The loaded model that answers in place of the library's own recogniser.
    pub fn loaded_model(&self) -> Option<&str> {
        self.loaded.as_ref().map(|loaded| loaded.name.as_str())
    }

    /// The models saved with the library.
    pub fn models(&self) -> &[SavedModel] {
        &self.models
    }

    /// The last report on the library's recogniser, and whether it is stale: the library has
    /// changed since.
    pub fn report(&self) -> Option<(&Arc<Report>, bool)> {
        self.report.as_ref().map(|judged| (&judged.report, judged.at != self.last_event))
    }

    /// What each training image does to the answers about judged images, and whether that is stale:
    /// the library has changed since.
    pub fn harm(&self) -> Option<(&Arc<HarmReport>, bool)> {
        self.harm.as_ref().map(|harm| (harm, harm.event != self.last_event))
    }

    /// Which training images the library's recogniser compares.
    pub fn search(&self) -> SearchChoice {
        self.search
    }

    /// The weights of the library's recogniser, and what learned ones are worth.
    pub fn weights(&self) -> WeightUse {
        self.weights
    }

    /// What was last chosen of how kinds count; it is in use once what it takes is fitted.
    pub fn wished_kinds(&self) -> Option<KindSetting> {
        self.wished_kinds
    }

    /// How much kinds of elements and their places count.
    pub fn kinds(&self) -> &KindUse {
        &self.kinds
    }

    /// The state of the library's learned features when it was opened or they were last turned on
    /// or off, or were last computed.
    pub fn learned(&self) -> LearnedFeatures {
        self.learned
    }

    /// The pair of encoders by which words find images, as it was at the same time.
    pub fn words_network(&self) -> Option<&WordsNetwork> {
        self.words_network.as_ref()
    }

    fn keep(&mut self, known: Known) {
        self.words_network = known.words_network;
        (self.report, self.models, self.learned) = (known.report, known.models, known.learned);
        (self.harm, self.search, self.weights, self.kinds) = (known.harm.map(Arc::new), known.search, known.weights, known.kinds);
    }

    /// Has networks look at images that came without, in the background.
    fn compute_learned(&self, ctx: &mut Context) {
        let is_behind = |pair: &WordsNetwork| pair.name.is_some() && pair.seen < pair.images;
        let is_due = self.learned.seen < self.learned.images || self.words_network.as_ref().is_some_and(is_behind);
        if self.learned.is_on && is_due {
            learned::compute(ctx);
        }
    }

    /// The best virtual instance of the recognition as a collage, once it was painted.
    pub fn collage(&self) -> Option<&Arc<Collage>> {
        self.collage.as_ref()
    }

    /// The scores of the recognition without one more training image, as last requested.
    pub fn without(&self) -> Option<&Arc<WithoutImage>> {
        self.without.as_ref()
    }

    /// Whether an answer is the one that is shown.
    fn is_of(&self, answer: &Arc<RecognisedImage>) -> bool {
        self.drawn.as_ref().is_some_and(|drawn| Arc::ptr_eq(&drawn.answer, answer))
    }

    fn drop_drawn(&mut self) {
        (self.drawn, self.collage, self.without) = (None, None, None);
    }

    /// Paints the best virtual instance of the recognition.
    pub(super) fn draw_collage(&self, ctx: &mut Context) {
        let Some(drawn) = self.drawn.clone() else { return };
        ctx.job(JobKind::DrawCollage, move |session| {
            let collage = what_if::collage(session, &drawn);
            Ok(Message::Collage(drawn.answer, collage))
        });
    }

    /// Scores the recognition without one more training image.
    pub(super) fn leave_out(&self, ctx: &mut Context, image: ItemId) {
        let Some(drawn) = self.drawn.clone() else { return ctx.tell(note("Recognise an image first")) };
        ctx.job(JobKind::LeaveOut, move |session| {
            let without = what_if::without(session, &drawn, image)?;
            Ok(Message::Without(drawn.answer, without))
        });
    }

    /// Sets whether the recognition is visible: only then is it computed anew when the library
    /// changes.
    pub(super) fn watch(&mut self, ctx: &mut Context, is_watched: bool) {
        self.is_watched = is_watched;
        if is_watched && std::mem::take(&mut self.is_stale) {
            self.recognise_again(ctx);
        }
    }

    /// Recognises an image; the recognition before is no longer shown.
    pub(super) fn recognise(&mut self, ctx: &mut Context, query: ImageQuery) {
        (self.recognition, self.first_look) = (None, None);
        self.drop_drawn();
        self.ask(ctx, query);
    }

    /// Who answers; where nobody does, a notice says so.
    fn answerer(&self, ctx: &mut Context) -> Option<Answerer> {
        match (&self.loaded, &ctx.library) {
            (Some(loaded), _) => Some(Answerer::Model(Arc::clone(&loaded.model), loaded.name.clone())),
            (None, Some(open)) => Some(Answerer::Library(Arc::clone(&open.shared))),
            (None, None) => {
                ctx.tell(note("Open a folder, a library or a model first"));
                None
            }
        }
    }

    /// Who recognises the images of a folder, to be made on another thread.
    pub(super) fn folder_answerer(&self, ctx: &mut Context) -> Option<impl FnOnce() -> FolderAnswerer + Send + 'static> {
        let answerer = self.answerer(ctx)?;
        Some(move || match answerer {
            Answerer::Model(model, name) => FolderAnswerer { model: RecogniserModel::clone(&model), name, learned: None },
            Answerer::Library(library) => {
                let library = hold(&library);
                FolderAnswerer { model: models::live_recogniser(&library), name: LIBRARY.to_owned(), learned: Some(library.by_path()) }
            }
        })
    }

    fn ask(&mut self, ctx: &mut Context, query: ImageQuery) {
        let Some(answerer) = self.answerer(ctx) else { return };
        self.asked = Some(query.clone());
        let (quick, state, outbox) = (ctx.quick.clone(), ctx.state().cloned(), ctx.outbox.clone());
        ctx.job(JobKind::Recognise, move |session| {
            let tell = |first| outbox.send(Message::FirstLook(query.clone(), first));
            match answer::recognise(&quick.with_progress(session.progress()), &answerer, state.as_ref(), &query, &tell) {
                Ok(Answer::Whole(answer)) => Ok(Message::Recognised(answer)),
                Ok(Answer::Unprepared(ckm)) => Ok(Message::Unprepared(ckm)),
                Err(Error::Cancelled) => Err(Error::Cancelled),
                Err(error) => Ok(Message::NotRecognised(error.to_string())),
            }
        });
    }

    /// Recognises the last image again, or notes that this is due once the recognition is visible.
    fn recognise_again(&mut self, ctx: &mut Context) {
        match self.asked.clone() {
            Some(query) if self.is_watched => self.ask(ctx, query),
            Some(_) => self.is_stale = true,
            None => {}
        }
    }

    fn recognised(&mut self, (mut recognition, drawn): (Recognition, Drawn)) {
        if let Some(last) = &self.recognition
            && last.name == recognition.name
            && last.by == recognition.by
            && last.scores != recognition.scores
        {
            recognition.before = Some(last.scores.clone());
        }
        (self.recognition, self.first_look) = (Some(Arc::new(recognition)), None);
        self.drop_drawn();
        self.drawn = Some(drawn);
    }

    /// Recognises with the library's own recogniser again, or with nothing where none is open.
    pub(super) fn use_library(&mut self, ctx: &mut Context) {
        self.loaded = None;
        if ctx.library.is_none() {
            ctx.jobs.stop(&JobKind::Recognise);
            (self.asked, self.recognition) = (None, None);
            self.drop_drawn();
        }
        self.recognise_again(ctx);
    }

    /// Writes the explanation on display as a PNG file; `replaces` is whether in place of a file
    /// that is there.
    pub(super) fn export_picture(&self, ctx: &mut Context, to: PathBuf, replaces: bool) {
        let Some(drawn) = self.drawn.clone() else { return ctx.tell(note("Recognise an image first")) };
        ctx.job(JobKind::DrawExplanation, move |session| {
            let find = |id, name: &str| drawn.find(id, name);
            let drawing = session.draw_explanation(&drawn.model, &drawn.answer, &drawn.explanations, &find);
            match save_png(&drawing.picture, &to, replaces) {
                Ok(()) => Ok(done(format!("Wrote the explanation to {}", display(&to))).into()),
                Err(error) => occupied(error, Written::Explanation),
            }
        });
    }

    /// Evaluates the recogniser without a request of the user where that is due
    /// ([`reports::is_judging_due`]), and not again before there are twice as many images
    /// or other classes.
    pub(super) fn judge_if_due(&mut self, ctx: &mut Context) {
        let is_busy =
            |ctx: &Context| [JobKind::Judge, JobKind::LearnWeights, JobKind::FitKinds].iter().any(|kind| ctx.jobs.is_running(kind));
        if !self.may_be_due || self.weights.choice == WeightChoice::Learned || ctx.jobs.is_importing() || is_busy(ctx) {
            return;
        }
        let Some(state) = ctx.state() else { return };
        self.may_be_due = false;
        let mut classes: Vec<&str> = state.images().filter_map(|image| image.label()).collect();
        let images = classes.len();
        // Most images lie beside others of their class, so few labels are left to be sorted.
        classes.dedup();
        classes.sort_unstable();
        classes.dedup();
        let tried: BTreeSet<&str> = self.tried.1.iter().map(|class| state.class_now(class)).collect();
        let is_other = images >= 2 * self.tried.0 || !classes.iter().eq(&tried);
        if is_other && reports::is_judging_due(self.report.as_ref().map(|judged| &*judged.report), classes.iter().copied(), images) {
            self.tried = (images, classes.into_iter().map(str::to_owned).collect());
            judge(ctx, true);
        }
    }

    /// Chooses what the images show, or how much kinds of elements and their places count, or both.
    /// What was not fitted yet is fitted first.
    pub(super) fn choose_kinds(&mut self, ctx: &mut Context, subject: Option<Subject>, choice: Option<KindChoice>) {
        let with = move |now: KindSetting| KindSetting { subject: subject.unwrap_or(now.subject), choice: choice.unwrap_or(now.choice) };
        // A second choice is refused while one is under way.
        if !ctx.jobs.is_running(&JobKind::FitKinds) {
            self.wished_kinds = Some(with(self.kinds.setting));
        }
        ctx.library_job(JobKind::FitKinds, move |session, library| {
            let setting = with(kind_use(&hold(library)).setting);
            let is_fitted = session.choose_kinds(library, setting)? || session.fit_kinds(library, setting)?;
            let mut told = vec![DeskMessage::from(Message::Switched(Box::new(Known::of(&hold(library)))))];
            if session.progress().is_cancelled() {
                let kept = "Stopped; the best so far is kept";
                let usual = "Stopped before enough images were judged; kinds stay as usual until they are judged again";
                told.push(note(if is_fitted { kept } else { usual }).into());
            }
            Ok(told)
        });
    }

    /// Lets kinds of elements count as they did before the last change of that.
    pub(super) fn kinds_back(&mut self, ctx: &mut Context) {
        if !ctx.jobs.is_running(&JobKind::FitKinds) {
            self.wished_kinds = None;
        }
        ctx.library_job(JobKind::FitKinds, |session, library| {
            if !session.kinds_back(library)? {
                return Ok(DeskMessage::from(note("Nothing was changed so far")));
            }
            Ok(Message::Switched(Box::new(Known::of(&hold(library)))).into())
        });
    }
}

/// Prepares the recogniser, unless that is under way; what it makes is shared by all clones, and
/// kept where it is that of the library.
fn prepare(ctx: &mut Context, ckm: Arc<Ckm>) {
    if ctx.jobs.is_running(&JobKind::CompareWholes) {
        return;
    }
    let library = ctx.library.as_ref().map(|open| Arc::clone(&open.shared));
    ctx.job(JobKind::CompareWholes, move |session| match session.on_threads(|| ckm.prepare_by(session.progress())) {
        Ok(()) => {
            // Where it cannot be kept, it is made again at the next start.
            let _ = library.map(|library| hold(&library).keep_sums());
            Ok(Message::Prepared(true))
        }
        Err(Error::Cancelled) => Ok(Message::Prepared(false)),
        Err(error) => Err(error),
    });
}

/// Evaluates the recogniser on its own training images, each with its object left out. Learned
/// weights that are in use are learned anew. `is_own` is whether nobody asked for it: it gives way
/// to what somebody asks for.
pub(super) fn judge(ctx: &mut Context, is_own: bool) {
    let session = if is_own { ctx.own.clone() } else { ctx.session.clone() };
    if !is_own {
        ctx.jobs.ask_for(&JobKind::Judge);
    }
    ctx.library_job_by(&session, JobKind::Judge, |session, library| {
        let outcome = session.judge(library, None);
        // Kinds may have been fitted by then.
        let mut told = vec![DeskMessage::from(weighed(&hold(library)))];
        match outcome {
            Err(Error::Cancelled) => told.push(stopped().into()),
            outcome => drop(outcome?),
        }
        Ok(told)
    });
    if is_own {
        ctx.jobs.let_give_way(&JobKind::Judge);
    }
}

/// Chooses the weights of the library's recogniser. Learned ones that are not kept are
/// learned first.
pub(super) fn choose_weights(ctx: &mut Context, choice: WeightChoice) {
    if choice == WeightChoice::Uniform {
        return ctx.with_library(move |_, library| match library_weights::choose(library, choice) {
            Ok(_) => DeskMessage::from(weighed(library)),
            Err(error) => problem(error).into(),
        });
    }
    ctx.library_job(JobKind::LearnWeights, move |session, library| {
        if library_weights::choose(&mut hold(library), choice)? {
            return Ok(vec![DeskMessage::from(weighed(&hold(library)))]);
        }
        let (learned, _) = session.learn_library_weights(library, &LearnOptions::default())?;
        let share = |epochs: usize| learned.held_out.get(epochs).map_or_else(|| "–".into(), |share| format!("{:.1} %", 100.0 * share));
        let words = if learned.epochs == 0 {
            format!("No weights were better than uniform ones on held-out objects ({} right), so these stay", share(0))
        } else {
            format!(
                "Learned weights in {}: {} of held-out objects' images are right, {} with uniform weights",
                count(learned.epochs, "pass"),
                share(learned.epochs),
                share(0)
            )
        };
        Ok(vec![weighed(&hold(library)).into(), done(words).into()])
    });
}

/// Which weights are in use, and the reports on them.
fn weighed(library: &Library) -> Message {
    Message::Weighed(weight_use(library), kind_use(library), judged(library), last_harm(library))
}

/// Finds what each training image does to the answers about judged images.
pub(super) fn find_harm(ctx: &mut Context) {
    ctx.library_job(JobKind::Harm, |session, library| {
        let harm = session.harm(library)?;
        // Where the library had changed, it was judged first.
        Ok(vec![DeskMessage::from(weighed(&hold(library))), Message::Harm(harm).into()])
    });
}

/// Chooses which training images the library's recogniser compares.
pub(super) fn choose_search(ctx: &mut Context, choice: SearchChoice) {
    ctx.library_job(JobKind::ChooseSearch, move |session, library| {
        session.choose_search(library, choice)?;
        let library = hold(library);
        harm::forget(&library)?;
        Ok(Message::Chosen(choice, judged(&library)))
    });
}

/// Saves the recogniser as a model; `replaces` is whether in place of one that is there.
pub(super) fn save_model(ctx: &mut Context, to: PathBuf, replaces: bool) {
    ctx.library_job(JobKind::SaveModel, move |session, library| {
        let model = models::model(&hold(library))?;
        // One file is for others, who need not know how files are called here.
        let model = if models::is_one_file(&to) { model.without_names()? } else { model };
        let bytes = match models::save_model(&model, &to, replaces, session.progress()) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(vec![occupied(error, Written::Model)?]),
        };
        let words = format!("Saved the model in {} ({:.1} MB)", display(&to), bytes as f64 / 1e6);
        Ok(vec![saved(hold(library).folder()).into(), done(words).into()])
    });
}

/// Loads a model.
pub(super) fn load_model(ctx: &mut Context, path: PathBuf) {
    ctx.job(JobKind::LoadModel, move |_| {
        let model = models::load_model(&path)?;
        Ok(Message::Loaded(display(Path::new(path.file_name().unwrap_or_default())), Arc::new(model)))
    });
}

/// Deletes a saved model.
pub(super) fn delete_model(ctx: &mut Context, path: PathBuf) {
    ctx.with_library(move |_, library| match envelope::remove_model(&path) {
        Ok(()) => vec![saved(library.folder()).into(), DeskMessage::from(done(format!("Deleted {}", path.display())))],
        Err(error) => vec![problem(error).into()],
    });
}

/// What a library keeps of its recogniser.
pub(super) fn known(library: &Library) -> Message {
    Message::Known(Box::new(Known::of(library)))
}

/// The same, where files that could not be read may be there again.
pub(super) fn back(library: &Library) -> Message {
    Message::Back(Box::new(Known::of(library)))
}

impl Known {
    fn of(library: &Library) -> Self {
        Self {
            report: judged(library),
            harm: last_harm(library),
            search: search_choice(library),
            weights: weight_use(library),
            kinds: kind_use(library),
            // What cannot be read is as if there were none.
            learned: library.learned_features().unwrap_or_default(),
            words_network: library.words_network().unwrap_or_default(),
            models: saved_models(library.folder()),
        }
    }
}

/// The last report on a library's recogniser.
fn judged(library: &Library) -> Option<Judged> {
    last_report(library).map(|(at, report)| Judged { at, report: Arc::new(report) })
}

/// The models saved with a library.
pub(super) fn saved(library: &Path) -> Message {
    Message::Models(saved_models(library))
}

fn saved_models(library: &Path) -> Vec<SavedModel> {
    models::saved_models(library).into_iter().map(|(name, path, bytes)| SavedModel { path, name, bytes }).collect()
}
