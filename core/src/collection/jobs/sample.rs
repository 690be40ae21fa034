//! Images chosen at random, and images that are known by their hashes.

use std::collections::{BTreeMap, BTreeSet};

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::{ImageHash, Shard};
use crate::error::Result;
use crate::progress::Progress;

/// Chooses labelled images at random, by numbers that hashes and a seed give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageChoice {
    /// How many are wanted of each class at most.
    pub limit: usize,
    /// The seed.
    pub seed: u64,
}

/// Of each class how many images there are, and those chosen with their numbers, ascending.
pub type ChosenImages = BTreeMap<String, (u64, Vec<(u64, ImageHash)>)>;

impl ImageChoice {
    /// Of those chosen so many in all, as many of each class as it has, in the order of their
    /// hashes.
    pub fn chosen(&self, state: &ChosenImages, limit: usize) -> BTreeSet<ImageHash> {
        let turns = state.values().flat_map(|(_, images)| images.iter().enumerate());
        let mut turns: Vec<(usize, u64, ImageHash)> = turns.map(|(turn, (number, image))| (turn, *number, *image)).collect();
        turns.sort_unstable();
        turns.into_iter().take(limit).map(|(.., image)| image).collect()
    }
}

impl ShardJob for ImageChoice {
    type State = ChosenImages;
    const NAME: &'static str = "image choice";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<ChosenImages> {
        let mut state = ChosenImages::new();
        for (image, class) in shards[0].hashes().iter().zip(shards[0].classes()?) {
            if let Some(class) = class {
                let (count, images) = state.entry(class).or_default();
                *count += 1;
                images.push((image.drawn(self.seed), *image));
            }
        }
        for (_, images) in state.values_mut() {
            images.sort_unstable();
            images.truncate(self.limit);
        }
        Ok(state)
    }

    fn join(&self, mut one: ChosenImages, other: ChosenImages) -> Result<ChosenImages> {
        for (class, (count, images)) in other {
            let (all, chosen) = one.entry(class).or_default();
            *all += count;
            chosen.extend(images);
            chosen.sort_unstable();
            chosen.truncate(self.limit);
        }
        Ok(one)
    }
}

/// Asks for what is known of some images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenImages {
    /// The images.
    pub images: BTreeSet<ImageHash>,
}

/// What is known of an image of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenImage {
    /// Where it was found.
    pub place: String,
    /// Its class.
    pub class: Option<String>,
    /// Its object.
    pub object: Option<String>,
    /// Its elements as bytes.
    pub elements: Vec<u8>,
    /// Its appearance as bytes.
    pub appearance: Vec<u8>,
}

impl ShardJob for TakenImages {
    type State = Vec<(ImageHash, TakenImage)>;
    const NAME: &'static str = "taken images";

    fn state(&self, shards: &[&Shard], _: &Progress) -> Result<Self::State> {
        if !shards[0].hashes().iter().any(|hash| self.images.contains(hash)) {
            return Ok(Vec::new());
        }
        let wanted = shards[0].images()?.into_iter().filter(|image| self.images.contains(&image.hash));
        let taken = wanted.map(|image| {
            let (elements, appearance) = (image.elements, image.appearance);
            (image.hash, TakenImage { place: image.place, class: image.class, object: image.object, elements, appearance })
        });
        Ok(taken.collect())
    }

    fn join(&self, mut one: Self::State, other: Self::State) -> Result<Self::State> {
        one.extend(other);
        one.sort_by_key(|(image, _)| *image);
        one.dedup_by_key(|(image, _)| *image);
        Ok(one)
    }
}

impl Stored for ImageChoice {
    fn write(&self, out: &mut Writer) {
        out.count(self.limit);
        out.put(&self.seed);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { limit: from.get::<u64>()? as usize, seed: from.get()? })
    }
}

impl Stored for ChosenImages {
    fn write(&self, out: &mut Writer) {
        out.count(self.len());
        for (class, images) in self {
            out.put(class);
            out.put(images);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let n = from.count()?;
        (0..n).map(|_| Ok((from.get()?, from.get()?))).collect()
    }
}

impl Stored for TakenImages {
    fn write(&self, out: &mut Writer) {
        out.put(&self.images.iter().copied().collect::<Vec<_>>());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { images: from.get::<Vec<_>>()?.into_iter().collect() })
    }
}

impl Stored for TakenImage {
    fn write(&self, out: &mut Writer) {
        out.put(&self.place);
        out.put(&self.class);
        out.put(&self.object);
        out.put(&self.elements);
        out.put(&self.appearance);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { place: from.get()?, class: from.get()?, object: from.get()?, elements: from.get()?, appearance: from.get()? })
    }
}
