//! A small table from features to what is known about them: open addressing, linear probing,
//! nothing but one vector.

/// The place of a feature that is not there.
pub(super) const ABSENT: u32 = u32::MAX;

/// What is known about a feature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) index: u32,
    /// In units of the scale.
    pub(super) weight: f32,
    /// The sum of squared gradients, in units of the scale.
    pub(super) gradient: f32,
    /// The largest size seen; 0 in a vacant slot.
    pub(super) scale: f32,
}

const VACANT: Slot = Slot { index: 0, weight: 0.0, gradient: 0.0, scale: 0.0 };

impl Slot {
    /// A value in units of the scale.
    pub(super) fn unit(&self, value: f32) -> f64 {
        f64::from(value) / f64::from(self.scale)
    }

    /// What a value adds to a prediction.
    pub(super) fn term(&self, value: f32) -> f64 {
        f64::from(self.weight) * self.unit(value)
    }

    /// Raises the scale to a value's size, if that is larger.
    pub(super) fn see(&mut self, value: f32) {
        let size = value.abs();
        if size > self.scale {
            let shrink = f64::from(self.scale) / f64::from(size);
            self.gradient = (f64::from(self.gradient) * shrink * shrink) as f32;
            self.scale = size;
        }
    }
}

/// Slots, at most three quarters taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    taken: usize,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.taken
    }

    /// Slots, taken or not.
    pub(super) fn size(&self) -> usize {
        self.slots.len()
    }

    /// Where a feature is, or [`ABSENT`].
    pub(super) fn find(&self, index: u32) -> u32 {
        if self.slots.is_empty() {
            return ABSENT;
        }
        let mut place = self.home(index);
        loop {
            let slot = &self.slots[place];
            if slot.scale == 0.0 {
                return ABSENT;
            }
            if slot.index == index {
                return place as u32;
            }
            place = self.after(place);
        }
    }

    /// The slot at a place that [`Table::find`] gave, if it gave one.
    pub(super) fn get(&self, place: u32) -> Option<&Slot> {
        self.slots.get(place as usize)
    }

    /// The slot at a place that is taken.
    pub(super) fn at(&mut self, place: u32) -> &mut Slot {
        &mut self.slots[place as usize]
    }

    /// Makes room for `new` more features, and while it grows for some that may follow. Whether
    /// places have changed.
    pub(super) fn reserve(&mut self, new: usize) -> bool {
        let wanted = self.taken + new;
        if wanted * 4 <= self.slots.len() * 3 {
            return false;
        }
        let size = (wanted * 4).div_ceil(3).max(self.slots.len() * 3 / 2).max(4);
        let old = std::mem::replace(&mut self.slots, vec![VACANT; size]);
        for slot in old.into_iter().filter(|slot| slot.scale != 0.0) {
            let place = self.vacancy(slot.index);
            self.slots[place] = slot;
        }
        true
    }

    /// Puts in a feature for which room was made, unless it is there. Its place.
    pub(super) fn enter(&mut self, slot: Slot) -> u32 {
        let found = self.find(slot.index);
        if found != ABSENT {
            return found;
        }
        let place = self.vacancy(slot.index);
        self.slots[place] = slot;
        self.taken += 1;
        place as u32
    }

    /// All features, ascending.
    pub(super) fn sorted(&self) -> Vec<&Slot> {
        let mut slots: Vec<&Slot> = self.slots.iter().filter(|slot| slot.scale != 0.0).collect();
        slots.sort_unstable_by_key(|slot| slot.index);
        slots
    }

    /// The first vacant place on a feature's way.
    fn vacancy(&self, index: u32) -> usize {
        let mut place = self.home(index);
        while self.slots[place].scale != 0.0 {
            place = self.after(place);
        }
        place
    }

    /// Where the search for a feature begins: the upper part of a product with the golden ratio.
    fn home(&self, index: u32) -> usize {
        ((u64::from(index.wrapping_mul(0x9e37_79b9)) * self.slots.len() as u64) >> 32) as usize
    }

    /// The place after another.
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.slots.len() { 0 } else { place + 1 }
    }
}
