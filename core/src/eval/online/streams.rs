//! Streams of queries: at random, made against the Perceptron, made against the learner at hand,
//! and those of a file.
//!
//! A stream says what is right after the learner has answered, and what the answer cost: when
//! asked, or at the end where only then the hidden centres are settled.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::contextual::Lift;
use crate::ids::ClassId;
use crate::learn::Prediction;
use crate::random::Rng;

/// Where queries come from.
#[derive(Clone, Debug)]
pub enum StreamSource {
    /// Queries drawn evenly from the unit sphere, centres from the unit ball.
    Sphere,
    /// The same queries; centres within a thousandth of one line, so that many classes compete at
    /// every border.
    Collinear,
    /// Two classes and queries that the Perceptron gets wrong every time: notes below.
    PerceptronKiller,
    /// Two classes and answers against the learner for as long as any centre allows it by 1e-9.
    Adversary,
    /// Two convex regions of which nothing can be learned: notes below.
    ConvexLowerBound,
    /// Examples with their classes as they are, in order; a wrong guess costs 1. All of length 1 at
    /// most.
    Examples(Vec<(ClassId, Vec<f64>)>),
}

/// A stream at work.
pub(super) trait Stream {
    /// The next query; none at the end.
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>>;

    /// What is right, after an answer.
    fn reveal(&mut self, q: &[f64], answer: &Prediction) -> ClassId;

    /// What a guess costs. Only final where `settled`.
    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64;

    /// Whether costs are known in the round itself.
    fn settled(&self) -> bool {
        true
    }

    /// The hidden centres in the learner's space, where there are any already.
    fn centres(&self) -> Option<&[Vec<f64>]> {
        None
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn scaled(x: &[f64], factor: f64) -> Vec<f64> {
    x.iter().map(|x| x * factor).collect()
}

/// A vector drawn evenly from the unit sphere: normal components, by Box and Muller.
pub(super) fn unit(d: usize, rng: &mut Rng) -> Vec<f64> {
    let mut normal = || {
        let (a, b): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    };
    let x: Vec<f64> = (0..d).map(|_| normal()).collect();
    let length = dot(&x, &x).sqrt();
    if length > 0.0 { scaled(&x, 1.0 / length) } else { unit(d, rng) }
}

/// A unit vector drawn evenly from those across a unit vector.
fn across(w: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut z = unit(w.len(), rng);
    for _ in 0..2 {
        let along = dot(&z, w);
        z.iter_mut().zip(w).for_each(|(z, w)| *z -= along * w);
    }
    let length = dot(&z, &z).sqrt();
    if length > 1e-12 { scaled(&z, 1.0 / length) } else { vec![0.0; w.len()] }
}

fn ball(d: usize, rng: &mut Rng) -> Vec<f64> {
    let length = rng.random::<f64>().powf(1.0 / d as f64);
    scaled(&unit(d, rng), length)
}

/// Two centres whose difference is w.
fn halves(w: &[f64]) -> Vec<Vec<f64>> {
    vec![scaled(w, 0.5), scaled(w, -0.5)]
}

/// Queries from the sphere.
pub(super) struct Sphere {
    lift: Lift,
    centres: Vec<Vec<f64>>,
    /// The centres' images where the map has them.
    images: Option<Vec<Vec<f64>>>,
    /// Queries whose two best classes are nearer than this are left out.
    margin: f64,
    d: usize,
    power: f64,
}

impl Sphere {
    pub(super) fn new(lift: &Lift, d: usize, k: usize, collinear: bool, margin: f64, power: f64, rng: &mut Rng) -> Self {
        let line = unit(d, rng);
        let on_line = |i: usize, rng: &mut Rng| {
            let along = 0.99 * (2.0 * (i as f64 + 0.5) / k as f64 - 1.0);
            let off = unit(d, rng);
            line.iter().zip(off).map(|(x, off)| along * x + 1e-3 * off).collect()
        };
        let centres: Vec<Vec<f64>> = (0..k).map(|i| if collinear { on_line(i, rng) } else { ball(d, rng) }).collect();
        let images = centres.iter().map(|centre| lift.image(centre)).collect();
        Self { lift: lift.clone(), centres, images, margin, d, power }
    }

    fn best(&self, q: &[f64]) -> (usize, f64) {
        let scores: Vec<f64> = self.centres.iter().map(|centre| self.lift.nearness(q, centre)).collect();
        let best = (0..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best });
        let others = (0..scores.len()).filter(|&i| i != best).map(|i| scores[i]);
        (best, scores.get(best).copied().unwrap_or(0.0) - others.fold(f64::NEG_INFINITY, f64::max))
    }
}

impl Stream for Sphere {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        // A margin that hardly any query has ends the stream.
        (0..100_000).map(|_| unit(self.d, rng)).find(|q| self.margin <= 0.0 || self.best(q).1 >= self.margin)
    }

