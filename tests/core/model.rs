//! Models on disk: the same answers elsewhere, and no byte that may differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use tessera_core::Error;
use tessera_core::ckm::confidence::Calibration;
use tessera_core::ckm::model::{KIND, Metrics, RecogniserModel};
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{CkmOptions, Without};
use tessera_core::envelope::{read_model, write_model};

use crate::ckm::machine;
use crate::scenes::scene;

fn recogniser(n: u32) -> RecogniserModel {
    RecogniserModel {
        ckm: Arc::new(machine(Preset::Mixed.options(), n)),
        calibration: Calibration { offset: 0.1, slope: 12.5, n: 9 },
        metrics: Metrics { held_out_accuracy: Some(0.75), held_out: 9, objects_unknown: 2, ..Metrics::default() },
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
    let model = recogniser(9);
    let bytes = model.save(&folder.path().join("a")).unwrap();
    fs::rename(folder.path().join("a"), folder.path().join("b c")).unwrap();
    let found = RecogniserModel::load(&folder.path().join("b c")).unwrap();
    assert_eq!(found, model);
    let query = model.ckm.elements(&scene(40, 128, 100).into()).unwrap();
    assert_eq!(found.ckm.scores(&query, Without::Nothing), model.ckm.scores(&query, Without::Nothing));
    let on_disk: u64 = files(&folder.path().join("b c")).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert_eq!(bytes, on_disk);
}

#[test]
fn a_newer_model_replaces_an_older_one() {
    let folder = tempfile::tempdir().unwrap();
    recogniser(9).save(folder.path()).unwrap();
    let newer = recogniser(12);
    newer.save(folder.path()).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "the old weights are gone");
    assert_eq!(RecogniserModel::load(folder.path()).unwrap(), newer);
}

#[test]
fn other_things_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("holiday.jpg"), "x").unwrap();
    let error = recogniser(9).save(folder.path()).unwrap_err().to_string();
    assert!(error.contains("holiday.jpg"), "{error}");
    assert_eq!(files(folder.path()).len(), 1);
}

/// Loads after `damage` to a copy of each file in turn, which must be refused in a sentence that
/// names that file.
#[track_caller]
fn refused(folder: &Path, file: &Path, bytes: &[u8], what: &str) {
    fs::write(file, bytes).unwrap();
    let error = RecogniserModel::load(folder).expect_err(what).to_string();
    let name = file.file_name().unwrap().to_string_lossy();
    assert!(error.contains(&*name), "{what}: {error} does not name {name}");
}

#[test]
fn a_byte_that_differs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = recogniser(3);
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
        let error = RecogniserModel::load(folder.path()).expect_err("a missing file").to_string();
        assert!(error.contains(&*file.file_name().unwrap().to_string_lossy()), "{error}");
        fs::write(&file, whole).unwrap();
    }
    assert_eq!(RecogniserModel::load(folder.path()).unwrap(), model);
}

#[test]
#[ignore = "half a million loads"]
fn every_byte_that_differs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    recogniser(3).save(folder.path()).unwrap();
    let mut loads = 0_u64;
    for file in files(folder.path()) {
        let whole = fs::read(&file).unwrap();
        let mut spoil = |bytes: &[u8], what: String| {
            refused(folder.path(), &file, bytes, &what);
            loads += 1;
        };
        for at in 0..whole.len() {
            let values = (0..8).map(|bit| whole[at] ^ (1 << bit)).chain([0x00, 0xff, whole[at].wrapping_add(1)]);
            for value in values.filter(|value| *value != whole[at]) {
                let mut bytes = whole.clone();
                bytes[at] = value;
                spoil(&bytes, format!("byte {at} is {value}"));
            }
            spoil(&whole[..at], format!("cut to {at} bytes"));
        }
        fs::write(&file, whole).unwrap();
    }
    println!("a model: {loads} damages, each refused in a sentence");
}

/// The head of a recogniser's manifest.
#[derive(Clone, Serialize, Deserialize)]
struct Head {
    options: CkmOptions,
    pattern_version: u32,
    /// 0: not told.
    #[serde(skip_serializing_if = "is_zero")]
    element_version: u32,
    classes: Vec<String>,
    root: String,
    images: usize,
    elements: usize,
    calibration: Calibration,
    metrics: Metrics,
}

fn is_zero(version: &u32) -> bool {
    *version == 0
}

type Tensors = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

fn tensors_of(weights: &[u8]) -> Tensors {
    let all = SafeTensors::deserialize(weights).unwrap();
    all.tensors().into_iter().map(|(name, t)| (name, (t.dtype(), t.shape().to_vec(), t.data().to_vec()))).collect()
}

