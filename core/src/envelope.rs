//! Files that can be trusted: hashes, writing all or nothing, and the model folder.
//!
//! A model is a folder. `manifest.ron` says what it is, lists the files that belong to it with
//! their lengths and xxh3-128, and ends in a line with the xxh3-128 of everything above that line.
//! The weights file is named after its hash and never changes: putting the manifest in place is the
//! moment at which a new model replaces an old one.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
pub use crate::hash::{hash_hex, hash64};
use crate::storage::{Disk, PathKind, Storage};

/// The version of the model folder's layout.
pub const SCHEMA: u32 = 1;
/// The file that makes a folder a model.
pub const MANIFEST: &str = "manifest.ron";

/// The longest manifest in bytes.
const MANIFEST_LIMIT: u64 = 64 << 20;
const CHECKSUM: &str = "// xxh3-128 of everything above: ";
/// The age from which on the writer of a temporary file must be gone.
const LEFT_OVER: Duration = Duration::from_hours(1);
const RETRAIN: &str = "copy the model again from its source, or train it anew";

/// Writes a file so that after a crash there is either the old one or the new one, whole.
///
/// # Errors
/// [`Error::Io`].
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_on(&Disk, path, bytes)
}

/// As [`replace`], on a storage. The bytes and the name are on the disk when this returns.
///
/// # Errors
/// [`Error::Io`]: there is the old file or the new one.
pub fn replace_on(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = create_beside(storage, path, bytes).map_err(Error::io("write", path))?;
    let outcome = storage.sync(&beside).and_then(|()| storage.rename(&beside, path));
    if let Err(error) = outcome {
        let _ = storage.remove(&beside);
        return Err(Error::io("write", path)(error));
    }
    storage.sync_folder(parent(path)).map_err(Error::io("write", path))
}

/// Creates a file beside `path` whose name no other thread and no other process uses.
fn create_beside(storage: &dyn Storage, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}-{}.part", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let name = PathBuf::from(name);
        match storage.create(&name, bytes) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Ok(()) => return Ok(name),
            Err(error) => {
                let _ = storage.remove(&name);
                return Err(error);
            }
        }
    }
}

/// The folder that a path lies in.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest<H> {
    schema: u32,
    written_by: String,
    kind: String,
    head: H,
    parts: Vec<Part>,
}

/// What every manifest begins with, whatever else its schema puts there.
#[derive(Deserialize)]
struct Title {
    schema: u32,
    #[serde(default)]
    kind: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    file: String,
    bytes: u64,
    xxh3_128: String,
}

/// Whether there is a model at `path`.
pub fn is_model(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Checks that a model can be written to `folder`, by trying; nothing is left behind. Worth calling
/// before long work.
///
/// # Errors
/// As [`write_model`].
pub fn check_place(folder: &Path) -> Result<()> {
    let new = missing(&Disk, folder);
    let outcome = occupants(&Disk, folder).and_then(|_| {
        let probe = create_beside(&Disk, &folder.join(MANIFEST), b"").map_err(Error::io("write in", folder))?;
        let _ = fs::remove_file(probe);
        Ok(())
    });
    for folder in new {
        let _ = fs::remove_dir(folder);
    }
    outcome
}

/// `folder` and the folders above it, as far up as they do not exist.
fn missing<'a>(storage: &dyn Storage, folder: &'a Path) -> Vec<&'a Path> {
    folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && storage.entry(path).is_none()).collect()
}

/// Makes sure that `folder` exists and holds nothing but a model, and lists its files.
fn occupants(storage: &dyn Storage, folder: &Path) -> Result<Vec<String>> {
    let refuse = |found: String| {
        Err(Error::data(folder, "a new name, an empty folder or a model to replace", found, "choose another name for the model"))
    };
    if storage.entry(folder).is_some_and(|entry| entry != PathKind::Folder) {
        return refuse("a file or a link that leads nowhere".into());
    }
    let new = missing(storage, folder);
    storage.create_folder(folder).map_err(Error::io("create", folder))?;
    for folder in new {
        storage.sync_folder(parent(folder)).map_err(Error::io("create", folder))?;
    }
    let mut names = Vec::new();
    for name in storage.list(folder).map_err(Error::io("list", folder))? {
        let path = folder.join(&name);
        let name = name.to_string_lossy().into_owned();
        let is_name_of_ours =
            [Some(name.as_str()), temporary_of(&name)].into_iter().flatten().any(|name| name == MANIFEST || is_weights(name));
        if !is_name_of_ours || !matches!(storage.entry(&path), Some(PathKind::File(_))) {
            return refuse(format!("a folder with other things in it, such as `{name}`"));
        }
        if name == MANIFEST && !is_manifest(&storage.read(&path).map_err(Error::io("read", &path))?) {
            return refuse(format!("a `{MANIFEST}` of another program"));
        }
        names.push(name);
    }
    Ok(names)
}