    fn reveal(&mut self, q: &[f64], _: &Prediction) -> ClassId {
        ClassId(self.best(q).0 as u32)
    }

    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        let truth = &self.centres[truth.index()];
        let guessed = guess.and_then(|guess| self.centres.get(guess.index()));
        guessed.map_or(2.0, |guess| self.lift.loss(q, guess, truth).max(0.0)).powf(self.power)
    }

    fn centres(&self) -> Option<&[Vec<f64>]> {
        self.images.as_deref()
    }
}

/// The Perceptron's worst case. w is a unit vector; a shadow Perceptron p (two classes, started at
/// 0) sees every label. With u the direction of p across w and t = γ <p, w> / |p across w|, the
/// query is y (γ w - t u + sqrt(1 - γ^2 - t^2) z) for a random sign y and a random z across both:
/// <p, q> = 0 but for a hair to the wrong side, and <q, w> = y γ. With γ = 1/sqrt(T) the shadow is
/// wrong in all T rounds, and loses sqrt(T). The queries do not depend on the learner. Three
/// dimensions or more.
pub(super) struct PerceptronKiller {
    w: Vec<f64>,
    shadow: Vec<f64>,
    gamma: f64,
    centres: Vec<Vec<f64>>,
    power: f64,
}

impl PerceptronKiller {
    pub(super) fn new(d: usize, gamma: f64, power: f64, rng: &mut Rng) -> Self {
        let w = unit(d, rng);
        Self { shadow: vec![0.0; d], gamma, centres: halves(&w), w, power }
    }
}

impl Stream for PerceptronKiller {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        let d = self.w.len();
        let along = dot(&self.shadow, &self.w);
        let off: Vec<f64> = self.shadow.iter().zip(&self.w).map(|(p, w)| p - along * w).collect();
        let length = dot(&off, &off).sqrt();
        let (u, t) = if length > 1e-12 {
            (scaled(&off, 1.0 / length), (self.gamma * along / length) * (1.0 + 1e-9) + 1e-13)
        } else {
            (vec![0.0; d], 0.0)
        };
        let mut z = across(&self.w, rng);
        let part = dot(&z, &u);
        z.iter_mut().zip(&u).for_each(|(z, u)| *z -= part * u);
        let size = dot(&z, &z).sqrt();
        let rest = (1.0 - self.gamma * self.gamma - t * t).max(0.0).sqrt() / size.max(1e-300);
        // At 0 the shadow says the first class.
        let y = if length > 1e-12 && rng.random() { 1.0 } else { -1.0 };
        let query = (0..d).map(|j| y * (self.gamma * self.w[j] - t * u[j] + rest * z[j])).collect::<Vec<f64>>();
        let norm = dot(&query, &query).sqrt();
        let query = if norm > 1.0 { scaled(&query, 1.0 / norm) } else { query };
        let truth = if dot(&query, &self.w) >= 0.0 { 1.0 } else { -1.0 };
        let says = if dot(&self.shadow, &query) >= 0.0 { 1.0 } else { -1.0 };
        if says != truth {
            self.shadow.iter_mut().zip(&query).for_each(|(p, q)| *p += truth * q);
        }
        Some(query)
    }

    fn reveal(&mut self, q: &[f64], _: &Prediction) -> ClassId {
        ClassId(u32::from(dot(q, &self.w) < 0.0))
    }

    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { dot(q, &self.w).abs().powf(self.power) }
    }

    fn centres(&self) -> Option<&[Vec<f64>]> {
        Some(&self.centres)
    }
}

