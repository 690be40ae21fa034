//! Classes learned online, one row after another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tessera_core::Result;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::contextual::{
    Contextual, ContextualOptions, EllipsoidLadder, Geometry, Lift, PairSpace, PairUpdate, PolytopeLadder, Served,
};
use tessera_core::ids::ClassId;
use tessera_core::learn::{OnlineClassifier, Prediction};
use tessera_core::linalg::double::{dot, norm};
use tessera_core::online_linear::{Multiclass, Rule};
use tessera_core::random::{self, Rng};

use crate::errors::{exception, refused};
use crate::work::run;

/// Who learns.
#[derive(Clone)]
enum Learner {
    Served(Served<EllipsoidLadder>),
    Ellipsoid(Contextual<EllipsoidLadder>),
    Polytope(Contextual<PolytopeLadder>),
    Linear(Multiclass),
}

#[derive(Clone)]
struct State {
    learner: Learner,
    rng: Rng,
}

/// An online classifier of rows of one length.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Online {
    metric: String,
    /// What rows are divided by.
    scale: f64,
    lift: Lift,
    state: Mutex<State>,
    /// Classes that are known, and rows that were guessed wrongly before they were learned: to be
    /// read while others learn.
    known: AtomicU64,
    mistakes: AtomicU64,
}

fn geometry(metric: &str) -> PyResult<Geometry> {
    let even = |p: &str| p.parse::<u32>().ok().map(Geometry::Even);
    match metric {
        "inner" => Ok(Geometry::Inner),
        "l2" => Ok(Geometry::L2),
        _ => metric.strip_prefix("lp:").and_then(even).ok_or_else(|| refused("metric", metric, "inner, l2 or lp:P with P even, 2 to 16")),
    }
}

/// Checks a number that a rule learns by.
fn above_zero(name: &'static str, value: f64) -> PyResult<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(refused(name, &value.to_string(), "a number above 0"))
}

impl Learner {
    fn scores(&mut self, q: &[f64], rng: &mut Rng) -> Result<Vec<f64>> {
        match self {
            Self::Served(served) if served.trusts_contextual() => {
                let round = served.predict(q, rng)?;
                Ok(ranked(served.contextual_scores(q, rng)?, round.as_ref()))
            }
            Self::Served(served) => Ok(served.averaged().scores(q)),
            Self::Ellipsoid(contextual) => {
                let round = contextual.predict(q, rng)?;
                Ok(ranked(contextual.scores(q, rng)?, round.as_ref()))
            }
            Self::Polytope(contextual) => {
                let round = contextual.predict(q, rng)?;
                Ok(ranked(contextual.scores(q, rng)?, round.as_ref()))
            }
            Self::Linear(linear) => Ok(linear.scores(q)),
        }
    }

    /// The best class of a row by [`Learner::scores`], of equal ones that which comes first in
    /// `order`; its place there. Contextual search compares the classes of few pairs where it is
    /// sure of one, whose score is then the largest.
    fn best(&mut self, q: &[f64], order: &[usize], rng: &mut Rng) -> Result<usize> {
        let sure = match self {
            Self::Served(served) if served.trusts_contextual() => sure_of(served.predict(q, rng)?.as_ref()),
            Self::Ellipsoid(contextual) => sure_of(contextual.predict(q, rng)?.as_ref()),
            // What a polytope draws for a row depends on what was drawn before.
            Self::Polytope(_) | Self::Served(_) | Self::Linear(_) => None,
        };
        if let Some(place) = sure.and_then(|class| order.iter().position(|own| *own == class)) {
            return Ok(place);
        }
        let scores = self.scores(q, rng)?;
        let in_order = order.iter().map(|class| scores.get(*class).copied().unwrap_or(f64::NEG_INFINITY));
        let better = |best: (usize, f64), own: (usize, f64)| if own.1 > best.1 { own } else { best };
        Ok(in_order.enumerate().reduce(better).map_or(0, |(place, _)| place))
    }

