//! Other similarities by inner products: a query is mapped, and the learner learns mapped centres it never sees.
//!
//! A class is right where its centre is nearest (largest inner product, least distance). Each map φ, with hidden images h_i of the centres, has
//! <φ(q), h_i - h_j> as the difference that decides, |φ(q)| <= 1 and |h_i - h_j| <= R.
//!
//! - L2. |q - x_j|^2 - |q - x_i|^2 = 2 <q, x_i - x_j> - |x_i|^2 + |x_j|^2 = <φ(q), h_i - h_j> with φ(q) = (q, 1)/sqrt 2 and
//!   h_i = sqrt 2 (2 x_i, -|x_i|^2). For lengths a, b of centres |h_i - h_j|^2 <= 2 (a+b)^2 (4 + (a-b)^2) <= 32: R = 4 sqrt 2.
//!   A distance a and a shorter b have a - b <= sqrt(a^2 - b^2), so the loss (a - b)^α is at most the mapped one to the power α/2.
//! - L_p, p even. Σ_l (q_l - a_l)^p = Σ_l Σ_m C(p,m) q_l^m (-a_l)^(p-m). The term m = p is the same for all centres, the terms m = 0 make one
//!   constant: φ(q) = (sqrt C(p,m) q_l^m for 0 < m < p, 1) and h = -(sqrt C(p,m) (-a_l)^(p-m), |a|_p^p), d (p-1) + 1 components. As
//!   Σ_l q_l^2m <= 1, |φ|^2 and |h|^2 are at most 2^p - 2 + 1; φ is divided by the root of that, so R = 2 (2^p - 1). From
//!   a - b <= (a^p - b^p)^(1/p) the loss (a - b)^α is at most the mapped one to the power α/p.
//!   (Guruganesh et al., Theorem 12, has d (p+1) components.)
//! - L_p, any p >= 2: an experiment. |q_l - a_l|^p as a series Σ β_mn T_m(q_l) T_n(a_l) of Chebyshev polynomials up to a degree; what
//!   is left over makes labels inconsistent where two centres are almost equally far, so no bound holds. The paper's way, many degrees at
//!   once by the size of the possible loss (its appendix E), is not done here.

use crate::error::{Error, Result};

/// How near a query is to a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// The inner product: the larger, the nearer.
    Inner,
    /// The Euclidean distance.
    L2,
    /// The L_p distance for an even p, 2 to 16.
    Even(u32),
    /// The L_p distance for any p from 2 to 16, approximated by polynomials of a degree from 2 to 32: an experiment.
    Chebyshev(f64, u32),
}

