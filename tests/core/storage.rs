//! Writing all or nothing on a storage that fails, and that crashes, at every operation in turn.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rand::RngExt as _;
use tessera_core::envelope::{read_model_on, replace_on, write_model_on};
use tessera_core::random::{Rng, seeded};
use tessera_core::storage::{PathKind, Storage};

/// What is done to names, in order; it is on the disk when the folder is synced.
#[derive(Clone)]
enum Step {
    Name(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

/// A disk in memory that knows what of it would survive a crash.
#[derive(Clone, Default)]
struct Model {
    /// Contents as they are, and as they were when they were last synced.
    files: Vec<(Vec<u8>, Vec<u8>)>,
    names: BTreeMap<PathBuf, usize>,
    durable: BTreeMap<PathBuf, usize>,
    pending: Vec<Step>,
    operations: usize,
    /// The operation that fails, and whether everything after it fails too.
    fails_at: Option<(usize, bool)>,
}

#[derive(Default)]
struct Faulty(Mutex<Model>);

impl Faulty {
    fn failing(at: usize, for_ever: bool) -> Self {
        Self(Mutex::new(Model { fails_at: Some((at, for_ever)), ..Model::default() }))
    }

    fn change<T>(&self, work: impl FnOnce(&mut Model) -> io::Result<T>) -> io::Result<T> {
        let mut model = self.0.lock().unwrap();
        model.operations += 1;
        let now = model.operations;
        match model.fails_at {
            Some((at, for_ever)) if now == at || (for_ever && now > at) => Err(io::Error::new(ErrorKind::StorageFull, "full")),
            _ => work(&mut model),
        }
    }

    fn operations(&self) -> usize {
        self.0.lock().unwrap().operations
    }

    /// What a crash at this moment may leave: each change that was not synced is there, or not, or
    /// in pieces.
    fn crashed(&self, rng: &mut Rng) -> Self {
        let mut model = self.0.lock().unwrap().clone();
        for (live, synced) in &mut model.files {
            if live != synced {
                let mut left = if rng.random_bool(0.5) { live.clone() } else { synced.clone() };
                for (i, piece) in left.chunks_mut(8).enumerate() {
                    match rng.random_range(0..3) {
                        0 => piece.fill(0),
                        1 => piece.iter_mut().zip(synced.iter().skip(8 * i)).for_each(|(to, from)| *to = *from),
                        _ => {}
                    }
                }
                *live = left;
            }
        }
        let mut names = model.durable.clone();
        for step in &model.pending {
            if rng.random_bool(0.5) {
                apply(&mut names, step);
            }
        }
        Self(Mutex::new(Model { names, pending: Vec::new(), fails_at: None, ..model }))
    }
}

fn apply(names: &mut BTreeMap<PathBuf, usize>, step: &Step) {
    match step {
        Step::Name(path, file) => {
            names.insert(path.clone(), *file);
        }
        Step::Rename(from, to) => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        Step::Remove(path) => {
            names.remove(path);
        }
    }
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

impl Storage for Faulty {
    fn entry(&self, path: &Path) -> Option<PathKind> {
        let model = self.0.lock().unwrap();
        if let Some(file) = model.names.get(path) {
            return Some(PathKind::File(model.files[*file].0.len() as u64));
        }
        (path == Path::new("/m") || path == Path::new("/")).then_some(PathKind::Folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let model = self.0.lock().unwrap();
        Ok(model.names.keys().filter(|path| path.parent() == Some(folder)).map(|path| path.file_name().unwrap().into()).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let model = self.0.lock().unwrap();
        model.names.get(path).map(|file| model.files[*file].0.clone()).ok_or_else(missing)
    }

    fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // A disk that is full keeps the name and some of the bytes.
        let outcome = self.change(|_| Ok(()));
        let mut model = self.0.lock().unwrap();
        if model.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let kept = if outcome.is_ok() { bytes.len() } else { bytes.len() / 2 };
        model.files.push((bytes[..kept].to_vec(), Vec::new()));
        let file = model.files.len() - 1;
        model.names.insert(path.to_owned(), file);
        model.pending.push(Step::Name(path.to_owned(), file));
        outcome
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.change(|model| {
            let file = *model.names.get(path).ok_or_else(missing)?;
            model.files[file].0.extend(bytes);
            Ok(())
        })
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.change(|model| {
            let file = *model.names.get(path).ok_or_else(missing)?;
            model.files[file].1 = model.files[file].0.clone();
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(|model| {
            let file = model.names.remove(from).ok_or_else(missing)?;
            model.names.insert(to.to_owned(), file);
            model.pending.push(Step::Rename(from.to_owned(), to.to_owned()));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(|model| {
            model.names.remove(path).ok_or_else(missing)?;
            model.pending.push(Step::Remove(path.to_owned()));
            Ok(())
        })
    }

    fn create_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        self.change(|model| {
            for step in std::mem::take(&mut model.pending) {
                apply(&mut model.durable, &step);
            }
            Ok(())
        })
    }
}

const VERSIONS: u32 = 4;

fn weights(version: u32) -> Vec<u8> {
    (0..90).map(|i| (i * version + version) as u8).collect()
}

/// Saves versions one after the other. Returns the last that was acknowledged, and the last that
/// was begun.
fn save(storage: &Faulty) -> (u32, u32) {
    let (mut acknowledged, mut begun) = (0, 0);
    for version in 1..=VERSIONS {
        begun = version;
        match write_model_on(storage, Path::new("/m"), "toy", version, &weights(version)) {
            Ok(_) => acknowledged = version,
            Err(error) => assert!(error.to_string().contains("/m/") && error.to_string().contains("make room"), "{error}"),
        }
    }
    (acknowledged, begun)
}

/// The version that is there; none when there is none. Anything else fails.
fn saved(storage: &Faulty) -> Option<u32> {
    storage.entry(Path::new("/m/manifest.ron"))?;
    let (version, bytes) = read_model_on::<u32>(storage, Path::new("/m"), "toy").unwrap();
    assert_eq!(bytes, weights(version));
    Some(version)
}

#[test]
fn a_model_is_old_or_new_wherever_writing_fails() {
    let whole = Faulty::default();
    assert_eq!(save(&whole), (VERSIONS, VERSIONS));
    let operations = whole.operations();
    assert!(operations > 20, "{operations}");
    for at in 1..=operations {
        for for_ever in [false, true] {
            let storage = Faulty::failing(at, for_ever);
            let (acknowledged, begun) = save(&storage);
            let found = saved(&storage).unwrap_or(0);
            // What was put in place before the error is the new one, whole; a later one follows
            // when the disk has room again.
            assert!((acknowledged..=begun).contains(&found), "operation {at}: {found} of {acknowledged} to {begun}");
            assert!(for_ever || acknowledged == VERSIONS || at + 9 > operations, "operation {at} stopped the ones after it");
        }
    }
}

#[test]
fn a_model_is_old_or_new_wherever_it_crashes() {
    let operations = {
        let whole = Faulty::default();
        save(&whole);
        whole.operations()
    };
    let mut torn_names = 0;
    for at in 1..=operations {
        let storage = Faulty::failing(at, true);
        let (acknowledged, begun) = save(&storage);
        for seed in 0..64 {
            let left = storage.crashed(&mut seeded(seed + 1000 * at as u64));
            let found = saved(&left).unwrap_or(0);
            assert!((acknowledged..=begun).contains(&found), "operation {at}, seed {seed}: {found} of {acknowledged} to {begun}");
            torn_names += usize::from(left.0.lock().unwrap().names.keys().any(|path| path.to_string_lossy().ends_with(".part")));
            // The next save finds its way, and takes nothing that was left for a model.
            write_model_on(&left, Path::new("/m"), "toy", 9u32, &weights(9)).unwrap();
            assert_eq!(saved(&left), Some(9));
        }
    }
    assert!(torn_names > 0, "crashes in the middle of writing were among them");
}

#[test]
fn the_yardstick_sees_what_is_lost_without_syncing() {
    // The same, but without bringing anything to the disk: some crash must lose an acknowledged
    // file.
    let storage = Faulty::default();
    storage.create(Path::new("/x.part"), b"new bytes").unwrap();
    storage.rename(Path::new("/x.part"), Path::new("/x")).unwrap();
    let lost =
        (0..64).filter(|seed| storage.crashed(&mut seeded(*seed)).read(Path::new("/x")).ok().as_deref() != Some(b"new bytes")).count();
    assert!(lost > 0, "this storage crashes too gently");
}

#[test]
fn a_file_is_old_or_new_wherever_it_crashes() {
    for at in 1..=12 {
        let storage = Faulty::failing(at, true);
        let mut acknowledged = Vec::new();
        let mut begun = Vec::new();
        for text in ["one", "two, which is longer than eight", "three"] {
            begun = text.as_bytes().to_vec();
            if replace_on(&storage, Path::new("/x"), text.as_bytes()).is_ok() {
                acknowledged = begun.clone();
            } else {
                break;
            }
        }
        for seed in 0..64 {
            let left = storage.crashed(&mut seeded(seed)).read(Path::new("/x")).unwrap_or_default();
            assert!(left == acknowledged || left == begun, "operation {at}, seed {seed}: {left:?}");
        }
    }
}
