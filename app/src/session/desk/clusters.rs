//! Clusters of the library's images: found while one watches, kept, and described.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tessera_core::ids::ItemId;
use tessera_core::library::Library;
use tessera_core::library::bonds::Bond;
use tessera_core::library::clusters::{
    ClusterAim, ClusterChange, ClusterRun, ImageCluster, KeptClusters, KnownClusters, titles, usual_clusters,
};
use tessera_core::library::event::EventId;
use tessera_core::library::import::hold;
use tessera_core::library::looks::Look;
use tessera_core::library::state::State;
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
/// Why clusters are not merged or split.
const RETURNED: &str = "Undo or redo has brought other clusters, so nothing was merged or split: choose among these";
/// The place of an image without a cluster.
const NONE: u32 = u32::MAX;

/// Clusters, and the run that finds them.
#[derive(Default)]
pub struct Clusters {
    answer: Option<Arc<ClusterAnswer>>,
    /// Why the last run found none, and the last event of the library then.
    failure: Option<(String, Option<EventId>)>,
    /// The sets of vectors that were brought, with the images that have one.
    sets: Vec<(Arc<str>, usize)>,
    /// Whether kept clusters were looked for.
    is_known: bool,
    /// Whether a question is under way, and whether another one is to follow.
    is_asked: bool,
    is_asked_again: bool,
    /// Whether a page with clusters is visible: only then are they described anew whenever the
    /// library changes. When images come or go, they are followed in any case.
    is_watched: bool,
    /// The library when its images were last followed.
    followed: Option<State>,
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
    /// What each of these is called; no two have one title.
    pub titles: Vec<String>,
    /// The images of the others, cluster by cluster.
    pub odd: Vec<ItemId>,
    /// How many the others are.
    pub oddities: usize,
    /// Images without a cluster: they have no such vector.
    pub left_out: usize,
    /// Pairs of images of which the user said that they belong together, and that they do not.
    pub pairs: [usize; 2],
    /// Whether these were found with all that is said of pairs now.
    pub follows_pairs: bool,
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
        let (titles, follows_pairs) = (titles(&clusters), library.follows_pairs(&kept));
        Self { kept, clusters, titles, odd, oddities: others.len(), left_out, pairs, follows_pairs, places }
    }

    /// The place of an image's cluster in the list; that of oddities comes after the last.
    pub fn place_of(&self, image: ItemId) -> Option<usize> {
        self.places.get(image.0 as usize).filter(|place| **place != NONE).map(|place| *place as usize)
    }

    /// The images of a cluster, or of all oddities, by its place; the most typical first.
    pub fn images(&self, place: usize) -> &[ItemId] {
        self.clusters.get(place).map_or(&self.odd, |cluster| &cluster.images)
    }

    /// What the cluster at a place is called.
    pub fn title(&self, place: usize) -> &str {
        self.titles.get(place).map_or("Oddities", String::as_str)
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
    /// A run has ended; if it failed with words, after this event of the library.
    Ended(u64, Option<(String, Option<EventId>)>),
    /// What is known of kept clusters; where they are lost, what was asked for; and whether learned
    /// features are off that they take.
    Known {
        run: u64,
        answer: Option<Arc<ClusterAnswer>>,
        /// Whether undo or redo led to these from those that were shown.
        is_returned: bool,
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
                if let Some((words, _)) = &failure {
                    ctx.tell(problem(words));
                }
                (self.failure, self.is_asked) = (failure, false);
                // Images may have been labelled, or have come, since it was last described.
                self.ask(ctx);
            }
            Message::Found(..) | Message::Ended(..) => {}
            Message::Known { run, answer, is_returned, lost, is_hidden, sets, new } => {
                (self.is_asked, self.is_known, self.sets) = (false, true, sets);
                // Learned features may have been turned off since it was asked.
                let is_barred = answer.as_ref().is_some_and(|answer| self.is_barred(answer));
                let (answer, is_hidden) = (answer.filter(|_| !is_barred), is_hidden || is_barred);
                // It may have been asked for before a run told of others.
                let is_older = |(new, old): (&Arc<ClusterAnswer>, &Arc<ClusterAnswer>)| {
                    !new.kept.is_of_same_pairs(&old.kept) || new.kept.iterations() < old.kept.iterations()
                };
                let is_older = !is_returned && answer.as_ref().zip(self.answer.as_ref()).is_some_and(is_older);
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
        // Something was done since.
        let last = ctx.state().and_then(State::last_event);
        self.failure.take_if(|(_, at)| *at != last);
        match event {
            Event::Closed => *self = Self { is_watched: self.is_watched, ..Self::default() },
            Event::Opened => self.followed = ctx.state().cloned(),
            Event::Ready | Event::Changed if ctx.is_ready() => {
                let is_due = !ctx.jobs.is_importing() && self.have_images_come_or_gone(ctx);
                if self.is_watched || is_due {
                    self.ask(ctx);
                }
            }
            Event::First | Event::Ready | Event::Changed => {}
            Event::Seen => {
                self.in_vain = 0;
                self.ask(ctx);
            }
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
        self.failure.as_ref().map(|(words, _)| words.as_str())
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
        let kept = self.answer.as_ref().map(|answer| Arc::clone(&answer.kept));
        // Before it is said: what others still keep is not current any more.
        self.run.fetch_add(1, Ordering::Relaxed);
        let (send, changed) = mpsc::channel();
        ctx.with_library(move |_, library| {
            let acted = act(library, |library| say(library, kept, said));
            // The job that waits for this may have made way for another one.
            let _ = send.send(acted.outcome.and_then(|(_, kept)| kept));
            acted.told
        });
        self.start(ctx, Aim::Said(changed));
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
            let failure = outcome.err().filter(|error| !matches!(error, Error::Cancelled));
            let failure = failure.map(|error| (error.to_string(), hold(&library).state().last_event()));
            Ok(Message::Ended(number, failure))
        });
    }

    /// Gives new images clusters, once they were imported; their vectors are loaded for that.
    pub(super) fn assign_if_due(&mut self, ctx: &mut Context) {
        let is_busy =
            ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::FindClusters) || ctx.jobs.is_running(&JobKind::AssignClusters);
        if is_busy || self.new == 0 || self.new == self.in_vain {
            return;
        }
        let Some(kept) = self.answer.as_ref().map(|answer| Arc::clone(&answer.kept)) else { return };
        let (run, last) = (self.run.load(Ordering::Relaxed), Arc::clone(&self.run));
        // Also if it is stopped, or fails.
        self.in_vain = self.new;
        ctx.library_job(JobKind::AssignClusters, move |session, library| {
            session.load_looks(library, Some(&kept.look()))?;
            let library = hold(library);
            // Others may have been found, or made of these, meanwhile.
            if last.load(Ordering::Relaxed) != run {
                return Ok(Message::Assigned { run, answer: None, new: 0 });
            }
            let mut kept = library.clusters_returned(&kept)?.unwrap_or_else(|| (*kept).clone());
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
        if ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::FindClusters) || is_tried || !kept.is_outgrown() {
            return;
        }
        self.renewed = Some(kept.len());
        self.find(ctx, kept.aim());
        // Nobody asked for it: it makes way for what somebody asks for.
        ctx.jobs.let_give_way(&JobKind::FindClusters);
    }

    /// Finds clusters that are lost again, by what was asked for; not again if that was stopped.
    fn make_again_if_due(&mut self, ctx: &mut Context, lost: Option<ClusterAim>) {
        let is_busy = ctx.jobs.is_importing() || ctx.jobs.is_running(&JobKind::FindClusters);
        let has_images = ctx.state().is_some_and(|state| state.images().next().is_some());
        if let Some(aim) = lost.filter(|_| self.is_watched && has_images && !is_busy && !self.is_made_again) {
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

    /// Whether images have come or gone since this was last asked.
    fn have_images_come_or_gone(&mut self, ctx: &Context) -> bool {
        let Some(now) = ctx.state() else { return false };
        let before = self.followed.replace(now.clone());
        let is_live = |state: &State, id| state.image(id).is_some_and(|image| image.is_live());
        before.is_some_and(|before| now.changed_since(&before).into_iter().any(|id| is_live(now, id) != is_live(&before, id)))
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
            let (kept, is_returned, is_hidden, lost) = match kept.filter(|kept| library.can_show(kept)) {
                Some(kept) => {
                    let returned = library.clusters_returned(&kept).ok().flatten();
                    let is_returned = returned.is_some();
                    (Some(returned.map_or(kept, Arc::new)), is_returned, false, None)
                }
                None => {
                    // A cache that cannot be read is told of where it is needed.
                    let KnownClusters { kept, is_hidden, aim } = library.known_clusters().unwrap_or_default();
                    let lost = aim.filter(|_| kept.is_none());
                    (kept.map(Arc::new), false, is_hidden, lost)
                }
            };
            let kept = kept.map(|kept| followed(library, kept, in_vain));
            let new = kept.as_ref().map_or(0, |kept| without(library, kept));
            let answer = kept.map(|kept| Arc::new(ClusterAnswer::new(library, kept)));
            Message::Known { run, answer, is_returned, lost, is_hidden, sets, new }
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
    /// Those that come once something was said of images.
    Said(Receiver<Option<KeptClusters>>),
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

    /// Tells of clusters; none where undo or redo leads to others meanwhile.
    fn tell(&self, library: &Mutex<Library>, mut kept: KeptClusters) -> Result<Option<Arc<KeptClusters>>> {
        let library = hold(library);
        if library.has_clusters_to_return_to(&kept)? {
            return Ok(None);
        }
        kept.leave_out_gone(&library);
        let kept = Arc::new(kept);
        let answer = ClusterAnswer::new(&library, Arc::clone(&kept));
        drop(library);
        self.outbox.send(super::Message::from(Message::Found(self.number, Arc::new(answer))));
        Ok(Some(kept))
    }

    /// Merges or splits clusters, and tells of it. Returns the clusters to go on from; none where
    /// it failed, or where undo or redo led to other clusters meanwhile, which is told, too.
    fn change(&self, library: &Mutex<Library>, kept: &KeptClusters, change: ClusterChange) -> Result<Option<Arc<KeptClusters>>> {
        let mut held = hold(library);
        if held.has_clusters_to_return_to(kept)? {
            drop(held);
            self.outbox.send(note(RETURNED));
            return Ok(None);
        }
        let acted = act(&mut held, |library| library.change_clusters(kept, change));
        drop(held);
        acted.told.into_iter().for_each(|message| self.outbox.send(message));
        acted.outcome.map_or(Ok(None), |(_, changed)| self.tell(library, changed))
    }
}

/// The event in which something was said of pairs of images, and the clusters to go on from.
type Changed<K> = (Option<EventId>, K);

/// Says something of pairs of images, with what the desk is sent about it.
fn act<K>(library: &mut Library, change: impl FnOnce(&mut Library) -> Result<Changed<K>>) -> Acted<Changed<K>> {
    library_act::act(library, change, |(event, _), library| event.map(|_| library_act::last_act(library).into()))
}

/// Says something of pairs of images, or drops all that was said, and returns the clusters to go on
/// from where there are any.
fn say(library: &mut Library, kept: Option<Arc<KeptClusters>>, said: Option<(Vec<ItemId>, Bond)>) -> Result<Changed<Option<KeptClusters>>> {
    let say = |library: &mut Library| match &said {
        Some((images, bond)) => library.say_bond(images, *bond),
        None => library.drop_bonds(),
    };
    let kept = match kept {
        // Undo or redo may have led to others that are not shown yet.
        Some(kept) => Some(library.clusters_returned(&kept)?.unwrap_or_else(|| Arc::unwrap_or_clone(kept))),
        None => library.clusters()?,
    };
    library.say_with_clusters(kept, say)
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
            let mut kept = Arc::unwrap_or_clone(kept);
            kept.leave_out_gone(&hold(library));
            let merged = kept.merged(&clusters)?;
            let Some(merged) = watch.change(library, &kept, merged)? else { return Ok(()) };
            (merged.aim(), Some(merged))
        }
        (Aim::Split(cluster), Some(kept)) => {
            session.load_looks(library, Some(&kept.look()))?;
            let split = session.on_threads(|| kept.split(library, cluster, session.progress()))?;
            let Some(split) = watch.change(library, &kept, split)? else { return Ok(()) };
            (split.aim(), Some(split))
        }
        (Aim::Said(changed), _) => {
            let Some(kept) = changed.recv().unwrap_or_default() else { return Ok(()) };
            (kept.aim(), Some(Arc::new(kept)))
        }
        (Aim::Merged(_) | Aim::Split(_), None) => return Ok(()),
    };
    session.load_looks(library, aim.look.as_ref())?;
    session.on_threads(|| {
        let mut run = ClusterRun::new(library, aim, kept.as_deref(), session.progress())?;
        let (mut told, mut pause) = (Instant::now(), Duration::ZERO);
        session.improve(&mut run, ITERATIONS, |run| {
            if told.elapsed() < pause || !watch.is_current() {
                return true;
            }
            let begun = Instant::now();
            // What cannot be read now is told of at the end.
            let goes_on = watch.tell(library, run.found()).map_or(true, |told| told.is_some());
            // Describing takes a quarter of the time at most.
            (told, pause) = (Instant::now(), PAUSE.max(3 * begun.elapsed()));
            goes_on
        })?;
        if watch.is_current()
            && let Some(kept) = watch.tell(library, run.found())?
        {
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