/// A map of queries of one dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Lift {
    metric: Metric,
    dimension: usize,
    /// Of the map by Chebyshev polynomials: what |h_i - h_j| is at most.
    radius: f64,
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
    pub fn new(metric: Metric, dimension: usize) -> Result<Self> {
        let wrong = |found: String| Err(Error::Option { name: "metric", found, expected: "inner, l2, or lp:P with P from 2 to 16" });
        match metric {
            Metric::Even(p) if !(2..=16).contains(&p) || p % 2 == 1 => return wrong(format!("lp:{p}")),
            Metric::Chebyshev(p, degree) if !((2.0..=16.0).contains(&p) && (2..=32).contains(&degree)) => {
                return wrong(format!("lp:{p} of degree {degree}"));
            }
            _ => {}
        }
        let mut lift = Self { metric, dimension, radius: 0.0 };
        lift.radius = match metric {
            Metric::Inner => 2.0,
            Metric::L2 => 32f64.sqrt(),
            Metric::Even(p) => 2.0 * (2f64.powi(p as i32) - 1.0),
            Metric::Chebyshev(p, degree) => lift.chebyshev_radius(p, degree),
        };
        Ok(lift)
    }

    /// The metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Components of a mapped query.
    pub fn dimension(&self) -> usize {
        match self.metric {
            Metric::Inner => self.dimension,
            Metric::L2 => self.dimension + 1,
            Metric::Even(p) => self.dimension * (p as usize - 1) + 1,
            Metric::Chebyshev(_, degree) => self.dimension * degree as usize + 1,
        }
    }

    /// The largest difference of two mapped centres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The power of the mapped loss that bounds the loss to the power `power`.
    pub fn power(&self, power: f64) -> f64 {
        match self.metric {
            Metric::Inner => power,
            Metric::L2 => power / 2.0,
            Metric::Even(p) => power / f64::from(p),
            Metric::Chebyshev(p, _) => power / p,
        }
    }

    /// φ(q), of length 1 at most for a q of length 1 at most. O(d), times p or the degree.
    pub fn map(&self, q: &[f64]) -> Vec<f64> {
        match self.metric {
            Metric::Inner => q.to_vec(),
            Metric::L2 => q.iter().chain(&[1.0]).map(|x| x / std::f64::consts::SQRT_2).collect(),
            Metric::Even(p) => {
                let length = (2f64.powi(p as i32) - 1.0).sqrt();
                let powers = q.iter().flat_map(|x| (1..p).map(move |m| binomial(p, m).sqrt() * x.powi(m as i32)));
                powers.chain([1.0]).map(|x| x / length).collect()
            }
            Metric::Chebyshev(_, degree) => {
                let length = ((self.dimension * degree as usize + 1) as f64).sqrt();
                let values = q.iter().flat_map(|x| {
                    let angle = x.clamp(-1.0, 1.0).acos();
                    (1..=degree).map(move |m| (f64::from(m) * angle).cos())
                });
                values.chain([1.0]).map(|x| x / length).collect()
            }
        }
    }

    /// By how much a guess is worse than the truth: the larger distance less the smaller, or the larger inner product less the smaller.
    /// Not negative where the truth is the nearest centre.
    pub fn loss(&self, q: &[f64], guess: &[f64], truth: &[f64]) -> f64 {
        self.nearness(q, truth) - self.nearness(q, guess)
    }

    /// The inner product, or minus the distance.
    pub fn nearness(&self, q: &[f64], centre: &[f64]) -> f64 {
        let pairs = || q.iter().zip(centre);
        match self.metric {
            Metric::Inner => pairs().map(|(q, x)| q * x).sum(),
            Metric::L2 => -pairs().map(|(q, x)| (q - x) * (q - x)).sum::<f64>().sqrt(),
            Metric::Even(p) => -pairs().map(|(q, x)| (q - x).powi(p as i32)).sum::<f64>().powf(1.0 / f64::from(p)),
            Metric::Chebyshev(p, _) => -pairs().map(|(q, x)| (q - x).abs().powf(p)).sum::<f64>().powf(1.0 / p),
        }
    }

    /// The hidden image h of a centre, for tests. None of an approximation.
    pub fn image(&self, centre: &[f64]) -> Option<Vec<f64>> {
        match self.metric {
            Metric::Inner => Some(centre.to_vec()),
            Metric::L2 => {
                let square: f64 = centre.iter().map(|x| x * x).sum();
                Some(centre.iter().map(|x| 2.0 * x).chain([-square]).map(|x| x * std::f64::consts::SQRT_2).collect())
            }
            Metric::Even(p) => {
                let length = (2f64.powi(p as i32) - 1.0).sqrt();
                let powers = centre.iter().flat_map(|a| (1..p).map(move |m| binomial(p, m).sqrt() * (-a).powi((p - m) as i32)));
                let norm: f64 = centre.iter().map(|a| a.powi(p as i32)).sum();
                Some(powers.chain([norm]).map(|x| -x * length).collect())
            }
            Metric::Chebyshev(..) => None,
        }
    }

    /// A bound on |h_i - h_j| from the largest size of each coefficient over centres' components.
    fn chebyshev_radius(&self, p: f64, degree: u32) -> f64 {
        let nodes = 128;
        let angle = |k: u32| std::f64::consts::PI * (f64::from(k) + 0.5) / f64::from(nodes);
        let mut square = 0.0;
        for m in 0..=degree {
            let mut most = 0.0f64;
            for step in 0..=100 {
                let a = f64::from(step) / 50.0 - 1.0;
                let value = |k: u32| (angle(k).cos() - a).abs().powf(p) * (f64::from(m) * angle(k)).cos();
                let sum: f64 = (0..nodes).map(value).sum();
                most = most.max((sum * 2.0 / f64::from(nodes)).abs());
            }
            // The constants of all components make one.
            let d = self.dimension as f64;
            square += if m == 0 { (d * most / 2.0).powi(2) } else { d * most * most };
        }
        2.0 * (square * (self.dimension as f64 * f64::from(degree) + 1.0)).sqrt()
    }
}
