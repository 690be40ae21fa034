//! Curves of long streams: loss against rounds of contextual search beside the classical rules, and
//! mistakes against the margin.

use super::play::{OnlineLearner, OnlineSetting, Played, play};
use super::streams::StreamSource;
use crate::contextual::{Geometry, PairUpdate};
use crate::error::Result;
use crate::eval::figures::Curve;
use crate::online_linear::Rule;
use crate::progress::Progress;

/// The learners that play each stream, in the order of columns.
const LEARNERS: [OnlineLearner; 4] = [
    OnlineLearner::Ellipsoid,
    OnlineLearner::Linear(Rule::Perceptron),
    OnlineLearner::Linear(Rule::PassiveAggressive { aggressiveness: 1.0 }),
    OnlineLearner::Linear(Rule::CrammerSinger),
];
/// Components of a query in the curves over margins.
const DIMENSIONS: [usize; 2] = [4, 8];

/// The size of the experiments.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// Rounds of each stream.
    pub rounds: usize,
    /// Components of a query in the other curves.
    pub dimension: usize,
    /// Runs that differ in their seeds, of which the means are reported.
    pub runs: u32,
    /// The seed of the first.
    pub seed: u64,
}

impl Long {
    fn setting(&self, who: OnlineLearner, source: StreamSource, dimension: usize, margin: Option<f64>, run: u32) -> OnlineSetting {
        OnlineSetting {
            who,
            source,
            metric: Geometry::Inner,
            power: 1.0,
            margin,
            update: PairUpdate::AllPairs,
            dimension,
            classes: 2,
            rounds: self.rounds,
            guard: None,
            verify: false,
            keep: false,
            seed: self.seed.wrapping_add(u64::from(run)),
        }
    }

    fn runs(
        &self,
        who: OnlineLearner,
        source: &StreamSource,
        dimension: usize,
        margin: Option<f64>,
        progress: &Progress,
    ) -> Result<Vec<Played>> {
        (0..self.runs.max(1)).map(|run| play(&self.setting(who, source.clone(), dimension, margin, run), progress)).collect()
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count().max(1) as f64
}

/// The curves of long streams of two classes, means over runs:
/// - `online_killer`, `online_sphere`, `online_adversary`: the loss until a round, of contextual
///   search by ellipsoids and of each classical rule, and the most that contextual search lost in
///   any run;
/// - `online_margin`: mistakes of contextual search in the Perceptron's worst case against a margin
///   that no learner knows, in 4 and 8 dimensions, beside d log2(d / margin);
/// - `online_known_margin`: mistakes on random queries with a margin that contextual search knows,
///   beside its proven bound and the Perceptron's mistakes.
///
/// # Errors
/// As [`play`].
pub fn figures(long: &Long, progress: &Progress) -> Result<Vec<Curve>> {
    let mut curves = Vec::new();
    for (name, source) in [
        ("online_killer", StreamSource::PerceptronKiller),
        ("online_sphere", StreamSource::Sphere),
        ("online_adversary", StreamSource::Adversary),
    ] {
        let mut curve = Curve::new(name, &["rounds", "ellipsoid", "perceptron", "pa", "crammer_singer", "ellipsoid_most"]);
        let played = LEARNERS.iter().map(|who| long.runs(*who, &source, long.dimension, None, progress)).collect::<Result<Vec<_>>>()?;
        let points = played.iter().flatten().map(|played| played.curve.len()).min().unwrap_or(0);
        for at in 0..points {
            let losses = |runs: &Vec<Played>| runs.iter().map(move |played| played.curve[at][1]).collect::<Vec<_>>();
            let mut row = vec![played[0][0].curve[at][0]];
            row.extend(played.iter().map(|runs| mean(losses(runs).into_iter())));
            row.push(losses(&played[0]).into_iter().fold(0.0, f64::max));
            curve.rows.push(row);
        }
        curves.push(curve);
    }
    let mut curve = Curve::new("online_margin", &["margin", "mistakes_4", "d_log_4", "mistakes_8", "d_log_8"]);
    for exponent in (2..=20).step_by(2) {
        let margin = 0.5f64.powi(exponent);
        let mut row = vec![margin];
        for d in DIMENSIONS {
            let played = long.runs(OnlineLearner::Ellipsoid, &StreamSource::PerceptronKiller, d, Some(margin), progress)?;
            row.extend([mean(played.iter().map(|played| played.mistakes as f64)), d as f64 * (d as f64 / margin).log2()]);
        }
        curve.rows.push(row);
    }
    curves.push(curve);
    let mut curve = Curve::new("online_known_margin", &["margin", "mistakes", "most", "bound", "perceptron"]);
    for exponent in (2..=12).step_by(2) {
        let margin = 0.5f64.powi(exponent);
        let mistakes = |played: &Played| played.mistakes as f64;
        let told = long.runs(OnlineLearner::Ellipsoid, &StreamSource::Sphere, long.dimension, Some(margin), progress)?;
        let perceptron =
            long.runs(OnlineLearner::Linear(Rule::Perceptron), &StreamSource::Sphere, long.dimension, Some(margin), progress)?;
        curve.rows.push(vec![
            margin,
            mean(told.iter().map(mistakes)),
            told.iter().map(mistakes).fold(0.0, f64::max),
            told.iter().filter_map(|played| played.bound).fold(0.0, f64::max),
            mean(perceptron.iter().map(mistakes)),
        ]);
    }
    curves.push(curve);
    Ok(curves)
}
