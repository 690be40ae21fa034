//! The fast comparison of elements against the plain one, on elements drawn at random.

use proptest::prelude::*;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::presets::Preset;
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, ElementKind, ElementSource, Example, OwnSource, Without};
use tessera_core::ids::ItemId;
use tessera_core::random::{self, Rng};

/// A kind of elements: its machine, the bytes of a feature, the largest value of a byte, and the
/// steps in a unit of distance.
struct Form {
    options: CkmOptions,
    bytes: usize,
    largest: u8,
    unit: f32,
}

/// Values of 7 and of 8 bits, dimensions that are multiples of four and others, and bits.
fn forms() -> [Form; 6] {
    let alone = |options: CkmOptions| CkmOptions { neighbours: 0, decompositions: 1, ..options };
    let preset = |preset: Preset, bytes, largest, unit| Form { options: alone(preset.options()), bytes, largest, unit };
    // A machine over vectors of whole numbers: one step is one unit.
    let own = |dimension: usize, largest: u8| {
        let source = OwnSource { name: "own".into(), form: ElementForm::Dense { dimension, low: 0.0, high: f32::from(largest) } };
        let kernel = LeafKernel { rho: 900.0, cost: 0.3, reach: 40.0, pair_bonus: 0.0, weight: 1.0 };
        let kinds = vec![ElementKind { source: ElementSource::Own(source), kernel }];
        Form { options: alone(CkmOptions { kinds, ..Preset::Hog.options() }), bytes: dimension, largest, unit: 1.0 }
    };
    [
        preset(Preset::Hog, 36, 127, 127.0),
        preset(Preset::Colour, 12, 255, 100.0),
        preset(Preset::Orb, 32, 255, 1.0),
        own(1, 255),
        own(7, 255),
        own(530, 125),
    ]
}

/// Positions and features of an image's elements.
type Pieces = Vec<([f32; 2], Vec<u8>)>;

/// Many lie on a grid and some in between; some features are extreme, and some occur twice.
fn draw(form: &Form, n: usize, rng: &mut Rng) -> Pieces {
    let mut all: Pieces = Vec::new();
    for i in 0..n {
        let place = if rng.random_bool(0.8) {
            [(i % 5) as f32 * 9.0, (i / 5) as f32 * 9.0]
        } else {
            [rng.random_range(-60.0..60.0), rng.random_range(-60.0..60.0)]
        };
        let feature = match rng.random_range(0..8) {
            0 => vec![form.largest; form.bytes],
            1 => vec![0; form.bytes],
            2 if i > 0 => all[rng.random_range(0..i)].1.clone(),
            _ => (0..form.bytes).map(|_| rng.random_range(0..=form.largest)).collect(),
        };
        all.push((place, feature));
    }
    all
}

fn elements(pieces: &Pieces, options: &CkmOptions) -> Elements {
    let mut bytes = [100u32.to_le_bytes(), 80u32.to_le_bytes(), (pieces.len() as u32).to_le_bytes()].concat();
    bytes.extend(pieces.iter().flat_map(|(place, _)| place.iter().flat_map(|v| v.to_le_bytes())));
    bytes.extend(pieces.iter().flat_map(|(_, feature)| feature));
    Elements::from_bytes(&bytes, options).unwrap()
}

/// The kernel's value for two elements.
fn value(form: &Form, a: &([f32; 2], Vec<u8>), b: &([f32; 2], Vec<u8>)) -> f32 {
    let pairs = || a.1.iter().zip(&b.1);
    let distance = match form.options.kinds[0].source {
        ElementSource::Orb(_) => pairs().map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() as f32,
        _ => (pairs().map(|(a, b)| (i64::from(*a) - i64::from(*b)).pow(2)).sum::<i64>() as f32).sqrt() * (1.0 / form.unit),
    };
    let (likeness, nearness) = form.options.kinds[0].kernel.parts(distance, a.0[0] - b.0[0], a.0[1] - b.0[1]);
    likeness + nearness
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The score without pairs is the sum of each element's best: exactly that of the plain loops.
    #[test]
    fn the_best_of_each_element_is_exact(seed: u64, n in 0usize..40) {
        let mut rng = random::seeded(seed);
        for form in forms() {
            let query = draw(&form, n, &mut rng);
            let mut ckm = Ckm::new(form.options.clone()).unwrap();
            let images: Vec<Pieces> = (0..4).map(|_| { let n = rng.random_range(0..50); draw(&form, n, &mut rng) }).collect();
            for (pieces, id) in images.iter().zip(0..) {
                let elements = elements(pieces, &form.options);
                prop_assert_eq!(&Elements::from_bytes(&elements.to_bytes(), &form.options).unwrap(), &elements);
                ckm.add("all", Example { id: ItemId(id), name: String::new(), group: None, elements: elements.into() }).unwrap();
            }
            let kernel = form.options.kinds[0].kernel;
            let best = |piece| images.iter().flatten().map(|z| value(&form, piece, z)).fold(kernel.floor(), f32::max);
            let sum: f64 = query.iter().map(|piece| f64::from(best(piece))).sum();
            let scores = ckm.scores(&elements(&query, &form.options), Without::Nothing);
            prop_assert_eq!(scores.of[0], Some(sum * f64::from(kernel.weight)), "{}", form.options.kinds[0].source.name());
        }
    }
}

#[test]
fn values_above_the_largest_are_refused() {
    for form in forms().into_iter().filter(|form| form.largest < 255) {
        let good = elements(&vec![([0.0; 2], vec![form.largest; form.bytes])], &form.options).to_bytes();
        for at in good.len() - form.bytes..good.len() {
            let mut bad = good.clone();
            bad[at] = form.largest + 1;
            assert_eq!(Elements::from_bytes(&bad, &form.options), None);
        }
    }
}
