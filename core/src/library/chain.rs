//! The chain of events: each commits to its own content and to all events before it, so that one
//! hash, the head, stands for the whole history.
//!
//! A gap or a replaced event shows where two neighbours do not fit. The head of a history that was
//! changed from some event on differs from the one that was noted before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::event::{Change, Event, EventId, EventKind, FORGOTTEN, words_left};
use super::link::{CommitmentOpening, Digest, Link, Part, Secret};

/// The end of a history: its last event and the head after it, written `31:8f0c…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last event; 0 when there is none.
    pub event: EventId,
    /// The head.
    pub digest: Digest,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.event.0, self.digest)
    }
}

/// A head as somebody has noted it: `31:8f0c…`, or the digits alone, of which the first 16 are
/// enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedHead {
    /// The event, if it was noted too.
    pub event: Option<EventId>,
    /// The first digits of the head, 16 to 64, in small letters.
    pub digits: String,
}

impl NotedHead {
    /// Whether this is the head, as far as it was noted.
    pub fn is(&self, digest: &Digest) -> bool {
        digest.to_string().starts_with(&self.digits)
    }
}

impl FromStr for NotedHead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected a head as `tessera check LIBRARY --head` prints it, such as 31:8f0c4a6be2d10957, or at least 16 of its hexadecimal digits";
        let (event, digits) = match text.split_once(':') {
            Some((event, digits)) => (Some(event.parse().map(EventId).map_err(|_| EXPECTED)?), digits),
            None => (None, text),
        };
        let is_head = (16..=64).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_head { Ok(Self { event, digits: digits.to_lowercase() }) } else { Err(EXPECTED.into()) }
    }
}

/// Missing events of one gap whose numbers are listed.
const MOST_LOST: usize = 10_000;

/// What is wrong between two neighbours of a history, or with one event of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The event has no link.
    Unlinked(EventId),
    /// The event is not what its link commits to.
    Altered(EventId),
    /// Events are missing: the first and the last of them. The next one is there.
    Lost(EventId, EventId),
    /// The event does not follow the one before it, though their numbers do.
    Astray(EventId),
}

impl Fault {
    /// The event at which it shows.
    pub(super) fn at(self) -> EventId {
        match self {
            Self::Unlinked(id) | Self::Altered(id) | Self::Astray(id) => id,
            Self::Lost(_, last) => EventId(last.0.saturating_add(1)),
        }
    }

    /// The numbers of the events that are missing; of very many the first.
    pub(super) fn lost(self) -> impl Iterator<Item = EventId> {
        let (first, last) = if let Self::Lost(first, last) = self { (first.0, last.0) } else { (1, 0) };
        (first..=last).map(EventId).take(MOST_LOST)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlinked(id) => write!(f, "event {} bears no link to the one before it", id.0),
            Self::Altered(id) => write!(f, "event {} is not what its link says: it was altered after it was written", id.0),
            Self::Lost(first, last) if first == last => write!(f, "event {} is lost: it is in no file of the library", first.0),
            Self::Lost(first, last) => write!(f, "events {} to {} are lost: they are in no file of the library", first.0, last.0),
            Self::Astray(id) => {
                write!(f, "event {} does not follow event {}: one of the two was altered after it was written", id.0, id.0 - 1)
            }
        }
    }
}

/// The hash of an event's parts, if event and opening fit each other.
fn body(event: &Event, opening: &CommitmentOpening) -> Option<Digest> {
    let parts = match opening {
        CommitmentOpening::Forgotten(body) => return (event.words == FORGOTTEN && event.changes.is_empty()).then_some(*body),
        CommitmentOpening::Whole(secret) => {
            let salts = (0..=event.changes.len()).map(|part| secret.salt(part));
            let changes = event.changes.iter().map(bytes_of);
            let contents = std::iter::once(event.words.clone().into_bytes()).chain(changes);
            salts.zip(contents).map(|(salt, content)| salt.hash(&content)).collect()
        }
        CommitmentOpening::Parts(parts) => {
            let (words, changes) = parts.split_first()?;
            let mut left = event.changes.iter();
            let words = match words {
                Part::Salt(salt) => salt.hash(event.words.as_bytes()),
                Part::Gone(hash) if event.words == words_left(event.kind, &event.changes) => *hash,
                Part::Gone(_) => return None,
            };
            let hash = |part: &Part| match part {
                Part::Salt(salt) => left.next().map(|change| salt.hash(&bytes_of(change))),
                Part::Gone(hash) => Some(*hash),
            };
            let hashes: Option<Vec<Digest>> = std::iter::once(Some(words)).chain(changes.iter().map(hash)).collect();
            let hashes = hashes?;
            if left.next().is_some() {
                return None;
            }
            hashes
        }
    };
    let whole: Vec<&[u8]> = parts.iter().map(|hash| hash.0.as_slice()).collect();
    Some(Digest::of("parts", &whole))
}

