//! t-SNE, in rounds.

use rayon::prelude::*;

use super::affinities::Affinities;
use super::repulsion::{GridRepulsion, Repulsion, exact};
use super::{Components, PlanePoint, TASK};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::random::{normal, stream};

/// Points from which on repulsion is interpolated on a grid.
const MANY: usize = 1500;
/// The first rounds draw neighbours together this much more.
const EXAGGERATION: f32 = 12.0;
/// The share of the rounds in which they do.
const EXAGGERATED: f64 = 1.0 / 3.0;
/// The deviation of the places at the beginning, along the first component.
const BEGINNING: f64 = 1e-4;
/// The deviation by chance, so that equal points can part.
const CHANCE: f64 = 1e-6;
/// The least learning rate.
const LEAST_RATE: f32 = 50.0;
/// The largest perplexity.
const PERPLEXITIES: std::ops::RangeInclusive<f64> = 1.0..=200.0;
/// The most rounds.
const ROUNDS: std::ops::RangeInclusive<u32> = 1..=100_000;

/// How points are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TsneOptions {
    /// The number of neighbours that count, in effect; in 1..=200, and at most a third of the
    /// others.
    pub perplexity: f64,
    /// Rounds after which it is done, in 1..=100,000.
    pub rounds: u32,
    /// The seed.
    pub seed: u64,
}

impl Default for TsneOptions {
    fn default() -> Self {
        Self { perplexity: 30.0, rounds: 750, seed: 0 }
    }
}

impl TsneOptions {
    fn check(&self) -> Result<()> {
        if !PERPLEXITIES.contains(&self.perplexity) {
            return Err(Error::Option { name: "perplexity", found: self.perplexity.to_string(), expected: "1 to 200" });
        }
        if !ROUNDS.contains(&self.rounds) {
            return Err(Error::Option { name: "rounds", found: self.rounds.to_string(), expected: "1 to 100000" });
        }
        Ok(())
    }
}

/// A layout that keeps neighbours together, and what is needed to go on with it.
#[derive(Clone, Debug)]
pub struct Tsne {
    options: TsneOptions,
    affinities: Affinities,
    places: Vec<PlanePoint>,
    moves: Vec<Move>,
    grid: GridRepulsion,
    done: u32,
}

/// How a place moved last, and how much it heeds its forces along each direction.
#[derive(Clone, Copy, Debug)]
struct Move {
    step: PlanePoint,
    gain: PlanePoint,
}

impl Tsne {
    /// The beginning of a layout: the first two components, and the neighbours of all points. O(n²)
    /// products of at most 64 bytes.
    ///
    /// # Errors
    /// [`Error::Option`] for options out of range; [`Error::Value`] for values that are not finite;
    /// [`Error::Cancelled`].
    pub fn new(points: &Components, options: TsneOptions, progress: &Progress) -> Result<Self> {
        options.check()?;
        let affinities = Affinities::new(points, options.perplexity, progress)?;
        let mut places = points.places();
        let variance = places.iter().map(|place| f64::from(place[0]).powi(2)).sum::<f64>() / places.len().max(1) as f64;
        let scale = if variance > 0.0 { BEGINNING / variance.sqrt() } else { 0.0 };
        let mut rng = stream(options.seed, 1);
        places.iter_mut().flatten().for_each(|value| *value = (f64::from(*value) * scale + CHANCE * normal(&mut rng)) as f32);
        let moves = vec![Move { step: [0.0; 2], gain: [1.0; 2] }; places.len()];
        let mut layout = Self { options, affinities, places, moves, grid: GridRepulsion::default(), done: 0 };
        layout.centre();
        Ok(layout)
    }

    /// The places now, around the origin.
    pub fn places(&self) -> &[PlanePoint] {
        &self.places
    }

    /// Rounds that are done.
    pub fn rounds(&self) -> u32 {
        self.done
    }

    /// Whether all rounds are done.
    pub fn is_done(&self) -> bool {
        self.done >= self.options.rounds || self.places.len() < 2
    }

    /// Improves the layout by at most so many rounds, with a step of `progress` for each. Cut into
    /// calls in any way the rounds lead to the same places.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; the rounds until then are done.
    pub fn improve(&mut self, rounds: u32, progress: &Progress) -> Result<()> {
        for _ in 0..rounds {
            if self.is_done() {
                break;
            }
            progress.step()?;
            self.round();
        }
        Ok(())
    }

    fn round(&mut self) {
        let is_early = f64::from(self.done) < EXAGGERATED * f64::from(self.options.rounds);
        let (exaggeration, momentum) = if is_early { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let rate = (self.places.len() as f32 / (4.0 * EXAGGERATION)).max(LEAST_RATE);
        let Repulsion { forces, total } = if self.places.len() < MANY { exact(&self.places) } else { self.grid.of(&self.places) };
        let apart = (1.0 / total.max(f64::MIN_POSITIVE)) as f32;
        let (places, affinities) = (&self.places, &self.affinities);
        let gradient = |i: usize, force: &PlanePoint| {
            let [x, y] = places[i];
            let mut sum = [-force[0] * apart, -force[1] * apart];
            for (j, p) in affinities.of(i) {
                let [dx, dy] = [x - places[*j as usize][0], y - places[*j as usize][1]];
                let pull = exaggeration * p / (1.0 + dx * dx + dy * dy);
                sum[0] += pull * dx;
                sum[1] += pull * dy;
            }
            sum.map(|value| 4.0 * value)
        };
        let tasks = self.moves.par_chunks_mut(TASK).zip(forces.par_chunks(TASK)).enumerate();
        tasks.for_each(|(task, (moves, forces))| {
            for ((i, one), force) in (task * TASK..).zip(moves).zip(forces) {
                one.heed(gradient(i, force), momentum, rate);
            }
        });
        for (place, one) in self.places.iter_mut().zip(&self.moves) {
            *place = [place[0] + one.step[0], place[1] + one.step[1]];
        }
        self.centre();
        self.done += 1;
    }

    fn centre(&mut self) {
        let mut sum = [0.0f64; 2];
        for place in &self.places {
            sum = [sum[0] + f64::from(place[0]), sum[1] + f64::from(place[1])];
        }
        let mean = sum.map(|sum| (sum / self.places.len().max(1) as f64) as f32);
        self.places.iter_mut().for_each(|place| *place = [place[0] - mean[0], place[1] - mean[1]]);
    }
}

impl Move {
    /// Goes on against the gradient. A direction that stays the same is heeded more, one that turns
    /// less (Jacobs 1988).
    fn heed(&mut self, gradient: PlanePoint, momentum: f32, rate: f32) {
        for ((step, gain), slope) in self.step.iter_mut().zip(&mut self.gain).zip(gradient) {
            *gain = if (slope > 0.0) == (*step > 0.0) { (*gain * 0.8).max(0.01) } else { *gain + 0.2 };
            *step = momentum * *step - rate * *gain * slope;
        }
    }
}
