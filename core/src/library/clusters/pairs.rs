//! What the user says of images: that some belong together, and that some do not. The newest word
//! holds.

use std::collections::BTreeMap;

use super::kept::ClusterAim;
use crate::ids::ItemId;

impl ClusterAim {
    /// Says that images belong in one cluster. What was said against it is dropped.
    /// O(images + pairs).
    pub fn say_together(&mut self, images: &[ItemId]) {
        if let [first, others @ ..] = images {
            self.together.extend(others.iter().map(|other| (*first, *other)));
        }
        let groups = self.groups();
        self.apart.retain(|(a, b)| leader(&groups, *a) != leader(&groups, *b));
        self.tidy();
    }

    /// Says that no two of these images belong in one cluster. What was said against it is dropped:
    /// of images that belong together and hold two of these, all that was said to join them.
    /// O(images^2 + pairs).
    pub fn say_apart(&mut self, images: &[ItemId]) {
        let groups = self.groups();
        let mut named: BTreeMap<ItemId, usize> = BTreeMap::new();
        for image in images {
            *named.entry(leader(&groups, *image)).or_insert(0) += 1;
        }
        self.together.retain(|(a, _)| named.get(&leader(&groups, *a)).is_none_or(|count| *count < 2));
        for (place, one) in images.iter().enumerate() {
            self.apart.extend(images[place + 1..].iter().map(|other| (*one, *other)));
        }
        self.tidy();
    }

    /// Leaves out pairs of which an image does not stay. O(pairs).
    pub fn retain_pairs(&mut self, stays: impl Fn(ItemId) -> bool) {
        for pairs in [&mut self.together, &mut self.apart] {
            pairs.retain(|(a, b)| stays(*a) && stays(*b));
        }
    }

    /// For each image that belongs together with others, one image that stands for all of these.
    fn groups(&self) -> BTreeMap<ItemId, ItemId> {
        let mut groups = BTreeMap::new();
        for (a, b) in &self.together {
            let (a, b) = (leader(&groups, *a), leader(&groups, *b));
            groups.insert(a.max(b), a.min(b));
        }
        groups
    }

    /// Each pair once, and none of an image with itself.
    fn tidy(&mut self) {
        for pairs in [&mut self.together, &mut self.apart] {
            pairs.iter_mut().for_each(|(a, b)| (*a, *b) = ((*a).min(*b), (*a).max(*b)));
            pairs.retain(|(a, b)| a != b);
            pairs.sort_unstable();
            pairs.dedup();
        }
    }
}

/// The image that stands for all that belong together with this one.
fn leader(groups: &BTreeMap<ItemId, ItemId>, mut image: ItemId) -> ItemId {
    while let Some(next) = groups.get(&image).filter(|next| **next != image) {
        image = *next;
    }
    image
}
