//! Reads any bytes as each kind of file that Tessera reads. Whatever the bytes, a reader returns: it
//! neither panics nor hangs, and takes no more memory than the file accounts for.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tessera::session::models::load_model;
use tessera::settings::Settings;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions};
use tessera_core::cmt::Cmt;
use tessera_core::data::named_vectors::NamedVectors;
use tessera_core::data::names;
use tessera_core::data::norb::NorbSet;
use tessera_core::data::tables::{self, guarded, sidecar, unguarded};
use tessera_core::data::{libsvm, mat, multilabel};
use tessera_core::envelope::{MANIFEST, hash_hex, hash64};
use tessera_core::json;
use tessera_core::library::brought_vector::BroughtVector;
use tessera_core::library::event::{Change, inverse};
use tessera_core::library::journal;
use tessera_core::network::{BytePairs, brought};
use tessera_core::picture::appearance::Appearance;
use tessera_core::picture::glance::Glance;

use tessera_core::picture::workers::protocol::{Reply, read_reply};
use tessera_core::picture::{InProcess, Limits};
use tessera_core::progress::Progress;

/// A kind of file, and what reads it.
pub(crate) type Reader = (&'static str, fn(&Path, &[u8]));

/// Each kind of file by the name of its fuzz target. A reader gets a folder of its own, which may
/// hold what it left there before.
pub(crate) const READERS: [Reader; 19] = [
    ("captions", captions),
    ("libsvm", libsvm),
    ("multilabel", multilabel),
    ("vectors", vectors),
    ("norb", norb),
    ("names", names),
    ("manifest", manifest),
    ("weights", weights),
    ("packed", packed),
    ("options", options),
    ("settings", settings),
    ("tokenizer", tokenizer),
    ("preprocessing", preprocessing),
    ("json", json),
    ("journal", journal),
    ("event", event),
    ("worker", worker),
    ("kept", kept),
    ("netpbm", netpbm),
];

/// What stands between the files of which an input is made.
const NEXT_FILE: &[u8] = b"\n--next file--\n";

/// The files of which an input is made.
fn files<const N: usize>(bytes: &[u8]) -> [&[u8]; N] {
    let mut rest = bytes;
    std::array::from_fn(|i| {
        let at = rest.windows(NEXT_FILE.len()).position(|part| part == NEXT_FILE).filter(|_| i + 1 < N);
        let (file, next) = at.map_or((rest, &rest[rest.len()..]), |at| (&rest[..at], &rest[at + NEXT_FILE.len()..]));
        rest = next;
        file
    })
}

/// Runs a reader by its name, in a folder in memory that lasts as long as the thread.
pub(crate) fn read(name: &str, bytes: &[u8]) {
    thread_local! {
        static FOLDER: TempDir = tempfile::tempdir_in(memory()).expect("a folder in memory");
    }
    let (_, reader) = READERS.iter().find(|(of, _)| *of == name).expect("a reader of that name");
    FOLDER.with(|folder| reader(folder.path(), bytes));
}

/// A folder whose files are in memory, where there is one.
pub(crate) fn memory() -> PathBuf {
    let shm = PathBuf::from("/dev/shm");
    if shm.is_dir() { shm } else { std::env::temp_dir() }
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("a file in memory");
    path
}

/// An error of a reader says something.
fn told<T>(outcome: tessera_core::Result<T>) -> Option<T> {
    outcome.map_err(|error| assert!(!error.to_string().is_empty())).ok()
}

/// Captions and labels, in every format and under every name that has a meaning.
fn captions(folder: &Path, bytes: &[u8]) {
    for name in ["t.json", "t.jsonl", "photo.jpg.txt"] {
        let path = file(folder, name, bytes);
        let Some(table) = told(tables::read(&path, &Progress::default())) else { continue };
        assert!(table.n_problems >= table.problems.len() && !table.rows.is_empty());
        for text in table.rows.iter().flat_map(|row| row.captions.iter().chain([&row.path])) {
            assert_eq!(unguarded(&guarded(text)), *text);
        }
    }
    file(folder, "photo.txt", bytes);
    told(sidecar(&folder.join("photo.jpg")));
}

fn libsvm(folder: &Path, bytes: &[u8]) {
    told(libsvm::read(&file(folder, "x.svm", bytes), &mut libsvm::ClassNames::default(), &Progress::default()));
}

/// The first file as ARFF, with the second as its XML, and as text of the Extreme Classification
/// Repository.
fn multilabel(folder: &Path, bytes: &[u8]) {
    let [examples, labels] = files(bytes);
    file(folder, "x.xml", labels);
    for name in ["x.arff", "y.arff", "x.txt"] {
        told(multilabel::read(&file(folder, name, examples), &Progress::default()));
    }
}

/// The first file in each form of vectors with names, and as a matrix with the second as its names.
fn vectors(folder: &Path, bytes: &[u8]) {
    let [first, names] = files(bytes);
    file(folder, "v.txt", names);
    for name in ["v.csv", "v.safetensors", "v.npy"] {
        let Some(found) = told(NamedVectors::read(&file(folder, name, first))) else { continue };
        assert!(found.n_problems >= found.problems.len() && !found.rows.is_empty());
        for (name, values) in &found.rows {
            assert!(!name.is_empty() && values.len() == found.dimension && BroughtVector::of(values).is_some());
        }
    }
}

/// The three files of a small NORB set, and its names of categories.
fn norb(folder: &Path, bytes: &[u8]) {
    let [dat, cat, info, categories] = files(bytes);
    let path = file(folder, "x-dat.mat", dat);
    file(folder, "x-cat.mat", cat);
    file(folder, "x-info.mat", info);
    let names = file(folder, "x-names.txt", categories);
    if categories.is_empty() {
        fs::remove_file(names).expect("a file in memory");
    }
    told(mat::Header::read(&path, &mut &dat[..]));
    if let Some(set) = told(NorbSet::open(&path, &Progress::default())) {
        for pair in 0..set.n_pairs().min(4) {
            let _ = (set.category_name(pair), set.rgb(2 * pair), set.meta(2 * pair), set.name(2 * pair));
        }
    }
}

/// File names, one a line.
fn names(_: &Path, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let stems: Vec<&str> = text.lines().collect();
    if let Some(choice) = names::choose(&stems) {
        let _ = (choice.is_convincing(), choice.fits_most());
    }
}

/// Writes a model of this manifest, under a true checksum, and these weights, which the manifest
/// then names.
fn write_model(folder: &Path, manifest: &[u8], weights: &[u8]) {
    let hash = hash_hex(weights);
    let part = format!("(file: \"weights-{hash}.safetensors\", bytes: {}, xxh3_128: \"{hash}\")", weights.len());
    let text = String::from_utf8_lossy(manifest).replace("PART", &part);
    let text = format!("{text}\n");
    file(folder, &format!("weights-{hash}.safetensors"), weights);
    file(folder, MANIFEST, format!("{text}// xxh3-128 of everything above: {}\n", hash_hex(text.as_bytes())).as_bytes());
}

fn load(folder: &Path, manifest: &[u8], weights: &[u8]) {
    let folder = folder.join("model");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder in memory");
    write_model(&folder, manifest, weights);
    let Some(model) = told(RecogniserModel::load(&folder)) else { return };
    let bare = model.without_names().expect("the options that the model has");
    assert!(!bare.has_names() && bare.ckm.n_elements() == model.ckm.n_elements());
    let query = model.ckm.examples().next().map(|(_, example)| example.elements.clone());
    if let Some(query) = query.filter(|_| model.ckm.n_elements() < 1000) {
        let _ = model.ckm.scores(&query.get(), tessera_core::ckm::Without::Nothing).ranking();
    }
}

/// The manifest of a model, where PART stands for its weights, which are the second file.
fn manifest(folder: &Path, bytes: &[u8]) {
    let [manifest, weights] = files(bytes);
    load(folder, manifest, weights);
}

/// The weights of a model: they come first, and its manifest after them.
fn weights(folder: &Path, bytes: &[u8]) {
    let [weights, manifest] = files(bytes);
    load(folder, manifest, weights);
}

/// A model in one file.
fn packed(folder: &Path, bytes: &[u8]) {
    told(load_model(&file(folder, "x.tessera-model", bytes)));
}

/// The options of a machine.
fn options(_: &Path, bytes: &[u8]) {
    if let Ok(options) = ron::from_str::<CkmOptions>(&String::from_utf8_lossy(bytes)) {
        told(Ckm::new(options));
    }
}

fn settings(folder: &Path, bytes: &[u8]) {
    let path = file(folder, "settings.ron", bytes);
    let (settings, _) = Settings::load(&path);
    settings.save(&path).expect("settings in memory");
    assert_eq!(Settings::load(&path).0, settings);
}

fn tokenizer(_: &Path, bytes: &[u8]) {
    if let Some(pairs) = told(BytePairs::parse(Path::new("tokenizer.json"), &String::from_utf8_lossy(bytes))) {
        assert!(pairs.tokens("a photo of a cat, isn't it?", None).len() >= 2 && pairs.tokens("", Some(1)).len() == 2);
    }
}

/// What goes with a network that a user brings.
fn preprocessing(folder: &Path, bytes: &[u8]) {
    told(brought::explore(&[file(folder, "preprocessor_config.json", bytes)], &Default::default()));
}

/// JSON of lines of stdin and of files: the same as any reader of JSON has it, where no key stands
/// twice.
fn json(_: &Path, bytes: &[u8]) {
    if let Ok(value) = json::parse(bytes) {
        assert_eq!(serde_json::from_slice::<serde_json::Value>(bytes).expect("JSON"), value);
    }
}

/// A journal, and the body of a line with a true seal, so that what lies behind the seal is reached
/// too.
fn journal(_: &Path, bytes: &[u8]) {
    let (lines, problems) = journal::read(bytes);
    assert!(lines.len() + problems.len() <= 2 * bytes.len());
    let body = [b"\"n\":0,\"line\":", bytes].concat();
    let mut line = format!("{{\"xxh3\":\"{:016x}\",", hash64(&body)).into_bytes();
    line.extend(body);
    line.push(b'}');
    let _ = journal::read_line(&line);
}

/// The changes of an event: what can be read is written, and read again as the same.
fn event(_: &Path, bytes: &[u8]) {
    let Ok(changes) = serde_json::from_slice::<Vec<Change>>(bytes) else { return };
    let text = serde_json::to_string(&changes).expect("JSON");
    assert_eq!(serde_json::from_str::<Vec<Change>>(&text).expect("what was written"), changes);
    assert_eq!(inverse(inverse(changes.clone())), changes);
}

/// What a worker says.
fn worker(_: &Path, bytes: &[u8]) {
    let side = u32::from(bytes.first().copied().unwrap_or(0)) * 16;
    if let Ok(Reply::Picture(picture)) = read_reply(&mut &bytes[bytes.len().min(1)..], Path::new("x"), side) {
        let (width, height) = picture.pixels.dimensions();
        assert!(width.max(height) <= side && width <= picture.size.0 && height <= picture.size.1);
    }
}

/// The head of a picture, and a Netpbm picture decoded.
fn netpbm(_: &Path, bytes: &[u8]) {
    let _ = Glance::of(bytes);
    let decoder = InProcess::new(Limits { pixels: 1 << 20, ..Limits::default() });
    if let Some(Ok(picture)) = bytes.starts_with(b"P").then(|| decoder.decode_bytes(Path::new("x"), bytes)) {
        assert!(picture.width() > 0 && picture.height() > 0);
    }
}

/// What the cache of a library keeps: elements of images, appearances, memory trees.
fn kept(_: &Path, bytes: &[u8]) {
    for preset in [Preset::Orb, Preset::Hog, Preset::Mixed] {
        let _ = Elements::from_bytes(bytes, &preset.options());
    }
    let _ = Appearance::from_bytes(bytes);
    if let Some(forest) = told(Cmt::<()>::from_bytes(bytes)) {
        assert!(Cmt::<()>::from_bytes(&forest.to_bytes()).is_ok());
    }
}
