//! The recogniser's fast path against the general function of the same architecture and leaf
//! kernels.

use rand::RngExt;
use tessera_core::ckm::element::Elements;
use tessera_core::ckm::kernel::LeafKernel;
use tessera_core::ckm::own::{OwnElements, OwnValues};
use tessera_core::ckm::spf::function::{Builder, Function, NodeId, WeightedTerm};
use tessera_core::ckm::spf::semiring::{LogSumProduct, MaxSum, Semiring};
use tessera_core::ckm::spf::{Architecture, Node};
use tessera_core::ckm::{Ckm, CkmOptions, ElementForm, Example, Without};
use tessera_core::hash::hash64;
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::random;

const DIMENSION: usize = 6;

/// A machine of three classes, one of which has images without elements, and what its elements
/// were made of.
struct World {
    ckm: Ckm,
    query: Elements,
    /// Features of the query and of each image, by identifier.
    features: Vec<Vec<Vec<f32>>>,
}

const CLASSES: [&str; 3] = ["ash", "birch", "cedar"];
const QUERY: usize = 12;

fn thing(number: u32) -> (Vec<[f32; 2]>, Vec<Vec<f32>>) {
    let mut rng = random::stream(5, number.into());
    // Those of the third class have no elements.
    let n = if number % 3 == 2 && number as usize != QUERY { 0 } else { 4 + number % 3 };
    let positions = (0..n).map(|_| [rng.random_range(0.0..100.0), rng.random_range(0.0..100.0)]).collect();
    // Whole steps of the stored values, so that quantising loses nothing.
    let features = (0..n).map(|_| (0..DIMENSION).map(|_| rng.random_range(0..=255) as f32).collect()).collect();
    (positions, features)
}

fn world(bonus: f32) -> World {
    let kernel = LeafKernel { rho: 400.0, cost: 0.3, reach: 50.0, pair_bonus: bonus, weight: 0.7 };
    let form = ElementForm::Dense { dimension: DIMENSION, low: 0.0, high: 255.0 };
    let options = CkmOptions { neighbours: 2, decompositions: 3, ..CkmOptions::own("leaf", form, kernel) };
    let mut ckm = Ckm::new(options).unwrap();
    let mut features = Vec::new();
    let mut last = None;
    for number in 0..=QUERY as u32 {
        let (positions, own) = thing(number);
        let values = own.concat();
        let parts = OwnElements { positions: &positions, values: OwnValues::Dense(&values) };
        let elements = ckm.elements_from_own((100, 100), &[parts]).unwrap();
        features.push(own);
        if number as usize == QUERY {
            last = Some(elements);
        } else {
            let example = Example { id: ItemId(number), name: number.to_string(), group: None, elements: elements.into() };
            ckm.add(CLASSES[number as usize % 3], example).unwrap();
        }
    }
    World { ckm, query: last.unwrap(), features }
}

/// The function of a class as section 3.1 writes it, over all pairs of training elements.
struct General {
    function: Function,
    leaves: Vec<f64>,
    weights: Vec<f64>,
    /// Of each leaf: query element, training image, its element.
    meaning: Vec<(usize, ItemId, usize)>,
}

/// No training image: the stand-in of a class without elements.
const NOBODY: ItemId = ItemId(u32::MAX);

fn general(world: &World, class: ClassId) -> General {
    let ckm = &world.ckm;
    let (options, kernel) = (ckm.options(), ckm.options().kinds[0].kernel);
    let set = &world.query.sets[0];
    let positions: Vec<[f32; 2]> = (0..set.len()).map(|j| set.position(j)).collect();
    let bytes: Vec<u8> = positions.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let architecture = Architecture::draw(&positions, options.neighbours, options.decompositions, hash64(&bytes) ^ options.seed);
    let mut builder = Builder::new();
    let bonus = builder.weight();
    let mut weights = vec![f64::from(kernel.pair_bonus)];
    let mut elements: Vec<(ItemId, usize, Option<[f32; 2]>)> = Vec::new();
    for example in &ckm.classes()[class.index()].examples {
        let own = &example.elements.get().sets[0];
        elements.extend((0..own.len()).map(|z| (example.id, z, Some(own.position(z)))));
    }
    if elements.is_empty() {
        elements.push((NOBODY, 0, None));
    }
    let element_weights: Vec<_> = elements.iter().map(|_| builder.weight()).collect();
    weights.resize(1 + elements.len(), 0.0);

    let (mut leaves, mut meaning) = (Vec::new(), Vec::new());
    let mut weighted: Vec<Vec<NodeId>> = Vec::new();
    for (j, [x, y]) in positions.iter().enumerate() {
        let mut own = Vec::new();
        for (&(image, z, place), &weight) in elements.iter().zip(&element_weights) {
            let value = place.map_or(kernel.floor(), |[zx, zy]| {
                let (a, b) = (&world.features[QUERY][j], &world.features[image.0 as usize][z]);
                let square: f32 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
                let (likeness, nearness) = kernel.parts(square.sqrt(), x - zx, y - zy);
                likeness + nearness
            });
            let leaf = builder.leaf(j as u32);
            leaves.push(f64::from(value));
            meaning.push((j, image, z));
            own.push(builder.sum(&[leaf.weighted(weight)]).unwrap());
        }
        weighted.push(own);
    }
    let pair = |builder: &mut Builder, edge: u32| {
        let (a, b) = architecture.edges[edge as usize];
        let mut terms: Vec<WeightedTerm> = Vec::new();
        for (&first, (source, ..)) in weighted[a as usize].iter().zip(&elements) {
            for (&second, (other, ..)) in weighted[b as usize].iter().zip(&elements) {
                let product = builder.product(&[first, second]).unwrap();
                terms.push(if source == other && *source != NOBODY { product.weighted(bonus) } else { product.into() });
            }
        }
        builder.sum(&terms).unwrap()
    };
    let pairs: Vec<NodeId> = (0..architecture.edges.len() as u32).map(|edge| pair(&mut builder, edge)).collect();
    let mut decompositions = Vec::new();
    for nodes in &architecture.decompositions {
        let mut node = |node: &Node| match *node {
            Node::Single(j) => builder.sum(&weighted[j as usize]).unwrap(),
            Node::Pair(edge) => pairs[edge as usize],
        };
        let factors: Vec<NodeId> = nodes.iter().map(&mut node).collect();
        decompositions.push(builder.product(&factors).unwrap());
    }
    let root = builder.sum(&decompositions).unwrap();
    General { function: builder.build(root).unwrap(), leaves, weights, meaning }
}

