//! Canopy mixtures of Gaussians.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use tessera_core::Error;
use tessera_core::canopy::{Constraints, Covariance, MixtureData, MixtureFit, MixtureMethod, MixtureModel, MixtureOptions, Prior};

use crate::errors::{exception, invalid, refused};
use crate::work::run;

/// A mixture that was fitted to the rows of an array.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Mixture {
    covariance: Covariance,
    model: MixtureModel,
}

fn covariance_of(name: &str) -> PyResult<Covariance> {
    match name {
        "diag" => Ok(Covariance::Diagonal),
        "spherical" => Ok(Covariance::Isotropic),
        _ => Err(refused("covariance_type", name, "diag or spherical")),
    }
}

fn method_of(name: &str) -> PyResult<MixtureMethod> {
    match name {
        "auto" => Ok(MixtureMethod::Auto),
        "em" => Ok(MixtureMethod::Em),
        "esca" => Ok(MixtureMethod::Esca),
        "canopy1" => Ok(MixtureMethod::Canopy1),
        "canopy2" => Ok(MixtureMethod::Canopy2),
        _ => Err(refused("method", name, "auto, em, esca, canopy1 or canopy2")),
    }
}

#[pymethods]
impl Mixture {
    /// Fits a mixture by so many iterations.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of the estimator")]
    fn new(
        py: Python<'_>,
        points: PyReadonlyArray2<'_, f32>,
        clusters: usize,
        covariance: &str,
        method: &str,
        floor: f64,
        iterations: u64,
        seed: u64,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (covariance, method) = (covariance_of(covariance)?, method_of(method)?);
        let d = points.shape()[1];
        let rows = points.as_slice()?;
        let model = run(py, told, |progress| {
            let prior = Prior { floor, ..Prior::default() };
            let options = MixtureOptions { clusters, covariance, method, prior, seed, ..MixtureOptions::default() };
            let mut fit = MixtureFit::watched(MixtureData::new(rows, d, covariance)?, options, &Constraints::default(), progress)?;
            progress.begin("Fitting a mixture", iterations);
            for _ in 0..iterations {
                fit.step(progress)?;
                progress.step()?;
            }
            Ok(fit.model().clone())
        })?;
        Ok(Self { covariance, model })
    }

    /// The mixture that [`Mixture::to_json`] wrote.
    #[staticmethod]
    fn from_json(covariance: &str, json: &str) -> PyResult<Self> {
        let model: MixtureModel = serde_json::from_str(json).map_err(|error| invalid(format!("mixture: {error}")))?;
        Ok(Self { covariance: covariance_of(covariance)?, model: model.checked().map_err(exception)? })
    }

    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.model).map_err(|error| invalid(error.to_string()))
    }

    /// The share of each cluster.
    fn shares<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.shares().into_pyarray(py)
    }

    /// The means of all clusters, one after another.
    fn means<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        (0..self.model.clusters()).flat_map(|cluster| self.model.mean(cluster)).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The variances of all clusters in each dimension, one after another.
    fn variances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.model.parameters().iter().flat_map(|own| own.spread.iter().copied()).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The logarithms of share times density of each row in each cluster, row by row.
    fn log_densities<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f32>,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let d = points.shape()[1];
        let (rows, centre) = (points.as_slice()?, self.model.centre());
        if d != centre.len() {
            return Err(exception(Error::Value {
                name: "points",
                expected: format!("rows of {} values", centre.len()),
                found: d.to_string(),
            }));
        }
        let all = run(py, told, |progress| {
            let family = self.covariance.family();
            let logs: Vec<f64> = self.model.shares().iter().map(|share| share.ln()).collect();
            progress.begin("Computing densities", (rows.len() / d) as u64);
            let one = |row: &[f32]| {
                progress.step()?;
                let x: Vec<f64> = row.iter().zip(centre).map(|(value, centre)| f64::from(*value) - centre).collect();
                let clusters = self.model.parameters().iter().zip(&logs);
                Ok(clusters.map(|(own, log)| log + family.log_density(&x, own)).collect::<Vec<f64>>())
            };
            rows.par_chunks(d).map(one).collect::<tessera_core::Result<Vec<_>>>()
        })?;
        Ok(all.concat().into_pyarray(py))
    }
}
