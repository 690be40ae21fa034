//! The images that look most like some: the nearest k of each shard, which join to those of all.

use rayon::prelude::*;

use super::ShardJob;
use crate::bytes::{Reader, Stored, Writer};
use crate::collection::{ImageHash, Shard};
use crate::error::Result;
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

impl NearestImages {
    fn likeness(&self, one: &Appearance, other: &Appearance) -> f64 {
        match self.look {
            CollectionLook::Appearance => one.likeness(other),
            CollectionLook::Edges => one.edge_likeness(other),
            CollectionLook::Colours => one.colour_likeness(other),
        }
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
        let (hashes, appearances) = (shards[0].hashes(), shards[0].appearances()?);
        progress.begin("Looking for the nearest images", self.like.len() as u64);
        let wrong = || Reader::new("appearance", &[]).wrong("that of an image, by this version", "other bytes");
        let of = |like: &Vec<u8>| {
            progress.step()?;
            let like = Appearance::from_bytes(like).ok_or_else(wrong)?;
            let found = hashes.iter().zip(&appearances);
            Ok(self.first(found.map(|(image, own)| NearImage { image: *image, likeness: self.likeness(&like, own) }).collect()))
        };
        self.like.par_iter().map(of).collect()
    }

    fn join(&self, one: Self::State, other: Self::State) -> Result<Self::State> {
        Ok(one.into_iter().zip(other).map(|(one, other)| self.first([one, other].concat())).collect())
    }
}

impl Stored for NearestImages {
    fn write(&self, out: &mut Writer) {
        out.count(self.k);
        out.put(&(self.look as u8));
        out.put(&self.like);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (k, look) = (from.get::<u64>()? as usize, from.get::<u8>()?);
        let look = match look {
            0 => CollectionLook::Appearance,
            1 => CollectionLook::Edges,
            2 => CollectionLook::Colours,
            _ => return Err(from.wrong("0, 1 or 2", look.to_string())),
        };
        Ok(Self { k, look, like: from.get()? })
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
