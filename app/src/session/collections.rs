//! Collections as libraries: a library of a collection's images, made of its shards in the user's
//! cache folder, once for each version, and only read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tessera_core::ckm::element::Elements;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{CkmOptions, ElementKind};
use tessera_core::collection::folder::CollectionFolder;
use tessera_core::collection::{MANIFEST, ShardImage};
use tessera_core::envelope::{self, hash_hex};
use tessera_core::library::event::ContentHash;
use tessera_core::library::import::hold;
use tessera_core::library::read_only::ReadOnly;
use tessera_core::library::ready_made::{ReadyImage, ReadyKnown};
use tessera_core::library::{Library, LibraryOptions};
use tessera_core::plural::count;
use tessera_core::{Error, Result};

use super::Session;
use super::library::{ENDING, Target, refuse_network, what_is};
use super::reports::is_judging_due;

/// Images that are entered together.
const BATCH: usize = 1000;
/// Digits of a version's checksum in the name of its library.
const DIGITS: usize = 16;
/// The ending of a library that is being made.
const MAKING: &str = "making";

impl Session {
    /// Opens the library of a collection, which is made first where there is none of this version.
    /// It is only read; what its recogniser compares are the elements of the shards.
    ///
    /// # Errors
    /// As [`CollectionFolder::open`] and [`CollectionFolder::shard`]; [`Error::Busy`] while another
    /// program makes it; [`Error::Io`]; [`Error::Cancelled`]: what was made until then is gone on
    /// with the next time.
    pub fn open_collection(&self, collection: &Path) -> Result<Library> {
        let folder = self.library_of_collection(collection)?;
        match self.open_library(&folder) {
            // Nothing in it is precious.
            Err(Error::Data { path, .. }) if path.starts_with(&folder) => {
                fs::remove_dir_all(&folder).map_err(Error::io("delete", &folder))?;
                self.open_library(&self.library_of_collection(collection)?)
            }
            outcome => outcome,
        }
    }

    fn library_of_collection(&self, collection: &Path) -> Result<PathBuf> {
        let full = fs::canonicalize(collection).map_err(Error::io("read", collection))?;
        let shards = CollectionFolder::open(&full)?;
        let base = self.cache_folder().unwrap_or_else(std::env::temp_dir).join("tessera").join("collections");
        refuse_network(&base)?;
        let name: String = full.file_name().unwrap_or_default().to_string_lossy().chars().take(60).collect();
        let of_place = format!("{name}-{}-", &hash_hex(full.as_os_str().as_encoded_bytes())[..8]);
        let of_version = format!("{of_place}{}", &shards.manifest().checksum()[..DIGITS]);
        let place = base.join(format!("{of_version}.{ENDING}"));
        if what_is(&place) != Target::Library || !CollectionFolder::is_one(&place) {
            let making = base.join(format!("{of_version}.{MAKING}"));
            fs::create_dir_all(&making).map_err(Error::io("create", &making))?;
            self.make_library_of(&shards, &full, &making)?;
            let moved = fs::rename(&making, &place);
            if !CollectionFolder::is_one(&place) {
                moved.map_err(Error::io("rename", &making))?;
            }
        }
        for other in fs::read_dir(&base).map_err(Error::io("read", &base))?.flatten() {
            let name = other.file_name();
            if name.to_string_lossy().starts_with(&of_place) && !name.to_string_lossy().starts_with(&of_version) {
                // One that cannot be deleted takes room and does no other harm.
                let _ = fs::remove_dir_all(other.path());
            }
        }
        Ok(place)
    }

    fn make_library_of(&self, shards: &CollectionFolder, collection: &Path, making: &Path) -> Result<()> {
        let manifest = shards.manifest();
        let library = self.pool.install(|| Library::open_or_create(making, &self.opening_by(&manifest.options)))?;
        let library = Mutex::new(library);
        let made = self.fill(&library, shards, collection);
        let closed = library.into_inner().unwrap_or_else(PoisonError::into_inner).close();
        made.and(closed)?;
        // That it is there says that the library is whole.
        envelope::replace(&making.join(MANIFEST), manifest.to_json().as_bytes())
    }

    fn fill(&self, library: &Mutex<Library>, shards: &CollectionFolder, collection: &Path) -> Result<()> {
        self.progress.begin("Reading the collection", shards.manifest().images());
        let mut known = ReadyKnown::of(hold(library).state());
        for entry in shards.manifest().shards() {
            let mut images = self.pool.install(|| shards.shard(entry)?.images())?;
            while !images.is_empty() {
                let rest = images.split_off(images.len().min(BATCH));
                let batch = std::mem::replace(&mut images, rest);
                let words = format!("Read {} of a shard", count(batch.len(), "image"));
                let ready = batch.into_iter().map(|image| self.ready(image, shards, &entry.file)).collect::<Result<_>>()?;
                self.pool.install(|| hold(library).enter_ready(&mut known, collection, ready, &words))?;
            }
        }
        let (classes, images) = {
            let library = hold(library);
            let ckm = library.recogniser().ckm();
            (ckm.classes().iter().map(|class| class.name.clone()).collect::<Vec<_>>(), ckm.examples().count())
        };
        if is_judging_due(None, classes.iter().map(String::as_str), images) {
            self.judge_uniform(library)?;
        }
        Ok(())
    }

    fn ready(&self, image: ShardImage, shards: &CollectionFolder, shard: &str) -> Result<ReadyImage> {
        self.progress.step()?;
        let elements = Elements::from_bytes(&image.elements, &shards.manifest().options).ok_or_else(|| {
            let advice = "make the collection's shards again with this version";
            Error::data(Path::new(shard), "elements as the manifest says that they were cut", "others", advice)
        })?;
        // Other places than those on this machine stay as they are written.
        let place = image.place.strip_prefix("file://").unwrap_or(&image.place).into();
        let ShardImage { hash, class, object, captions, appearance, signature, thumbnail, .. } = image;
        Ok(ReadyImage { hash: ContentHash(hash.0), place, class, object, captions, elements, appearance, signature, thumbnail })
    }

    /// How the library in a folder is opened, and why it may only be read, if that is so.
    ///
    /// # Errors
    /// As [`CollectionFolder::open`].
    pub(super) fn opening_of(&self, folder: &Path) -> Result<(LibraryOptions<'_>, Option<ReadOnly>)> {
        let asked = self.is_read_only.then_some(ReadOnly::Asked);
        if !CollectionFolder::is_one(folder) {
            return Ok((self.opening(), asked));
        }
        let shards = CollectionFolder::open(folder)?;
        Ok((self.opening_by(&shards.manifest().options), Some(ReadOnly::Collection)))
    }

    /// How a library is opened whose recogniser compares elements that were cut by these options.
    fn opening_by(&self, options: &CkmOptions) -> LibraryOptions<'_> {
        let is_learned = |kind: &ElementKind| kind.source.is_of_network();
        let mut plain = CkmOptions { kinds: options.kinds.iter().filter(|kind| !is_learned(kind)).cloned().collect(), ..options.clone() };
        let learned = options.kinds.iter().any(is_learned).then(|| options.clone());
        if plain.kinds.is_empty() {
            // A recogniser has one kind or more; this one is not used.
            plain.kinds = Preset::Colour.options().kinds;
        }
        LibraryOptions { options: plain, learned, ..self.opening() }
    }
}