impl General {
    fn value(&self, semiring: &impl Semiring, weights: &[f64]) -> f64 {
        self.function.evaluate(semiring, &self.leaves, weights).unwrap().root()
    }

    /// The slopes of the element weights against central differences.
    fn check_gradient(&self, semiring: &impl Semiring) {
        let evaluation = self.function.evaluate(semiring, &self.leaves, &self.weights).unwrap();
        let slopes = self.function.gradient(semiring, &evaluation).weights;
        for (i, slope) in slopes.iter().enumerate() {
            let mut weights = self.weights.clone();
            weights[i] += 1e-6;
            let above = self.value(semiring, &weights);
            weights[i] -= 2e-6;
            let difference = (above - self.value(semiring, &weights)) / 2e-6;
            assert!((slope - difference).abs() < 1e-5, "weight {i}: {slope}, not {difference}");
        }
    }
}

const BONUSES: [f32; 4] = [-0.4, -0.05, 0.0, 0.25];

#[test]
fn the_fast_maximum_is_that_of_the_general_function() {
    for bonus in BONUSES {
        let world = world(bonus);
        let weight = f64::from(world.ckm.options().kinds[0].kernel.weight);
        let scores = world.ckm.scores(&world.query, Without::Nothing);
        let classes = [ClassId(0), ClassId(1), ClassId(2)];
        for explanation in world.ckm.explain(&world.query, Without::Nothing, &classes) {
            let general = general(&world, explanation.class);
            assert_eq!(general.function.scope().len(), world.query.len());
            let evaluation = general.function.evaluate(&MaxSum, &general.leaves, &general.weights).unwrap();
            let score = scores.of[explanation.class.index()].unwrap();
            assert!((weight * evaluation.root() - score).abs() < 1e-5, "{score} is not {} with bonus {bonus}", evaluation.root());

            // The leaves with a slope are the pieces that the explanation names.
            let gradient = general.function.gradient(&MaxSum, &evaluation);
            let named = explanation.contributions.iter().map(|c| {
                let piece = c.matched.as_ref().map_or((NOBODY, 0), |m| (m.image, m.element));
                (c.element, piece.0, piece.1)
            });
            let mut named: Vec<_> = named.collect();
            named.sort_unstable();
            let best: Vec<_> = general.meaning.iter().zip(&gradient.leaves).filter(|(_, slope)| **slope == 1.0).map(|(m, _)| *m).collect();
            assert_eq!(best, named, "with bonus {bonus}");
            assert_eq!(gradient.leaves.iter().sum::<f64>(), world.query.len() as f64);
            general.check_gradient(&MaxSum);
        }
    }
}

#[test]
fn the_fast_sum_is_that_of_the_general_function() {
    for bonus in BONUSES {
        let world = world(bonus);
        let weight = f64::from(world.ckm.options().kinds[0].kernel.weight);
        for temperature in [0.01, 0.1, 1.0] {
            let semiring = LogSumProduct::at(temperature).unwrap();
            let scores = world.ckm.sum_product_scores(&world.query, Without::Nothing, &semiring);
            for class in [ClassId(0), ClassId(1), ClassId(2)] {
                let general = general(&world, class);
                let expected = weight * general.value(&semiring, &general.weights);
                let score = scores.of[class.index()].unwrap();
                assert!((expected - score).abs() < 1e-5, "{score} is not {expected} with bonus {bonus} at {temperature}");
                if temperature == 0.1 {
                    general.check_gradient(&semiring);
                }
            }
        }
        let cold = world.ckm.sum_product_scores(&world.query, Without::Nothing, &LogSumProduct::at(1e-5).unwrap());
        let best = world.ckm.scores(&world.query, Without::Nothing);
        for (cold, best) in cold.of.iter().zip(&best.of) {
            assert!((cold.unwrap() - best.unwrap()).abs() < 1e-3, "{cold:?} does not become {best:?}");
        }
    }
}

#[test]
fn sums_leave_out_what_maxima_leave_out() {
    let world = world(0.2);
    let mut smaller = world.ckm.clone();
    assert!(smaller.remove(ItemId(3)));
    let semiring = LogSumProduct::default();
    let without = world.ckm.sum_product_scores(&world.query, Without::Image(ItemId(3)), &semiring);
    assert_eq!(without.of, smaller.sum_product_scores(&world.query, Without::Nothing, &semiring).of);
}