fn is_weights(name: &str) -> bool {
    let hash = name.strip_prefix("weights-").and_then(|rest| rest.strip_suffix(".safetensors"));
    hash.is_some_and(|hash| hash.len() == 32 && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)))
}

/// The file for which [`create_beside`] made this name, if it did.
fn temporary_of(name: &str) -> Option<&str> {
    let (of, number) = name.strip_suffix(".part")?.rsplit_once('.')?;
    let (process, count) = number.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(process) && is_number(count)).then_some(of)
}

/// Whether these bytes are a manifest, or what damage has left of one.
fn is_manifest(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains(CHECKSUM) || (text.contains("schema") && text.contains("written_by: \"tessera"))
}

/// Whether nobody has written to this temporary file for so long that its writer must be gone.
fn is_left_over(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|meta| meta.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > LEFT_OVER))
}

/// Writes a model of `kind`: `head` goes into its manifest, `weights` into the weights file. An
/// older model there is replaced, and what interrupted writes have left is removed. Returns the
/// bytes written.
///
/// # Errors
/// [`Error::Data`] when the folder holds something else than a model, [`Error::Io`].
pub fn write_model<H: Serialize>(folder: &Path, kind: &str, head: H, weights: &[u8]) -> Result<u64> {
    write_model_on(&Disk, folder, kind, head, weights)
}

/// Checks that a folder is new, empty or holds a model, so that a model can be written there.
///
/// # Errors
/// [`Error::Data`] when it holds something else than a model, [`Error::Io`].
pub fn check_model_folder(folder: &Path) -> Result<()> {
    if Disk.entry(folder).is_none() {
        return Ok(());
    }
    occupants(&Disk, folder).map(drop)
}

/// As [`write_model`], on a storage.
///
/// # Errors
/// As [`write_model`]: there is the old model or the new one, whole.
pub fn write_model_on<H: Serialize>(storage: &dyn Storage, folder: &Path, kind: &str, head: H, weights: &[u8]) -> Result<u64> {
    let before = occupants(storage, folder)?;
    let hash = hash_hex(weights);
    let file = format!("weights-{hash}.safetensors");
    replace_on(storage, &folder.join(&file), weights)?;
    let manifest = Manifest {
        schema: SCHEMA,
        written_by: concat!("tessera ", env!("CARGO_PKG_VERSION")).into(),
        kind: kind.into(),
        head,
        parts: vec![Part { file: file.clone(), bytes: weights.len() as u64, xxh3_128: hash }],
    };
    let pretty = ron::ser::PrettyConfig::default().new_line("\n");
    let mut text = ron::ser::to_string_pretty(&manifest, pretty)
        .map_err(|error| Error::data(&folder.join(MANIFEST), "a model that can be written down", error.to_string(), RETRAIN))?;
    text.push('\n');
    let line = format!("{CHECKSUM}{}\n", hash_hex(text.as_bytes()));
    text.push_str(&line);
    replace_on(storage, &folder.join(MANIFEST), text.as_bytes())?;
    for old in before.iter().filter(|name| **name != MANIFEST && **name != file) {
        let path = folder.join(old);
        if is_weights(old) || is_left_over(&path) {
            let _ = storage.remove(&path);
        }
    }
    Ok((text.len() + weights.len()) as u64)
}

