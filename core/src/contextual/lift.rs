//! Other distances and similarities as inner products: a query is mapped, and the learner learns
//! the mapped centres, which it never sees.
//!
//! A class is right where its centre is nearest (largest inner product, least distance). Each map
//! φ, with hidden images h_i of the centres, has <φ(q), h_i - h_j> as the difference that decides,
//! |φ(q)| <= 1 and |h_i - h_j| <= R.
//!
//! - L2. |q - x_j|^2 - |q - x_i|^2 = 2 <q, x_i - x_j> - |x_i|^2 + |x_j|^2 = <φ(q), h_i - h_j> with
//!   φ(q) = (q, 1)/sqrt 2 and h_i = sqrt 2 (2 x_i, -|x_i|^2). For lengths a, b of centres |h_i -
//!   h_j|^2 <= 2 (a+b)^2 (4 + (a-b)^2) <= 32: R = 4 sqrt 2. A distance a and a shorter b have a - b
//!   <= sqrt(a^2 - b^2), so the loss (a - b)^α is at most the mapped one to the power α/2.
//! - L_p, p even. Σ_l (q_l - a_l)^p = Σ_l Σ_m C(p,m) q_l^m (-a_l)^(p-m). The term m = p is the same
//!   for all centres, the terms m = 0 make one constant: φ(q) has sqrt C(p,m) q_l^m for 0 < m < p
//!   and a 1, h has -sqrt C(p,m) (-a_l)^(p-m) and -|a|_p^p, d (p-1) + 1 components. As
//!   Σ_l q_l^2m <= 1, |φ|^2 and |h|^2 are at most 2^p - 2 + 1; φ is divided by the root of that, so
//!   R = 2 (2^p - 1). From a - b <= (a^p - b^p)^(1/p) the loss (a - b)^α is at most the mapped one
//!   to the power α/p. (Guruganesh et al., Theorem 12, has d (p+1) components.)
//! - L_p, any p >= 2: an experiment. |q_l - a_l|^p is a series c_0(a_l)/2 + Σ c_m(a_l) T_m(q_l) of
//!   Chebyshev polynomials, cut off at a degree. The remainder is an error, which [`Lift::degrees`]
//!   gives for each degree and which [`super::ApproximateLadder`] allows for, which works with
//!   several degrees at once.

use crate::error::{Error, Result};

/// How near a query is to a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Geometry {
    /// The inner product: the larger, the nearer.
    Inner,
    /// The Euclidean distance.
    L2,
    /// The L_p distance for an even p, 2 to 16.
    Even(u32),
    /// The L_p distance for any p from 2 to 16, approximated by polynomials of a degree from 2 to
    /// 32: an experiment.
    Chebyshev(f64, u32),
}

/// A map of queries of one dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Lift {
    metric: Geometry,
    dimension: usize,
    /// What |h_i - h_j| is at most.
    radius: f64,
    /// Of the map by Chebyshev polynomials: see [`Lift::degrees`].
    degrees: Vec<Degree>,
}

/// A degree up to which a series goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degree {
    /// The degree.
    pub degree: u32,
    /// By how much <φ(q), h_i - h_j> differs at most from the difference of the two centres' Σ_l
    /// |q_l - a_l|^p, over all queries and centres: twice the components times the remainder of
    /// one, which is the largest on a grid and a twentieth more.
    pub error: f64,
    /// What |h_i - h_j| is at most.
    pub radius: f64,
}

/// C(n, m).
fn binomial(n: u32, m: u32) -> f64 {
    (0..m).fold(1.0, |product, i| product * f64::from(n - i) / f64::from(i + 1))
}

