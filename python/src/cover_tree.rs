//! Exact neighbours by a cover tree.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use tessera_core::Result;
use tessera_core::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Metric, NeighborIndex as _, Neighbors, Within as _, everything};
use tessera_core::progress::Progress;

use crate::work::run;

/// A cover tree of the rows of an array.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct CoverTree(DenseTree);

/// Distances and rows of all neighbours, one query after another, and how many each query has.
pub(crate) type Found<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl CoverTree {
    #[new]
    fn new(py: Python<'_>, points: PyReadonlyArray2<'_, f32>, base: f64) -> PyResult<Self> {
        let d = points.shape()[1];
        let rows = points.as_slice()?;
        let grown = |_: &Progress| {
            let ids: Vec<ItemId> = (0..(rows.len() / d.max(1)) as u32).map(ItemId).collect();
            let options = CoverTreeOptions { base, ..CoverTreeOptions::default() };
            DenseTree::new(DensePoints::new(d, rows.to_vec())?, &ids, Metric::Euclidean, options)
        };
        run(py, None, grown).map(Self)
    }

    /// The `k` nearest rows of each query, nearest first.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        k: usize,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Found<'py>> {
        self.ask(py, queries, told, |query| self.0.nearest(query, k, &everything))
    }

    /// All rows within `radius` of each query, nearest first.
    fn within<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        radius: f64,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Found<'py>> {
        self.ask(py, queries, told, |query| self.0.within(query, radius, &everything))
    }
}

impl CoverTree {
    fn ask<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        told: Option<Py<PyAny>>,
        answer: impl Fn(&[f32]) -> Result<Neighbors> + Sync + Send,
    ) -> PyResult<Found<'py>> {
        let d = queries.shape()[1].max(1);
        let rows = queries.as_slice()?;
        let found = run(py, told, |progress| {
            progress.begin("Searching", (rows.len() / d) as u64);
            let one = |query: &[f32]| progress.step().and_then(|()| answer(query));
            rows.par_chunks(d).map(one).collect::<Result<Vec<_>>>()
        })?;
        let counts: Vec<i64> = found.iter().map(|found| found.list.len() as i64).collect();
        let all = || found.iter().flat_map(|found| &found.list);
        let distances: Vec<f64> = all().map(|found| found.distance).collect();
        let places: Vec<i64> = all().map(|found| i64::from(found.id.0)).collect();
        Ok((distances.into_pyarray(py), places.into_pyarray(py), counts.into_pyarray(py)))
    }
}
