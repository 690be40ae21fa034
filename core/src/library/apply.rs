//! Applies events to the state of a library.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::event::{Change, Event, EventId, EventKind, Field, Swap};
use super::state::{Act, Place, State};
use crate::ids::ItemId;

/// How many acts can be taken back at least, so that a history of any length takes bounded memory.
const KEPT_ACTS: usize = 10_000;

impl State {
    /// Applies every change of an event and enters it in the history.
    pub(super) fn step(&mut self, event: &Event) {
        event.changes.iter().for_each(|change| self.apply(change));
        self.record(event);
    }

    /// Applies a change.
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::Image(id, field) => {
                let image = self.edit(*id);
                match field {
                    Field::Content(swap) => image.content = swap.1,
                    Field::Folder(swap) => image.folder.clone_from(&swap.1),
                    Field::Label(swap) => image.user.clone_from(&swap.1),
                    Field::Captions(swap) => image.captions.clone_from(&swap.1),
                    Field::Removed(swap) => image.removed = swap.1,
                    Field::Reward(query, swap) => put(&mut image.rewards, query, swap.1),
                    Field::Rejection(class, Swap(_, true)) => {
                        image.rejected.insert(class.clone());
                    }
                    Field::Rejection(class, Swap(_, false)) => {
                        image.rejected.remove(class);
                    }
                    Field::Vector(set, swap) => put(&mut image.vectors, set, swap.1.clone()),
                    Field::Bond(other, swap) => put(&mut image.bonds, other, swap.1),
                    Field::NotCopy(other, Swap(_, true)) => {
                        image.not_copies.insert(*other);
                    }
                    Field::NotCopy(other, Swap(_, false)) => {
                        image.not_copies.remove(other);
                    }
                    Field::Guess(word, Swap(_, true)) => {
                        image.no_guesses.insert(word.clone());
                    }
                    Field::Guess(word, Swap(_, false)) => {
                        image.no_guesses.remove(word);
                    }
                }
            }
            Change::Class(name, swap) => put(Arc::make_mut(&mut self.classes), name, swap.1),
            Change::Alias(word, swap) => put(Arc::make_mut(&mut self.aliases), word, swap.1.clone()),
            Change::Root(id, swap) => {
                if let Some(root) = Arc::make_mut(&mut self.roots).get_mut(id) {
                    root.path.clone_from(&swap.1.0);
                }
            }
            Change::Reading(id, swap) => {
                if let Some(root) = Arc::make_mut(&mut self.roots).get_mut(id) {
                    root.reading.clone_from(&swap.1);
                }
            }
        }
    }

    /// Enters an event in the history, unless everything in it was forgotten.
    pub(super) fn record(&mut self, event: &Event) {
        self.last = Some(event.id);
        if event.is_forgotten() {
            return;
        }
        let (done, undone) = (Arc::make_mut(&mut self.done), Arc::make_mut(&mut self.undone));
        match event.kind {
            EventKind::Act => {
                // Only long work, such as an import, has more than one event.
                let known = if event.act == event.id { None } else { done.iter().rposition(|act| act.id == event.act) };
                let act = Act { id: event.act, at: known.map_or(event.at, |at| done[at].at), words: event.words.clone() };
                match known {
                    Some(at) => done[at] = Arc::new(act),
                    None => done.push(Arc::new(act)),
                }
                if done.len() >= 2 * KEPT_ACTS {
                    done.drain(..KEPT_ACTS);
                }
                undone.clear();
            }
            EventKind::Undo(act) => move_act(done, undone, act),
            EventKind::Redo(act) => move_act(undone, done, act),
            EventKind::Final => {}
        }
    }

    /// Gives a place to an image, and takes it from the one that had it.
    pub(super) fn move_place(&mut self, id: ItemId, place: Place, before: Option<ItemId>) {
        let is_it = |other: &Place| other.root == place.root && other.path == place.path;
        if let Some(before) = before.filter(|before| *before != id && self.image(*before).is_some()) {
            self.edit(before).places.retain(|other| !is_it(other));
        }
        let places = &mut self.edit(id).places;
        places.retain(|other| !is_it(other));
        let at = places.partition_point(|other| (other.root, &other.path) < (place.root, &place.path));
        places.insert(at, place);
    }
}

fn move_act(from: &mut Vec<Arc<Act>>, to: &mut Vec<Arc<Act>>, act: EventId) {
    if let Some(at) = from.iter().rposition(|other| other.id == act) {
        to.push(from.remove(at));
    }
}

fn put<K: Ord + Clone, V>(map: &mut BTreeMap<K, V>, key: &K, value: Option<V>) {
    match value {
        Some(value) => {
            map.insert(key.clone(), value);
        }
        None => {
            map.remove(key);
        }
    }
}
