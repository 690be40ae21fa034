//! Two classes by ellipsoids: containment, floor, volume, the fall of the potential, the total
//! loss, and precision near the border.

use proptest::prelude::*;
use rand::RngExt;
use tessera_core::contextual::{EllipsoidLadder, PairLearner, PairSpace, cut_drop};
use tessera_core::random::{self, Rng};

use super::{beside, dot, unit};

/// A square matrix, row-major.
type Square = Vec<Vec<f64>>;

fn matrix_of(factor: &[f64], d: usize) -> Square {
    let rows: Vec<&[f64]> = factor.chunks_exact(d).collect();
    rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect()
}

/// Eigenvalues of a symmetric matrix, by Jacobi's rotations.
fn eigenvalues(mut a: Square) -> Vec<f64> {
    let d = a.len();
    for _ in 0..60 {
        for p in 0..d {
            for q in p + 1..d {
                if a[p][q].abs() <= 1e-18 * (a[p][p] * a[q][q]).abs().sqrt() {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
                let (low, high) = a.split_at_mut(q);
                for (x, y) in low[p].iter_mut().zip(&mut high[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    (0..d).map(|i| a[i][i]).collect()
}

/// The inverse of a matrix by Gauss and Jordan with pivots, and the logarithm of its determinant's
/// size.
fn inverse(factor: &[f64], d: usize) -> (Square, f64) {
    let mut rows: Square = factor.chunks_exact(d).map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, d)).collect()).collect();
    (0..d).for_each(|i| rows[i][d + i] = 1.0);
    let mut ln_det = 0.0;
    for column in 0..d {
        let pivot = (column..d).max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs())).unwrap();
        rows.swap(column, pivot);
        let own = rows[column].clone();
        ln_det += own[column].abs().ln();
        for other in (0..d).filter(|&other| other != column) {
            let factor = rows[other][column] / own[column];
            rows[other].iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
        rows[column].iter_mut().for_each(|x| *x /= own[column]);
    }
    (rows.iter().map(|row| row[d..].to_vec()).collect(), ln_det)
}

/// The slow version: A itself, by the formula for it.
struct Plain {
    centre: Vec<f64>,
    a: Square,
}

impl Plain {
    /// How deep a cut the sign s allows; none deeper than the centre.
    fn depth(&self, q: &[f64], s: f64) -> f64 {
        let aq: Vec<f64> = self.a.iter().map(|row| dot(row, q)).collect();
        (-s * dot(q, &self.centre) / dot(&aq, q).sqrt()).min(0.0)
    }

    fn cut(&mut self, q: &[f64], s: f64) {
        let depth = self.depth(q, s);
        let d = q.len() as f64;
        let aq: Vec<f64> = self.a.iter().map(|row| dot(row, q)).collect();
        let h = dot(&aq, q).sqrt();
        let b: Vec<f64> = aq.iter().map(|x| x / h).collect();
        self.centre.iter_mut().zip(&b).for_each(|(c, b)| *c += s * (1.0 + d * depth) / (d + 1.0) * b);
        for (row, own) in self.a.iter_mut().zip(&b) {
            for (x, b) in row.iter_mut().zip(&b) {
                *x = match q.len() {
                    1 => *x * (1.0 - depth) * (1.0 - depth) / 4.0,
                    _ => {
                        let part = 2.0 * (1.0 + d * depth) / ((d + 1.0) * (1.0 + depth));
                        d * d * (1.0 - depth * depth) / (d * d - 1.0) * (*x - part * own * b)
                    }
                };
            }
        }
    }
}

/// A query of some kind: at random, near the border, or where the learner knows least.
fn query(kind: u8, w: &[f64], ladder: &EllipsoidLadder, rng: &mut Rng) -> Vec<f64> {
    let d = w.len();
    match (kind, ladder.ellipsoids().last()) {
        (0, _) => unit(d, rng),
        (1, _) => beside(w, 10f64.powf(-4.0 * rng.random::<f64>()) * dot(w, w).sqrt() * if rng.random() { 1.0 } else { -1.0 }, rng),
        (_, Some(last)) if d > 1 && dot(last.centre(), last.centre()) > 1e-6 => beside(last.centre(), 0.0, rng),
        _ => unit(d, rng).iter().map(|x| x * rng.random::<f64>()).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Everything the module's documentation proves about ellipsoids, in every round.
    #[test]
    fn what_the_proof_claims(d in 1usize..7, power in prop::sample::select(vec![0.5, 1.0, 2.0]), kind in 0u8..3, seed in 0u64..1000) {
        let mut rng = random::seeded(seed);
        let w: Vec<f64> = unit(d, &mut rng).iter().map(|x| x * (0.2 + 1.8 * rng.random::<f64>())).collect();
        let space = PairSpace { power, ..PairSpace::unit(d) };
        let mut ladder = EllipsoidLadder::new(&space);
        let bound = EllipsoidLadder::bound(&space);
        let mut total = 0.0;
        prop_assert!((ladder.potential() - bound).abs() < 1e-9 * bound);
        for _ in 0..150 {
            let q = query(kind, &w, &ladder, &mut rng);
            let (value, before) = (dot(&q, &w), ladder.potential());
            let look = ladder.look(&q, &mut rng);
            prop_assert!(look.lo - 1e-11 <= value && value <= look.hi + 1e-11, "{value} in {look:?}");
            prop_assert!(look.lo <= 1e-11 && look.hi >= -1e-11, "0 is always consistent: {look:?}");
            // Where the precision of numbers ends nothing more is learned: another test covers
            // that.
            let Some(scale) = look.scale else { break };
            prop_assert!(look.hi - look.lo <= 2.0 * space.width(scale) * (1.0 + 1e-9), "{look:?}");
            prop_assert!(look.drops[0] + look.drops[1] >= (look.losses[0] + look.losses[1]) * space.share() - 1e-12);
            let first = value >= 0.0;
            let old: Vec<f64> = ladder.ellipsoids().iter().map(|own| own.cuts()).collect();
            let drop = ladder.learn(&q, &look, first);
            let fallen = before - ladder.potential();
            prop_assert!((fallen - drop).abs() <= 1e-9 * bound && drop >= 0.0, "{fallen} booked as {drop}");
            prop_assert!(drop >= look.drops[usize::from(!first)] - 1e-12);
            if look.first() != first {
                let loss = value.abs().powf(power);
                prop_assert!(drop >= loss - 1e-12, "a mistake of {loss} gave up {drop}");
                total += loss;
            }
            prop_assert!(ladder.outside(&q, &w) <= 1e-11);
            prop_assert!(old.len() <= ladder.ellipsoids().len());
            for own in ladder.ellipsoids() {
                let (inverse, ln_det) = inverse(own.factor(), d);
                let width = space.width(own.scale());
                // 1/λ_min(A) is the largest eigenvalue of B^-T B^-1.
                let most = eigenvalues(matrix_of(&inverse.concat(), d)).into_iter().fold(0.0, f64::max);
                prop_assert!(most <= 8.0 * (d as f64 + 1.0) / (width * width) * (1.0 + 1e-6), "{most} at width {width}");
                let off: Vec<f64> = w.iter().zip(own.centre()).map(|(w, c)| w - c).collect();
                let z: Vec<f64> = inverse.iter().map(|row| dot(row, &off)).collect();
                prop_assert!(dot(&z, &z) <= 1.0 + 1e-6);
                prop_assert!(own.cuts() <= EllipsoidLadder::most_cuts(&space, own.scale()));
                let expected = d as f64 * 2f64.ln() - own.cuts() * cut_drop(d);
                // Rounding in the thinnest direction, relative to its size, for each cut.
                let condition = dot(own.factor(), own.factor()).sqrt() * dot(&inverse.concat(), &inverse.concat()).sqrt();
                let rounding = (1.0 + own.cuts()) * d as f64 * f64::EPSILON * condition;
                prop_assert!((ln_det - expected).abs() < 1e-9 + rounding, "{ln_det} and {expected}");
            }
        }
        prop_assert!(total <= bound - ladder.potential() + 1e-9 && ladder.potential() > 0.0);
    }

    /// The factor's way and the matrix's are the same ellipsoid while numbers are easy.
    #[test]
    fn a_factor_is_its_matrix(d in 1usize..9, seed in 0u64..1000) {
        let mut rng = random::seeded(seed);
        let space = PairSpace { margin: Some(0.05), ..PairSpace::unit(d) };
        let w: Vec<f64> = unit(d, &mut rng).iter().map(|x| x * 1.5).collect();
        let mut ladder = EllipsoidLadder::new(&space);
        let start = (0..d).map(|i| (0..d).map(|j| if i == j { 4.0 } else { 0.0 }).collect()).collect();
        let mut plain = Plain { centre: vec![0.0; d], a: start };
        for _ in 0..60 {
            let q = unit(d, &mut rng);
            let look = ladder.look(&q, &mut rng);
            let first = dot(&q, &w) >= 0.0;
            if ladder.learn(&q, &look, first) > 0.0 {
                plain.cut(&q, if first { 1.0 } else { -1.0 });
            }
            for own in ladder.ellipsoids() {
                for (c, other) in own.centre().iter().zip(&plain.centre) {
                    prop_assert!((c - other).abs() < 1e-8);
                }
                for (x, y) in matrix_of(own.factor(), d).iter().flatten().zip(plain.a.iter().flatten()) {
                    prop_assert!((x - y).abs() < 1e-8);
                }
            }
        }
    }
}

/// The queries on which the matrix A loses w: margins from 1e-12 on. Bounds hold at every scale
/// reached, and lo <= 0 <= hi.
#[test]
fn numbers_hold_near_the_border() {
    for (d, seed) in [(2, 1), (3, 2), (4, 3), (8, 4), (16, 5)] {
        let mut rng = random::seeded(seed);
        let w: Vec<f64> = unit(d, &mut rng).iter().map(|x| x * 1.3).collect();
        let space = PairSpace::unit(d);
        let mut ladder = EllipsoidLadder::new(&space);
        let (mut total, mut unpaid) = (0.0, 0.0);
        for round in 0..4000 {
            let margin = 10f64.powf(-12.0 + 11.0 * rng.random::<f64>()) * if rng.random() { 1.0 } else { -1.0 };
            // Every other query is one of which nothing is known: across the finest centre, on the
            // side the truth has.
            let q = match ladder.ellipsoids().last().filter(|_| round % 2 == 1) {
                Some(last) => beside(last.centre(), 0.0, &mut rng),
                None => beside(&w, margin, &mut rng),
            };
            let value = dot(&q, &w);
            let look = ladder.look(&q, &mut rng);
            assert!(look.lo - 1e-11 <= value && value <= look.hi + 1e-11, "d {d}: {value} in {look:?}");
            assert!(look.lo <= 1e-11 && look.hi >= -1e-11, "d {d}: {look:?}");
            let first = value >= 0.0;
            let drop = ladder.learn(&q, &look, first);
            if look.first() != first {
                total += value.abs();
                let most = look.losses[usize::from(!first)] + 1e-11;
                assert!(drop >= value.abs() || (look.scale.is_none() && value.abs() <= most), "{value} gave up {drop}: {look:?}");
                unpaid += if look.scale.is_none() { value.abs() } else { 0.0 };
            }
        }
        assert!(total - unpaid <= EllipsoidLadder::bound(&space) - ladder.potential(), "{total}");
        let finest = ladder.ellipsoids().last().map(|ellipsoid| ellipsoid.scale());
        assert!(
            finest.unwrap()
                >= match d {
                    2..=4 => 20,
                    8 => 8,
                    _ => 4,
                },
            "d {d} came to scale {finest:?}"
        );
    }
}

#[test]
fn one_dimension_is_known_after_a_mistake() {
    let mut rng = random::seeded(1);
    let mut ladder = EllipsoidLadder::new(&PairSpace::unit(1));
    let mut mistakes = 0;
    for q in [1.0, -0.2, 0.5, -1.0, 1e-9, 0.3] {
        let look = ladder.look(&[q], &mut rng);
        mistakes += usize::from(look.first() != (q < 0.0));
        ladder.learn(&[q], &look, q < 0.0);
    }
    assert!(mistakes <= 1, "{mistakes}");
}

#[test]
fn a_cut_takes_what_the_bound_counts_on() {
    for d in 1..200 {
        assert!(cut_drop(d) >= 1.0 / (2.0 * (d as f64 + 1.0)), "{d}");
        let n = d as f64;
        let space = PairSpace::unit(d);
        assert!(EllipsoidLadder::bound(&space) <= 8.0 * n * (n + 1.0) * (32.0 * (n + 1.0)).ln(), "{d}");
    }
}

/// The single scale of a known margin: at most so many mistakes, whatever the queries.
#[test]
fn a_known_margin_bounds_mistakes() {
    for d in [1, 2, 4, 8] {
        for exponent in [2, 6, 12] {
            let mut rng = random::seeded(7);
            let margin = 2f64.powi(-exponent);
            let w: Vec<f64> = unit(d, &mut rng);
            let space = PairSpace { margin: Some(margin), ..PairSpace::unit(d) };
            let mut ladder = EllipsoidLadder::new(&space);
            let mut mistakes = 0.0;
            for round in 0..3000 {
                let size = if round % 2 == 0 { margin } else { margin + (1.0 - margin) * rng.random::<f64>().powi(4) };
                let q = beside(&w, if rng.random() { size } else { -size }, &mut rng);
                let look = ladder.look(&q, &mut rng);
                let first = dot(&q, &w) >= 0.0;
                assert!(!look.excluded[usize::from(!first)], "{look:?}");
                mistakes += f64::from(u8::from(look.first() != first));
                let drop = ladder.learn(&q, &look, first);
                assert!(look.first() == first || drop >= 1.0);
            }
            assert!(mistakes <= EllipsoidLadder::bound(&space), "{mistakes}");
        }
    }
}
