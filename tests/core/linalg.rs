//! Dense vectors and small matrices beside the plain sums that they stand for.

use proptest::prelude::*;
use tessera_core::linalg::cholesky::Cholesky;
use tessera_core::linalg::pca::Pca;
use tessera_core::linalg::projection::RandomProjection;
use tessera_core::linalg::{double, eigen, single};
use tessera_core::random;
use tessera_core::sparse::SparseVec;

use rand::RngExt;

fn vectors() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (0usize..40).prop_flat_map(|n| (prop::collection::vec(-9.0..9.0, n), prop::collection::vec(-9.0..9.0, n)))
}

proptest! {
    #[test]
    fn sums_are_those_of_the_definition((a, b) in vectors(), factor in -3.0..3.0) {
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let squares: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
        prop_assert!((double::dot(&a, &b) - dot).abs() < 1e-9);
        prop_assert!((double::squared_distance(&a, &b) - squares).abs() < 1e-9);
        prop_assert_eq!(double::norm(&a), double::dot(&a, &a).sqrt());
        let mut sum = a.clone();
        double::add_scaled(&mut sum, factor, &b);
        let expected: Vec<f64> = a.iter().zip(double::scaled(&b, factor)).map(|(a, b)| a + b).collect();
        prop_assert_eq!(sum, expected);
        let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        prop_assert!((f64::from(single::dot(&narrow(&a), &narrow(&b))) - dot).abs() < 1e-2);
        prop_assert!((f64::from(single::squared_distance(&narrow(&a), &narrow(&b))) - squares).abs() < 1e-1);
    }

    #[test]
    fn a_factored_matrix_solves_its_equations(n in 1usize..20, seed in any::<u64>()) {
        let mut rng = random::seeded(seed);
        let root: Vec<f64> = (0..n * n).map(|_| random::normal(&mut rng)).collect();
        let x: Vec<f64> = (0..n).map(|_| random::normal(&mut rng)).collect();
        let entry = |i: usize, j: usize| double::dot(&root[i * n..][..n], &root[j * n..][..n]) + f64::from(i == j);
        let matrix: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let mut solved = double::times(&matrix, &x);
        Cholesky::new(matrix.clone(), n).unwrap().solve(&mut solved);
        for (solved, x) in solved.iter().zip(&x) {
            prop_assert!((solved - x).abs() < 1e-6, "{} is not {}", solved, x);
        }
        let negative: Vec<f64> = matrix.iter().map(|value| -value).collect();
        prop_assert!(Cholesky::new(negative, n).is_none());
    }

    #[test]
    fn eigenvectors_are_turned_by_nothing(n in 1usize..9, seed in any::<u64>()) {
        let mut rng = random::seeded(seed);
        let mut matrix = vec![0.0; n * n];
        for row in 0..n {
            for column in 0..=row {
                let value = random::normal(&mut rng);
                (matrix[row * n + column], matrix[column * n + row]) = (value, value);
            }
        }
        let found = eigen::symmetric(matrix.clone(), n);
        prop_assert_eq!(found.len(), n);
        prop_assert!(found.windows(2).all(|pair| pair[0].0 >= pair[1].0), "the largest first");
        for (value, vector) in &found {
            prop_assert!((double::norm(vector) - 1.0).abs() < 1e-9);
            let turned = double::times(&matrix, vector);
            prop_assert!(turned.iter().zip(vector).all(|(a, b)| (a - value * b).abs() < 1e-6), "{:?}", found);
        }
    }
}

#[test]
fn transposes_are_transposed() {
    let matrix = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(double::times(&matrix, &[1.0, 10.0]), [21.0, 43.0]);
    assert_eq!(double::transposed_times(&matrix, &[1.0, 10.0]), [31.0, 42.0]);
}

#[test]
fn projections_keep_lengths_on_average() {
    let x: Vec<f64> = (0..200).map(|i| f64::from(i % 7) - 3.0).collect();
    let mean =
        (0..200).map(|seed| double::norm(&RandomProjection::new(200, 16, &mut random::seeded(seed)).project(&x)).powi(2)).sum::<f64>()
            / 200.0;
    let own = double::dot(&x, &x);
    assert!((mean / own - 1.0).abs() < 0.1, "{mean} for {own}");
}

#[test]
fn normal_numbers_have_mean_0_and_variance_1() {
    let mut rng = random::seeded(6);
    let all: Vec<f64> = (0..20_000).map(|_| random::normal(&mut rng)).collect();
    let mean = all.iter().sum::<f64>() / 20_000.0;
    let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
    assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    let beyond_two = all.iter().filter(|x| x.abs() > 2.0).count();
    assert!((beyond_two as f64 / 20_000.0 - 0.0455).abs() < 0.006, "{beyond_two}");
}

#[test]
fn principal_components_keep_what_varies() {
    // Two features vary much and together, a third little; the others never.
    let mut rng = random::seeded(5);
    let mut one = || {
        let (a, b) = (rng.random::<f32>() * 10.0, rng.random::<f32>());
        SparseVec::from_pairs([(7, a), (90, -a), (4, b), (1000, 3.0)]).unwrap()
    };
    let all: Vec<SparseVec> = (0..200).map(|_| one()).collect();
    let pca = Pca::new(&all, 2, &mut random::seeded(0));
    assert_eq!(pca.dimensions(), 2);
    let projected: Vec<Vec<f32>> = all.iter().map(|x| pca.project(x)).collect();
    for (i, j) in [(0, 1), (5, 90), (17, 133)] {
        let apart: f32 = projected[i].iter().zip(&projected[j]).map(|(a, b)| (a - b) * (a - b)).sum();
        assert!((f64::from(apart) - all[i].distance_squared(&all[j])).abs() < 1e-3, "two directions hold all that varies");
        let first = (f64::from(projected[i][0]) - f64::from(projected[j][0])).abs();
        let along = f64::from(all[i].get(7) - all[j].get(7)).abs() * 2f64.sqrt();
        assert!((first - along).abs() < 0.05, "the first is the one of most variance: {first} {along}");
    }
    let middle: f32 = projected.iter().map(|row| row[0]).sum();
    assert!(middle.abs() < 0.01 * 200.0, "the mean is at 0");
    assert_eq!(Pca::new(&[], 5, &mut random::seeded(0)).dimensions(), 0);
    assert_eq!(Pca::new(&[SparseVec::default()], 5, &mut random::seeded(0)).dimensions(), 0);
}