/// Writes a model with these parts and true checksums, and loads it.
fn resealed(head: &Head, tensors: &Tensors) -> Result<RecogniserModel, Error> {
    let folder = tempfile::tempdir().unwrap();
    let views = tensors.iter().map(|(name, (dtype, shape, data))| (name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
    write_model(folder.path(), KIND, head, &safetensors::serialize(views, None).unwrap()).unwrap();
    RecogniserModel::load(folder.path())
}

#[track_caller]
fn refused_as(outcome: Result<RecogniserModel, Error>, words: &str) {
    match outcome.map(|_| ()) {
        Err(error @ Error::Data { .. }) => assert!(error.to_string().contains(words), "{error} does not say {words:?}"),
        other => panic!("{words:?}: {other:?}"),
    }
}

#[test]
fn weights_that_do_not_fit_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = recogniser(9);
    model.save(folder.path()).unwrap();
    let (head, weights) = read_model::<Head>(folder.path(), KIND).unwrap();
    let whole = tensors_of(&weights);
    assert_eq!(resealed(&head, &whole).unwrap(), model);
    for name in whole.keys() {
        let mut tensors = whole.clone();
        tensors.remove(name);
        refused_as(resealed(&head, &tensors), name);

        let (dtype, shape, bytes) = whole[name].clone();
        let (other, shape) = match dtype {
            Dtype::U8 => (Dtype::I8, shape),
            _ => (Dtype::U8, vec![bytes.len()]),
        };
        let mut tensors = whole.clone();
        tensors.insert(name.clone(), (other, shape, bytes));
        refused_as(resealed(&head, &tensors), name);
    }

    let u32s = |values: &[u32]| (Dtype::U32, vec![values.len()], values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
    let with = |name: &str, at: usize, value: [u8; 4]| {
        let mut tensor = whole[name].clone();
        tensor.2[4 * at..4 * at + 4].copy_from_slice(&value);
        tensor
    };
    let counts: Vec<u32> = model.ckm.examples().map(|(_, e)| e.elements.get().sets[1].len() as u32).collect();
    let mut one_more = counts.clone();
    one_more[4] += 1;
    let mut not_text = whole["images.name"].clone();
    not_text.2[0] = 0xFF;
    let table = [
        ("images.id", u32s(&[0, 1, 2]), "3 numbers in `images.id` where 9 belong"),
        ("images.id", with("images.id", 1, 0u32.to_le_bytes()), "8 images"),
        ("images.id", with("images.id", 8, 0u32.to_le_bytes()), "8 images"),
        ("images.class", with("images.class", 0, 3u32.to_le_bytes()), "class 3 of 3"),
        ("images.width", u32s(&[0; 10]), "10 numbers in `images.width`"),
        ("images.width", with("images.width", 3, u32::MAX.to_le_bytes()), "an image of 4294967295 x"),
        ("images.name", not_text, "bytes that are not text in `images.name`"),
        ("images.name", (Dtype::U8, vec![0], Vec::new()), "ends out of order in `images.name`"),
        ("images.name_end", with("images.name_end", 2, 1u32.to_le_bytes()), "ends out of order in `images.name`"),
        ("images.group_end", with("images.group_end", 8, u32::MAX.to_le_bytes()), "ends out of order in `images.group`"),
        ("1.hog.count", u32s(&counts[1..]), "8 numbers in `1.hog.count`"),
        ("1.hog.count", u32s(&one_more), "elements of `1`"),
        ("1.hog.count", u32s(&[u32::MAX; 9]), "elements of `1`"),
        ("0.orb.position", with("0.orb.position", 3, f32::NAN.to_le_bytes()), "a position of `0`"),
        ("2.colour.position", with("2.colour.position", 0, f32::NEG_INFINITY.to_le_bytes()), "a position of `2`"),
        ("2.colour.feature", (Dtype::U8, vec![1, 3], vec![1, 2, 3]), "3 feature bytes"),
    ];
    for (name, tensor, words) in table {
        let mut tensors = whole.clone();
        assert_ne!(tensors.insert(name.to_owned(), tensor.clone()), Some(tensor), "{words}: nothing changed");
        refused_as(resealed(&head, &tensors), words);
    }

    refused_as(resealed(&Head { images: 8, ..head.clone() }, &whole), "where 8 belong");
    refused_as(resealed(&Head { elements: head.elements + 1, ..head.clone() }, &whole), "9 images of");
    refused_as(resealed(&Head { classes: head.classes[1..].to_vec(), ..head.clone() }, &whole), "class 2 of 2");
    refused_as(resealed(&Head { pattern_version: 0, ..head.clone() }, &whole), "pattern version 0");
    refused_as(resealed(&Head { element_version: 3, ..head.clone() }, &whole), "elements of version 3");
    let mut tensors = whole.clone();
    tensors.get_mut("1.hog.feature").unwrap().2[7] = 128;
    refused_as(resealed(&head, &tensors), "a value of `1` above 127");
    let neighbours = CkmOptions { neighbours: 65, ..head.options.clone() };
    refused_as(resealed(&Head { options: neighbours, ..head }, &whole), "neighbours");
}

/// The first version told no version of its elements, and kept gradient blocks in 255 steps.
#[test]
fn a_model_of_the_first_version_gives_the_same_scores() {
    let folder = tempfile::tempdir().unwrap();
    let model = recogniser(9);
    model.save(folder.path()).unwrap();
    let (head, weights) = read_model::<Head>(folder.path(), KIND).unwrap();
    let mut tensors = tensors_of(&weights);
    for value in &mut tensors.get_mut("1.hog.feature").unwrap().2 {
        *value = ((u32::from(*value) * 255 + 63) / 127) as u8;
    }
    assert_eq!(resealed(&Head { element_version: 0, ..head }, &tensors).unwrap(), model);
}

#[test]
fn a_curve_that_falls_or_is_no_number_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (offset, slope) in [(0.0, -1.0), (0.0, f64::NAN), (0.0, f64::INFINITY), (f64::NAN, 1.0), (f64::NEG_INFINITY, 1.0)] {
        let model = RecogniserModel { calibration: Calibration { offset, slope, n: 9 }, ..recogniser(6) };
        model.save(folder.path()).unwrap();
        refused_as(RecogniserModel::load(folder.path()), "a curve of confidence");
    }
}
