//! Where networks that the user brought are kept, and those that are loaded.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::advice;
use super::brought::{BroughtNetwork, EncoderOptions, NetworkParts, check_name};
use super::encoder::ImageEncoder;
use super::onnx::read;
use super::text::TextEncoder;
use crate::envelope;
use crate::error::{Error, Result};
use crate::hash::hash_hex;

const IMAGE: &str = "image.onnx";
const TEXT: &str = "text.onnx";
const TOKENIZER: &str = "tokenizer.json";
const DESCRIPTION: &str = "network.json";
/// The longest file that is copied, in bytes.
const LONGEST: u64 = 1 << 30;

/// A folder of networks, each in a folder of its own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkFolder(PathBuf);

impl NetworkFolder {
    /// The networks in `folder`, which need not be there yet.
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The names of its networks in order, and what is known of each.
    ///
    /// # Errors
    /// [`Error::Io`] when the folder cannot be read.
    pub fn list(&self) -> Result<Vec<(String, Result<BroughtNetwork>)>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::io("read", &self.0))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(Error::io("read", &self.0))?.file_name();
            names.extend(name.to_str().filter(|name| check_name(name).is_ok()).map(str::to_owned));
        }
        names.sort();
        Ok(names.into_iter().map(|name| (name.clone(), self.find(&name))).collect())
    }

    /// What is known of the network of this name.
    ///
    /// # Errors
    /// [`Error::Data`] when there is none, or what is known of it is damaged.
    pub fn find(&self, name: &str) -> Result<BroughtNetwork> {
        check_name(name)?;
        let path = self.0.join(name).join(DESCRIPTION);
        if !self.0.join(name).is_dir() {
            return Err(Error::data(&self.0, format!("a network `{name}`"), "none of that name", LIST));
        }
        let wrong = |error: serde_json::Error| Error::data(&path, "what is known of a network", error.to_string(), advice::ADD_AGAIN);
        serde_json::from_slice(&read(&path, 1 << 20)?).map_err(wrong)
    }

    /// Checks that no network has this name.
    ///
    /// # Errors
    /// [`Error::Option`] when it may not be a name; [`Error::Exists`] when one has it.
    pub fn check_free(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let place = self.0.join(name);
        if place.exists() { Err(Error::Exists { path: place, found: "a network of that name" }) } else { Ok(()) }
    }

    /// Keeps a network that was tried: copies its files. Nothing is left of it when that fails.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Exists`] when the name is taken; [`Error::Data`] when the same
    /// network is there under another name, or a file has changed since it was tried.
    pub fn add(&self, name: &str, parts: &NetworkParts, network: &BroughtNetwork) -> Result<()> {
        self.check_free(name)?;
        let place = self.0.join(name);
        let is_same = |(_, other): &(String, Result<BroughtNetwork>)| {
            other.as_ref().is_ok_and(|other| other.image.identity() == network.image.identity())
        };
        if let Some((other, _)) = self.list()?.into_iter().find(is_same) {
            let found = format!("the same one, called `{other}`");
            return Err(Error::data(&parts.image, "a network that is not there yet", found, "use that, or remove it first"));
        }
        // Not the name of a network, so that one that was half copied is never taken for one.
        let half = self.0.join(format!(".{name}.part"));
        let copied = self.copy(&half, parts, network);
        let done = copied.and_then(|()| fs::rename(&half, &place).map_err(Error::io("create", &place)));
        if done.is_err() {
            // What is left of it does no harm.
            let _ = fs::remove_dir_all(&half);
        }
        done
    }

    fn copy(&self, to: &Path, parts: &NetworkParts, network: &BroughtNetwork) -> Result<()> {
        fs::create_dir_all(to).map_err(Error::io("create", to))?;
        let copy = |from: &Path, name: &str, hash: &str| {
            let bytes = read(from, LONGEST)?;
            if hash_hex(&bytes) != hash {
                return Err(Error::data(from, "the file that was tried", "one that has changed since", "try again"));
            }
            envelope::replace(&to.join(name), &bytes)
        };
        copy(&parts.image, IMAGE, &network.image.hash)?;
        if let (Some((encoder, tokenizer)), Some(form)) = (&parts.text, &network.text) {
            if *encoder == parts.image {
                // One file with both encoders takes its room once, where the disk can do that.
                let (image, text) = (to.join(IMAGE), to.join(TEXT));
                fs::hard_link(&image, &text).or_else(|_| fs::copy(&image, &text).map(drop)).map_err(Error::io("write", text))?;
            } else {
                copy(encoder, TEXT, &form.hash)?;
            }
            copy(tokenizer, TOKENIZER, &form.tokenizer_hash)?;
        }
        let path = to.join(DESCRIPTION);
        let description = serde_json::to_vec_pretty(network).map_err(|error| Error::io("write", &path)(error.into()))?;
        envelope::replace(&path, &description)
    }

    /// Removes a network and its files.
    ///
    /// # Errors
    /// [`Error::Data`] when there is none; [`Error::Io`].
    pub fn remove(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let place = self.0.join(name);
        if !place.is_dir() {
            return Err(Error::data(&self.0, format!("a network `{name}`"), "none of that name", LIST));
        }
        if let Ok(network) = self.find(name) {
            let hash = network.image.identity();
            lock(&LOADED).remove(&hash);
            lock(&LOADED_TEXTS).remove(&hash);
        }
        let gone = self.0.join(format!(".{name}.gone"));
        fs::rename(&place, &gone).map_err(Error::io("remove", &place))?;
        fs::remove_dir_all(&gone).map_err(Error::io("remove", &gone))
    }

    /// The image encoder of the network of this name, loaded.
    ///
    /// # Errors
    /// As [`NetworkFolder::find`] and [`ImageEncoder::open`].
    pub fn image_encoder(&self, name: &str) -> Result<ImageEncoder> {
        ImageEncoder::open(&self.0.join(name).join(IMAGE), self.find(name)?.image)
    }

    /// The text encoder of the network of this name, loaded; `None` when it has none.
    ///
    /// # Errors
    /// As [`NetworkFolder::find`] and [`TextEncoder::open`].
    pub fn text_encoder(&self, name: &str) -> Result<Option<TextEncoder>> {
        let folder = self.0.join(name);
        let open = |form| TextEncoder::open(&folder.join(TEXT), &folder.join(TOKENIZER), form);
        self.find(name)?.text.map(open).transpose()
    }

    /// The name of the network that is told from others by this hash, or by how that begins.
    fn named(&self, hash: &str) -> Option<String> {
        let is_it = |(_, network): &(String, Result<BroughtNetwork>)| {
            network.as_ref().is_ok_and(|network| network.image.identity().starts_with(hash))
        };
        self.list().ok()?.into_iter().find(is_it).map(|(name, _)| name)
    }
}

