//! Machines over elements that the caller brings: binary descriptors, dense vectors, and both
//! beside pictures.

use rand::RngExt;
use tempfile::TempDir;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::model::RecogniserModel;
use tessera_core::ckm::own::{OwnElements, OwnValues};
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, ElementSource, Example, Without};
use tessera_core::descriptor::Descriptor;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random;

use super::unjudged;
use crate::scenes::scene;

const CLASSES: [&str; 3] = ["ash", "birch", "cedar"];
const DIMENSION: usize = 12;
const FORM: ElementForm = ElementForm::Dense { dimension: DIMENSION, low: -1.0, high: 1.0 };

fn kernel(rho: f32) -> LeafKernel {
    LeafKernel { rho, cost: 0.3, reach: 50.0, pair_bonus: 0.1, weight: 1.0 }
}

fn binary() -> CkmOptions {
    CkmOptions::own("bark", ElementForm::Binary, kernel(90.0))
}

fn dense() -> CkmOptions {
    CkmOptions::own("leaf", FORM, kernel(1.5))
}

/// A synthetic object of a class: positions, descriptors near those of its class, and vectors
/// likewise.
struct Thing {
    positions: Vec<[f32; 2]>,
    descriptors: Vec<Descriptor>,
    vectors: Vec<f32>,
}

const SIZE: (u32, u32) = (200, 120);

fn thing(number: u32) -> (&'static str, Thing) {
    let class = number as usize % CLASSES.len();
    let mut rng = random::stream(8, number.into());
    let n = 5 + number as usize % 4;
    let mut made = Thing { positions: Vec::new(), descriptors: Vec::new(), vectors: Vec::new() };
    for part in 0..n as u64 {
        let mut own = random::stream(9, 10 * class as u64 + part);
        made.positions.push([own.random_range(0.0..190.0) + rng.random_range(0.0..9.0), own.random_range(0.0..110.0)]);
        let words: [u64; 4] = own.random();
        // A quarter of the bits of a quarter of the words are drawn anew.
        made.descriptors.push(Descriptor(words.map(|word| word ^ (rng.random::<u64>() & rng.random::<u64>() & rng.random::<u64>()))));
        made.vectors.extend((0..DIMENSION).map(|_| (own.random_range(-1.0f32..1.0) + rng.random_range(-0.2..0.2)).clamp(-1.0, 1.0)));
    }
    (CLASSES[class], made)
}

fn elements(ckm: &Ckm, thing: &Thing) -> Elements {
    let values = |source: &ElementSource| match source.name() {
        "bark" => OwnValues::Binary(&thing.descriptors),
        _ => OwnValues::Dense(&thing.vectors),
    };
    let own: Vec<_> =
        ckm.options().kinds.iter().map(|kind| OwnElements { positions: &thing.positions, values: values(&kind.source) }).collect();
    ckm.elements_from_own(SIZE, &own).unwrap()
}

fn add(ckm: &mut Ckm, number: u32) {
    let (class, thing) = thing(number);
    let elements = elements(ckm, &thing);
    let group = Some(format!("{class}/{}", number / 6));
    ckm.add(class, Example { id: ItemId(number), name: format!("{class} {number}"), group, elements: elements.into() }).unwrap();
}

fn machine(options: CkmOptions, numbers: impl Iterator<Item = u32>) -> Ckm {
    let mut ckm = Ckm::new(options).unwrap();
    numbers.for_each(|number| add(&mut ckm, number));
    ckm
}

fn both() -> CkmOptions {
    let mut options = binary();
    options.kinds.extend(dense().kinds);
    options
}

#[test]
fn things_of_a_class_are_recognised() {
    for options in [binary(), dense(), both()] {
        let ckm = machine(options, 0..24);
        for number in 100..130 {
            let (class, thing) = thing(number);
            let scores = ckm.scores(&elements(&ckm, &thing), Without::Nothing);
            let best = scores.ranking()[0].0;
            assert_eq!(ckm.classes()[best.index()].name, class, "thing {number}");
            assert!(scores.margin() > 0.0);
        }
    }
}

