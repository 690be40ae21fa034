//! The distributions of clusters: what is summed of their points, the parameters that are most
//! probable given these sums, and the density of a point.

use serde::{Deserialize, Serialize};

/// The shape of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Covariance {
    /// A Gaussian with one variance for all dimensions.
    Isotropic,
    /// A Gaussian with a variance for each dimension.
    #[default]
    Diagonal,
    /// A von Mises-Fisher distribution: directions around a direction. Lengths of points do not
    /// count.
    Directions,
}

/// What is believed of clusters before any point is seen: of a Gaussian, a mean at the centre of
/// the data with the weight of `mean_weight` points, and a variance of `variance` with that of
/// `variance_weight` points. A deviation: the priors of the paper's experiments divide by six
/// points more than a cluster has, which makes the variances of small clusters too small, and
/// points that took no part less likely by a nat where clusters have thirty points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Points that the prior mean counts as.
    pub mean_weight: f64,
    /// Points that the prior variance counts as.
    pub variance_weight: f64,
    /// The prior variance, in squares of the data's unit.
    pub variance: f64,
    /// What is added to each variance, in squares of the data's unit.
    pub floor: f64,
    /// The concentration of the Dirichlet prior over the clusters' shares, above 0.
    pub share: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Self { mean_weight: 1e-4, variance_weight: 0.1, variance: 1e-3, floor: 1e-3, share: 1.0 }
    }
}

/// The parameters of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The mean, or the mean direction, of length 1.
    pub middle: Vec<f64>,
    /// The variance of each dimension; of directions, the concentration alone.
    pub spread: Vec<f64>,
}

/// An exponential family: densities exp(<theta, phi(x)> - g(theta)) h(x).
///
/// The statistics phi(x) of a Gaussian are (x, x^2), of a direction x itself.
pub trait Family: Sync {
    /// How many values phi has for points of `d` values.
    fn statistics(&self, d: usize) -> usize;

    /// phi(x).
    fn phi(&self, x: &[f64]) -> Vec<f64>;

    /// The most probable parameters of a cluster of that many points (in weight) with these sums of
    /// phi, which are of points around 0.
    fn estimate(&self, weight: f64, sums: &[f64], prior: &Prior) -> Parameters;

    /// The natural parameters theta, and g(theta) - log h, which does not depend on x.
    fn natural(&self, parameters: &Parameters) -> (Vec<f64>, f64);

    /// The logarithm of the density. O(d); the yardstick of the tables that fits use.
    fn log_density(&self, x: &[f64], parameters: &Parameters) -> f64 {
        let (theta, g) = self.natural(parameters);
        self.phi(x).iter().zip(&theta).map(|(phi, theta)| phi * theta).sum::<f64>() - g
    }
}

/// The smallest variance: below it, sums of squares have no digits left.
const LEAST_VARIANCE: f64 = 1e-12;

impl Covariance {
    /// The family of this shape.
    pub fn family(self) -> &'static dyn Family {
        match self {
            Self::Isotropic => &Gaussian { is_isotropic: true },
            Self::Diagonal => &Gaussian { is_isotropic: false },
            Self::Directions => &VonMisesFisher,
        }
    }
}

struct Gaussian {
    is_isotropic: bool,
}

impl Family for Gaussian {
    fn statistics(&self, d: usize) -> usize {
        2 * d
    }

    fn phi(&self, x: &[f64]) -> Vec<f64> {
        x.iter().copied().chain(x.iter().map(|value| value * value)).collect()
    }

    fn estimate(&self, weight: f64, sums: &[f64], prior: &Prior) -> Parameters {
        let d = sums.len() / 2;
        let (sums, squares) = sums.split_at(d);
        let middle: Vec<f64> = sums.iter().map(|sum| sum / (prior.mean_weight + weight)).collect();
        let scatter = |(square, mean): (&f64, &f64)| (square - (prior.mean_weight + weight) * mean * mean).max(0.0);
        let scatters: Vec<f64> = squares.iter().zip(&middle).map(scatter).collect();
        let variance = |scatter: f64, dimensions: f64| {
            let believed = prior.variance_weight * prior.variance;
            let most_probable = (scatter / dimensions + believed) / (weight + prior.variance_weight);
            (most_probable + prior.floor).max(LEAST_VARIANCE)
        };
        let spread = if self.is_isotropic {
            vec![variance(scatters.iter().sum(), d as f64); d]
        } else {
            scatters.into_iter().map(|scatter| variance(scatter, 1.0)).collect()
        };
        Parameters { middle, spread }
    }

