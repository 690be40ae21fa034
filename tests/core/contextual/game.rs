//! The game of a round and the simplex method, beside another solver.

use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};
use proptest::prelude::*;
use rand::RngExt;
use tessera_core::contextual::Game;
use tessera_core::linalg::simplex::maximise;
use tessera_core::random;

/// A game with M + M' >= 0.
fn game(k: usize, seed: u64) -> (Game, Vec<f64>) {
    let mut rng = random::seeded(seed);
    let mut entries = vec![0.0; k * k];
    let mut game = Game::new(k);
    for a in 0..k {
        for b in 0..a {
            let scale = 10f64.powi(rng.random_range(-6..2));
            let x = (rng.random::<f64>() - 0.5) * scale;
            (entries[a * k + b], entries[b * k + a]) = (x, -x + if rng.random() { 0.0 } else { rng.random::<f64>() * scale });
            game.set(a, b, entries[a * k + b]);
            game.set(b, a, entries[b * k + a]);
        }
    }
    (game, entries)
}

fn objective(problem: &Problem) -> Option<f64> {
    match problem.solve() {
        Ok(SolveOutcome::Solution(solution)) => Some(solution.objective()),
        _ => None,
    }
}

/// The value of a game by another solver.
fn value(entries: &[f64], k: usize) -> f64 {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let t = problem.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let v: Vec<_> = (0..k).map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
    problem.add_constraint(v.iter().map(|v| (*v, 1.0)), ComparisonOp::Eq, 1.0);
    for row in entries.chunks_exact(k) {
        problem.add_constraint(v.iter().zip(row).map(|(v, x)| (*v, *x)).chain([(t, -1.0)]), ComparisonOp::Ge, 0.0);
    }
    objective(&problem).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_fair_game_is_never_lost(k in 1usize..25, seed in 0u64..100_000) {
        let (game, entries) = game(k, seed);
        let most = game.largest();
        prop_assert!(game.least_symmetric() >= -1e-12 * most);
        let solved = game.solve();
        prop_assert!(solved.value >= -1e-9 * most, "{}", solved.value);
        prop_assert!((solved.chances.iter().sum::<f64>() - 1.0).abs() < 1e-9 && solved.chances.iter().all(|v| *v >= 0.0));
        let pure = solved.chances.contains(&1.0);
        let best = value(&entries, k);
        prop_assert!(solved.value <= best + 1e-7 * most && (pure || solved.value >= best - 1e-7 * most), "{} and {best}", solved.value);
    }

    #[test]
    fn programs_are_solved(rows in 1usize..12, columns in 1usize..9, seed in 0u64..100_000) {
        let mut rng = random::seeded(seed);
        let costs: Vec<f64> = (0..columns).map(|_| rng.random::<f64>() - 0.3).collect();
        let matrix: Vec<f64> = (0..rows * columns).map(|_| rng.random::<f64>() - 0.2).collect();
        // Many ties: the right side is often 0.
        let right: Vec<f64> = (0..rows).map(|_| if rng.random() { 0.0 } else { rng.random::<f64>() }).collect();
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let y: Vec<_> = costs.iter().map(|cost| problem.add_var(*cost, (0.0, f64::INFINITY))).collect();
        for (row, right) in matrix.chunks_exact(columns).zip(&right) {
            problem.add_constraint(y.iter().zip(row).map(|(y, x)| (*y, *x)), ComparisonOp::Le, *right);
        }
        match (maximise(&costs, &matrix, &right), objective(&problem)) {
            (Some(own), Some(other)) => {
                prop_assert!((own.value - other).abs() < 1e-7 * (1.0 + own.value.abs()), "{} and {}", own.value, other);
                let dual: f64 = own.prices.iter().zip(&right).map(|(price, right)| price * right).sum();
                prop_assert!((own.value - dual).abs() < 1e-7 * (1.0 + own.value.abs()));
                for (row, right) in matrix.chunks_exact(columns).zip(&right) {
                    prop_assert!(super::dot(row, &own.point) <= right + 1e-7 * (1.0 + own.value.abs()));
                }
            }
            (None, None) => {}
            (own, other) => prop_assert!(false, "{own:?} and {:?}", other),
        }
    }
}

#[test]
fn a_game_of_stone_paper_and_scissors() {
    let mut game = Game::new(3);
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        game.set(a, b, 1.0);
        game.set(b, a, -1.0);
    }
    let solved = game.solve();
    assert!(solved.value.abs() < 1e-12 && solved.chances.iter().all(|v| (v - 1.0 / 3.0).abs() < 1e-12), "{solved:?}");
}

#[test]
fn programs_without_an_end_or_with_nonsense_are_refused() {
    assert_eq!(maximise(&[1.0], &[-1.0], &[1.0]), None);
    assert_eq!(maximise(&[f64::NAN], &[1.0], &[1.0]), None);
    assert_eq!(maximise(&[1.0], &[1.0], &[-1.0]), None);
    assert_eq!(maximise(&[1.0], &[1.0, 2.0], &[1.0]), None);
}