    fn announce(&mut self, classes: usize) -> Result<()> {
        match self {
            Self::Served(own) => own.announce(classes),
            Self::Ellipsoid(own) => own.announce(classes),
            Self::Polytope(own) => own.announce(classes),
            Self::Linear(own) => own.announce(classes),
        }
    }

    fn write(&self, out: &mut Writer) {
        match self {
            Self::Served(own) => (out.put(&0u8), out.put(own)).1,
            Self::Ellipsoid(own) => (out.put(&1u8), out.put(own)).1,
            Self::Polytope(own) => (out.put(&2u8), out.put(own)).1,
            Self::Linear(own) => (out.put(&3u8), out.put(own)).1,
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.get::<u8>()? {
            0 => Self::Served(Stored::read(from)?),
            1 => Self::Ellipsoid(Stored::read(from)?),
            2 => Self::Polytope(Stored::read(from)?),
            3 => Self::Linear(Stored::read(from)?),
            other => return Err(from.wrong("a kind of learner, 0 to 3", other.to_string())),
        })
    }
}

/// The chances with which contextual search guesses classes, and for those of equal chance their
/// scores, which are below 1 together.
fn ranked(scores: Vec<f64>, prediction: &Prediction) -> Vec<f64> {
    let k = scores.len().max(1) as f64;
    let chance = |class: usize| prediction.chances.get(class).copied().unwrap_or(0.0);
    scores.iter().enumerate().map(|(class, score)| 2.0 * chance(class) + score / k).collect()
}

/// The class that is guessed for certain.
fn sure_of(prediction: &Prediction) -> Option<usize> {
    prediction.chances.iter().position(|chance| *chance == 1.0)
}

/// Predicts and learns a row; whether the prediction was wrong.
fn play<L: OnlineClassifier>(learner: &mut L, q: &[f64], truth: ClassId, rng: &mut Rng) -> Result<bool> {
    let round = learner.predict(q, rng)?;
    let wrong = round.as_ref().guess != Some(truth);
    learner.learn(q, &round, truth, rng)?;
    Ok(wrong)
}

#[pymethods]
impl Online {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of the estimator")]
    fn new(
        dimension: usize,
        learner: &str,
        metric: &str,
        loss_power: f64,
        margin: Option<f64>,
        update: &str,
        guard: Option<u32>,
        aggressiveness: f64,
        ridge: f64,
        scale: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let lift = Lift::new(geometry(metric)?, dimension).map_err(exception)?;
        let update = match update {
            "all" => PairUpdate::AllPairs,
            "guess" => PairUpdate::Paper,
            _ => return Err(refused("update", update, "all or guess")),
        };
        let space = PairSpace { dimension: lift.dimension(), radius: lift.radius(), power: lift.power(loss_power), margin };
        let options = ContextualOptions { space, update, guard };
        options.check().map_err(exception)?;
        let linear = |rule| Learner::Linear(Multiclass::new(rule, space.dimension));
        let learner = match learner {
            "served" => Learner::Served(Served::new(&options).map_err(exception)?),
            "ellipsoid" => Learner::Ellipsoid(Contextual::new(&options).map_err(exception)?),
            "polytope" if space.dimension > 32 => {
                let found = format!("polytope, with rows of {} components as they are compared", space.dimension);
                return Err(refused("learner", &found, "ellipsoid beyond 32 components"));
            }
            "polytope" => Learner::Polytope(Contextual::new(&options).map_err(exception)?),
            "perceptron" => linear(Rule::Perceptron),
            "averaged" => linear(Rule::Averaged),
            "crammer-singer" => linear(Rule::CrammerSinger),
            "passive-aggressive" => linear(Rule::PassiveAggressive { aggressiveness: above_zero("aggressiveness", aggressiveness)? }),
            "second-order" => linear(Rule::SecondOrder { ridge: above_zero("ridge", ridge)? }),
            _ => {
                let known = "served, ellipsoid, polytope, perceptron, averaged, crammer-singer, passive-aggressive or second-order";
                return Err(refused("learner", learner, known));
            }
        };
        let scale = above_zero("scale", scale)?;
        let state = Mutex::new(State { learner, rng: random::seeded(seed) });
        Ok(Self { metric: metric.into(), scale, lift, state, known: AtomicU64::new(0), mistakes: AtomicU64::new(0) })
    }

