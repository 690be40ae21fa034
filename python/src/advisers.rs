//! Classes learned by several advisers and the mixture of what they say.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tessera_core::Result;
use tessera_core::advise::{AdviserKind, Ensemble, Projector, Views};
use tessera_core::bytes::{Reader, Writer};
use tessera_core::ids::ClassId;
use tessera_core::random;
use tessera_core::sparse::SparseVec;

use crate::errors::{exception, refused};
use crate::work::run;

/// Advisers that need no more than a vector.
const KINDS: [AdviserKind; 7] = [
    AdviserKind::Nearest,
    AdviserKind::Contextual,
    AdviserKind::NeighbourVote,
    AdviserKind::LocalMeans,
    AdviserKind::PassiveAggressive,
    AdviserKind::Perceptron,
    AdviserKind::SecondOrder,
];

/// Advisers of rows of one length and their mixture.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Advisers {
    dimension: usize,
    /// What rows are divided by.
    scale: f64,
    seed: u64,
    projector: Projector,
    ensemble: Mutex<Ensemble>,
    /// Classes that are known, and rows whose suggestion was wrong before they were learned.
    known: AtomicU64,
    mistakes: AtomicU64,
}

impl Advisers {
    fn of(dimension: usize, scale: f64, seed: u64, ensemble: Ensemble, known: u64, mistakes: u64) -> Self {
        let (known, mistakes) = (AtomicU64::new(known), AtomicU64::new(mistakes));
        Self { dimension, scale, seed, projector: Projector::new(dimension, seed), ensemble: Mutex::new(ensemble), known, mistakes }
    }

    fn lock(&self) -> MutexGuard<'_, Ensemble> {
        self.ensemble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn views(&self, row: &[f64]) -> Views {
        let scaled = row.iter().map(|x| (x / self.scale).clamp(-1e100, 1e100)).collect();
        self.projector.views(scaled, SparseVec::default())
    }
}

#[pymethods]
impl Advisers {
    #[new]
    fn new(dimension: usize, advisers: Vec<String>, scale: f64, seed: u64) -> PyResult<Self> {
        let kind = |name: &String| KINDS.into_iter().find(|kind| kind.name() == name);
        let expected = "some of nearest, contextual, neighbours, local-means, pa, perceptron and second-order";
        let known = |name: &String| kind(name).ok_or_else(|| refused("advisers", name, expected));
        let kinds = advisers.iter().map(known).collect::<PyResult<Vec<_>>>()?;
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(refused("scale", &scale.to_string(), "a number above 0"));
        }
        let ensemble = Ensemble::new(&kinds, dimension, random::stream(seed, 1)).map_err(exception)?;
        Ok(Self::of(dimension, scale, seed, ensemble, 0, 0))
    }

    /// Learns rows in their order, of so many classes in all.
    fn learn(
        &self,
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        truths: PyReadonlyArray1<'_, i64>,
        classes: u64,
        told: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let (d, rows, truths) = (rows.shape()[1].max(1), rows.as_slice()?, truths.as_slice()?);
        run(py, told, |progress| {
            let mut ensemble = self.lock();
            progress.begin("Learning online", truths.len() as u64);
            for (at, (row, truth)) in rows.chunks_exact(d).zip(truths).enumerate() {
                progress.step()?;
                if at == 0 {
                    self.known.fetch_max(classes, Ordering::SeqCst);
                }
                let truth = ClassId(u32::try_from(*truth).unwrap_or(u32::MAX));
                let advice = ensemble.learn(&self.views(row), truth)?;
                if advice.suggestion() != Some(truth) {
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

    /// How many rows had another suggestion before they were learned.
    fn mistakes(&self) -> u64 {
        self.mistakes.load(Ordering::SeqCst)
    }

    /// How much the mixture trusts each adviser, in their order; 1 in all.
    fn trust(&self, py: Python<'_>) -> Vec<(&'static str, f64)> {
        py.detach(|| {
            let ensemble = self.lock();
            let names = ensemble.kinds().iter().map(|kind| kind.name());
            names.zip(ensemble.mixture().trust()).collect()
        })
    }

    /// The suggestion for each row, -1 where no class is known; the chances of all classes, one row
    /// after another, 0 for those that no row was of; and how many classes there are.
    #[expect(clippy::type_complexity, reason = "arrays come in parts")]
    fn advise<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f64>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, u64)> {
        let (d, rows) = (rows.shape()[1].max(1), rows.as_slice()?);
        let (found, known) = run(py, told, |progress| {
            let mut ensemble = self.lock();
            let known = self.known();
            progress.begin("Predicting", (rows.len() / d) as u64);
            let mut one = |row: &[f64]| {
                progress.step()?;
                let advice = ensemble.advise(&self.views(row))?;
                let mut chances = vec![0.0; known as usize];
                for (class, chance) in &advice.chances {
                    if let Some(place) = chances.get_mut(class.index()) {
                        *place = *chance;
                    }
                }
                Ok((advice.suggestion().map_or(-1, |class| i64::from(class.0)), chances))
            };
            Ok((rows.chunks_exact(d).map(&mut one).collect::<Result<Vec<_>>>()?, known))
        })?;
        let (suggested, chances): (Vec<i64>, Vec<Vec<f64>>) = found.into_iter().unzip();
        Ok((suggested.into_pyarray(py), chances.concat().into_pyarray(py), known))
    }

    /// Everything learned, as bytes.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let state = py.detach(|| {
            let mut out = Writer::default();
            let ensemble = self.lock();
            out.count(self.dimension);
            out.put(&self.scale);
            out.put(&self.seed);
            out.put(&self.known());
            out.put(&self.mistakes());
            out.put(&*ensemble);
            out.finish()
        });
        PyBytes::new(py, &state)
    }

    /// The advisers that [`Advisers::state`] wrote.
    #[staticmethod]
    fn restored(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = || {
            let mut from = Reader::new("state of advisers", bytes);
            let dimension = usize::try_from(from.get::<u64>()?).unwrap_or(usize::MAX);
            let (scale, seed): (f64, u64) = (from.get()?, from.get()?);
            let (known, mistakes) = (from.get()?, from.get()?);
            let ensemble: Ensemble = from.get()?;
            from.end()?;
            if !(scale > 0.0 && scale.is_finite() && (1..=1 << 24).contains(&dimension)) {
                return Err(from.wrong("rows that are divided by a number above 0", format!("{dimension} values by {scale}")));
            }
            // Advisers refuse rows of another length than their own.
            let zero = Projector::new(dimension, seed).views(vec![0.0; dimension], SparseVec::default());
            ensemble.clone().opinions(&zero)?;
            Ok((dimension, scale, seed, ensemble, known, mistakes))
        };
        let (dimension, scale, seed, ensemble, known, mistakes) = py.detach(read).map_err(exception)?;
        Ok(Self::of(dimension, scale, seed, ensemble, known, mistakes))
    }
}