/// A change as it is hashed: the JSON in which it stands in every file of a library, which is the
/// same for ever.
fn bytes_of(change: &Change) -> Vec<u8> {
    // Every change can be written as JSON.
    serde_json::to_vec(change).unwrap_or_default()
}

/// The head after an event, given the one before it; none where event and opening do not fit.
fn head(previous: &Digest, event: &Event, opening: &CommitmentOpening) -> Option<Digest> {
    let (kind, target) = match event.kind {
        EventKind::Act => (0_u64, 0),
        EventKind::Undo(act) => (1, act.0),
        EventKind::Redo(act) => (2, act.0),
        EventKind::Final => (3, 0),
    };
    let body = body(event, opening)?;
    let numbers: Vec<u8> = [event.id.0, event.at as u64, event.act.0, kind, target].into_iter().flat_map(u64::to_le_bytes).collect();
    let commitment = Digest::of("event", &[&numbers, &body.0]);
    Some(Digest::of("head", &[&previous.0, &commitment.0]))
}

impl Event {
    /// Ties the event to the head before it, with a secret that no other event has. O(changes).
    pub(super) fn tie(&mut self, previous: Digest, secret: Secret) {
        let opening = CommitmentOpening::Whole(secret);
        self.link = head(&previous, self, &opening).map(|head| Link { previous, head, opening });
    }

    /// Whether the event is what its link commits to; true where it has none. O(changes).
    pub fn holds(&self) -> bool {
        self.link.as_ref().is_none_or(|link| head(&link.previous, self, &link.opening) == Some(link.head))
    }

    /// The event without the changes that are not kept. Words that may name what went make way for
    /// others; what is left can still be checked by the link, which stays what it was but for the
    /// salts of the parts that went. O(changes).
    pub(super) fn without(mut self, is_kept: impl Fn(&Change) -> bool) -> Self {
        let names_images = |changes: &[Change]| changes.iter().any(|change| change.image().is_some());
        let kept: Vec<bool> = self.changes.iter().map(is_kept).collect();
        let mut flags = kept.iter();
        let mut left = self.changes.clone();
        left.retain(|_| flags.next().copied().unwrap_or_default());
        let keeps_words = names_images(&left);
        if let Some(mut link) = self.link.take() {
            link.opening = match body(&self, &link.opening) {
                Some(body) if left.is_empty() => CommitmentOpening::Forgotten(body),
                _ => thinned(&self, link.opening, keeps_words, &kept),
            };
            self.link = Some(link);
        }
        if left.is_empty() {
            self.words = FORGOTTEN.into();
        } else if !keeps_words {
            self.words = words_left(self.kind, &left);
        }
        self.changes = left;
        self
    }
}

/// The opening of an event of which only some changes are kept, and its words or not.
fn thinned(event: &Event, opening: CommitmentOpening, keeps_words: bool, kept: &[bool]) -> CommitmentOpening {
    let of_part = |salt: Secret, content: &[u8], is_kept: bool| if is_kept { Part::Salt(salt) } else { Part::Gone(salt.hash(content)) };
    match opening {
        CommitmentOpening::Whole(secret) => {
            let words = of_part(secret.salt(0), event.words.as_bytes(), keeps_words);
            let changes = event.changes.iter().zip(kept).enumerate();
            let changes = changes.map(|(i, (change, is_kept))| of_part(secret.salt(i + 1), &bytes_of(change), *is_kept));
            CommitmentOpening::Parts(std::iter::once(words).chain(changes).collect())
        }
        CommitmentOpening::Parts(mut parts) => {
            if let Some(words @ Part::Salt(_)) = parts.first_mut()
                && let Part::Salt(salt) = *words
            {
                *words = of_part(salt, event.words.as_bytes(), keeps_words);
            }
            let salts = parts.iter_mut().skip(1).filter(|part| matches!(part, Part::Salt(_)));
            for ((part, change), is_kept) in salts.zip(&event.changes).zip(kept) {
                if let Part::Salt(salt) = *part {
                    *part = of_part(salt, &bytes_of(change), *is_kept);
                }
            }
            CommitmentOpening::Parts(parts)
        }
        CommitmentOpening::Forgotten(body) => CommitmentOpening::Forgotten(body),
    }
}

