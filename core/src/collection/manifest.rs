//! Which shards a collection has, as JSON with a checksum of itself.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::bytes::options_text;
use crate::ckm::CkmOptions;
use crate::error::{Error, Result};
use crate::hash::hash_hex;

/// The name of the file in a collection's folder.
pub const MANIFEST: &str = "manifest.json";

/// The key of the form, which stands first.
pub(super) const FORM_KEY: &str = "\"tessera_collection\"";

/// The form of manifests and shards.
const FORM: u32 = 1;

/// A shard, as a manifest names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardEntry {
    /// The name of its file in the folder.
    pub file: String,
    /// The xxh3-128 of its bytes, as 32 hexadecimal digits.
    pub hash: String,
    /// How many images it has.
    pub images: u64,
    /// Its bytes.
    pub bytes: u64,
}

impl ShardEntry {
    /// The entry of a shard with these bytes and so many images, whose name is their hash.
    pub fn of(bytes: &[u8], images: usize) -> Self {
        let hash = hash_hex(bytes);
        Self { file: format!("shard-{hash}.parquet"), hash, images: images as u64, bytes: bytes.len() as u64 }
    }
}

/// The shards of a version of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Grows by one with each change.
    pub version: u64,
    /// What the elements of all images were cut by.
    pub options: CkmOptions,
    /// In the order of their names.
    shards: Vec<ShardEntry>,
}

/// As it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    tessera_collection: u32,
    version: u64,
    options: String,
    shards: Vec<ShardEntry>,
    checksum: String,
}

impl Written {
    fn sum(&self) -> String {
        let shards = self.shards.iter().map(|shard| format!("{} {} {} {}\n", shard.file, shard.hash, shard.images, shard.bytes));
        hash_hex(format!("{} {} {}\n{}", self.tessera_collection, self.version, self.options, shards.collect::<String>()).as_bytes())
    }
}

impl Manifest {
    /// The manifest of a collection without shards.
    pub fn new(options: CkmOptions) -> Self {
        Self { version: 0, options, shards: Vec::new() }
    }

    /// The shards, in the order of their names.
    pub fn shards(&self) -> &[ShardEntry] {
        &self.shards
    }

    /// How many images there are.
    pub fn images(&self) -> u64 {
        self.shards.iter().fold(0, |sum, shard| sum.saturating_add(shard.images))
    }

    /// The next version: without the shards of these names, and with others. A shard without images
    /// is left out.
    #[must_use]
    pub fn changed(&self, without: &[String], with: impl IntoIterator<Item = ShardEntry>) -> Self {
        let without: BTreeSet<&str> = without.iter().map(|file| &**file).collect();
        let stay = self.shards.iter().filter(|shard| !without.contains(&*shard.file)).cloned();
        let mut shards: Vec<ShardEntry> = stay.chain(with).filter(|shard| shard.images > 0).collect();
        shards.sort_by(|a, b| a.file.cmp(&b.file));
        shards.dedup_by(|a, b| a.file == b.file);
        Self { version: self.version + 1, options: self.options.clone(), shards }
    }

    /// What tells this version from every other: the checksum in the file.
    pub fn checksum(&self) -> String {
        self.written().checksum
    }

    fn written(&self) -> Written {
        let options = options_text(&self.options);
        let mut written =
            Written { tessera_collection: FORM, version: self.version, options, shards: self.shards.clone(), checksum: String::new() };
        written.checksum = written.sum();
        written
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        // Text and whole numbers always have a form in JSON.
        serde_json::to_string_pretty(&self.written()).unwrap_or_default() + "\n"
    }

    /// What [`Manifest::to_json`] wrote.
    ///
    /// # Errors
    /// [`Error::Value`] for any other text.
    pub fn from_json(text: &str) -> Result<Self> {
        let wrong = |expected: &str, found: String| Error::value("manifest", expected, found);
        let written: Written = serde_json::from_str(text).map_err(|error| wrong("a collection's manifest", error.to_string()))?;
        if written.tessera_collection != FORM {
            return Err(wrong("form 1; a newer version of the program reads later ones", written.tessera_collection.to_string()));
        }
        if written.sum() != written.checksum {
            return Err(wrong("its checksum", "another: it was changed or is damaged".into()));
        }
        let is_name =
            |shard: &ShardEntry| shard.file == format!("shard-{}.parquet", shard.hash) && shard.hash.chars().all(char::is_alphanumeric);
        if let Some(shard) = written.shards.iter().find(|shard| !is_name(shard)) {
            return Err(wrong("shards named by their hashes", shard.file.clone()));
        }
        let options: CkmOptions = ron::from_str(&written.options).map_err(|error| wrong("options of elements", error.to_string()))?;
        options.check()?;
        Ok(Self { version: written.version, options, shards: written.shards })
    }
}