/// Answers against the learner. All centres of an ellipsoid {c + B z} are consistent with what was
/// said. The query is across c, where the ellipsoid is longest; the less likely answer is declared
/// right; the ellipsoid makes way for one inside the half that remains: centre τ along p = B'q,
/// half-lengths τ along p and β across, with β^2 = (1 + sqrt(1 - 4 τ^2))/2 and τ = min(1/sqrt d,
/// 1/2). (On the unit ball, f = τ^2 (1+x)^2 + β^2 (1-x^2) is largest at x = τ^2/(β^2-τ^2), where it
/// is β^4/(β^2-τ^2) = 1.) When the longest extent across c is below 1e-9 that is over: w = c/|c|,
/// and queries follow at margins drawn between 1e-9 and 0.1, evenly by their logarithm. Costs are
/// those of the final w.
pub(super) struct Adversary {
    centre: Vec<f64>,
    /// Row-major.
    factor: Vec<f64>,
    over: bool,
    centres: Vec<Vec<f64>>,
    power: f64,
}

impl Adversary {
    pub(super) fn new(d: usize, power: f64, rng: &mut Rng) -> Self {
        let mut factor = vec![0.0; d * d];
        factor.iter_mut().step_by(d + 1).for_each(|x| *x = 0.45);
        Self { centre: scaled(&unit(d, rng), 0.5), factor, over: false, centres: Vec::new(), power }
    }

    fn pulled(&self, q: &[f64]) -> Vec<f64> {
        let d = q.len();
        (0..d).map(|j| (0..d).map(|i| self.factor[i * d + j] * q[i]).sum()).collect()
    }

    fn pushed(&self, p: &[f64]) -> Vec<f64> {
        self.factor.chunks_exact(p.len()).map(|row| dot(row, p)).collect()
    }

    fn direction(&self) -> Vec<f64> {
        scaled(&self.centre, 1.0 / dot(&self.centre, &self.centre).sqrt())
    }

    /// The unit vector across c along which the ellipsoid is longest, by power iteration, and that
    /// half-length.
    fn longest(&self, rng: &mut Rng) -> (Vec<f64>, f64) {
        let c = self.direction();
        let mut q = across(&c, rng);
        for _ in 0..40 {
            let mut next = self.pushed(&self.pulled(&q));
            for _ in 0..2 {
                let along = dot(&next, &c);
                next.iter_mut().zip(&c).for_each(|(x, c)| *x -= along * c);
            }
            let length = dot(&next, &next).sqrt();
            if length < 1e-300 {
                break;
            }
            q = scaled(&next, 1.0 / length);
        }
        let p = self.pulled(&q);
        let h = dot(&p, &p).sqrt();
        (q, h)
    }
}

impl Stream for Adversary {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        if !self.over {
            let (q, h) = self.longest(rng);
            if h >= 1e-9 {
                return Some(q);
            }
            self.over = true;
        }
        let w = self.direction();
        self.centres = halves(&w);
        let margin = 10f64.powf(-9.0 + 8.0 * rng.random::<f64>()) * if rng.random() { 1.0 } else { -1.0 };
        let rest = (1.0 - margin * margin).sqrt();
        Some(across(&w, rng).iter().zip(&w).map(|(z, w)| rest * z + margin * w).collect())
    }

    fn reveal(&mut self, q: &[f64], answer: &Prediction) -> ClassId {
        if self.over {
            return ClassId(u32::from(dot(q, &self.centre) < 0.0));
        }
        let first = answer.expected(|guess| if guess == Some(ClassId(0)) { 1.0 } else { 0.0 });
        let (truth, s) = if first >= 0.5 { (ClassId(1), -1.0) } else { (ClassId(0), 1.0) };
        let d = q.len();
        let p = self.pulled(q);
        let h = dot(&p, &p).sqrt();
        let p = scaled(&p, 1.0 / h);
        let b = self.pushed(&p);
        let tau = (1.0 / (d as f64).sqrt()).min(0.5);
        let beta = ((1.0 + (1.0 - 4.0 * tau * tau).max(0.0).sqrt()) / 2.0).sqrt();
        self.centre.iter_mut().zip(&b).for_each(|(c, b)| *c += s * tau * b);
        for (row, b) in self.factor.chunks_exact_mut(d).zip(&b) {
            row.iter_mut().zip(&p).for_each(|(x, p)| *x = beta * *x + (tau - beta) * b * p);
        }
        truth
    }

    fn loss(&self, q: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { dot(q, &self.direction()).abs().powf(self.power) }
    }

    fn settled(&self) -> bool {
        false
    }

    fn centres(&self) -> Option<&[Vec<f64>]> {
        Some(&self.centres).filter(|centres| !centres.is_empty()).map(Vec::as_slice)
    }
}