/// What is wrong with the history that these events tell, in their order. With `contents` each
/// event is compared with its link too, in O(changes); otherwise O(events).
pub(super) fn faults(events: &[Event], contents: bool) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut before = Head { event: EventId(0), digest: Digest::origin() };
    for event in events {
        let Some(link) = &event.link else {
            found.push(Fault::Unlinked(event.id));
            continue;
        };
        found.extend(fault_between(before, event.id, &link.previous));
        if contents && !event.holds() {
            found.push(Fault::Altered(event.id));
        }
        before = Head { event: event.id, digest: link.head };
    }
    found
}

/// What is wrong between a head and the next event that is there, given the head before that.
fn fault_between(before: Head, next: EventId, previous: &Digest) -> Option<Fault> {
    match *previous == before.digest {
        // Numbers may be missing here: what was forgotten before events had links left none.
        true => None,
        false if next.0 == before.event.0.saturating_add(1) => Some(Fault::Astray(next)),
        false => Some(Fault::Lost(EventId(before.event.0.saturating_add(1)), EventId(next.0.saturating_sub(1)))),
    }
}

/// The heads before and after an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joint {
    pub(super) previous: Digest,
    pub(super) after: Head,
}

/// A history as its chain tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSummary {
    /// Its end.
    pub head: Head,
    /// How many events are there, those of which everything was forgotten too.
    pub events: usize,
    /// The numbers of the events that are missing: between others, and of those after the last one
    /// the ones that a repair knew of.
    pub lost: Vec<EventId>,
}

impl ChainSummary {
    pub(super) fn of(joints: &[Joint]) -> Self {
        let mut head = Head { event: EventId(0), digest: Digest::origin() };
        let mut lost = Vec::new();
        for joint in joints {
            lost.extend(fault_between(head, joint.after.event, &joint.previous).into_iter().flat_map(Fault::lost));
            head = joint.after;
        }
        Self { head, events: joints.len(), lost }
    }

    /// Adds events that a repair knew of and that were after the last one that was left, without
    /// those that are there again.
    pub(super) fn add_lost(&mut self, ends: &[Fault], joints: &[Joint]) {
        let is_there = |id: &EventId| joints.binary_search_by_key(id, |joint| joint.after.event).is_ok();
        self.lost.extend(ends.iter().flat_map(|end| end.lost()).filter(|id| !is_there(id)));
        self.lost.sort_unstable();
        self.lost.dedup();
    }
}

/// Where a noted head stands in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadPlace {
    /// It is the head after this event.
    After(EventId),
    /// It was noted after this event, and the history ends before it.
    BeyondEnd(EventId),
    /// Another head stands after this event, after which it was noted.
    Differs(EventId),
    /// It was noted without an event, and is nowhere in the history.
    Nowhere,
}

impl NotedHead {
    pub(super) fn find(&self, joints: &[Joint]) -> HeadPlace {
        let origin = Head { event: EventId(0), digest: Digest::origin() };
        // The head after an event that is lost still stands before the next one.
        let before = |joint: &Joint| Head { event: EventId(joint.after.event.0.saturating_sub(1)), digest: joint.previous };
        let heads = joints.iter().flat_map(|joint| [before(joint), joint.after]).chain([origin]);
        let last = joints.last().map_or(origin, |joint| joint.after);
        let found = heads.filter(|head| self.is(&head.digest)).find(|head| self.event.is_none_or(|event| event == head.event));
        match (found, self.event) {
            (Some(head), _) => HeadPlace::After(head.event),
            (None, Some(event)) if event > last.event => HeadPlace::BeyondEnd(event),
            (None, Some(event)) => HeadPlace::Differs(event),
            (None, None) => HeadPlace::Nowhere,
        }
    }
}

/// Adds to the events of one history those of another source that fit between them. Returns the
/// numbers of those that do not, because they belong to another history.
pub(super) fn join(events: &mut BTreeMap<EventId, Event>, more: Vec<Event>) -> Vec<EventId> {
    let mut refused = Vec::new();
    let mut others = BTreeSet::new();
    let more: BTreeMap<EventId, Event> = more.into_iter().map(|event| (event.id, event)).collect();
    for (id, event) in more {
        let told = events.get(&id).and_then(|told| told.link.as_ref());
        let fits = event.link.as_ref().is_none_or(|link| {
            let before = events.get(&EventId(id.0.saturating_sub(1))).and_then(|before| before.link.as_ref());
            let after = events.get(&EventId(id.0.saturating_add(1))).and_then(|after| after.link.as_ref());
            told.is_none_or(|told| told.head == link.head)
                && before.is_none_or(|before| before.head == link.previous)
                && after.is_none_or(|after| after.previous == link.head)
                && !others.contains(&link.previous)
        });
        if !fits {
            others.extend(event.link.map(|link| link.head));
            refused.push(id);
        } else if !events.contains_key(&id) || (told.is_none() && event.link.is_some()) {
            events.insert(id, event);
        }
    }
    refused
}
