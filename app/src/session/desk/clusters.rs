//! Clusters of the library's images: found while one watches, kept, and described.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::bonds::Bond;
use tessera_core::library::clusters::{ClusterAim, ClusterRun, ImageCluster, KeptClusters, KnownClusters, usual_clusters};
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::looks::Look;
use tessera_core::{Error, Result};

use super::super::Session;
use super::context::{Context, Event, Outbox};
use super::library_act::{self, Acted};
use super::notices::{note, problem};
use super::part::Part;
use crate::job::JobKind;

/// Iterations of a run.
const ITERATIONS: usize = 20;
/// New images that are given clusters without a job, if their vectors are at hand.
const NEW: usize = 256;
/// The least time between two descriptions of what a run has found.
const PAUSE: Duration = Duration::from_millis(250);
/// The place of an image without a cluster.
const NONE: u32 = u32::MAX;

/// Clusters, and the run that finds them.
#[derive(Default)]
pub struct Clusters {
    answer: Option<Arc<ClusterAnswer>>,
    /// Why the last run found none.
    failure: Option<String>,
    /// The sets of vectors that were brought, with the images that have one.
    sets: Vec<(Arc<str>, usize)>,
    /// Whether kept clusters were looked for.
    is_known: bool,
    /// Whether a question is under way, and whether another one is to follow.
    is_asked: bool,
    is_asked_again: bool,
    /// Whether the page is visible: only then are clusters described anew when the library changes.
    is_watched: bool,
    /// The number of the last run; results of earlier ones are dropped.
    run: Arc<AtomicU64>,
    /// Images without a cluster, and those among them whose vectors were looked for in vain.
    new: usize,
    in_vain: usize,
    /// The images of the clusters for which a run was begun because many had come or gone.
    renewed: Option<usize>,
    /// Whether a run was begun because the clusters were lost.
    is_made_again: bool,
    /// Whether learned features were turned off: clusters that take them are not shown.
    is_off: bool,
    /// Whether there are such clusters.
    is_hidden: bool,
    /// Whether the last run may take learned features.
    takes_network: bool,
}

/// What is known of clusters.
#[derive(Debug)]
pub struct ClusterAnswer {
    /// The clusters as they are kept.
    pub kept: Arc<KeptClusters>,
    /// Those that are no oddities, the largest first.
    pub clusters: Vec<ImageCluster>,
    /// The images of the others, cluster by cluster.
    pub odd: Vec<ItemId>,
    /// How many the others are.
    pub oddities: usize,
    /// Images without a cluster: they have no such vector.
    pub left_out: usize,
    /// Pairs of images of which the user said that they belong together, and that they do not.
    pub pairs: [usize; 2],
    /// For each image the place of its cluster; that after the last of `clusters` for oddities.
    places: Vec<u32>,
}

impl ClusterAnswer {
    /// Of clusters without images that are gone.
    fn new(library: &Library, kept: Arc<KeptClusters>) -> Self {
        let mut clusters = kept.describe(library);
        let others = clusters.split_off(usual_clusters(&clusters));
        let odd: Vec<ItemId> = others.iter().flat_map(|cluster| cluster.images.iter().copied()).collect();
        let mut places = vec![NONE; library.state().records().last().map_or(0, |last| last.id.0 as usize + 1)];
        let lists = clusters.iter().map(|cluster| &cluster.images).chain([&odd]);
        for (place, images) in lists.enumerate() {
            images.iter().for_each(|id| places[id.0 as usize] = place as u32);
        }
        let left_out = library.state().images().count().saturating_sub(kept.len());
        let bonds = library.state().bonds();
        let pairs = [Bond::Together, Bond::Apart].map(|bond| bonds.of(bond).count());
        Self { kept, clusters, odd, oddities: others.len(), left_out, pairs, places }
    }

    /// The place of an image's cluster in the list; that of oddities comes after the last.
    pub fn place_of(&self, image: ItemId) -> Option<usize> {
        self.places.get(image.0 as usize).filter(|place| **place != NONE).map(|place| *place as usize)
    }

    /// The images of a cluster, or of all oddities, by its place; the most typical first.
    pub fn images(&self, place: usize) -> &[ItemId] {
        self.clusters.get(place).map_or(&self.odd, |cluster| &cluster.images)
    }