/// Two convex regions, of which the labels seen say nothing about those to come (Guruganesh et al.,
/// Theorem 4; their proof is in an appendix that was not at hand, so this construction is ours).
/// Points p_t lie on the unit sphere of d-1 dimensions, each pair s or more apart: a grid of T
/// points in a cube inside the unit ball of d-2 dimensions, lifted to the sphere. Labels are fair
/// coins. In the last dimension points lie on either side of a hyperplane by amounts that separate
/// their labels; as real numbers these may be arbitrarily small (the t-th halves what the first t-1
/// left open), so here they are 0. Regions are the convex hulls of the points of each label:
/// disjoint, for the hyperplane is between them. The distance of p_t to the hull of other points is
/// 1 - max <p_t, p_s> or more, so s^2/2 or more, which is what a mistake is taken to cost. With s
/// about T^(-1/(d-2)) and half of T mistakes, that is about T^((d-4)/(d-2)), for every learner.
pub(super) struct ConvexLowerBound {
    points: Vec<Vec<f64>>,
    next: usize,
    cost: f64,
    truth: ClassId,
}

impl ConvexLowerBound {
    pub(super) fn new(d: usize, rounds: usize, power: f64, rng: &mut Rng) -> Self {
        let m = d - 2;
        let side = (1..).find(|n: &usize| n.checked_pow(m as u32).is_none_or(|all| all >= rounds)).unwrap_or(1);
        // The cube's corners are just inside the ball.
        let half = 0.95 / (m as f64).sqrt();
        let step = if side > 1 { 2.0 * half / (side - 1) as f64 } else { 2.0 * half };
        let point = |number: usize| {
            let (mut rest, mut x) = (number, vec![0.0; d]);
            for x in x.iter_mut().take(m) {
                *x = (rest % side) as f64 * step - half;
                rest /= side;
            }
            x[m] = (1.0 - dot(&x, &x)).max(0.0).sqrt();
            x
        };
        let mut points: Vec<Vec<f64>> = (0..rounds).map(point).collect();
        points.shuffle(rng);
        Self { points, next: 0, cost: (step * step / 2.0).powf(power), truth: ClassId(0) }
    }
}

impl Stream for ConvexLowerBound {
    fn query(&mut self, rng: &mut Rng) -> Option<Vec<f64>> {
        self.truth = ClassId(u32::from(rng.random::<bool>()));
        self.next += 1;
        self.points.get(self.next - 1).cloned()
    }

    fn reveal(&mut self, _: &[f64], _: &Prediction) -> ClassId {
        self.truth
    }

    fn loss(&self, _: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { self.cost }
    }
}

/// Examples as they are.
pub(super) struct Examples {
    examples: Vec<(ClassId, Vec<f64>)>,
    next: usize,
}

impl Examples {
    pub(super) fn new(examples: Vec<(ClassId, Vec<f64>)>) -> Self {
        Self { examples, next: 0 }
    }
}

impl Stream for Examples {
    fn query(&mut self, _: &mut Rng) -> Option<Vec<f64>> {
        self.next += 1;
        self.examples.get(self.next - 1).map(|(_, x)| x.clone())
    }

    fn reveal(&mut self, _: &[f64], _: &Prediction) -> ClassId {
        self.next.checked_sub(1).and_then(|at| self.examples.get(at)).map_or(ClassId(0), |example| example.0)
    }

    fn loss(&self, _: &[f64], guess: Option<ClassId>, truth: ClassId) -> f64 {
        if guess == Some(truth) { 0.0 } else { 1.0 }
    }
}