/// Each part alone: the best kernel over all parts of the class, with distances in the caller's own
/// units.
#[test]
fn a_score_is_the_sum_of_the_best_kernels() {
    for options in [binary(), dense()] {
        let options = CkmOptions { neighbours: 0, decompositions: 1, ..options };
        let ckm = machine(options.clone(), 0..12);
        let kernel = options.kinds[0].kernel;
        let pixels = SIZE.0 as f32 / options.side as f32;
        let (_, query) = thing(77);
        let scores = ckm.scores(&elements(&ckm, &query), Without::Nothing);
        for (class, score) in ckm.classes().iter().zip(scores.of) {
            let mut sum = 0.0;
            for (i, [x, y]) in query.positions.iter().enumerate() {
                let mut best = f32::NEG_INFINITY;
                for example in &class.examples {
                    let (_, other) = thing(example.id.0);
                    for (j, [ox, oy]) in other.positions.iter().enumerate() {
                        let row = |values: &[f32], at: usize| values[at * DIMENSION..(at + 1) * DIMENSION].to_vec();
                        let distance = match options.kinds[0].source.name() {
                            "bark" => query.descriptors[i].hamming(&other.descriptors[j]) as f32,
                            _ => {
                                let pairs = row(&query.vectors, i).into_iter().zip(row(&other.vectors, j));
                                pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
                            }
                        };
                        let (likeness, nearness) = kernel.parts(distance, (x - ox) / pixels, (y - oy) / pixels);
                        best = best.max(likeness + nearness);
                    }
                }
                sum += f64::from(best);
            }
            let score = score.unwrap();
            // Values are kept in steps of 1/127.5.
            assert!((score - sum).abs() < 0.02, "{}: {score}, not {sum}", class.name);
        }
    }
}

#[test]
fn explanations_tell_places_in_the_callers_units() {
    let ckm = machine(both(), 0..24);
    let (class, query) = thing(5);
    let class = ckm.class_id(class).unwrap();
    let query_elements = elements(&ckm, &query);
    let explanation = &ckm.explain(&query_elements, Without::Nothing, &[class])[0];
    assert_eq!(explanation.contributions.len(), 2 * query.positions.len());
    let sum: f64 = explanation.contributions.iter().map(|c| c.value).sum();
    assert!((sum - explanation.score).abs() < 1e-4);
    for c in &explanation.contributions {
        let [x, y] = query.positions[c.element];
        assert!((c.position[0] - x).abs() < 1e-3 && (c.position[1] - y).abs() < 1e-3, "{:?} is not at {x}, {y}", c.position);
        let found = c.matched.as_ref().unwrap();
        assert_eq!((found.image, found.element, found.distance), (ItemId(5), c.element, 0.0), "it is in the machine itself");
    }
}

#[test]
fn adding_and_removing_equals_training_anew() {
    for options in [binary(), dense(), both()] {
        let fresh = machine(options.clone(), 0..12);
        let mut grown = machine(options, (0..20).rev());
        (12..20).for_each(|number| assert!(grown.remove(ItemId(number))));
        add(&mut grown, 4);
        assert_eq!(grown, fresh);
    }
}

#[test]
fn saved_machines_answer_the_same() {
    for options in [binary(), dense(), both()] {
        let folder = TempDir::new().unwrap();
        let ckm = machine(options, 0..12);
        let elements = elements(&ckm, &thing(31).1);
        let scores = ckm.scores(&elements, Without::Nothing);
        let kept = Elements::from_bytes(&elements.to_bytes(), ckm.options()).unwrap();
        assert_eq!(kept, elements);
        let model = unjudged(ckm);
        model.save(folder.path()).unwrap();
        let loaded = RecogniserModel::load(folder.path()).unwrap();
        assert_eq!(loaded, model);
        assert_eq!(loaded.ckm.scores(&elements, Without::Nothing), scores);
    }
}

#[test]
fn pictures_and_own_elements_join_in_one_machine() {
    let mut options = Preset::Colour.options();
    options.kinds.extend(binary().kinds);
    let mut ckm = Ckm::new(options).unwrap();
    for number in 0..6 {
        let (class, thing) = thing(number);
        let own = OwnElements { positions: &thing.positions, values: OwnValues::Binary(&thing.descriptors) };
        let elements = ckm.elements_with(&scene(number.into(), 90, 60).into(), &[own]).unwrap();
        assert_eq!(elements.sets[1].len(), thing.positions.len());
        ckm.add(class, Example { id: ItemId(number), name: String::new(), group: None, elements: elements.into() }).unwrap();
    }
    let (_, own) = thing(2);
    let own = OwnElements { positions: &own.positions, values: OwnValues::Binary(&own.descriptors) };
    let picture = scene(2, 90, 60).into();
    let query = ckm.elements_with(&picture, &[own]).unwrap();
    assert_eq!(ckm.scores(&query, Without::Nothing).ranking()[0].0, ClassId(2));

    for error in [ckm.elements(&picture).unwrap_err(), ckm.elements_from_own(SIZE, &[own]).unwrap_err()] {
        assert!(error.to_string().starts_with("elements: expected"), "{error}");
    }
}

