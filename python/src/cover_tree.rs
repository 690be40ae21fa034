//! Exact neighbours by a cover tree.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use tessera_core::cover_tree::{CoverTreeOptions, DensePoints, DenseTree};
use tessera_core::ids::ItemId;
use tessera_core::nearest::{Metric, NeighborIndex as _, Within as _, everything};
use tessera_core::progress::Progress;

use crate::neighbours::{Found, ask};
use crate::work::run;

/// A cover tree of the rows of an array.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct CoverTree(DenseTree);

#[pymethods]
impl CoverTree {
    #[new]
    #[pyo3(signature = (points, base, told=None))]
    fn new(py: Python<'_>, points: PyReadonlyArray2<'_, f32>, base: f64, told: Option<Py<PyAny>>) -> PyResult<Self> {
        let d = points.shape()[1];
        let rows = points.as_slice()?;
        let grown = |progress: &Progress| {
            let ids: Vec<ItemId> = (0..(rows.len() / d.max(1)) as u32).map(ItemId).collect();
            let options = CoverTreeOptions { base, ..CoverTreeOptions::default() };
            DenseTree::watched(DensePoints::new(d, rows.to_vec())?, &ids, Metric::Euclidean, options, progress)
        };
        run(py, told, grown).map(Self)
    }

    /// The rows, in their order.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let d = self.0.root().map_or(0, |root| self.0.point(root).len());
        let rows = py.detach(|| {
            let mut rows = vec![0.0; d * self.0.len()];
            let mut open: Vec<u32> = self.0.root().into_iter().collect();
            while let Some(node) = open.pop() {
                self.0.ids(node).for_each(|id| rows[id.0 as usize * d..][..d].copy_from_slice(self.0.point(node)));
                open.extend(self.0.children(node));
            }
            rows
        });
        rows.into_pyarray(py).reshape([self.0.len(), d])
    }

    /// The `k` nearest rows of each query, nearest first.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        k: usize,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Found<'py>> {
        ask(py, queries, told, |query| self.0.nearest(query, k, &everything))
    }

    /// All rows within `radius` of each query, nearest first.
    fn within<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        radius: f64,
        told: Option<Py<PyAny>>,
    ) -> PyResult<Found<'py>> {
        ask(py, queries, told, |query| self.0.within(query, radius, &everything))
    }
}