    fn natural(&self, parameters: &Parameters) -> (Vec<f64>, f64) {
        let pairs = || parameters.middle.iter().zip(&parameters.spread);
        let theta = pairs().map(|(mean, variance)| mean / variance).chain(parameters.spread.iter().map(|variance| -0.5 / variance));
        let g = pairs().map(|(mean, variance)| 0.5 * (mean * mean / variance + (std::f64::consts::TAU * variance).ln())).sum();
        (theta.collect(), g)
    }

    fn log_density(&self, x: &[f64], parameters: &Parameters) -> f64 {
        let terms = x.iter().zip(&parameters.middle).zip(&parameters.spread);
        terms.map(|((x, mean), variance)| -0.5 * ((x - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())).sum()
    }
}

struct VonMisesFisher;

/// The largest concentration: directions that are all but equal.
const MOST_CONCENTRATED: f64 = 1e5;

impl Family for VonMisesFisher {
    fn statistics(&self, d: usize) -> usize {
        d
    }

    fn phi(&self, x: &[f64]) -> Vec<f64> {
        x.to_vec()
    }

    /// The concentration by Newton's steps from Banerjee's estimate (Banerjee et al. 2005; Sra
    /// 2012), of a mean length that one direction of no length takes part in.
    fn estimate(&self, weight: f64, sums: &[f64], _: &Prior) -> Parameters {
        let d = sums.len() as f64;
        let length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
        if length == 0.0 {
            let mut middle = vec![0.0; sums.len()];
            middle[0] = 1.0;
            return Parameters { middle, spread: vec![0.0] };
        }
        let mean = length / (weight + 1.0).max(length);
        let mut concentration = (mean * (d - mean * mean) / (1.0 - mean * mean).max(1e-12)).min(MOST_CONCENTRATED);
        for _ in 0..4 {
            let ratio = (log_bessel(d / 2.0, concentration) - log_bessel(d / 2.0 - 1.0, concentration)).exp();
            let slope = 1.0 - ratio * ratio - (d - 1.0) / concentration * ratio;
            let next = concentration - (ratio - mean) / slope;
            if !(next > 0.0 && next < MOST_CONCENTRATED) {
                break;
            }
            concentration = next;
        }
        Parameters { middle: sums.iter().map(|sum| sum / length).collect(), spread: vec![concentration] }
    }

    fn natural(&self, parameters: &Parameters) -> (Vec<f64>, f64) {
        let concentration = parameters.spread[0];
        let theta = parameters.middle.iter().map(|value| value * concentration).collect();
        (theta, log_sphere(parameters.middle.len() as f64, concentration))
    }
}

/// The logarithm of the integral of exp(k <m, x>) over the sphere of directions in `d` dimensions.
fn log_sphere(d: f64, k: f64) -> f64 {
    let order = d / 2.0 - 1.0;
    let power = if k > 0.0 { log_bessel(order, k) - order * k.ln() } else { -order * 2f64.ln() - libm::lgamma(order + 1.0) };
    d / 2.0 * std::f64::consts::TAU.ln() + power
}

/// The logarithm of the modified Bessel function of the first kind, for x above 0, by its power
/// series, of which all terms are positive. O(x + order) terms.
fn log_bessel(order: f64, x: f64) -> f64 {
    const HUGE: f64 = 1e250;
    let quarter = x * x / 4.0;
    let (mut term, mut sum, mut scaled, mut k) = (1.0f64, 1.0f64, 0.0f64, 0.0f64);
    loop {
        k += 1.0;
        let ratio = quarter / (k * (order + k));
        term *= ratio;
        sum += term;
        if sum > HUGE {
            term /= HUGE;
            sum /= HUGE;
            scaled += HUGE.ln();
        }
        if ratio < 1.0 && term < sum * 1e-17 * (1.0 - ratio) {
            return order * (x / 2.0).ln() - libm::lgamma(order + 1.0) + sum.ln() + scaled;
        }
    }
}
