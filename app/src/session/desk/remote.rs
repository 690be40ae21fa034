//! A cluster that is asked about the collection on show: the last answer, and what its work said.

use std::collections::{HashMap, VecDeque};
use std::io;

use tessera_core::Error;
use tessera_core::ids::ItemId;

use super::context::{Context, Event};
use super::notices::note;
use super::part::Part;
use crate::command::{RemoteCluster, RemoteQuestion};
use crate::job::JobKind;
use crate::session::remote::{RemoteAnswer, RemoteAnswered};

/// Messages that are kept.
const KEPT: usize = 200;

/// What a cluster was asked and answered.
#[derive(Default)]
pub struct AskedCluster {
    answer: Option<(RemoteQuestion, RemoteAnswered)>,
    /// The images of the answer, where it has images of the library.
    found: Vec<(Option<ItemId>, f64)>,
    log: VecDeque<String>,
    report: Option<String>,
    is_elsewhere: bool,
}

/// What the work tells.
pub(super) enum Message {
    /// A sentence about it.
    Told(String),
    /// The answer to a question.
    Answered(RemoteQuestion, RemoteAnswered),
}

impl Part for AskedCluster {
    type Message = Message;

    fn new(_: &Context) -> io::Result<Self> {
        Ok(Self::default())
    }

    fn take_in(&mut self, ctx: &mut Context, message: Message) {
        match message {
            Message::Told(words) => self.tell(words),
            Message::Answered(question, answered) => {
                answered.left_out.iter().for_each(|words| self.tell(words.clone()));
                self.found = match &answered.answer {
                    RemoteAnswer::Found(hits) => {
                        let images = ctx.state().into_iter().flat_map(|state| state.images());
                        let ids: HashMap<u128, ItemId> = images.filter_map(|image| Some((image.content?.hash.0, image.id))).collect();
                        hits.iter().map(|hit| (ids.get(&hit.hash).copied(), hit.value)).collect()
                    }
                    _ => Vec::new(),
                };
                if let RemoteAnswer::Judged(report) = &answered.answer {
                    self.report = Some(report.text.clone());
                }
                self.answer = Some((question, answered));
            }
        }
    }

    fn hear(&mut self, _: &mut Context, event: Event) {
        if event == Event::Closed {
            *self = Self::default();
        }
    }
}

impl AskedCluster {
    /// The last question that was answered, and the answer.
    pub fn answer(&self) -> Option<(&RemoteQuestion, &RemoteAnswered)> {
        self.answer.as_ref().map(|(question, answered)| (question, answered))
    }

    /// The images of the answer with their likeness or score, the best first; `None` for one that
    /// came to the collection after it was opened.
    pub fn found(&self) -> &[(Option<ItemId>, f64)] {
        &self.found
    }

    /// What the work said: which shards failed, and why; the last comes last.
    pub fn log(&self) -> impl ExactSizeIterator<Item = &str> {
        self.log.iter().map(String::as_str)
    }

    /// Whether a scheduler was asked since the collection was opened.
    pub fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    /// Whether the images were judged, so that answers have a confidence.
    pub fn is_judged(&self) -> bool {
        self.report.is_some()
    }

    fn tell(&mut self, words: String) {
        self.log.push_back(words);
        if self.log.len() > KEPT {
            self.log.pop_front();
        }
    }

    /// Asks a cluster about the collection.
    pub(super) fn ask(&mut self, ctx: &mut Context, cluster: RemoteCluster, question: RemoteQuestion) {
        let Some(collection) = ctx.library.as_ref().filter(|open| open.is_collection).map(|open| open.source.clone()) else {
            return ctx.tell(note(NO_COLLECTION));
        };
        self.is_elsewhere |= !cluster.scheduler.trim().is_empty();
        self.log.clear();
        let (report, outbox) = (self.report.clone(), ctx.outbox.clone());
        ctx.job(JobKind::AskCluster, move |session| {
            let told = |words| outbox.send(Message::Told(words));
            match session.ask_cluster(&collection, &cluster, &question, report.as_deref(), told) {
                Ok(answered) => Ok(Message::Answered(question, answered)),
                Err(Error::Cancelled) => Ok(Message::Told("Stopped: what the cluster was asked is taken back".into())),
                Err(error) => Err(error),
            }
        });
    }
}

/// The notice where no collection is open.
pub const NO_COLLECTION: &str = "Open a collection first: a folder of shards, as `tessera shard` makes them";