    /// The places in the list: clusters, and after them the oddities if there are any.
    pub fn len(&self) -> usize {
        self.clusters.len() + usize::from(!self.odd.is_empty())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All images with a cluster, cluster by cluster, the most typical first.
    pub fn all(&self) -> Vec<ItemId> {
        (0..self.len()).flat_map(|place| self.images(place)).copied().collect()
    }

    /// Some images in that order; those without a cluster come last.
    pub fn arranged(&self, images: &[ItemId]) -> Vec<ItemId> {
        let wanted: std::collections::HashSet<ItemId> = images.iter().copied().collect();
        let mut arranged: Vec<ItemId> = self.all().into_iter().filter(|id| wanted.contains(id)).collect();
        arranged.extend(images.iter().filter(|id| self.place_of(**id).is_none()));
        arranged
    }
}

/// Results of the threads that find and describe clusters.
pub(super) enum Message {
    /// What a run has found so far.
    Found(u64, Arc<ClusterAnswer>),
    /// A run has ended; with words if it failed.
    Ended(u64, Option<String>),
    /// What is known of kept clusters; where they are lost, what was asked for; and whether learned
    /// features are off that they take.
    Known {
        run: u64,
        answer: Option<Arc<ClusterAnswer>>,
        lost: Option<ClusterAim>,
        is_hidden: bool,
        sets: Vec<(Arc<str>, usize)>,
        new: usize,
    },
    /// New images have clusters, all but so many, which have no such vector.
    Assigned { run: u64, answer: Option<Arc<ClusterAnswer>>, new: usize },
}

impl Part for Clusters {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Found(run, answer) if self.is_current(run) => {
                (self.is_hidden, self.takes_network) = (self.is_barred(&answer), answer.kept.takes_network());
                if !self.is_hidden {
                    self.replace(ctx, Some(answer));
                }
                self.is_known = true;
            }
            Message::Ended(run, failure) if self.is_current(run) => {
                if let Some(words) = &failure {
                    ctx.tell(problem(words));
                }
                (self.failure, self.is_asked) = (failure, false);
                // Images may have been labelled, or have come, since it was last described.
                self.ask(ctx);
            }
            Message::Found(..) | Message::Ended(..) => {}
            Message::Known { run, answer, lost, is_hidden, sets, new } => {
                (self.is_asked, self.is_known, self.sets) = (false, true, sets);
                // Learned features may have been turned off since it was asked.
                let is_barred = answer.as_ref().is_some_and(|answer| self.is_barred(answer));
                let (answer, is_hidden) = (answer.filter(|_| !is_barred), is_hidden || is_barred);
                let is_older =
                    answer.as_ref().zip(self.answer.as_ref()).is_some_and(|(new, old)| new.kept.iterations() < old.kept.iterations());
                if self.is_current(run) && !is_older {
                    self.replace(ctx, answer);
                    self.is_hidden = is_hidden;
                    self.new = new;
                    self.assign_if_due(ctx);
                    self.renew_if_due(ctx);
                    self.make_again_if_due(ctx, lost);
                }
                if std::mem::take(&mut self.is_asked_again) {
                    self.ask(ctx);
                }
            }
            Message::Assigned { run, answer, new } => {
                self.in_vain = new;
                let is_admitted = answer.as_ref().is_some_and(|answer| !self.is_barred(answer));
                if self.is_current(run) && is_admitted {
                    self.replace(ctx, answer);
                    self.new = new;
                    self.renew_if_due(ctx);
                }
            }
        }
    }

    fn hear(&mut self, ctx: &mut Context, event: Event) {
        match event {
            Event::Closed => *self = Self { is_watched: self.is_watched, ..Self::default() },
            Event::Ready | Event::Changed if self.is_watched && ctx.is_ready() => self.ask(ctx),
            Event::First | Event::Opened | Event::Ready | Event::Changed => {}
            Event::Learned(is_on) => {
                self.is_off = !is_on;
                if self.answer.as_ref().is_some_and(|answer| self.is_barred(answer)) {
                    self.replace(ctx, None);
                    self.is_hidden = true;
                }
                self.stop_if_barred(ctx);
                // Those that were hidden are back, or the page says why there are none.
                if self.is_watched || self.is_known {
                    self.ask(ctx);
                }
            }
        }
    }
}

