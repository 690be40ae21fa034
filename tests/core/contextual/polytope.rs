//! Two classes by polytopes: in the plane beside exact polygons, in more dimensions by the sums
//! that the proof claims.

use rand::RngExt;
use tessera_core::contextual::{PairLearner, PairSpace, PolytopeLadder};
use tessera_core::random;

use super::{beside, dot, unit};

/// A convex polygon, by its corners in order.
#[derive(Clone)]
struct Polygon(Vec<[f64; 2]>);

impl Polygon {
    fn square(reach: f64) -> Self {
        Self(vec![[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]])
    }

    /// What has <a, x> >= -slack.
    fn clip(&mut self, a: &[f64], slack: f64) {
        let height = |x: &[f64; 2]| a[0] * x[0] + a[1] * x[1] + slack;
        let n = self.0.len();
        let mut kept = Vec::new();
        for i in 0..n {
            let (x, y) = (self.0[i], self.0[(i + 1) % n]);
            let (f, g) = (height(&x), height(&y));
            if f >= 0.0 {
                kept.push(x);
            }
            if (f >= 0.0) != (g >= 0.0) {
                let t = f / (f - g);
                kept.push([x[0] + t * (y[0] - x[0]), x[1] + t * (y[1] - x[1])]);
            }
        }
        self.0 = kept;
    }

    fn area(&self) -> f64 {
        let n = self.0.len();
        (0..n).map(|i| self.0[i][0] * self.0[(i + 1) % n][1] - self.0[i][1] * self.0[(i + 1) % n][0]).sum::<f64>() / 2.0
    }

    fn range(&self, u: &[f64]) -> (f64, f64) {
        let values = || self.0.iter().map(|x| u[0] * x[0] + u[1] * x[1]);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    }
}

#[test]
fn in_the_plane_sets_are_exact_polygons() {
    for seed in 0..6 {
        let mut rng = random::seeded(seed);
        let space = PairSpace::unit(2);
        let w: Vec<f64> = unit(2, &mut rng).iter().map(|x| x * 1.4).collect();
        let mut ladder = PolytopeLadder::new(&space);
        let slack = |scale: u32| space.width(scale) / 8.0;
        let mut polygons: Vec<Polygon> = (0..=20).map(|scale| Polygon::square(2.0 + slack(scale))).collect();
        let (mut total, mut worst) = (0.0, 0.0f64);
        for round in 0..120 {
            let margin = 10f64.powf(-5.0 * rng.random::<f64>());
            let q = if round % 3 == 0 { unit(2, &mut rng) } else { beside(&w, if rng.random() { margin } else { -margin }, &mut rng) };
            let value = dot(&q, &w);
            let look = ladder.look(&q, &mut rng);
            assert!(look.lo <= value + 1e-9 && value <= look.hi + 1e-9 && look.lo <= 0.0 && look.hi >= 0.0, "{value} in {look:?}");
            let active = (0..=20u32).find(|&scale| {
                let (low, high) = polygons[scale as usize].range(&q);
                high - low > space.width(scale)
            });
            assert_eq!(look.scale, active);
            let first = value >= 0.0;
            let drop = ladder.learn(&q, &look, first);
            assert!(ladder.outside(&q, &w) <= 1e-12);
            if look.first() == first {
                assert!(drop == 0.0 || look.middle == 0.0);
                continue;
            }
            let scale = look.scale.unwrap();
            assert!(look.hi - look.lo <= 2.0 * space.width(scale) * (1.0 + 1e-9) && drop >= value.abs());
            total += value.abs();
            let before = polygons[scale as usize].area();
            let wall: Vec<f64> = q.iter().map(|x| if first { *x } else { -x }).collect();
            for (polygon, scale) in polygons.iter_mut().zip(0..) {
                polygon.clip(&wall, slack(scale));
            }
            worst = worst.max(polygons[scale as usize].area() / before);
        }
        assert!(worst <= 0.85, "a mistake left {worst} of the area");
        assert!(total <= PolytopeLadder::bound(&space) - ladder.potential());
    }
}

#[test]
fn mistakes_stay_within_their_numbers() {
    for (d, seed) in [(1, 1), (3, 2), (6, 3)] {
        let mut rng = random::seeded(seed);
        let space = PairSpace::unit(d);
        let w: Vec<f64> = unit(d, &mut rng);
        let mut ladder = PolytopeLadder::new(&space);
        let mut total = 0.0;
        let mut by_scale = [0.0; 21];
        for _ in 0..400 {
            let margin = 10f64.powf(-4.0 * rng.random::<f64>());
            let q = beside(&w, if rng.random() { margin } else { -margin }, &mut rng);
            let value = dot(&q, &w);
            let look = ladder.look(&q, &mut rng);
            assert!(look.lo <= value + 1e-9 && value <= look.hi + 1e-9, "{value} in {look:?}");
            let before = ladder.potential();
            let drop = ladder.learn(&q, &look, value >= 0.0);
            assert!((before - ladder.potential() - drop).abs() < 1e-9 * before);
            if look.first() != (value >= 0.0) {
                assert!(drop >= value.abs());
                total += value.abs();
                by_scale[look.scale.unwrap() as usize] += 1.0;
            }
        }
        for (n, scale) in by_scale.iter().zip(0..) {
            assert!(*n <= PolytopeLadder::most_mistakes(&space, scale));
        }
        assert!(total < 3.0 * d as f64, "d {d}: {total}");
    }
}

#[test]
fn a_known_margin_bounds_mistakes() {
    let mut rng = random::seeded(6);
    let (d, margin) = (4, 0.01);
    let w = unit(d, &mut rng);
    let space = PairSpace { margin: Some(margin), ..PairSpace::unit(d) };
    let mut ladder = PolytopeLadder::new(&space);
    let mut mistakes = 0.0;
    for _ in 0..500 {
        let size = if rng.random() { margin } else { margin + rng.random::<f64>() * 0.2 };
        let q = beside(&w, if rng.random() { size } else { -size }, &mut rng);
        let first = dot(&q, &w) >= 0.0;
        let look = ladder.look(&q, &mut rng);
        assert!(!look.excluded[usize::from(!first)]);
        let drop = ladder.learn(&q, &look, first);
        assert!(look.first() == first || drop == 1.0, "{look:?}");
        mistakes += f64::from(u8::from(look.first() != first));
    }
    assert!(mistakes <= PolytopeLadder::bound(&space), "{mistakes} of {}", PolytopeLadder::bound(&space));
}
