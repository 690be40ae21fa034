//! The store of memories, which all trees share.

use std::collections::HashMap;

use super::{Memory, Slot};
use crate::ids::ItemId;
use crate::sparse::SparseVec;

/// Memories in slots; a memory keeps its slot until it is removed. Everything here is O(1).
#[derive(Clone, Debug)]
pub(super) struct Memories<V> {
    /// By [`Slot`].
    pub(super) slots: Vec<Option<Memory<V>>>,
    /// Slots without a memory; the last is taken next.
    pub(super) vacant: Vec<Slot>,
    /// Slots with a memory, to draw from at random: the paper's map M.
    pub(super) live: Vec<Slot>,
    /// Where in `live` a slot is.
    place: Vec<u32>,
    slot_of: HashMap<ItemId, Slot>,
    /// The most memories there ever were.
    pub(super) peak: usize,
}

impl<V> Default for Memories<V> {
    fn default() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), live: Vec::new(), place: Vec::new(), slot_of: HashMap::new(), peak: 0 }
    }
}

impl<V> Memories<V> {
    pub(super) fn len(&self) -> usize {
        self.live.len()
    }

    pub(super) fn slot(&self, id: ItemId) -> Option<Slot> {
        self.slot_of.get(&id).copied()
    }

    pub(super) fn get(&self, slot: Slot) -> Option<&Memory<V>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    /// The vector in a slot that has a memory.
    pub(super) fn vector(&self, slot: Slot) -> &SparseVec {
        &self.at(slot).x
    }

    /// The memory in a slot that has one.
    pub(super) fn at(&self, slot: Slot) -> &Memory<V> {
        self.slots[slot as usize].as_ref().expect("trees hold only slots that have a memory")
    }

    /// Whether the vectors in these slots are all equal.
    pub(super) fn are_alike(&self, slots: &[Slot]) -> bool {
        slots.windows(2).all(|pair| self.vector(pair[0]) == self.vector(pair[1]))
    }

    /// Gives a slot to a memory whose identifier is new.
    pub(super) fn add(&mut self, memory: Memory<V>) -> Slot {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.place.push(0);
            self.slots.len() as Slot - 1
        });
        self.slot_of.insert(memory.id, slot);
        self.slots[slot as usize] = Some(memory);
        self.place[slot as usize] = self.live.len() as u32;
        self.live.push(slot);
        self.peak = self.peak.max(self.live.len());
        slot
    }

    /// Removes a memory and frees its slot.
    pub(super) fn take(&mut self, slot: Slot) -> Option<Memory<V>> {
        let memory = self.slots.get_mut(slot as usize)?.take()?;
        self.slot_of.remove(&memory.id);
        let place = self.place[slot as usize];
        self.live.swap_remove(place as usize);
        if let Some(&moved) = self.live.get(place as usize) {
            self.place[moved as usize] = place;
        }
        self.vacant.push(slot);
        Some(memory)
    }

    /// The store with these memories and lists of slots, as they were saved; otherwise what is
    /// wrong with them.
    pub(super) fn restored(slots: Vec<Option<Memory<V>>>, vacant: Vec<Slot>, live: Vec<Slot>, peak: usize) -> Result<Self, String> {
        let mut place = vec![u32::MAX; slots.len()];
        let mut slot_of = HashMap::with_capacity(live.len());
        for (i, &slot) in live.iter().enumerate() {
            let Some(Some(memory)) = slots.get(slot as usize) else { return Err(format!("slot {slot} as one with a memory")) };
            if slot_of.insert(memory.id, slot).is_some() {
                return Err(format!("memory {} twice", memory.id.0));
            }
            place[slot as usize] = i as u32;
        }
        let mut free = vec![false; slots.len()];
        for &slot in &vacant {
            match (slots.get(slot as usize), free.get_mut(slot as usize)) {
                (Some(None), Some(free)) if !*free => *free = true,
                _ => return Err(format!("slot {slot} as a vacant one")),
            }
        }
        if live.len() + vacant.len() != slots.len() || peak < live.len() {
            return Err(format!("{} and {} of {} slots, {peak} at most", live.len(), vacant.len(), slots.len()));
        }
        Ok(Self { slots, vacant, live, place, slot_of, peak })
    }

    /// What is wrong with the lists, if anything is.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.slot_of.len() != self.live.len() || self.live.len() + self.vacant.len() != self.slots.len() {
            return Err(format!("{} names for {} memories in {} slots", self.slot_of.len(), self.live.len(), self.slots.len()));
        }
        for (i, &slot) in self.live.iter().enumerate() {
            let id = self.get(slot).map(|memory| memory.id);
            if self.place[slot as usize] as usize != i || id.and_then(|id| self.slot(id)) != Some(slot) {
                return Err(format!("slot {slot} is not where the lists say"));
            }
        }
        Ok(())
    }
}