impl Clusters {
    /// The clusters, as last found or kept.
    pub fn answer(&self) -> Option<&Arc<ClusterAnswer>> {
        self.answer.as_ref()
    }

    /// Why the last run found none.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether the clusters that were kept last take learned features, which are off: they are not
    /// shown.
    pub fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// The sets of vectors that were brought, with the images that have one.
    pub fn sets(&self) -> &[(Arc<str>, usize)] {
        &self.sets
    }

    /// Whether it is known which clusters were kept.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Sets whether the page is visible.
    pub(super) fn watch(&mut self, ctx: &mut Context, is_watched: bool) {
        if is_watched && !std::mem::replace(&mut self.is_watched, is_watched) {
            self.ask(ctx);
        }
        self.is_watched = is_watched;
    }

    /// Finds clusters, from those that are there where they were made in the same way.
    pub(super) fn find(&mut self, ctx: &mut Context, aim: ClusterAim) {
        self.start(ctx, Aim::Given(aim));
    }

    /// Makes one cluster two, and finds clusters from there.
    pub(super) fn split(&mut self, ctx: &mut Context, cluster: usize) {
        self.start(ctx, Aim::Split(cluster));
    }

    /// Makes some clusters one, and finds clusters from there.
    pub(super) fn merge(&mut self, ctx: &mut Context, clusters: Vec<usize>) {
        self.start(ctx, Aim::Merged(clusters));
    }

    /// Says something of pairs of images, or drops all that was said, and goes on from there. It is
    /// said in the order in which it was requested, whichever job comes first.
    pub(super) fn say(&mut self, ctx: &mut Context, said: Option<(Vec<ItemId>, Bond)>) {
        if ctx.shared().is_none() {
            return;
        }
        let (send, is_done) = mpsc::channel();
        ctx.with_library(move |_, library| {
            let acted = say(library, said.as_ref().map(|(images, bond)| (&images[..], *bond)));
            // The job that waits for this may have made way for another one.
            let _ = send.send(acted.outcome.is_some());
            acted.told
        });
        self.start(ctx, Aim::Said(is_done));
    }

    fn start(&mut self, ctx: &mut Context, aim: Aim) {
        let Some(library) = ctx.shared() else { return };
        let number = self.run.fetch_add(1, Ordering::Relaxed) + 1;
        (self.failure, self.is_asked) = (None, false);
        let kept = self.answer.as_ref().map(|answer| Arc::clone(&answer.kept));
        self.takes_network = !self.is_off
            && match &aim {
                Aim::Given(aim) => aim.look.as_ref().is_none_or(Look::takes_network),
                Aim::Merged(_) | Aim::Split(_) | Aim::Said(_) => kept.as_ref().is_none_or(|kept| kept.takes_network()),
            };
        let watch = Watch { number, run: Arc::clone(&self.run), outbox: ctx.outbox.clone() };
        ctx.job(JobKind::FindClusters, move |session| {
            let outcome = find(session, &library, aim, kept, &watch);
            let failure = outcome.err().filter(|error| !matches!(error, Error::Cancelled)).map(|error| error.to_string());
            Ok(Message::Ended(number, failure))
        });
    }

