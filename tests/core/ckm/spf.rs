//! General sum-product functions against direct formulas, enumeration and finite differences, and
//! the recogniser's fast path against the function that it stands for.

use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;
use tessera_core::Error;
use tessera_core::ckm::spf::function::{Builder, Function, NodeId, WeightedTerm};
use tessera_core::ckm::spf::semiring::{LogSumProduct, MaxSum, Real, Semiring};
use tessera_core::random::{self, Rng};

/// The function's value.
fn value(function: &Function, semiring: &impl Semiring, leaves: &[f64], weights: &[f64]) -> f64 {
    function.evaluate(semiring, leaves, weights).unwrap().root()
}

#[track_caller]
fn near(a: f64, b: f64, tolerance: f64) {
    assert!(a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{a} is not {b}");
}

/// A flat sum of products is a support vector machine: here of a Gaussian kernel, which is the
/// product of one leaf kernel for each coordinate.
#[test]
fn a_flat_sum_of_products_is_a_kernel_machine() {
    const GAMMA: f64 = 0.7;
    let mut rng = random::seeded(1);
    let (n, d) = (20, 5);
    let mut vector = || (0..d).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let (query, support): (Vec<f64>, Vec<Vec<f64>>) = (vector(), (0..n).map(|_| vector()).collect());
    let alpha: Vec<f64> = (0..n).map(|_| rng.random_range(-2.0..2.0)).collect();

    let mut builder = Builder::new();
    let mut leaves = Vec::new();
    let mut terms: Vec<WeightedTerm> = Vec::new();
    for instance in &support {
        let mut factors = Vec::new();
        for (j, (a, b)) in instance.iter().zip(&query).enumerate() {
            factors.push(builder.leaf(j as u32));
            leaves.push((-GAMMA * (a - b).powi(2)).exp());
        }
        let weight = builder.weight();
        terms.push(builder.product(&factors).unwrap().weighted(weight));
    }
    let root = builder.sum(&terms).unwrap();
    let function = builder.build(root).unwrap();
    assert_eq!(function.scope(), [0, 1, 2, 3, 4]);

    let kernels: Vec<f64> =
        support.iter().map(|instance| (-GAMMA * instance.iter().zip(&query).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp()).collect();
    let expected: f64 = alpha.iter().zip(&kernels).map(|(a, k)| a * k).sum();
    let evaluation = function.evaluate(&Real, &leaves, &alpha).unwrap();
    near(evaluation.root(), expected, 1e-12);
    for (slope, kernel) in function.gradient(&Real, &evaluation).weights.iter().zip(&kernels) {
        near(*slope, *kernel, 1e-12);
    }

    // With weights above 0 the same in the log domain.
    let positive: Vec<f64> = alpha.iter().map(|a| a.abs()).collect();
    let expected: f64 = positive.iter().zip(&kernels).map(|(a, k)| a * k).sum();
    let log = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<_>>();
    near(value(&function, &LogSumProduct::default(), &log(&leaves), &log(&positive)), expected.ln(), 1e-12);
}

/// A flat product of sums is naive-Bayes nearest neighbour: each query element's nearest training
/// element, at whatever place in whatever image.
#[test]
fn a_flat_product_of_sums_is_naive_bayes_nearest_neighbour() {
    let mut rng = random::seeded(2);
    let query: Vec<f64> = (0..7).map(|_| rng.random_range(-1.0..1.0)).collect();
    let training: Vec<f64> = (0..30).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut builder = Builder::new();
    let (mut factors, mut leaves) = (Vec::new(), Vec::new());
    for (j, q) in query.iter().enumerate() {
        let kernels: Vec<NodeId> = training.iter().map(|_| builder.leaf(j as u32)).collect();
        leaves.extend(training.iter().map(|t| -(q - t).powi(2)));
        factors.push(builder.sum(&kernels).unwrap());
    }
    let root = builder.product(&factors).unwrap();
    let function = builder.build(root).unwrap();
    let nearest = |q: &f64| training.iter().map(|t| (q - t).powi(2)).fold(f64::INFINITY, f64::min);
    near(value(&function, &MaxSum, &leaves, &[]), -query.iter().map(nearest).sum::<f64>(), 1e-12);
    let density = |q: &f64| training.iter().map(|t| (-(q - t).powi(2)).exp()).sum::<f64>().ln();
    near(value(&function, &LogSumProduct::default(), &leaves, &[]), query.iter().map(density).sum(), 1e-12);
    assert_eq!(function.size(), 1 + query.len() * 2 + 2 * query.len() * training.len(), "linear, where virtual instances are 30^7");
}

/// A random function and all its virtual instances, each as the leaves and weights whose product it
/// is.
struct Drawn {
    builder: Builder,
    rng: Rng,
    n_leaves: usize,
    weights: Vec<tessera_core::ckm::spf::function::WeightId>,
}

type Virtual = (Vec<usize>, Vec<usize>);

impl Drawn {
    fn node(&mut self, scope: &mut [u32], depth: u32) -> (NodeId, Vec<Virtual>) {
        if scope.len() > 1 && (depth == 0 || self.rng.random_bool(0.5)) {
            scope.shuffle(&mut self.rng);
            let cut = self.rng.random_range(1..scope.len());
            let (left, right) = scope.split_at_mut(cut);
            let ((a, first), (b, second)) = (self.node(left, depth.saturating_sub(1)), self.node(right, depth.saturating_sub(1)));
            let joined = |x: &Virtual, y: &Virtual| ([&x.0[..], &y.0].concat(), [&x.1[..], &y.1].concat());
            let all = first.iter().flat_map(|x| second.iter().map(move |y| joined(x, y))).collect();
            return (self.builder.product(&[a, b]).unwrap(), all);
        }
        if depth == 0 {
            self.n_leaves += 1;
            return (self.builder.leaf(scope[0]), vec![(vec![self.n_leaves - 1], Vec::new())]);
        }
        let (mut terms, mut all) = (Vec::<WeightedTerm>::new(), Vec::new());
        for _ in 0..self.rng.random_range(1..4) {
            let (node, instances) = self.node(scope, depth - 1);
            // Weights are shared between sums, and some terms have none.
            let choice = self.rng.random_range(0..=self.weights.len());
            terms.push(self.weights.get(choice).map_or(node.into(), |&weight| node.weighted(weight)));
            all.extend(instances.into_iter().map(|(leaves, mut weights)| {
                weights.extend((choice < self.weights.len()).then_some(choice));
                (leaves, weights)
            }));
        }
        (self.builder.sum(&terms).unwrap(), all)
    }
}

/// A function of up to four query elements, its numbers of leaves and weights, and its virtual
/// instances.
fn draw(seed: u64) -> (Function, usize, usize, Vec<Virtual>) {
    let mut builder = Builder::new();
    let weights = (0..3).map(|_| builder.weight()).collect();
    let mut drawn = Drawn { builder, rng: random::seeded(seed), n_leaves: 0, weights };
    let mut scope: Vec<u32> = (0..drawn.rng.random_range(1..5)).collect();
    let (root, instances) = drawn.node(&mut scope, 3);
    (drawn.builder.build(root).unwrap(), drawn.n_leaves, drawn.weights.len(), instances)
}

fn by_enumeration(semiring: &impl Semiring, instances: &[Virtual], leaves: &[f64], weights: &[f64]) -> f64 {
    let instance = |(own, costs): &Virtual| {
        let factors: Vec<f64> = own.iter().map(|&l| leaves[l]).chain(costs.iter().map(|&w| weights[w])).collect();
        semiring.product(&factors)
    };
    semiring.sum(&instances.iter().map(instance).collect::<Vec<_>>())
}

/// Compares value and gradient with enumeration and with central differences.
fn check(seed: u64, semiring: &impl Semiring, tolerance: f64) {
    let (function, n_leaves, n_weights, instances) = draw(seed);
    let mut rng = random::stream(seed, 1);
    let mut inputs: Vec<f64> = (0..n_leaves + n_weights).map(|_| rng.random_range(-1.0..1.0)).collect();
    let at = |inputs: &[f64]| value(&function, semiring, &inputs[..n_leaves], &inputs[n_leaves..]);
    near(at(&inputs), by_enumeration(semiring, &instances, &inputs[..n_leaves], &inputs[n_leaves..]), 1e-9);

    let evaluation = function.evaluate(semiring, &inputs[..n_leaves], &inputs[n_leaves..]).unwrap();
    let gradient = function.gradient(semiring, &evaluation);
    let slopes = [gradient.leaves, gradient.weights].concat();
    const STEP: f64 = 1e-6;
    for (i, slope) in slopes.into_iter().enumerate() {
        let own = inputs[i];
        inputs[i] = own + STEP;
        let above = at(&inputs);
        inputs[i] = own - STEP;
        let below = at(&inputs);
        inputs[i] = own;
        near(slope, (above - below) / (2.0 * STEP), tolerance);
    }
}

proptest! {
    #[test]
    fn it_sums_over_all_virtual_instances(seed: u64) {
        check(seed, &MaxSum, 1e-6);
        check(seed, &LogSumProduct::default(), 1e-6);
        check(seed, &LogSumProduct::at(0.2).unwrap(), 1e-6);
        check(seed, &Real, 1e-6);
    }

    #[test]
    fn the_sum_product_becomes_the_maximum_as_it_cools(seed: u64) {
        let (function, n_leaves, n_weights, instances) = draw(seed);
        let mut rng = random::stream(seed, 2);
        let leaves: Vec<f64> = (0..n_leaves).map(|_| rng.random_range(-1.0..1.0)).collect();
        let weights: Vec<f64> = (0..n_weights).map(|_| rng.random_range(-1.0..1.0)).collect();
        let best = value(&function, &MaxSum, &leaves, &weights);
        for temperature in [1.0, 0.1, 1e-3, 1e-6] {
            let all = value(&function, &LogSumProduct::at(temperature).unwrap(), &leaves, &weights);
            let most = best + temperature * (instances.len() as f64).ln();
            prop_assert!(best - 1e-9 <= all && all <= most + 1e-9, "{} is not within {}..={}", all, best, most);
        }
    }
}

#[test]
fn of_equal_terms_the_first_has_the_slope() {
    let mut builder = Builder::new();
    let leaves = [0; 3].map(|_| builder.leaf(4));
    let root = builder.sum(&leaves).unwrap();
    let function = builder.build(root).unwrap();
    let evaluation = function.evaluate(&MaxSum, &[0.5, 2.0, 2.0], &[]).unwrap();
    assert_eq!(function.gradient(&MaxSum, &evaluation).leaves, [0.0, 1.0, 0.0]);
    let semiring = LogSumProduct::default();
    let evaluation = function.evaluate(&semiring, &[f64::NEG_INFINITY, 2.0, 2.0], &[]).unwrap();
    let posterior = function.gradient(&semiring, &evaluation).leaves;
    for (slope, expected) in posterior.iter().zip([0.0, 0.5, 0.5]) {
        near(*slope, expected, 1e-12);
    }
    // Nothing but zeros: the sum is zero and has no slope.
    let nothing = function.evaluate(&semiring, &[f64::NEG_INFINITY; 3], &[]).unwrap();
    assert_eq!((nothing.root(), function.gradient(&semiring, &nothing).leaves), (f64::NEG_INFINITY, vec![0.0; 3]));
}

/// Products and sums in turn, a hundred thousand deep: nothing is done by recursion, and what a
/// node costs does not depend on its depth.
#[test]
fn deep_functions_do_not_exhaust_the_stack() {
    const DEPTH: usize = 100_000;
    let mut builder = Builder::new();
    let weight = builder.weight();
    let mut node = builder.leaf(0);
    for _ in 0..DEPTH {
        node = builder.product(&[node]).unwrap();
        node = builder.sum(&[node.weighted(weight)]).unwrap();
    }
    let function = builder.build(node).unwrap();
    assert_eq!(function.size(), 1 + 4 * DEPTH);
    let evaluation = function.evaluate(&MaxSum, &[1.0], &[0.5]).unwrap();
    assert_eq!(evaluation.root(), 1.0 + 0.5 * DEPTH as f64);
    let gradient = function.gradient(&MaxSum, &evaluation);
    assert_eq!((gradient.leaves, gradient.weights), (vec![1.0], vec![DEPTH as f64]));
}

#[test]
fn what_is_not_below_the_root_is_dropped() {
    let mut builder = Builder::new();
    let (a, b) = (builder.leaf(0), builder.leaf(1));
    let other = builder.product(&[a, b]).unwrap();
    let root = builder.sum(&[b]).unwrap();
    assert!(other != root);
    let function = builder.build(root).unwrap();
    assert_eq!((function.size(), function.scope()), (3, [1].as_slice()));
    let evaluation = function.evaluate(&MaxSum, &[7.0, 3.0], &[]).unwrap();
    assert_eq!(evaluation.root(), 3.0);
    assert_eq!(function.gradient(&MaxSum, &evaluation).leaves, [0.0, 1.0], "leaves keep their numbers");
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>, name: &str, words: &str) {
    match outcome {
        Err(Error::Value { name: n, expected, found }) if n == name => {
            assert!(format!("{expected}, {found}").contains(words), "{expected}, {found}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn functions_that_could_not_be_summed_over_are_refused() {
    let mut builder = Builder::new();
    let (a, b, c) = (builder.leaf(0), builder.leaf(1), builder.leaf(2));
    let (ab, bc) = (builder.product(&[a, b]).unwrap(), builder.product(&[b, c]).unwrap());
    refused(builder.product(&[ab, bc]), "product", "query element 1 in two of them");
    refused(builder.product(&[a, a]), "product", "query element 0");
    refused(builder.sum(&[ab, bc]), "sum", "[0, 1], a term with the scope [1, 2]");
    refused(builder.sum::<NodeId>(&[]), "sum", "none");
    refused(builder.product(&[]), "product", "none");
    let weight = builder.weight();
    let root = builder.sum(&[ab.weighted(weight)]).unwrap();
    let elsewhere = Builder::new();
    refused(elsewhere.build(root), "root", "a node below 0");
    let function = builder.build(root).unwrap();
    refused(function.evaluate(&MaxSum, &[0.0; 2], &[0.0]), "leaves", "3 values, 2");
    refused(function.evaluate(&MaxSum, &[0.0; 3], &[]), "weights", "1 values, 0");
    refused(function.evaluate(&MaxSum, &[0.0, f64::NAN, 0.0], &[0.0]), "leaves", "NaN");
    refused(function.evaluate(&LogSumProduct::default(), &[0.0; 3], &[f64::INFINITY]), "weights", "inf");
    refused(LogSumProduct::at(0.0), "temperature", "above 0, 0");
    refused(LogSumProduct::at(f64::NAN), "temperature", "NaN");
    refused(function.evaluate(&Real, &[f64::NEG_INFINITY, 0.0, 0.0], &[0.0]), "leaves", "-inf");
}
