//! Examines files before they are taken in: which are known, which have to be read, and what they
//! hold.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::report::TextLeftOut;
use crate::data::tables::{beside, sidecar};
use crate::error::{Error, Result};
use crate::ids::ItemId;
use crate::library::cache::Cut;
use crate::library::captions::{Captions, Refusal, left_out};
use crate::library::event::{Caption, Content, ContentHash, FolderWord};
use crate::library::features::{Extraction, Stamp, hash_file, hash_while};
use crate::library::state::{Image, Place, State};
use crate::picture::decode::SIDE;
use crate::picture::jpeg_end::is_cut_off;
use crate::picture::{Decoder, Limits};
use crate::progress::Progress;

/// A file to be taken in.
pub(super) struct NewFile {
    pub(super) path: PathBuf,
    pub(super) word: FolderWord,
    pub(super) bytes: u64,
    pub(super) modified: i64,
}

/// A file, compared with what the library knows of it.
pub(super) enum Seen {
    /// It has to be read.
    Anew(NewFile),
    /// It has not changed; with its image, and what its folder says now.
    AsBefore(ItemId, FolderWord),
}

/// What was found in a file.
pub(super) enum Look {
    /// Bytes that no image has, and whether the file ends before its picture does.
    New(Content, Cut, Words, bool),
    /// Bytes that an image of the library has, and whether the image has moved: no other file has
    /// them any more.
    Known(ContentHash, bool),
    Forgotten,
    /// Bytes that no decoder survived, for the first time.
    Fatal(ContentHash, Error),
}

/// The captions beside a file.
#[derive(Default)]
pub(super) struct Words {
    pub(super) captions: Vec<Caption>,
    /// Where they lie, and what was left out of them, if anything was.
    pub(super) left_out: Option<TextLeftOut>,
}

impl Words {
    /// Those beside an image file. A text that cannot be read is left out, and keeps no image out;
    /// so is a link, which is never followed.
    fn of(image: &Path) -> Self {
        let Some(path) = beside(image) else { return Self::default() };
        let texts = match sidecar(image) {
            Err(error) => {
                let left_out = TextLeftOut { path, captions: None, detail: error.to_string() };
                return Self { left_out: Some(left_out), ..Self::default() };
            }
            Ok(texts) => texts.unwrap_or_default(),
        };
        let mut captions = Captions::new(Vec::new());
        let refused = |text: &String| matches!(captions.add(text, false), Err(refusal) if refusal != Refusal::Nothing);
        let n = texts.iter().map(refused).filter(|is_refused| *is_refused).count();
        let left_out = (n > 0).then(|| TextLeftOut { path, captions: Some(n), detail: left_out(n) });
        Self { captions: captions.list, left_out }
    }
}

/// Bytes that are not taken in.
pub(super) struct Refused {
    pub(super) forgotten: HashSet<ContentHash>,
    pub(super) quarantine: HashMap<ContentHash, String>,
}

/// What the library knew when an import began, and what was taken in since.
pub(super) struct Known {
    /// Files by full path.
    pub(super) files: HashMap<PathBuf, (ItemId, Option<ContentHash>, Place)>,
    pub(super) by_hash: HashMap<ContentHash, ItemId>,
}

impl Known {
    pub(super) fn of(state: &State) -> Self {
        let each = |image: &Arc<Image>| {
            let (id, hash) = (image.id, image.content.map(|content| content.hash));
            image.places.clone().into_iter().map(move |place| (state.full_path(&place), (id, hash, place)))
        };
        Self {
            files: state.records().iter().flat_map(each).collect(),
            by_hash: state.records().iter().filter_map(|image| Some((image.content?.hash, image.id))).collect(),
        }
    }

    /// Whether a file has to be read.
    pub(super) fn look_up(&self, path: &Path, word: FolderWord) -> Result<Seen> {
        let meta = fs::metadata(path).map_err(Error::io("read", path))?;
        let file = NewFile { path: path.to_owned(), word, bytes: meta.len(), modified: modified(&meta) };
        let Some((id, hash, place)) = self.files.get(path) else { return Ok(Seen::Anew(file)) };
        let is_same = place.here && place.bytes == file.bytes && place.modified == file.modified && *hash == Some(place.hash);
        Ok(if is_same { Seen::AsBefore(*id, file.word) } else { Seen::Anew(file) })
    }
}

fn modified(meta: &fs::Metadata) -> i64 {
    meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos() as i64)
}

/// Whether the file of a place has the bytes it had when it was last examined. A file of the same
/// length and time is not read.
pub fn holds(path: &Path, place: &Place) -> bool {
    let is_same = |meta: fs::Metadata| (meta.len(), modified(&meta)) == (place.bytes, place.modified);
    fs::metadata(path).is_ok_and(is_same) || hash_file(path).is_ok_and(|hash| hash == place.hash)
}

/// Reads a file: whether its bytes are known, and what they are when they are not.
pub(super) fn look(
    file: &NewFile,
    by_hash: &HashMap<ContentHash, ItemId>,
    state: &State,
    refused: &Refused,
    decoder: &dyn Decoder,
    extraction: &Extraction,
    progress: &Progress,
) -> Result<Look> {
    // A file that is too large is refused before it is read.
    Limits::default().check_bytes(&file.path, file.bytes)?;
    let before = Stamp::of(&file.path)?;
    let hash = hash_while(&file.path, progress)?;
    if let Some(image) = by_hash.get(&hash).and_then(|id| state.image(*id)) {
        let elsewhere = image.places.iter().filter(|place| place.hash == hash).any(|place| {
            let path = state.full_path(place);
            path != file.path && holds(&path, place)
        });
        return Ok(Look::Known(hash, !elsewhere));
    }
    if refused.forgotten.contains(&hash) {
        return Ok(Look::Forgotten);
    }
    if let Some(found) = refused.quarantine.get(&hash) {
        return Err(Error::Fatal { path: file.path.clone(), found: format!("{found}; it is not tried again") });
    }
    let picture = match decoder.decode(&file.path, SIDE, progress) {
        Err(error @ Error::Fatal { .. }) => return Ok(Look::Fatal(hash, error)),
        outcome => outcome?,
    };
    if Stamp::of(&file.path)? != before {
        let found = "one that was written to or replaced meanwhile";
        return Err(Error::data(&file.path, "a file that stays as it is while it is read", found, "import its folder again"));
    }
    let content = Content { hash, size: picture.size, bytes: file.bytes, changed: false };
    let words = Words::of(&file.path);
    Ok(Look::New(content, extraction.cut(hash, &picture)?, words, is_cut_off(&file.path)))
}
