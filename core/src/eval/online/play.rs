//! Plays an experiment: a stream, a learner, and the losses of its predictions.

use std::time::{Duration, Instant};

use super::streams::{Adversary, ConvexLowerBound, Examples, PerceptronKiller, Sphere, Stream, StreamSource};
use super::verify::{Unchecked, Verified, Verify};
use crate::contextual::{
    ApproximateLadder, Contextual, ContextualOptions, EllipsoidLadder, Geometry, Halving, Lift, MajorityVote, PairLearner, PairSpace,
    PairUpdate, PolytopeLadder, Served,
};
use crate::error::{Error, Result};
use crate::ids::ClassId;
use crate::learn::OnlineClassifier;
use crate::online_linear::{Multiclass, Rule};
use crate::progress::Progress;
use crate::random::{self, Rng};

/// Who learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnlineLearner {
    /// Contextual search by ellipsoids.
    Ellipsoid,
    /// Contextual search by polytopes; 32 dimensions at most.
    Polytope,
    /// Contextual search by ellipsoids, or the averaged Perceptron, whichever erred less so far.
    Served,
    /// A classical rule.
    Linear(Rule),
    /// The centre of all hidden vectors that are consistent with the labels.
    Halving,
    /// The majority vote of pairs, by ellipsoids.
    Majority,
}

/// An experiment.
#[derive(Clone, Debug)]
pub struct OnlineSetting {
    /// Who learns.
    pub who: OnlineLearner,
    /// The stream it learns from.
    pub source: StreamSource,
    /// The geometry, on streams with any number of centres: how the distance of a query from a
    /// centre is measured.
    pub metric: Geometry,
    /// The power of the loss.
    pub power: f64,
    /// The least margin of a query: those below are left out, and contextual search knows it. For
    /// the Perceptron's stream, that of all queries, which the learner does not know.
    pub margin: Option<f64>,
    /// Which pairs a label teaches.
    pub update: PairUpdate,
    /// Components of a query; ignored for examples of a file.
    pub dimension: usize,
    /// Classes; on streams of two, 2.
    pub classes: usize,
    /// Rounds at most.
    pub rounds: usize,
    /// Where labels may contradict each other: see [`ContextualOptions::guard`].
    pub guard: Option<u32>,
    /// Check every inequality in every round, of ellipsoids or polytopes where their proofs hold.
    pub verify: bool,
    /// Whether to keep the queries, for other programs.
    pub keep: bool,
    /// The seed of stream and learner, apart.
    pub seed: u64,
}

/// The result of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The sum of the losses.
    pub loss: f64,
    /// The sum of the losses' means over the learner's random choices.
    pub expected_loss: f64,
    /// Wrong predictions.
    pub mistakes: u64,
    /// What the mean loss, or with a known margin the mean number of mistakes, is proven to stay
    /// within, and what rounds may have cost in which numbers end; only where the proof's
    /// conditions hold. Of polytopes, up to the probability that their documentation gives.
    pub bound: Option<f64>,
    /// Rounds played.
    pub rounds: u64,
    /// Time of a round to predict and learn.
    pub time: Duration,
    /// Rounds, the loss and the mean loss until then.
    pub curve: Vec<[f64; 3]>,
    /// A margin to the power of the loss, and the mean number of mistakes on queries with it or a
    /// larger one, 2^-1 to 2^-20.
    pub robust: Vec<[f64; 2]>,
    /// How often the inequalities were checked.
    pub checks: u64,
    /// How often a pair's knowledge set was enlarged again.
    pub inflations: u64,
    /// The rounds played, where they were to be kept.
    pub asked: Vec<Asked>,
}

/// A round of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The query, `(d)`.
    pub query: Vec<f64>,
    /// The right class.
    pub truth: ClassId,
    /// The loss of each class as a prediction, `(k)`.
    pub costs: Vec<f64>,
}

fn wrong(name: &'static str, found: impl Into<String>, expected: &'static str) -> Error {
    Error::Option { name, found: found.into(), expected }
}