    /// Learns rows in their order, of so many classes in all.
    fn learn(
        &self,
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        truths: PyReadonlyArray1<'_, i64>,
        classes: usize,
        told: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let (d, rows, truths) = (rows.shape()[1].max(1), rows.as_slice()?, truths.as_slice()?);
        run(py, told, |progress| {
            let mut state = self.lock();
            let State { learner, rng } = &mut *state;
            progress.begin("Learning online", truths.len() as u64);
            progress.step()?;
            learner.announce(classes)?;
            self.known.fetch_max(classes as u64, Ordering::SeqCst);
            let mut scaled = vec![0.0; d];
            for (at, (row, truth)) in rows.chunks_exact(d).zip(truths).enumerate() {
                if at > 0 {
                    progress.step()?;
                }
                let (q, truth) = (self.query(row, &mut scaled), ClassId(u32::try_from(*truth).unwrap_or(u32::MAX)));
                let wrong = match learner {
                    Learner::Served(own) => play(own, &q, truth, rng)?,
                    Learner::Ellipsoid(own) => play(own, &q, truth, rng)?,
                    Learner::Polytope(own) => play(own, &q, truth, rng)?,
                    Learner::Linear(own) => play(own, &q, truth, rng)?,
                };
                if wrong {
                    self.mistakes.fetch_add(1, Ordering::SeqCst);
                }
            }
            Ok(())
        })
    }

    /// How many classes are known.
    fn known(&self) -> u64 {
        self.known.load(Ordering::SeqCst)
    }

    /// How many rows were guessed wrongly before they were learned.
    fn mistakes(&self) -> u64 {
        self.mistakes.load(Ordering::SeqCst)
    }

    /// The scores of all classes for each row, one row after another, and how many classes there
    /// are.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, u64)> {
        let (scores, known) = self.ask(py, &rows, told, |learner, q, rng| learner.scores(q, rng))?;
        Ok((scores.concat().into_pyarray(py), known))
    }

    /// The place in `order` of the best of these classes for each row; of equal ones the first.
    fn best<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        order: Vec<usize>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (best, _) = self.ask(py, &rows, told, |learner, q, rng| Ok(learner.best(q, &order, rng)? as i64))?;
        Ok(best.into_pyarray(py))
    }

    /// Everything learned, as bytes.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let state = py.detach(|| {
            let mut out = Writer::default();
            let state = self.lock();
            out.put(&self.metric);
            out.count(self.lift.components());
            out.put(&self.scale);
            out.put(&self.known());
            out.put(&self.mistakes());
            out.bytes(&random::state(&state.rng));
            state.learner.write(&mut out);
            out.finish()
        });
        PyBytes::new(py, &state)
    }

    /// The learner that [`Online::state`] wrote.
    #[staticmethod]
    fn restored(bytes: &[u8]) -> PyResult<Self> {
        let mut from = Reader::new("state of an online classifier", bytes);
        let mut head = || Ok((from.get::<String>()?, from.get::<u64>()?, from.get::<f64>()?, from.get::<u64>()?, from.get::<u64>()?));
        let (metric, dimension, scale, known, mistakes) = head().map_err(exception)?;
        let mut rest = || Ok((from.bytes::<56>()?, Learner::read(&mut from)?));
        let (rng, learner) = rest().map_err(exception)?;
        from.end().map_err(exception)?;
        let lift = Lift::new(geometry(&metric)?, usize::try_from(dimension).unwrap_or(0)).map_err(exception)?;
        // A learner refuses rows of another length than its own.
        let (zero, rng) = (lift.map(&vec![0.0; lift.components()]), random::restored(&rng));
        let checked = match &mut learner.clone() {
            Learner::Served(own) => own.predict(&zero, &mut rng.clone()).map(drop),
            Learner::Ellipsoid(own) => own.predict(&zero, &mut rng.clone()).map(drop),
            Learner::Polytope(own) => own.predict(&zero, &mut rng.clone()).map(drop),
            Learner::Linear(own) => own.predict(&zero, &mut rng.clone()).map(drop),
        };
        checked.map_err(exception)?;
        let scale = above_zero("scale", scale)?;
        let state = Mutex::new(State { learner, rng });
        Ok(Self { metric, scale, lift, state, known: AtomicU64::new(known), mistakes: AtomicU64::new(mistakes) })
    }
}

