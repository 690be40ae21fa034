//! The selected images, and how clicks and keys change them.

use std::collections::BTreeSet;
use std::sync::Arc;

use tessera_core::ids::ItemId;

/// Images that a single key acts on without a question: nobody looks at more of them at a time.
pub const AT_ONCE: usize = 24;

/// A selection in a list of images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    chosen: Arc<BTreeSet<ItemId>>,
    /// The anchor: where a range begins.
    anchor: Option<ItemId>,
    /// The cursor: where the arrow keys move from.
    cursor: Option<ItemId>,
    /// Its place in the list when it moved last.
    place: usize,
    /// Whether a list that shows it is to be scrolled to the first of them.
    is_sought: bool,
}

/// How an image is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The only one selected.
    Alone,
    /// Added to the selection, or taken out of it.
    Toggle,
    /// With everything between the anchor and it.
    Range,
}

impl Pick {
    /// The pick that a click means with these keys held down.
    pub fn of(modifiers: egui::Modifiers) -> Self {
        if modifiers.shift {
            Self::Range
        } else if modifiers.command {
            Self::Toggle
        } else {
            Self::Alone
        }
    }
}

impl Selection {
    /// The images, in order of their identifiers.
    pub fn ids(&self) -> Vec<ItemId> {
        self.chosen.iter().copied().collect()
    }

    /// The images: the same set, at the same place, until another one is selected.
    pub fn images(&self) -> &Arc<BTreeSet<ItemId>> {
        &self.chosen
    }

    /// The images, in order of their identifiers.
    pub fn iter(&self) -> impl Iterator<Item = ItemId> + '_ {
        self.chosen.iter().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// Whether an image is one of them.
    pub fn contains(&self, id: ItemId) -> bool {
        self.chosen.contains(&id)
    }

    /// The cursor: where the arrow keys move from.
    pub fn cursor(&self) -> Option<ItemId> {
        self.cursor
    }

    /// The image that viewer and inspector show: the one at the cursor if it is selected.
    pub fn one(&self) -> Option<ItemId> {
        self.cursor.filter(|id| self.contains(*id)).or_else(|| self.chosen.first().copied())
    }

    /// Picks an image of a list.
    pub fn pick(&mut self, list: &[ItemId], id: ItemId, pick: Pick) {
        match pick {
            Pick::Alone => {
                self.chosen = Arc::new(BTreeSet::from([id]));
                self.anchor = Some(id);
            }
            Pick::Toggle => {
                let chosen = Arc::make_mut(&mut self.chosen);
                if !chosen.remove(&id) {
                    chosen.insert(id);
                }
                self.anchor = Some(id);
            }
            Pick::Range => {
                let at = |id: ItemId| list.iter().position(|other| *other == id);
                let (Some(from), Some(to)) = (self.anchor.and_then(at).or(Some(0)), at(id)) else { return };
                self.chosen = Arc::new(list[from.min(to)..=from.max(to)].iter().copied().collect());
            }
        }
        self.cursor = Some(id);
        self.place = list.iter().position(|other| *other == id).unwrap_or(0);
    }

    /// Moves the cursor by some places in a list, and picks the image there.
    pub fn step(&mut self, list: &[ItemId], by: isize, pick: Pick) -> Option<usize> {
        let last = list.len().checked_sub(1)?;
        let now = self.cursor.and_then(|id| list.iter().position(|other| *other == id));
        // The image at the cursor may have left the list: then the one in its place counts.
        let to = match now {
            None if by == 1 => self.place,
            now => now.unwrap_or(self.place).saturating_add_signed(by),
        };
        let to = to.min(last);
        self.pick(list, list[to], if pick == Pick::Toggle { Pick::Alone } else { pick });
        Some(to)
    }

    /// Selects these.
    pub fn set(&mut self, ids: impl IntoIterator<Item = ItemId>) {
        self.chosen = Arc::new(ids.into_iter().collect());
        if !self.cursor.is_some_and(|id| self.chosen.contains(&id)) {
            self.cursor = self.chosen.first().copied();
        }
        self.anchor = self.cursor;
    }

    /// Lets the next list that shows these images be scrolled to the first of them.
    pub fn seek(&mut self) {
        self.is_sought = true;
    }

    /// The place in a list to which it is to be scrolled, told once.
    pub fn take_sought(&mut self, list: &[ItemId]) -> Option<usize> {
        let is_sought = std::mem::take(&mut self.is_sought);
        list.iter().position(|id| is_sought && self.contains(*id))
    }

    /// The selected image to which what shows it is to be scrolled, told once.
    pub fn take_sought_image(&mut self) -> Option<ItemId> {
        self.cursor.filter(|_| std::mem::take(&mut self.is_sought))
    }

    /// Inverts the selection within a list.
    pub fn invert(&mut self, list: &[ItemId]) {
        let others: Vec<ItemId> = list.iter().copied().filter(|id| !self.chosen.contains(id)).collect();
        self.set(others);
    }

    /// Selects nothing.
    pub fn clear(&mut self) {
        self.chosen = Arc::default();
    }

    /// Keeps only the images for which `is_there` holds.
    pub fn retain(&mut self, is_there: impl Fn(ItemId) -> bool) {
        if !self.chosen.iter().all(|id| is_there(*id)) {
            Arc::make_mut(&mut self.chosen).retain(|id| is_there(*id));
        }
        self.cursor = self.cursor.filter(|id| is_there(*id));
        self.anchor = self.anchor.filter(|id| is_there(*id));
    }
}