/// Plays an experiment.
///
/// # Errors
/// [`Error::Option`] for a setting out of range; [`Error::Value`] when a check fails, saying which,
/// in what round; [`Error::Cancelled`].
pub fn play(setting: &OnlineSetting, progress: &Progress) -> Result<Played> {
    let d = setting.dimension;
    let two = matches!(setting.source, StreamSource::PerceptronKiller | StreamSource::Adversary | StreamSource::ConvexLowerBound);
    if two && (setting.classes != 2 || setting.metric != Geometry::Inner) {
        return Err(wrong("stream", "one of two classes by inner products", "used with --k 2 and --metric inner"));
    }
    if setting.classes == 0 || setting.classes > crate::learn::MOST_CLASSES {
        return Err(wrong("k", setting.classes.to_string(), "from 1 to 1024"));
    }
    let least = match setting.source {
        StreamSource::PerceptronKiller | StreamSource::ConvexLowerBound => 3,
        StreamSource::Adversary => 2,
        _ => 1,
    };
    if d < least {
        return Err(wrong("d", d.to_string(), "3 or more for this stream, 2 for the adversary"));
    }
    if setting.margin.is_some()
        && (setting.metric != Geometry::Inner
            || !matches!(setting.source, StreamSource::Sphere | StreamSource::Collinear | StreamSource::PerceptronKiller))
    {
        return Err(wrong(
            "margin",
            "one for another stream",
            "given only with --metric inner and a stream of centres or the Perceptron's",
        ));
    }
    let lift = Lift::new(setting.metric, d)?;
    let mut rng = random::stream(setting.seed, 0);
    let rounds = setting.rounds;
    let mut stream: Box<dyn Stream> = match &setting.source {
        StreamSource::Sphere | StreamSource::Collinear => {
            let collinear = matches!(setting.source, StreamSource::Collinear);
            let margin = setting.margin.unwrap_or(0.0);
            Box::new(Sphere::new(&lift, d, setting.classes, collinear, margin, setting.power, &mut rng))
        }
        StreamSource::PerceptronKiller => {
            let gamma = setting.margin.unwrap_or(1.0 / (rounds.max(1) as f64).sqrt());
            if !(gamma > 0.0 && gamma <= 0.5) {
                return Err(wrong("margin", gamma.to_string(), "above 0 and at most 0.5 for the Perceptron's stream"));
            }
            Box::new(PerceptronKiller::new(d, gamma, setting.power, &mut rng))
        }
        StreamSource::Adversary => Box::new(Adversary::new(d, setting.power, &mut rng)),
        StreamSource::ConvexLowerBound => Box::new(ConvexLowerBound::new(d, rounds, setting.power, &mut rng)),
        StreamSource::Examples(examples) => Box::new(Examples::new(examples.clone())),
    };
    let told = setting.margin.filter(|_| !matches!(setting.source, StreamSource::PerceptronKiller));
    let space = PairSpace { dimension: lift.dimension(), radius: lift.radius(), power: lift.power(setting.power), margin: told };
    let options = ContextualOptions { space, update: setting.update, guard: setting.guard };
    if space.radius > 1e6 {
        let found = format!("one whose centres' images are {:.0} apart", space.radius);
        return Err(wrong("metric", found, "a smaller p, a smaller --degree or fewer --d, for less than a million"));
    }
    options.check()?;
    let realisable = !matches!(setting.source, StreamSource::ConvexLowerBound | StreamSource::Examples(_))
        && !matches!(setting.metric, Geometry::Chebyshev(..));
    let is_proven = realisable && setting.guard.is_none() && matches!(setting.who, OnlineLearner::Ellipsoid | OnlineLearner::Polytope);
    if setting.verify && !is_proven {
        return Err(wrong(
            "verify",
            "given where no proof holds",
            "used with ellipsoids or polytopes, without a guard, on labels of centres",
        ));
    }
    let stage = Stage { setting, lift: &lift, is_proven, progress };
    match setting.who {
        OnlineLearner::Ellipsoid if matches!(setting.metric, Geometry::Chebyshev(..)) => {
            stage.contextual(&options, ApproximateLadder::of(&lift, &space), &mut *stream, rng)
        }
        OnlineLearner::Ellipsoid => stage.contextual(&options, EllipsoidLadder::new(&space), &mut *stream, rng),
        OnlineLearner::Polytope if space.dimension > 32 => {
            Err(wrong("learner", "polytope in more dimensions", "ellipsoid beyond 32 dimensions"))
        }
        OnlineLearner::Polytope => stage.contextual(&options, PolytopeLadder::new(&space), &mut *stream, rng),
        OnlineLearner::Served => stage.run(&mut Served::<EllipsoidLadder>::new(&options)?, &mut *stream, rng, &mut Unchecked),
        OnlineLearner::Linear(rule) => stage.run(&mut Multiclass::new(rule, space.dimension), &mut *stream, rng, &mut Unchecked),
        OnlineLearner::Halving => stage.run(&mut Halving::new(space.dimension), &mut *stream, rng, &mut Unchecked),
        OnlineLearner::Majority => stage.run(&mut MajorityVote::<EllipsoidLadder>::new(&options)?, &mut *stream, rng, &mut Unchecked),
    }
}

/// The loop that all learners share.
struct Stage<'a> {
    setting: &'a OnlineSetting,
    lift: &'a Lift,
    is_proven: bool,
    progress: &'a Progress,
}

