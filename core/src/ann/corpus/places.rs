//! The identifiers of points, by their places.

use std::collections::HashMap;

use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::taken;

/// An identifier for each place, and the place of each.
#[derive(Clone, Debug)]
pub(in crate::ann) struct Places {
    ids: Vec<ItemId>,
    of: HashMap<ItemId, u32>,
}

impl Places {
    /// # Errors
    /// [`crate::error::Error::Value`] when an identifier is there twice.
    pub(in crate::ann) fn new(ids: Vec<ItemId>) -> Result<Self> {
        let mut of = HashMap::with_capacity(ids.len());
        for (id, place) in ids.iter().zip(0..) {
            if of.insert(*id, place).is_some() {
                return Err(taken(*id));
            }
        }
        Ok(Self { ids, of })
    }

    /// The identifiers, in the order of their places.
    pub(in crate::ann) fn ids(&self) -> &[ItemId] {
        &self.ids
    }

    pub(in crate::ann) fn of(&self, id: ItemId) -> Option<u32> {
        self.of.get(&id).copied()
    }

    /// # Errors
    /// [`crate::error::Error::Value`] when the identifier is in use.
    pub(in crate::ann) fn check_free(&self, id: ItemId) -> Result<()> {
        if self.of.contains_key(&id) { Err(taken(id)) } else { Ok(()) }
    }

    /// Adds an identifier that is free in the last place.
    pub(in crate::ann) fn push(&mut self, id: ItemId) {
        self.of.insert(id, self.ids.len() as u32);
        self.ids.push(id);
    }

    /// Removes an identifier and returns the place where it was; the last one is there now.
    pub(in crate::ann) fn swap_remove(&mut self, id: ItemId) -> Option<u32> {
        let place = self.of.remove(&id)?;
        self.ids.swap_remove(place as usize);
        if let Some(moved) = self.ids.get(place as usize) {
            self.of.insert(*moved, place);
        }
        Some(place)
    }

    /// Memory in bytes.
    pub(in crate::ann) fn bytes(&self) -> usize {
        self.ids.len() * 28
    }
}
