//! Taking in one image file with its label, as one act; nothing else of its folder comes with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::admit::Run;
use super::hold;
use super::look::{Known, Look, NewFile, Refused, Seen, look};
use super::report::Imported;
use crate::error::{Error, Result, display_name};
use crate::ids::ItemId;
use crate::library::Library;
use crate::library::draft::Draft;
use crate::library::event::{ContentHash, EventId, EventKind, FolderWord, RootId, UserLabel};
use crate::library::features::hash_file;
use crate::library::state::Root;
use crate::progress::Progress;

/// A file that was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenFile {
    /// Its image.
    pub image: ItemId,
    /// Whether the library did not have it before.
    pub is_new: bool,
    /// The act; `None` where the image was there and had the label.
    pub event: Option<EventId>,
}

/// Takes an image file in where it lies, and labels it, as one act. An image that the library has
/// is labelled. A folder that was not imported becomes a root of which imports take nothing but
/// what is there already. The library is held for moments only.
///
/// # Errors
/// As [`super::super::draft::Acts::label`]; [`Error::Io`] and [`Error::Data`] for a file that
/// cannot be read, lies in the library's own folder or was forgotten.
///
/// # Complexity
/// O(images), and the time that looking at one image takes.
pub fn import_file(library: &Mutex<Library>, file: &Path, label: &UserLabel, progress: &Progress) -> Result<TakenFile> {
    let file = &own_path(file)?;
    let (decoder, state, watch, extraction) = {
        let held = hold(library);
        if fs::canonicalize(held.folder()).is_ok_and(|own| file.starts_with(&own)) {
            return Err(Error::data(file, "an image file", "one in the library's own folder", "put it into another folder"));
        }
        // A name that no class can have is refused before anything is changed.
        held.acts().label(&[], label)?;
        held.store().check_writable()?;
        let watch = Refused { forgotten: held.store().forgotten()?, quarantine: held.cache().quarantine()? };
        (Arc::clone(held.decoder()), held.state().clone(), watch, held.extraction().clone())
    };
    let known = Known::of(&state);
    let new = match known.look_up(file, FolderWord::default())? {
        Seen::AsBefore(image, _) => return give(&mut hold(library), image, label, None),
        Seen::Anew(new) => new,
    };
    let found = match look(&new, &known.by_hash, &state, &watch, &*decoder, &extraction, progress)? {
        Look::Fatal(hash, error) => {
            if let Error::Fatal { found, .. } = &error {
                hold(library).cache().put_quarantine(&[(hash, found.clone())])?;
            }
            return Err(error);
        }
        Look::Forgotten => {
            let advice = "`tessera import LIBRARY FOLDER --again` takes forgotten files of its folder in";
            return Err(Error::data(file, "an image that may be taken in", "one that you had forgotten", advice));
        }
        found => found,
    };
    let hash = match &found {
        Look::New(content, ..) => content.hash,
        Look::Known(hash, _) => *hash,
        // Both have ended above.
        Look::Fatal(..) | Look::Forgotten => return Err(Error::Cancelled),
    };
    let mut library = hold(library);
    // An image that cannot be labelled, for it was removed, is not taken in again.
    if let Some(image) = Known::of(library.state()).by_hash.get(&hash) {
        library.acts().label(&[*image], label)?;
    }
    let (image, act) = admit(&mut library, &new, found)?;
    give(&mut library, image, label, act)
}

/// Enters that a file has the bytes of an image of the library. Returns whether it has; nothing is
/// changed where not.
pub(in crate::library) fn enter_known(library: &mut Library, file: &Path, hash: ContentHash) -> Result<bool> {
    let file = own_path(file)?;
    let known = Known::of(library.state());
    if hash_file(&file)? != hash || !known.by_hash.contains_key(&hash) {
        return Ok(false);
    }
    if let Seen::Anew(new) = known.look_up(&file, FolderWord::default())? {
        admit(library, &new, Look::Known(hash, false))?;
    }
    Ok(true)
}

/// Enters what was found in a file. Returns its image, and the act if it is a new one.
fn admit(library: &mut Library, new: &NewFile, found: Look) -> Result<(ItemId, Option<EventId>)> {
    let folder = new.path.parent().unwrap_or(&new.path).to_owned();
    let hash = match &found {
        Look::New(content, ..) => Some(content.hash),
        Look::Known(hash, _) => Some(*hash),
        Look::Fatal(..) | Look::Forgotten => None,
    };
    let root = root_of(library, &new.path, &folder)?;
    let known = Known::of(library.state());
    let (before, relabelled) = (library.state().clone(), BTreeSet::new());
    let mut run = Run {
        root,
        folder,
        known,
        act: None,
        in_act: 0,
        reads_words: false,
        reading: Vec::new(),
        before,
        relabelled,
        report: Imported::default(),
    };
    run.admit(library, vec![(new, found)])?;
    let image = hash.and_then(|hash| run.known.by_hash.get(&hash).copied());
    let forgotten = || Error::data(&new.path, "an image that may be taken in", "one that was forgotten meanwhile", "choose another");
    Ok((image.ok_or_else(forgotten)?, run.act))
}

/// The path of a file as an import of its folder knows it: links among the folders are followed,
/// and a link to a file has its own name.
fn own_path(file: &Path) -> Result<PathBuf> {
    let Some(name) = file.file_name() else { return fs::canonicalize(file).map_err(Error::io("read", file)) };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(fs::canonicalize(folder).map_err(Error::io("read", file))?.join(name))
}

/// Labels an image, in the act that took it in, if that was done.
fn give(library: &mut Library, image: ItemId, label: &UserLabel, act: Option<EventId>) -> Result<TakenFile> {
    let Draft { mut words, changes } = library.acts().label(&[image], label)?;
    if let (Some(_), UserLabel::Class(class)) = (act, label) {
        let name = library.state().image(image).and_then(|image| library.state().path_of(image));
        words = format!("Took in {} as {}", name.as_deref().map(display_name).unwrap_or_default(), class.trim());
    }
    let event = library.commit(act, EventKind::Act, Draft::new(words, changes))?;
    Ok(TakenFile { image, is_new: act.is_some(), event: act.or(event) })
}

/// The root that a file belongs to: the innermost around it, or its folder as a root of single
/// files.
fn root_of(library: &mut Library, file: &Path, folder: &Path) -> Result<RootId> {
    let around = library.state().roots_around(file).last().map(|(id, _)| *id);
    around.map_or_else(|| library.enter_root(Root::of_files(folder)), Ok)
}