impl Online {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `answer` gives for each row, and how many classes were known.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        rows: &PyReadonlyArray2<'_, f64>,
        told: Option<Py<PyAny>>,
        answer: impl Fn(&mut Learner, &[f64], &mut Rng) -> Result<T> + Send + Sync,
    ) -> PyResult<(Vec<T>, u64)> {
        let (d, rows) = (rows.shape()[1].max(1), rows.as_slice()?);
        run(py, told, |progress| {
            let mut state = self.lock();
            // What a polytope draws while it is asked is not kept: asking changes nothing.
            let mut rng = state.rng.clone();
            let mut copy;
            let learner = if matches!(state.learner, Learner::Polytope(_)) {
                copy = state.learner.clone();
                &mut copy
            } else {
                &mut state.learner
            };
            progress.begin("Predicting", (rows.len() / d) as u64);
            let mut scaled = vec![0.0; d];
            let one = |row: &[f64]| progress.step().and_then(|()| answer(learner, &self.query(row, &mut scaled), &mut rng));
            Ok((rows.chunks_exact(d).map(one).collect::<Result<_>>()?, self.known()))
        })
    }

    /// The row in the unit ball, as it is compared, by way of `scaled`, which is as long.
    fn query(&self, row: &[f64], scaled: &mut [f64]) -> Vec<f64> {
        scaled.iter_mut().zip(row).for_each(|(scaled, x)| *scaled = x / self.scale);
        let mut length = norm(scaled);
        if length > LONGEST {
            scaled.iter_mut().for_each(|x| *x = x.clamp(-LONGEST, LONGEST));
            length = norm(scaled);
        }
        if length > 1.0 {
            scaled.iter_mut().for_each(|x| *x /= length);
        }
        self.lift.map(scaled)
    }
}

/// Larger values, in units of the greatest length, are taken for this: their squares can be added.
const LONGEST: f64 = 1e100;

/// The greatest length of a row, 1 where all are 0; not a number where a value is not finite.
#[pyfunction]
pub(crate) fn max_norm(py: Python<'_>, rows: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    let (d, rows) = (rows.shape()[1].max(1), rows.as_slice()?);
    Ok(py.detach(|| max_norm_of(rows, d)))
}

fn max_norm_of(rows: &[f64], d: usize) -> f64 {
    // A sum of squares that is not finite has a value that is not, or one too large to be squared.
    let (mut greatest, mut all) = (0.0f64, 0.0);
    for row in rows.chunks_exact(d) {
        let square = dot(row, row);
        greatest = greatest.max(square);
        all += square;
    }
    if all.is_finite() && greatest > 1e-280 {
        return greatest.sqrt();
    }
    if rows.iter().any(|x| !x.is_finite()) {
        return f64::NAN;
    }
    let most = rows.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 {
        return 1.0;
    }
    let square = |row: &[f64]| row.iter().map(|x| (x / most) * (x / most)).sum::<f64>();
    most * rows.chunks_exact(d).map(square).fold(0.0, f64::max).sqrt()
}
