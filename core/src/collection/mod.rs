//! Collections: images as Parquet shards in a folder or an object store, for more images than one
//! machine has room or time for.
//!
//! A [`Shard`] holds whole images: where they came from, their class, object and captions, and what
//! is computed of them. A [`Manifest`] names the shards of a collection with their hashes. A
//! [`jobs::ShardJob`] makes a state of each shard, and states join associatively and commutatively,
//! equal values by the hashes of images: the joined state has the same bytes whatever the number of
//! shards and the order in which they were seen. What is not here is who runs jobs where: the
//! Python package does, with Dask (docs/distributed.md).
//!
//! Images are known by the xxh3-128 of their bytes, as in a library.

pub mod folder;
pub mod jobs;
mod manifest;
mod shard;

use std::fmt;

pub use manifest::{MANIFEST, Manifest, ShardEntry};
pub use shard::{Shard, ShardImage, write_shard};

use crate::bytes::{Reader, Stored, Writer};
use crate::error::{Error, Result};

/// The xxh3-128 of an image's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageHash(pub u128);

impl ImageHash {
    /// That of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(crate::hash::hash128(bytes))
    }

    /// The hash that is written as 32 hexadecimal digits.
    ///
    /// # Errors
    /// [`Error::Value`] for anything else.
    pub fn from_hex(text: &str) -> Result<Self> {
        let number = if text.len() == 32 { u128::from_str_radix(text, 16).ok() } else { None };
        number.map(Self).ok_or_else(|| Error::value("image", "the 32 hexadecimal digits of its hash", text))
    }

    /// A number that is as good as random for each image and seed, the same everywhere.
    pub fn drawn(self, seed: u64) -> u64 {
        crate::hash::hash64(&[&seed.to_le_bytes()[..], &self.0.to_le_bytes()].concat())
    }
}

impl fmt::Display for ImageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for ImageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Stored for ImageHash {
    fn write(&self, out: &mut Writer) {
        out.put(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self(from.get()?))
    }
}