const LIST: &str = "`tessera network list` lists those that there are";

/// Where networks are looked for.
static FOLDERS: Mutex<Vec<NetworkFolder>> = Mutex::new(Vec::new());
/// Those that are loaded, by what tells them from others, in full.
static LOADED: Mutex<BTreeMap<String, Arc<ImageEncoder>>> = Mutex::new(BTreeMap::new());
/// Text encoders that are loaded, by the same hash of their image encoders.
static LOADED_TEXTS: Mutex<BTreeMap<String, Arc<TextEncoder>>> = Mutex::new(BTreeMap::new());

/// From now on networks that machines need are looked for in this folder, too.
pub fn look_in(folder: NetworkFolder) {
    let mut folders = lock(&FOLDERS);
    if !folders.contains(&folder) {
        folders.push(folder);
    }
}

/// The image encoder that a machine needs. The first call loads it, which takes time and memory.
///
/// # Errors
/// [`Error::Data`] when no folder has it; as [`ImageEncoder::open`].
pub fn needed(options: &EncoderOptions) -> Result<Arc<ImageEncoder>> {
    let encoder = image_encoder(&options.hash).map_err(|error| place(options).err().unwrap_or(error))?;
    let dimension = encoder.form().dimension;
    if dimension != options.dimension {
        return Err(Error::value(
            "dimension",
            format!("{dimension}, as the network `{}` has", options.name),
            options.dimension.to_string(),
        ));
    }
    Ok(encoder)
}