/// Deletes the model in a folder, and the folder with it. Refuses a folder that holds anything
/// else.
///
/// # Errors
/// [`Error::Data`], [`Error::Io`].
pub fn remove_model(folder: &Path) -> Result<()> {
    if !is_model(folder) {
        return Err(Error::data(folder, "a saved model", "something else", "name the folder of a model"));
    }
    // Without its manifest it is a model no longer, whatever happens after that.
    let files = occupants(&Disk, folder)?;
    let first = files.iter().filter(|name| *name == MANIFEST);
    for name in first.chain(files.iter().filter(|name| *name != MANIFEST)) {
        let path = folder.join(name);
        fs::remove_file(&path).map_err(Error::io("delete", &path))?;
    }
    fs::remove_dir(folder).map_err(Error::io("delete", folder))
}

/// Reads the model of `kind` in `folder`: its head and its weights, both checked against their
/// hashes.
///
/// # Errors
/// [`Error::Data`] naming the file for anything that is not as it was written, [`Error::Io`].
pub fn read_model<H: DeserializeOwned>(folder: &Path, kind: &str) -> Result<(H, Vec<u8>)> {
    read_model_on(&Disk, folder, kind)
}

/// As [`read_model`], from a storage.
///
/// # Errors
/// As [`read_model`].
pub fn read_model_on<H: DeserializeOwned>(storage: &dyn Storage, folder: &Path, kind: &str) -> Result<(H, Vec<u8>)> {
    let path = folder.join(MANIFEST);
    let wrong = |expected: &str, found: String| Err(Error::data(&path, expected, found, RETRAIN));
    if storage.entry(&path).is_none()
        && let Some(entry) = storage.entry(folder)
    {
        let found = if entry == PathKind::Folder { "a folder without one" } else { "a file" };
        let advice = "name a folder that `tessera train` wrote, and after it the images";
        return Err(Error::data(folder, format!("a model folder with a `{MANIFEST}`"), found, advice));
    }
    match storage.entry(&path) {
        None | Some(PathKind::File(0..=MANIFEST_LIMIT)) => {}
        Some(PathKind::File(length)) => return wrong(&format!("at most {MANIFEST_LIMIT} bytes"), format!("{length}")),
        // To read a pipe would be to wait for ever.
        Some(_) => return wrong("a file", "something else of that name".into()),
    }
    let text = match String::from_utf8(storage.read(&path).map_err(Error::io("read", &path))?) {
        Ok(text) => text,
        Err(_) => return wrong("text", "bytes that are not text".into()),
    };
    let body = match text.rfind(CHECKSUM) {
        Some(at) if text[at..] == format!("{CHECKSUM}{}\n", hash_hex(&text.as_bytes()[..at])) => &text[..at],
        Some(_) => return wrong("the text its checksum was made of", "other text".into()),
        None => return wrong("a checksum at its end", "none".into()),
    };
    let title: Title = match ron::from_str(body) {
        Ok(title) => title,
        Err(error) => return wrong("a model's manifest", error.to_string()),
    };
    if title.schema != SCHEMA {
        return wrong(&format!("schema {SCHEMA}"), format!("schema {}", title.schema));
    }
    if title.kind != kind {
        return wrong(&format!("a model of kind `{kind}`"), format!("one of kind `{}`", title.kind));
    }
    let manifest: Manifest<H> = match ron::from_str(body) {
        Ok(manifest) => manifest,
        Err(error) => return wrong("a manifest this version can read", error.to_string()),
    };
    let [part] = manifest.parts.as_slice() else {
        return wrong("one part", format!("{} parts", manifest.parts.len()));
    };
    if Path::new(&part.file).file_name().is_none_or(|name| name.to_string_lossy() != part.file) {
        return wrong("a plain file name for its part", format!("`{}`", part.file));
    }
    let path = folder.join(&part.file);
    let Some(PathKind::File(length)) = storage.entry(&path) else {
        return Err(Error::data(&path, "the model's weights", "no such file", RETRAIN));
    };
    if length != part.bytes {
        return Err(Error::data(&path, format!("{} bytes", part.bytes), format!("{length}"), RETRAIN));
    }
    let weights = storage.read(&path).map_err(Error::io("read", &path))?;
    if hash_hex(&weights) != part.xxh3_128 {
        return Err(Error::data(&path, "the bytes its checksum was made of", "other bytes", RETRAIN));
    }
    Ok((manifest.head, weights))
}
