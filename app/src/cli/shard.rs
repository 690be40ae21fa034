//! `tessera shard`.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::Result;
use serde_json::json;
use tessera_core::Error;
use tessera_core::collection::ImageHash;
use tessera_core::collection::folder::CollectionFolder;
use tessera_core::error::display;
use tessera_core::plural::count;

use super::args::Shard;
use super::librarian::Librarian;
use super::output::Failures;
use super::{Done, train};
use crate::session::library::what_is;

pub(super) fn run(librarian: &Librarian<'_>, arguments: &Shard) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let folder = &arguments.collection;
    if arguments.from.is_empty() && arguments.forget.is_empty() {
        let expected = "given: folders or libraries to add, or `--forget` with hashes of images";
        return Err(Error::Option { name: "FOLDER|LIBRARY", found: "left out".into(), expected }.into());
    }
    if !arguments.forget.is_empty() {
        return forget(librarian, arguments);
    }
    let begun = Instant::now();
    let options = train::machine(session, &arguments.elements, None)?;
    let mut collection = CollectionFolder::open_or_begin(folder, options.clone())?;
    if collection.manifest().options != options {
        out.note("The collection's own elements are made; `--elements` and `--seed` count when a collection is begun.");
    }
    let mut failures = Failures::new(out, arguments.report.as_deref())?;
    let mut sources = Vec::new();
    for from in &arguments.from {
        let from = librarian.named_if_nothing(from);
        if what_is(&from).has_images() {
            let library = librarian.open(&from)?;
            sources.extend(session.shard_sources_of_library(library.state()));
        } else {
            let open = train::labelled(arguments.labels);
            let (found, skipped) = out.watched(session.progress(), || session.shard_sources_of_folder(&from, open))?;
            failures.skipped(&skipped)?;
            sources.extend(found);
        }
    }
    let sharded = out.watched(session.progress(), || session.shard(&mut collection, &sources, arguments.images as usize))?;
    let (manifest, seconds) = (collection.manifest(), begun.elapsed().as_secs_f64());
    let n_failed = sharded.failed.len();
    for failed in sharded.failed {
        failures.file(&failed.path, failed.error)?;
    }
    out.answer(
        || {
            json!({"added": sharded.added, "duplicate": sharded.duplicate, "failed": n_failed, "shards_added": sharded.shards,
                "bytes_added": sharded.bytes, "version": manifest.version, "images": manifest.images(),
                "shards": manifest.shards().len(), "seconds": seconds})
        },
        || {
            let twice = if sharded.duplicate > 0 { format!(", {} there already", sharded.duplicate) } else { String::new() };
            format!(
                "{} added{twice} in {}: {} has {} in {}",
                count(sharded.added, "image"),
                count(sharded.shards, "shard"),
                display(folder),
                count(manifest.images() as usize, "image"),
                count(manifest.shards().len(), "shard")
            )
        },
    );
    failures.finish(sharded.added + sharded.duplicate)
}

fn forget(librarian: &Librarian<'_>, arguments: &Shard) -> Result<Done> {
    let (session, out) = (librarian.session, librarian.out);
    let hashes: BTreeSet<ImageHash> = arguments.forget.iter().map(|hash| ImageHash::from_hex(hash)).collect::<Result<_, _>>()?;
    let mut collection = CollectionFolder::open(&arguments.collection)?;
    let forgotten = out.watched(session.progress(), || collection.forget(&hashes, session.progress()))?;
    let manifest = collection.manifest();
    out.answer(
        || {
            json!({"forgotten": forgotten.images, "shards_written": forgotten.shards, "states_deleted": forgotten.states,
                "version": manifest.version, "images": manifest.images(), "shards": manifest.shards().len()})
        },
        || {
            format!(
                "{} forgotten: {} written anew or taken away, {} deleted",
                count(forgotten.images, "image"),
                count(forgotten.shards, "shard"),
                count(forgotten.states, "state")
            )
        },
    );
    Ok(Done::Whole)
}
