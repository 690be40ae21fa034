//! Libraries: importing, acts, undo, moved files and forgetting, and what the models learn of it.

mod acts;
mod bonds;
mod chain;
mod clusters;
mod durable;
mod encoded;
mod files;
mod forget;
mod guesses;
mod hold;
mod import;
mod kept_sums;
mod later;
mod learned;
mod looks;
mod memory;
mod models;
mod pair;
mod parts;
mod recall;
mod search;
mod shared;
mod suggest;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use tessera_core::ckm::CkmOptions;
use tessera_core::ckm::presets::Preset;
use tessera_core::ids::ItemId;
use tessera_core::library::event::{Caption, Content, FolderWord, UserLabel};
use tessera_core::library::import::{ImportOptions, Imported, hold, import};
use tessera_core::library::state::{Image, State};
use tessera_core::library::{Library, LibraryOptions};
use tessera_core::picture::{Decoder, InProcess, Picture};
use tessera_core::progress::Progress;

use crate::scenes::scene;

/// A decoder that counts its pictures, and cancels the work at one of them.
#[derive(Default)]
struct Counting {
    inner: InProcess,
    decoded: AtomicUsize,
    cancel: Option<(usize, Progress)>,
}

impl Decoder for Counting {
    fn decode(&self, path: &Path, side: u32, progress: &Progress) -> tessera_core::Result<Picture> {
        let n = self.decoded.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some((at, progress)) = &self.cancel
            && n == *at
        {
            progress.cancel();
        }
        self.inner.decode(path, side, progress)
    }
}

/// A folder with a folder of pictures and a library beside it.
struct Place {
    dir: TempDir,
    decoder: Arc<Counting>,
}

fn options() -> CkmOptions {
    CkmOptions { side: 32, ..Preset::Hog.options() }
}

fn open(folder: &Path, decoder: Arc<dyn Decoder>) -> tessera_core::Result<Library> {
    Library::open_or_create(
        folder,
        &LibraryOptions { options: options(), learned: None, ..LibraryOptions::new(decoder, &Progress::default()) },
    )
}

fn save(path: &Path, seed: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    scene(seed, 48, 48).save_with_format(path, image::ImageFormat::Png).unwrap();
}

impl Place {
    /// With different pictures at these paths.
    fn new(files: &[&str]) -> Self {
        let place = Self { dir: TempDir::new().unwrap(), decoder: Arc::default() };
        fs::create_dir(place.images()).unwrap();
        for (file, seed) in files.iter().zip(1..) {
            place.put(file, seed);
        }
        place
    }

    fn images(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join("images")
    }

    fn image(&self, name: &str) -> PathBuf {
        self.images().join(name)
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("one.tessera")
    }

    fn put(&self, name: &str, seed: u64) {
        save(&self.image(name), seed);
    }

    fn open(&self) -> Mutex<Library> {
        Mutex::new(open(&self.folder(), Arc::clone(&self.decoder) as _).unwrap())
    }

    fn decoded(&self) -> usize {
        self.decoder.decoded.swap(0, Ordering::Relaxed)
    }

    fn import(&self, library: &Mutex<Library>) -> Imported {
        imported(library, &self.images())
    }
}

#[track_caller]
fn imported(library: &Mutex<Library>, folder: &Path) -> Imported {
    imported_with(library, folder, &ImportOptions::default())
}

#[track_caller]
fn imported_with(library: &Mutex<Library>, folder: &Path, options: &ImportOptions) -> Imported {
    let report = import(library, folder, options, &Progress::default()).unwrap();
    adds_up(&report);
    sound(library);
    report
}

#[track_caller]
fn adds_up(report: &Imported) {
    let parts = report.imported + report.unchanged + report.duplicate + report.unsupported + report.failed.len();
    assert_eq!(report.found, parts, "{report:?}");
}

/// New, unchanged, duplicate.
fn counts(report: &Imported) -> (usize, usize, usize) {
    (report.imported, report.unchanged, report.duplicate)
}

#[track_caller]
fn sound(library: &Mutex<Library>) {
    assert_eq!(hold(library).check().unwrap(), Vec::<String>::new());
}

/// The record whose file lies at that path from its root.
#[track_caller]
fn at(library: &Mutex<Library>, name: &str) -> Arc<Image> {
    let state = hold(library).state().clone();
    let is_it = |image: &&Arc<Image>| image.places.iter().any(|place| place.path == Path::new(name));
    state.records().iter().find(is_it).unwrap_or_else(|| panic!("no {name}")).clone()
}

fn class(name: &str) -> UserLabel {
    UserLabel::Class(name.into())
}

fn say(texts: &[&str]) -> Vec<Caption> {
    texts.iter().map(|text| Caption { text: (*text).into(), by_user: true }).collect()
}

/// Everything the state says of an image but its places.
type Said = (ItemId, Option<Content>, FolderWord, UserLabel, Vec<Caption>, bool);

/// The same of all images, and the names of the classes in order.
type View = (Vec<Said>, Vec<String>);

fn view(state: &State) -> View {
    let said =
        |image: &Arc<Image>| (image.id, image.content, image.folder.clone(), image.user.clone(), image.captions.clone(), image.removed);
    let classes = state.classes().into_iter().map(|(name, _)| name.to_owned()).collect();
    (state.records().iter().map(said).collect(), classes)
}

/// Checks that the models are what they would be if they were taught from the first event on.
#[track_caller]
fn taught_anew(place: &Place, library: Mutex<Library>) -> Mutex<Library> {
    with_cache(place, library, |cache| fs::remove_file(cache).unwrap())
}

/// The same with the elements in the cache, for the files may be gone.
#[track_caller]
fn replayed(place: &Place, library: Mutex<Library>) -> Mutex<Library> {
    with_cache(place, library, |cache| {
        rusqlite::Connection::open(cache).unwrap().execute("DELETE FROM checkpoint", []).unwrap();
    })
}

#[track_caller]
fn with_cache(place: &Place, library: Mutex<Library>, change: impl FnOnce(&Path)) -> Mutex<Library> {
    let library = library.into_inner().unwrap();
    let (kept, machine) = (library.everything_learned(), Arc::clone(library.recogniser().ckm()));
    drop(library);
    change(&place.folder().join("cache.db"));
    let library = place.open();
    {
        let held = hold(&library);
        assert!(held.everything_learned() == kept, "other checkpoints");
        assert!(**held.recogniser().ckm() == *machine, "another machine");
    }
    library
}
