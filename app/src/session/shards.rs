//! Makes shards of a collection from folders and libraries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tessera_core::ckm::Ckm;
use tessera_core::collection::folder::CollectionFolder;
use tessera_core::collection::{ImageHash, ShardImage};
use tessera_core::data::{Dataset, ImageSource, OpenOptions, Skipped, UNLABELLED};
use tessera_core::eval::Failed;
use tessera_core::library::features::hash_file;
use tessera_core::library::state::State;
use tessera_core::picture::Picture;
use tessera_core::picture::decode::SIDE;
use tessera_core::{Error, Result};

use super::Session;

/// Images that are decoded before the next are begun.
const BATCH: usize = 64;

/// An image that is to become a row of a shard.
pub struct ShardSource {
    /// Its file.
    path: PathBuf,
    /// Its picture, where it is none of a file of its own.
    picture: Option<Picture>,
    place: String,
    class: Option<String>,
    object: Option<String>,
    captions: Vec<String>,
}

/// What making shards came to.
#[derive(Default)]
pub struct Sharded {
    /// Images that were added.
    pub added: usize,
    /// Images whose bytes the collection had already, or that were met twice.
    pub duplicate: usize,
    /// Shards that were written.
    pub shards: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Images that could not be used.
    pub failed: Vec<Failed>,
}

impl Session {
    /// The images of a folder, and what was passed over.
    ///
    /// # Errors
    /// As [`Dataset::open`].
    pub fn shard_sources_of_folder(&self, folder: &Path, open: OpenOptions) -> Result<(Vec<ShardSource>, Vec<Skipped>)> {
        let data = Dataset::open(folder, &OpenOptions { unlabelled_too: true, passes_dates: true, ..open }, &self.progress)?;
        let source = |item: &tessera_core::data::Item| {
            let path = item.path().to_owned();
            let (picture, place) = match &item.source {
                ImageSource::File(path) => (None, path.strip_prefix(&data.root).unwrap_or(path).to_string_lossy().into_owned()),
                ImageSource::Frame { set, index } => (Some(Picture::shrunk(set.rgb(*index), SIDE)), item.name()),
            };
            let class = Some(data.class_name(item.class).to_owned()).filter(|class| class != UNLABELLED);
            ShardSource { path, picture, place, class, object: item.group.clone(), captions: Vec::new() }
        };
        Ok((data.items.iter().map(source).collect(), data.skipped))
    }

    /// The images of a library that take part, with the words that people gave them.
    pub fn shard_sources_of_library(&self, state: &State) -> Vec<ShardSource> {
        let source = |image: &tessera_core::library::state::Image| {
            let place = image.place()?;
            Some(ShardSource {
                path: state.full_path(place),
                picture: None,
                place: place.path.to_string_lossy().into_owned(),
                class: image.label().map(str::to_owned),
                object: image.folder.group.clone(),
                captions: image.captions.iter().map(|caption| caption.text.clone()).collect(),
            })
        };
        state.images().filter_map(|image| source(image)).collect()
    }

    /// Adds images to a collection as shards of so many images. Each shard is there as soon as it
    /// is whole, so what was cancelled can be gone on with.
    ///
    /// # Errors
    /// As [`CollectionFolder::add`]; [`Error::Cancelled`].
    pub fn shard(&self, collection: &mut CollectionFolder, sources: &[ShardSource], per_shard: usize) -> Result<Sharded> {
        self.pool.install(|| {
            let machine = Ckm::new(collection.manifest().options.clone())?;
            let mut known = collection.hashes()?;
            let (mut sharded, mut waiting) = (Sharded::default(), Vec::new());
            self.progress.begin("Making shards", sources.len() as u64);
            for batch in sources.chunks(BATCH) {
                let made: Vec<Result<Option<ShardImage>>> = batch.par_iter().map(|source| self.row(source, &known, &machine)).collect();
                for (source, made) in batch.iter().zip(made) {
                    match made {
                        Err(Error::Cancelled) => return Err(Error::Cancelled),
                        Err(error) => sharded.failed.push(Failed { path: source.path.clone(), error }),
                        Ok(Some(image)) if known.insert(image.hash) => waiting.push(image),
                        Ok(_) => sharded.duplicate += 1,
                    }
                }
                while waiting.len() >= per_shard {
                    let rest = waiting.split_off(per_shard);
                    sharded.put(collection, &std::mem::replace(&mut waiting, rest))?;
                }
            }
            if !waiting.is_empty() {
                sharded.put(collection, &waiting)?;
            }
            Ok(sharded)
        })
    }

    /// The row of an image; `None` where the collection has its bytes already.
    fn row(&self, source: &ShardSource, known: &BTreeSet<ImageHash>, machine: &Ckm) -> Result<Option<ShardImage>> {
        self.progress.step()?;
        let hash = match &source.picture {
            Some(picture) => ImageHash::of(picture.pixels.as_raw()),
            None => ImageHash(hash_file(&source.path)?.0),
        };
        if known.contains(&hash) {
            return Ok(None);
        }
        let decoded;
        let picture = match &source.picture {
            Some(picture) => picture,
            None => {
                decoded = self.decoder.decode(&source.path, SIDE, &self.progress)?;
                &decoded
            }
        };
        let image = ShardImage::of(hash, source.place.clone(), picture, machine)?;
        let (class, object, captions) = (source.class.clone(), source.object.clone(), source.captions.clone());
        Ok(Some(ShardImage { class, object, captions, ..image }))
    }
}

impl Sharded {
    fn put(&mut self, collection: &mut CollectionFolder, images: &[ShardImage]) -> Result<()> {
        let entry = collection.add(images)?;
        self.added += images.len();
        self.shards += 1;
        self.bytes += entry.bytes;
        Ok(())
    }
}
