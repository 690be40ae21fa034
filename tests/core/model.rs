//! Models on disk: the same answers elsewhere, and no byte that may differ.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tessera_core::ckm::Without;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::model::{Metrics, Recognizer};
use tessera_core::ckm::presets::Preset;

use crate::ckm::machine;
use crate::scenes::scene;

fn recognizer(n: u32) -> Recognizer {
    Recognizer {
        ckm: Arc::new(machine(Preset::Mixed.options(), n)),
        calibration: Calibration { offset: 0.1, slope: 12.5, n: 9 },
        metrics: Metrics { held_out_accuracy: Some(0.75), held_out: 9, objects_unknown: 2 },
        root: "/somewhere/ümlaut".into(),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_moved_model_gives_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    let model = recognizer(9);
    let bytes = model.save(&folder.path().join("a")).unwrap();
    fs::rename(folder.path().join("a"), folder.path().join("b c")).unwrap();
    let found = Recognizer::load(&folder.path().join("b c")).unwrap();
    assert_eq!(found, model);
    let query = model.ckm.elements(&scene(40, 128, 100)).unwrap();
    assert_eq!(found.ckm.scores(&query, Without::Nothing), model.ckm.scores(&query, Without::Nothing));
    let on_disk: u64 = files(&folder.path().join("b c")).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert_eq!(bytes, on_disk);
}

#[test]
fn a_newer_model_replaces_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    recognizer(9).save(folder.path()).unwrap();
    let newer = recognizer(12);
    newer.save(folder.path()).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "the old weights are gone");
    assert_eq!(Recognizer::load(folder.path()).unwrap(), newer);
}

#[test]
fn other_things_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("holiday.jpg"), "x").unwrap();
    let error = recognizer(9).save(folder.path()).unwrap_err().to_string();
    assert!(error.contains("holiday.jpg"), "{error}");
    assert_eq!(files(folder.path()).len(), 1);
}

/// Loads after `damage` to a copy of each file in turn, which must be refused in a sentence that names that file.
#[track_caller]
fn refused(folder: &Path, file: &Path, bytes: &[u8], what: &str) {
    fs::write(file, bytes).unwrap();
    let error = Recognizer::load(folder).expect_err(what).to_string();
    let name = file.file_name().unwrap().to_string_lossy();
    assert!(error.contains(&*name), "{what}: {error} does not name {name}");
}

#[test]
fn a_byte_that_differs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = recognizer(3);
    model.save(folder.path()).unwrap();
    for file in files(folder.path()) {
        let whole = fs::read(&file).unwrap();
        // Every byte of the manifest; of the weights the header and a spread of the rest.
        let step = if whole.len() > 20_000 { whole.len() / 500 } else { 1 };
        for at in (0..whole.len()).filter(|at| *at < 600 || at % step == 0) {
            for mask in [1u8, 0x80] {
                let mut bytes = whole.clone();
                bytes[at] ^= mask;
                refused(folder.path(), &file, &bytes, &format!("bit {mask} of byte {at} flipped"));
            }
        }
        for at in [0, 1, whole.len() / 2, whole.len() - 1] {
            refused(folder.path(), &file, &whole[..at], &format!("cut to {at} bytes"));
        }
        let mut longer = whole.clone();
        longer.push(b'\n');
        refused(folder.path(), &file, &longer, "a byte more");
        fs::remove_file(&file).unwrap();
        let error = Recognizer::load(folder.path()).expect_err("a missing file").to_string();
        assert!(error.contains(&*file.file_name().unwrap().to_string_lossy()), "{error}");
        fs::write(&file, whole).unwrap();
    }
    assert_eq!(Recognizer::load(folder.path()).unwrap(), model);
}