    /// Gives new images clusters, once they were imported; their vectors are loaded for that.
    pub(super) fn assign_if_due(&mut self, ctx: &mut Context) {
        let is_busy =
            ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::FindClusters) || ctx.jobs.is_running(&JobKind::AssignClusters);
        if !self.is_watched || is_busy || self.new == 0 || self.new == self.in_vain {
            return;
        }
        let Some(kept) = self.answer.as_ref().map(|answer| Arc::clone(&answer.kept)) else { return };
        let run = self.run.load(Ordering::Relaxed);
        // Also if it is stopped, or fails.
        self.in_vain = self.new;
        ctx.library_job(JobKind::AssignClusters, move |session, library| {
            session.load_looks(library, Some(&kept.look()))?;
            let mut kept = (*kept).clone();
            let mut library = hold(library);
            kept.follow(&library);
            library.keep_clusters(&kept)?;
            let (new, answer) = (without(&library, &kept), ClusterAnswer::new(&library, Arc::new(kept)));
            Ok(Message::Assigned { run, answer: Some(Arc::new(answer)), new })
        });
    }

    /// Goes on with the run where many images came or went since; not again if that was stopped.
    fn renew_if_due(&mut self, ctx: &mut Context) {
        let Some(kept) = self.answer.as_ref().map(|answer| Arc::clone(&answer.kept)) else { return };
        let is_tried = self.renewed == Some(kept.len());
        if !self.is_watched || ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::FindClusters) || is_tried || !kept.is_outgrown() {
            return;
        }
        self.renewed = Some(kept.len());
        self.find(ctx, kept.aim());
    }

    /// Finds clusters that are lost again, by what was asked for; not again if that was stopped.
    fn make_again_if_due(&mut self, ctx: &mut Context, lost: Option<ClusterAim>) {
        let is_busy = ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::FindClusters);
        if let Some(aim) = lost.filter(|_| self.is_watched && !is_busy && !self.is_made_again) {
            self.is_made_again = true;
            self.find(ctx, aim);
        }
    }

    /// Stops a run that takes learned features once they are off. The clusters of before stay.
    fn stop_if_barred(&mut self, ctx: &mut Context) {
        if self.is_off && self.takes_network && ctx.jobs.is_running(&JobKind::FindClusters) {
            ctx.jobs.stop(&JobKind::FindClusters);
            // What it still sends or keeps is not current any more.
            self.run.fetch_add(1, Ordering::Relaxed);
            self.is_asked = false;
            ctx.tell(note("Clusters were being found with learned features, which are off now: that was stopped"));
        }
    }

    /// Whether clusters are not to be shown, because learned features are off.
    fn is_barred(&self, answer: &ClusterAnswer) -> bool {
        self.is_off && answer.kept.takes_network()
    }

    fn replace(&mut self, ctx: &Context, answer: Option<Arc<ClusterAnswer>>) {
        ctx.drop_elsewhere(std::mem::replace(&mut self.answer, answer));
    }

    fn is_current(&self, run: u64) -> bool {
        self.run.load(Ordering::Relaxed) == run
    }

    /// Asks for what is known of kept clusters. While a question is under way the next one waits.
    fn ask(&mut self, ctx: &mut Context) {
        if ctx.state().is_none() {
            return;
        }
        if std::mem::replace(&mut self.is_asked, true) {
            self.is_asked_again = true;
            return;
        }
        let kept = self.answer.as_ref().map(|answer| Arc::clone(&answer.kept));
        let (run, in_vain) = (self.run.load(Ordering::Relaxed), self.in_vain);
        ctx.with_library(move |_, library| {
            let sets = library.state().vector_sets().into_iter().map(|(set, images)| (set.into(), images)).collect();
            let (kept, is_hidden, lost) = match kept.filter(|kept| library.has_learned_features() || !kept.takes_network()) {
                Some(kept) => (Some(kept), false, None),
                None => {
                    // A cache that cannot be read is told of where it is needed.
                    let KnownClusters { kept, is_hidden, aim } = library.known_clusters().unwrap_or_default();
                    let lost = aim.filter(|_| kept.is_none());
                    (kept.map(Arc::new), is_hidden, lost)
                }
            };
            let kept = kept.map(|kept| followed(library, kept, in_vain));
            let new = kept.as_ref().map_or(0, |kept| without(library, kept));
            let answer = kept.map(|kept| Arc::new(ClusterAnswer::new(library, kept)));
            Message::Known { run, answer, lost, is_hidden, sets, new }
        });
    }
}

/// What is to be found.
enum Aim {
    /// Clusters like these.
    Given(ClusterAim),
    /// Those that are there, with some of them, by their numbers, made one.
    Merged(Vec<usize>),
    /// Those that are there, with one of them, by its number, made two.
    Split(usize),
    /// Those that are there, once it is told that something was said of images.
    Said(Receiver<bool>),
}

/// Tells of a run.
struct Watch {
    number: u64,
    run: Arc<AtomicU64>,
    outbox: Outbox,
}

impl Watch {
    fn is_current(&self) -> bool {
        self.run.load(Ordering::Relaxed) == self.number
    }