/// The image encoder that is told from others by this hash ([`super::ImageForm::identity`], or how
/// that begins). The first call loads it, which takes time and memory.
///
/// # Errors
/// [`Error::Data`] when no folder has it; as [`ImageEncoder::open`].
pub fn image_encoder(hash: &str) -> Result<Arc<ImageEncoder>> {
    load(&LOADED, hash, |folder, name| folder.image_encoder(name))
}

/// The text encoder of the pair whose image encoder is told from others by this hash. The first
/// call loads it, which takes time and memory.
///
/// # Errors
/// [`Error::Data`] when no folder has it, or it is no pair; as [`TextEncoder::open`].
pub fn text_encoder(hash: &str) -> Result<Arc<TextEncoder>> {
    load(&LOADED_TEXTS, hash, |folder, name| folder.text_encoder(name)?.ok_or_else(|| missing(hash)))
}

/// What was loaded of the network that is told from others by this hash, or by how that begins; or
/// is now opened from the folder that has it. Each is loaded once, whatever is said of its hash.
fn load<T>(loaded: &Mutex<BTreeMap<String, Arc<T>>>, hash: &str, open: impl FnOnce(&NetworkFolder, &str) -> Result<T>) -> Result<Arc<T>> {
    let mut loaded = lock(loaded);
    let first = loaded.range::<str, _>((Bound::Included(hash), Bound::Unbounded)).next();
    if let Some((_, encoder)) = first.filter(|(identity, _)| identity.starts_with(hash)) {
        return Ok(Arc::clone(encoder));
    }
    let (folder, name) = found(hash).ok_or_else(|| missing(hash))?;
    let identity = folder.find(&name)?.image.identity();
    let encoder = Arc::new(open(&folder, &name)?);
    loaded.insert(identity, Arc::clone(&encoder));
    Ok(encoder)
}

/// The name of the pair whose image encoder is told from others by this hash; `None` when no folder
/// has it, or it is no pair.
pub fn name_of_pair(hash: &str) -> Option<String> {
    let (folder, name) = found(hash)?;
    folder.find(&name).ok()?.text.map(|_| name)
}

fn missing(hash: &str) -> Error {
    let folders = lock(&FOLDERS).clone();
    let path = folders.last().map_or(Path::new("networks"), NetworkFolder::path);
    let advice = "add its files again with `tessera network add`, with the same options";
    Error::data(path, format!("a pair of encoders of hash {hash}"), "none", advice)
}

/// Checks that a network that a machine needs is there.
///
/// # Errors
/// [`Error::Data`], which names the network and its hash, when it is not.
pub fn check_needed(options: &EncoderOptions) -> Result<()> {
    place(options).map(drop)
}

/// The network that is told from others by this hash: its folder and its name.
fn found(hash: &str) -> Option<(NetworkFolder, String)> {
    let folders = lock(&FOLDERS).clone();
    folders.iter().find_map(|folder| Some((folder.clone(), folder.named(hash)?)))
}

fn place(options: &EncoderOptions) -> Result<(NetworkFolder, String)> {
    let folders = lock(&FOLDERS).clone();
    found(&options.hash).ok_or_else(|| {
        let EncoderOptions { name, hash, .. } = options;
        let path = folders.last().map_or(Path::new("networks"), NetworkFolder::path);
        let found = match folders.iter().any(|folder| folder.find(name).is_ok()) {
            true => format!("another one of that name, and none of hash {hash}"),
            false => format!("none of hash {hash}"),
        };
        let advice = "add its files again with `tessera network add`, with the same options; or train without it";
        Error::data(path, format!("the network `{name}`, which this recogniser was made with"), found, advice)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