impl Stage<'_> {
    fn contextual<P: PairLearner>(&self, options: &ContextualOptions, fresh: P, stream: &mut dyn Stream, rng: Rng) -> Result<Played> {
        let mut learner = Contextual::like(options, fresh)?;
        let mut played = if self.setting.verify {
            let mut verified = Verified::default();
            let played = self.run(&mut learner, stream, rng, &mut verified)?;
            Played { checks: verified.checks, ..played }
        } else {
            self.run(&mut learner, stream, rng, &mut Unchecked)?
        };
        played.bound = self.is_proven.then(|| Contextual::<P>::bound(options, learner.n_classes()) + learner.unpaid());
        played.inflations = learner.inflations();
        Ok(played)
    }

    fn run<L: OnlineClassifier>(
        &self,
        learner: &mut L,
        stream: &mut dyn Stream,
        mut rng: Rng,
        verify: &mut impl Verify<L>,
    ) -> Result<Played> {
        let mut own = random::stream(self.setting.seed, 1);
        let mut played = Played::default();
        if !matches!(self.setting.source, StreamSource::Examples(_)) {
            learner.announce(self.setting.classes)?;
        }
        let mut robust = [0.0; 20];
        // For a stream that settles losses at the end: queries, predictions and labels.
        let mut history = Vec::new();
        let mut asked = Vec::new();
        self.progress.begin("Playing rounds", self.setting.rounds as u64);
        let mut time = Duration::ZERO;
        for _ in 0..self.setting.rounds {
            self.progress.step()?;
            let Some(q) = stream.query(&mut rng) else { break };
            let phi = self.lift.map(&q);
            let start = Instant::now();
            let round = learner.predict(&phi, &mut own)?;
            time += start.elapsed();
            let answer = round.as_ref();
            let truth = stream.reveal(&q, answer);
            if self.setting.keep {
                asked.push((q.clone(), truth));
            }
            played.rounds += 1;
            played.mistakes += u64::from(answer.guess != Some(truth));
            let missed = answer.expected(|guess| if guess == Some(truth) { 0.0 } else { 1.0 });
            if stream.settled() {
                let loss = |guess| stream.loss(&q, guess, truth);
                let expected = answer.expected(loss);
                if missed > 0.0 {
                    let classes = 0..self.setting.classes as u32;
                    let margin = classes.filter(|&class| class != truth.0).map(|class| loss(Some(ClassId(class))));
                    count(&mut robust, margin.fold(f64::INFINITY, f64::min), missed);
                }
                played.add(answer.guess.map_or_else(|| loss(None), |guess| loss(Some(guess))), expected, self.setting.rounds as u64);
            } else {
                history.push((q.clone(), answer.clone(), truth));
            }
            let start = Instant::now();
            // The check inspects the learner before and after learning; it is not timed.
            verify.before(learner, &phi, &round, truth, stream, missed, &q).map_err(|said| failed(played.rounds, &said))?;
            let checked = start.elapsed();
            learner.learn(&phi, &round, truth, &mut own)?;
            time += start.elapsed() - checked;
            verify.after(learner, &phi, truth, stream).map_err(|said| failed(played.rounds, &said))?;
        }
        let rounds = played.rounds;
        for (number, (q, answer, truth)) in history.into_iter().enumerate() {
            let loss = |guess| stream.loss(&q, guess, truth);
            let expected = answer.expected(loss);
            if expected > 0.0 {
                count(&mut robust, stream.loss(&q, None, truth), answer.expected(|guess| if guess == Some(truth) { 0.0 } else { 1.0 }));
            }
            verify.settle(learner, &self.lift.map(&q), stream, number, expected).map_err(|said| failed(number as u64 + 1, &said))?;
            played.rounds = number as u64 + 1;
            played.add(loss(answer.guess), expected, rounds);
        }
        // A stream may end before all rounds are played.
        if played.curve.last().is_none_or(|row| row[0] != played.rounds as f64) {
            played.curve.push([played.rounds as f64, played.loss, played.expected_loss]);
        }
        let cost = |(query, truth): (Vec<f64>, ClassId)| {
            let costs = (0..self.setting.classes as u32).map(|class| stream.loss(&query, Some(ClassId(class)), truth)).collect();
            Asked { query, truth, costs }
        };
        played.asked = asked.into_iter().map(cost).collect();
        played.time = time / rounds.max(1) as u32;
        played.robust = robust.iter().zip(1..).map(|(n, exponent)| [0.5f64.powi(exponent), *n]).collect();
        Ok(played)
    }
}

impl Played {
    /// Counts a loss, and keeps the sums at rounds 1, 2, 5, 10, 20, ... and at a tenth and the end
    /// of all.
    fn add(&mut self, loss: f64, expected: f64, rounds: u64) {
        self.loss += loss;
        self.expected_loss += expected;
        let n = self.rounds;
        let power = 10u64.pow(n.max(1).ilog10());
        if n == power || n == 2 * power || n == 5 * power || n == rounds || n * 10 == rounds {
            self.curve.push([n as f64, self.loss, self.expected_loss]);
        }
    }
}

fn count(robust: &mut [f64; 20], margin: f64, missed: f64) {
    for (n, exponent) in robust.iter_mut().zip(1..) {
        if margin >= 0.5f64.powi(exponent) {
            *n += missed;
        }
    }
}

fn failed(round: u64, said: &str) -> Error {
    Error::value("check", "every inequality of the proof", format!("{said} in round {round}"))
}