    fn tell(&self, library: &Mutex<Library>, mut kept: KeptClusters) -> Arc<KeptClusters> {
        let library = hold(library);
        kept.leave_out_gone(&library);
        let kept = Arc::new(kept);
        let answer = ClusterAnswer::new(&library, Arc::clone(&kept));
        drop(library);
        self.outbox.send(super::Message::from(Message::Found(self.number, Arc::new(answer))));
        kept
    }

    /// Says something of pairs of images, and tells of that. Whether it was done.
    fn say(&self, library: &Mutex<Library>, images: &[ItemId], bond: Bond) -> bool {
        let acted = say(&mut hold(library), Some((images, bond)));
        acted.told.into_iter().for_each(|message| self.outbox.send(message));
        acted.outcome.is_some()
    }
}

/// Says something of pairs of images, or drops all that was said.
fn say(library: &mut Library, said: Option<(&[ItemId], Bond)>) -> Acted<Option<EventId>> {
    let act = |library: &mut Library| match said {
        Some((images, bond)) => library.say_bond(images, bond),
        None => library.drop_bonds(),
    };
    library_act::act(library, act, |event, library| event.map(|_| library_act::last_act(library).into()))
}

/// Fits clusters, tells of them meanwhile, and keeps them also when it is stopped.
fn find(session: &Session, library: &Mutex<Library>, aim: Aim, kept: Option<Arc<KeptClusters>>, watch: &Watch) -> Result<()> {
    let kept = match kept {
        Some(kept) => Some(kept),
        // Those that are hidden are not gone on with.
        None => hold(library).clusters()?.map(Arc::new),
    };
    let (aim, kept) = match (aim, kept) {
        (Aim::Given(aim), kept) => (aim, kept),
        (Aim::Merged(clusters), Some(kept)) => {
            let (merged, typical) = kept.merged(&clusters)?;
            if !watch.say(library, &typical, Bond::Together) {
                return Ok(());
            }
            (merged.aim(), Some(Arc::new(merged)))
        }
        (Aim::Split(cluster), Some(kept)) => {
            session.load_looks(library, Some(&kept.look()))?;
            let (split, two) = session.on_threads(|| kept.split(library, cluster, session.progress()))?;
            if !watch.say(library, &two, Bond::Apart) {
                return Ok(());
            }
            (split.aim(), Some(Arc::new(split)))
        }
        (Aim::Said(is_done), kept) => {
            let is_done = is_done.recv().unwrap_or_default();
            let Some(kept) = kept.filter(|_| is_done) else { return Ok(()) };
            (kept.aim(), Some(kept))
        }
        (Aim::Merged(_) | Aim::Split(_), None) => return Ok(()),
    };
    session.load_looks(library, aim.look.as_ref())?;
    session.on_threads(|| {
        let mut run = ClusterRun::new(library, aim, kept.as_deref(), session.progress())?;
        let (mut told, mut pause) = (Instant::now(), Duration::ZERO);
        session.improve(&mut run, ITERATIONS, |run| {
            if told.elapsed() >= pause && watch.is_current() {
                let begun = Instant::now();
                watch.tell(library, run.found());
                // Describing takes a quarter of the time at most.
                (told, pause) = (Instant::now(), PAUSE.max(3 * begun.elapsed()));
            }
        })?;
        if watch.is_current() {
            let kept = watch.tell(library, run.found());
            hold(library).keep_clusters(&kept)?;
        }
        Ok(())
    })
}

/// Clusters without images that are gone, and with those that came if they are few.
fn followed(library: &Library, kept: Arc<KeptClusters>, in_vain: usize) -> Arc<KeptClusters> {
    let new = without(library, &kept);
    let is_same = new == 0 && kept.len() == library.state().images().count();
    if is_same {
        return kept;
    }
    let mut kept = (*kept).clone();
    if new > NEW.max(in_vain) {
        kept.leave_out_gone(library);
    } else {
        kept.follow(library);
    }
    Arc::new(kept)
}

/// The images without a cluster.
fn without(library: &Library, kept: &KeptClusters) -> usize {
    library.state().images().filter(|image| kept.cluster_of(image.id).is_none()).count()
}
