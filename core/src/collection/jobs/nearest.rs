//! The images that look most like some: the nearest k of each shard, which join to those of all.

use rayon::prelude::*;

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::{ImageHash, Shard};
use crate::error::{Error, Result};
use crate::picture::appearance::Appearance;
use crate::progress::Progress;

/// By which values images are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollectionLook {
    /// Edges and colours.
    #[default]
    Appearance,
    /// Where edges run.
    Edges,
    /// Where colours are.
    Colours,
}

/// The images that are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestImages {
    /// How many are wanted of each.
    pub k: usize,
    /// By what.
    pub look: CollectionLook,
    /// What they shall be like, as [`Appearance::to_bytes`]. An image of the collection is found by
    /// itself.
    pub like: Vec<Vec<u8>>,
}

/// An image that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearImage {
    /// The image.
    pub image: ImageHash,
    /// How alike it is: 1 for the same picture.
    pub likeness: f64,
}

impl CollectionLook {
    /// How alike two images are: 1 for the same picture.
    pub(super) fn likeness(self, one: &Appearance, other: &Appearance) -> f64 {
        match self {
            Self::Appearance => one.likeness(other),
            Self::Edges => one.edge_likeness(other),
            Self::Colours => one.colour_likeness(other),
        }
    }
}

impl NearestImages {
    /// The appearance of an image that is asked for.
    pub(super) fn read_like(like: &[u8]) -> Result<Appearance> {
        let wrong = || Error::value("appearance", "that of an image, by this version", "other bytes");
        Appearance::from_bytes(like).ok_or_else(wrong)
    }

    /// The first k of some images of a shard, which are named by their places in it.
    pub(super) fn best(
        &self,
        shard: &Shard,
        appearances: &[Appearance],
        like: &Appearance,
        images: impl Iterator<Item = usize>,
    ) -> Vec<NearImage> {
        let hashes = shard.hashes();
        self.first(images.map(|i| NearImage { image: hashes[i], likeness: self.look.likeness(like, &appearances[i]) }).collect())
    }

    /// The first k, best first; of equals the lower hash.
    fn first(&self, mut found: Vec<NearImage>) -> Vec<NearImage> {
        let order = |a: &NearImage, b: &NearImage| b.likeness.total_cmp(&a.likeness).then(a.image.cmp(&b.image));
        if self.k < found.len() {
            found.select_nth_unstable_by(self.k, order);
            found.truncate(self.k);
        }
        found.sort_unstable_by(order);
        found
    }
}

impl ShardJob for NearestImages {
    type State = Vec<Vec<NearImage>>;
    const NAME: &'static str = "nearest images";

    fn state(&self, shards: &[&Shard], progress: &Progress) -> Result<Self::State> {
        let appearances = shards[0].appearances()?;
        progress.begin("Looking for the nearest images", self.like.len() as u64);
        let of = |like: &Vec<u8>| {
            progress.step()?;
            Ok(self.best(shards[0], &appearances, &Self::read_like(like)?, 0..appearances.len()))
        };
        self.like.par_iter().map(of).collect()
    }

    fn join(&self, one: Self::State, other: Self::State) -> Result<Self::State> {
        Ok(one.into_iter().zip(other).map(|(one, other)| self.first([one, other].concat())).collect())
    }
}

impl Stored for CollectionLook {
    fn write(&self, out: &mut Writer) {
        out.put(&(*self as u8));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.get::<u8>()? {
            0 => Ok(Self::Appearance),
            1 => Ok(Self::Edges),
            2 => Ok(Self::Colours),
            look => Err(from.wrong("0, 1 or 2", look.to_string())),
        }
    }
}

impl Stored for NearestImages {
    fn write(&self, out: &mut Writer) {
        out.count(self.k);
        out.put(&self.look);
        out.put(&self.like);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { k: from.get::<u64>()? as usize, look: from.get()?, like: from.get()? })
    }
}

impl Stored for NearImage {
    fn write(&self, out: &mut Writer) {
        out.put(&self.image);
        out.put(&self.likeness);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self { image: from.get()?, likeness: from.get()? })
    }
}
