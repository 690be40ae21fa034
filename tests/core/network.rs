//! The network that comes with the program: the same values as its script computes, the same bits
//! on any number of threads, and cells as elements of machines.

use std::fs;
use std::path::Path;

use image::{Rgb, RgbImage};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{CkmOptions, Without};
use tessera_core::network::{CLASSES, Network, NetworkOptions, SIDE};

use crate::ckm::{machine, unjudged};
use crate::scenes::scene;

/// The picture that `benches/make_squeezenet.py` makes.
fn made() -> RgbImage {
    RgbImage::from_fn(SIDE, SIDE, |x, y| Rgb([x * x / 64 + 3 * y, 5 * x / 2 + y * y / 90, x * y / 32].map(|value| (value % 256) as u8)))
}

#[test]
fn its_files_are_those_whose_hashes_are_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recorded = fs::read_to_string(root.join("docs/benchmarks/recognition.md")).unwrap();
    for name in ["squeezenet.onnx", "squeezenet-names.txt", "squeezenet-directions.bin", "squeezenet-class-axes.bin"] {
        let digest = Sha256::digest(fs::read(root.join("assets").join(name)).unwrap());
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("{hash}  {name}");
        assert!(recorded.lines().any(|told| told.trim() == line), "{line}");
    }
}

#[test]
fn values_are_those_of_the_script() {
    let seen = Network::shipped().unwrap().look_at(&made()).unwrap();
    let cells = seen.cells(&NetworkOptions { grid: 13 });
    for line in include_str!("network/reference.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<usize>().unwrap();
        let (found, expected) = match words[0] {
            "class" => (seen.classes()[number(1)], words[2]),
            _ => (cells[13 * number(1) + number(2)].values[number(3)], words[4]),
        };
        let expected: f32 = expected.parse().unwrap();
        assert!((found - expected).abs() < 1e-4, "{line}: {found}");
    }
    assert_eq!(seen.classes().len(), CLASSES);
    assert!((seen.classes().iter().sum::<f32>() - 1.0).abs() < 1e-4);
}

#[test]
fn bits_are_the_same_on_any_number_of_threads() {
    let network = Network::shipped().unwrap();
    let pictures: Vec<RgbImage> = (0..6).map(|seed| scene(seed, 150, 110)).collect();
    let on = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pictures.par_iter().map(|picture| network.look_at(picture).unwrap()).collect::<Vec<_>>())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn cells_are_means_of_what_lies_below_them() {
    let seen = Network::shipped().unwrap().look_at(&scene(4, 200, 100)).unwrap();
    let (all, few) = (seen.cells(&NetworkOptions { grid: 13 }), seen.cells(&NetworkOptions { grid: 6 }));
    assert_eq!((all.len(), few.len(), seen.cells(&NetworkOptions { grid: 1 }).len()), (169, 36, 1));
    for cells in [&all, &few] {
        for cell in cells {
            let length: f32 = cell.values.iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-4 && cell.values.iter().all(|value| *value >= 0.0));
        }
    }
    // Every third of 13 is the middle of a cell of 3 x 3.
    for (i, cell) in few.iter().enumerate() {
        let middle = &all[13 * (2 * (i / 6) + 1) + 2 * (i % 6) + 1];
        assert!((cell.x - middle.x).abs() < 1e-6 && (cell.y - middle.y).abs() < 1e-6);
    }
    assert_eq!(seen.vector(), seen.cells(&NetworkOptions { grid: 1 })[0].values);
    // Row by row from the top left corner.
    assert!(few[0].x < 0.2 && few[35].x > 0.8 && few[5].y < 0.2);
}

#[test]
fn every_class_has_nouns() {
    let network = Network::shipped().unwrap();
    assert!((0..CLASSES).all(|class| network.nouns(class).iter().all(|noun| !noun.is_empty()) && !network.nouns(class).is_empty()));
    assert_eq!((network.nouns(1), network.nouns(CLASSES).len()), (["goldfish", "Carassius auratus"].as_slice(), 0));
}

fn options() -> [CkmOptions; 2] {
    [Preset::Network, Preset::All].map(Preset::options)
}

#[test]
fn a_score_is_the_sum_of_its_pieces() {
    for options in options() {
        let ckm = machine(options, 9);
        let elements = ckm.elements(&scene(77, 90, 96).into()).unwrap();
        let scores = ckm.scores(&elements, Without::Nothing);
        let ranking = scores.ranking();
        let classes: Vec<_> = ranking.iter().map(|(class, _)| *class).collect();
        // What it says of its own classes is no piece.
        let pieces = elements.len() - 1;
        for (explanation, (_, score)) in ckm.explain(&elements, Without::Nothing, &classes).iter().zip(ranking) {
            assert_eq!((explanation.score, explanation.contributions.len()), (score, pieces));
            let sum = explanation.contributions.iter().map(|piece| piece.value).sum::<f64>() + explanation.term;
            assert!((sum - score).abs() < 1e-5 * score.abs(), "{sum}, not {score}");
        }
    }
}

#[test]
fn models_and_kept_elements_come_back() {
    for options in options() {
        let ckm = machine(options.clone(), 9);
        let elements = ckm.elements(&scene(5, 70, 96).into()).unwrap();
        assert_eq!(Elements::from_bytes(&elements.to_bytes(), &options), Some(elements));
        let folder = TempDir::new().unwrap();
        let model = unjudged(ckm);
        model.save(&folder.path().join("m")).unwrap();
        assert_eq!(RecogniserModel::load(&folder.path().join("m")).unwrap(), model);
    }
}