#[test]
fn other_elements_than_the_machines_are_refused() {
    let (ckm, other) = (machine(dense(), 0..3), machine(CkmOptions::own("twig", FORM, kernel(1.5)), 0..0));
    let (_, thing) = thing(1);
    let positions = &thing.positions[..];
    let brought = |positions: &[[f32; 2]], values, size| ckm.elements_from_own(size, &[OwnElements { positions, values }]);
    let good = OwnValues::Dense(&thing.vectors);
    let (no_numbers, nowhere) = (vec![f32::NAN; thing.vectors.len()], vec![[f32::INFINITY, 0.0]; positions.len()]);
    let wrong = [
        brought(positions, good, (0, 5)),
        brought(&positions[1..], good, SIZE),
        brought(positions, OwnValues::Binary(&thing.descriptors), SIZE),
        brought(positions, OwnValues::Dense(&no_numbers), SIZE),
        brought(&nowhere, good, SIZE),
        ckm.elements_from_own(SIZE, &[]),
    ];
    for outcome in wrong {
        let error = outcome.unwrap_err();
        assert_eq!(error.reason(), "value", "{error}");
    }
    let named_otherwise = elements(&other, &thing);
    assert_eq!(ckm.scores(&named_otherwise, Without::Nothing).ranking(), []);
    let nothing = brought(&[], OwnValues::Dense(&[]), SIZE).unwrap();
    assert!(nothing.is_empty() && ckm.scores(&nothing, Without::Nothing).margin() == 0.0);
}

#[test]
fn kinds_out_of_range_are_refused() {
    let form = |dimension, low, high| ElementForm::Dense { dimension, low, high };
    let wrong = [
        ("", ElementForm::Binary),
        ("Bark", ElementForm::Binary),
        ("a b", ElementForm::Binary),
        ("vectors", form(0, 0.0, 1.0)),
        ("vectors", form(4097, 0.0, 1.0)),
        ("vectors", form(3, 1.0, 1.0)),
        ("vectors", form(3, f32::NAN, 1.0)),
        ("vectors", form(3, f32::MIN, f32::MAX)),
    ];
    for (name, form) in wrong {
        let error = Ckm::new(CkmOptions::own(name, form, kernel(1.0))).unwrap_err().to_string();
        assert!(error.starts_with("option `"), "{error}");
    }
}

/// Of long vectors fewer steps are kept, so that equal ones are at a distance of exactly 0.
#[test]
fn long_vectors_are_compared_exactly() {
    for dimension in [1, 129, 130, 1024, 4096] {
        let options = CkmOptions::own("long", ElementForm::Dense { dimension, low: 0.0, high: 1.0 }, kernel(64.0));
        let mut ckm = Ckm::new(options).unwrap();
        for (id, fill) in [(0, 1.0), (1, 0.5)] {
            let vector = vec![fill; dimension];
            let elements =
                ckm.elements_from_own((9, 9), &[OwnElements { positions: &[[4.0, 4.0]], values: OwnValues::Dense(&vector) }]).unwrap();
            ckm.add(CLASSES[id as usize], Example { id: ItemId(id), name: String::new(), group: None, elements: elements.into() }).unwrap();
        }
        let (_, first) = ckm.examples().next().unwrap();
        let explanations = ckm.explain(&first.elements.get(), Without::Nothing, &[ClassId(0), ClassId(1)]);
        let distances: Vec<f32> = explanations.iter().map(|e| e.contributions[0].matched.as_ref().unwrap().distance).collect();
        assert_eq!(distances[0], 0.0);
        let half = 0.5 * (dimension as f32).sqrt();
        assert!((distances[1] - half).abs() < 0.03 * half, "{} is not {half}", distances[1]);
    }
}