impl Lift {
    /// The map for queries of `dimension` components and length 1 at most, and centres alike.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn new(metric: Geometry, dimension: usize) -> Result<Self> {
        let wrong = |found: String| Err(Error::Option { name: "metric", found, expected: "inner, l2, or lp:P with P from 2 to 16" });
        match metric {
            Geometry::Even(p) if !(2..=16).contains(&p) || p % 2 == 1 => return wrong(format!("lp:{p}")),
            Geometry::Chebyshev(p, degree) if !((2.0..=16.0).contains(&p) && (2..=32).contains(&degree)) => {
                return wrong(format!("lp:{p} of degree {degree}"));
            }
            _ => {}
        }
        let mut lift = Self { metric, dimension, radius: 0.0, degrees: Vec::new() };
        lift.radius = match metric {
            Geometry::Inner => 2.0,
            Geometry::L2 => 32f64.sqrt(),
            Geometry::Even(p) => 2.0 * (2f64.powi(p as i32) - 1.0),
            Geometry::Chebyshev(p, last) => {
                lift.degrees = lift.degrees_of(p, last);
                lift.degrees.last().map_or(0.0, |last| last.radius)
            }
        };
        Ok(lift)
    }

    /// Components of a query that is not mapped.
    pub fn components(&self) -> usize {
        self.dimension
    }

    /// Degrees of an approximation, 2, 4, 8, ... to that of the map; none of exact maps. The map of
    /// each has the components of the first so many polynomials.
    pub fn degrees(&self) -> &[Degree] {
        &self.degrees
    }

    /// Computes the degrees, which takes tens of milliseconds.
    fn degrees_of(&self, p: f64, last: u32) -> Vec<Degree> {
        let d = self.dimension as f64;
        let grid: Vec<f64> = (0..=GRID).map(|step| 2.0 * f64::from(step) / f64::from(GRID) - 1.0).collect();
        let series: Vec<Vec<f64>> = grid.iter().map(|a| coefficients(p, last, *a)).collect();
        let most: Vec<f64> = (0..=last as usize).map(|m| series.iter().map(|c| c[m].abs()).fold(0.0, f64::max)).collect();
        // The largest remainder after each degree.
        let mut left = vec![0.0f64; last as usize + 1];
        for (a, c) in grid.iter().zip(&series) {
            for x in &grid {
                let mut rest = (x - a).abs().powf(p) - c[0] / 2.0;
                for (m, left) in left.iter_mut().enumerate() {
                    rest -= if m == 0 { 0.0 } else { c[m] * (m as f64 * x.acos()).cos() };
                    *left = left.max(rest.abs());
                }
            }
        }
        let doubling = std::iter::successors(Some(2), |degree| Some(degree * 2)).take_while(|degree| *degree < last);
        let length = d * f64::from(last) + 1.0;
        let degree = |degree: u32| {
            let square: f64 = (d * most[0] / 2.0).powi(2) + most[1..=degree as usize].iter().map(|c| d * c * c).sum::<f64>();
            Degree { degree, error: 2.1 * d * left[degree as usize], radius: 2.0 * (square * length).sqrt() }
        };
        doubling.chain([last]).map(degree).collect()
    }

    /// Components of a mapped query.
    pub fn dimension(&self) -> usize {
        match self.metric {
            Geometry::Inner => self.dimension,
            Geometry::L2 => self.dimension + 1,
            Geometry::Even(p) => self.dimension * (p as usize - 1) + 1,
            Geometry::Chebyshev(_, degree) => self.dimension * degree as usize + 1,
        }
    }

    /// The largest difference of two mapped centres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The power of the mapped loss that bounds the loss to the power `power`.
    pub fn power(&self, power: f64) -> f64 {
        match self.metric {
            Geometry::Inner => power,
            Geometry::L2 => power / 2.0,
            Geometry::Even(p) => power / f64::from(p),
            Geometry::Chebyshev(p, _) => power / p,
        }
    }

    /// φ(q), of length 1 at most for a q of length 1 at most. O(d), times p or the degree.
    pub fn map(&self, q: &[f64]) -> Vec<f64> {
        match self.metric {
            Geometry::Inner => q.to_vec(),
            Geometry::L2 => q.iter().chain(&[1.0]).map(|x| x / std::f64::consts::SQRT_2).collect(),
            Geometry::Even(p) => {
                let length = (2f64.powi(p as i32) - 1.0).sqrt();
                let powers = q.iter().flat_map(|x| (1..p).map(move |m| binomial(p, m).sqrt() * x.powi(m as i32)));
                powers.chain([1.0]).map(|x| x / length).collect()
            }
            Geometry::Chebyshev(_, degree) => {
                let length = ((self.dimension * degree as usize + 1) as f64).sqrt();
                let values = q.iter().flat_map(|x| {
                    let angle = x.clamp(-1.0, 1.0).acos();
                    (1..=degree).map(move |m| (f64::from(m) * angle).cos())
                });
                values.chain([1.0]).map(|x| x / length).collect()
            }
        }
    }

    /// By how much a guess is worse than the truth: the larger distance less the smaller, or the
    /// larger inner product less the smaller. Not negative where the truth is the nearest centre.
    pub fn loss(&self, q: &[f64], guess: &[f64], truth: &[f64]) -> f64 {
        self.nearness(q, truth) - self.nearness(q, guess)
    }

    /// The inner product, or minus the distance.
    pub fn nearness(&self, q: &[f64], centre: &[f64]) -> f64 {
        let pairs = || q.iter().zip(centre);
        match self.metric {
            Geometry::Inner => pairs().map(|(q, x)| q * x).sum(),
            Geometry::L2 => -pairs().map(|(q, x)| (q - x) * (q - x)).sum::<f64>().sqrt(),
            Geometry::Even(p) => -pairs().map(|(q, x)| (q - x).powi(p as i32)).sum::<f64>().powf(1.0 / f64::from(p)),
            Geometry::Chebyshev(p, _) => -pairs().map(|(q, x)| (q - x).abs().powf(p)).sum::<f64>().powf(1.0 / p),
        }
    }

    /// The hidden image h of a centre, for tests; of an approximation that of its series.
    pub fn image(&self, centre: &[f64]) -> Option<Vec<f64>> {
        match self.metric {
            Geometry::Inner => Some(centre.to_vec()),
            Geometry::L2 => {
                let square: f64 = centre.iter().map(|x| x * x).sum();
                Some(centre.iter().map(|x| 2.0 * x).chain([-square]).map(|x| x * std::f64::consts::SQRT_2).collect())
            }
            Geometry::Even(p) => {
                let length = (2f64.powi(p as i32) - 1.0).sqrt();
                let powers = centre.iter().flat_map(|a| (1..p).map(move |m| binomial(p, m).sqrt() * (-a).powi((p - m) as i32)));
                let norm: f64 = centre.iter().map(|a| a.powi(p as i32)).sum();
                Some(powers.chain([norm]).map(|x| -x * length).collect())
            }
            Geometry::Chebyshev(p, degree) => {
                let length = ((self.dimension * degree as usize + 1) as f64).sqrt();
                let series: Vec<Vec<f64>> = centre.iter().map(|a| coefficients(p, degree, *a)).collect();
                let constant: f64 = series.iter().map(|c| c[0] / 2.0).sum();
                Some(series.iter().flat_map(|c| &c[1..]).chain([&constant]).map(|c| -c * length).collect())
            }
        }
    }
}

/// Steps of the grid on which remainders are computed.
const GRID: u32 = 100;
/// Nodes of the quadrature by which coefficients are computed.
const NODES: u32 = 128;

/// c_0 to c_degree of |x - a|^p on [-1, 1].
fn coefficients(p: f64, degree: u32, a: f64) -> Vec<f64> {
    let angle = |k: u32| std::f64::consts::PI * (f64::from(k) + 0.5) / f64::from(NODES);
    let values: Vec<f64> = (0..NODES).map(|k| (angle(k).cos() - a).abs().powf(p)).collect();
    let one = |m: u32| (0..NODES).map(|k| values[k as usize] * (f64::from(m) * angle(k)).cos()).sum::<f64>() * 2.0 / f64::from(NODES);
    (0..=degree).map(one).collect()
}
