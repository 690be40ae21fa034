//! Asking an index for the neighbours of many queries.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use tessera_core::Result;
use tessera_core::nearest::Neighbors;

use crate::work::run;

/// Distances and rows of all neighbours, one query after another, and how many each query has.
pub(crate) type Found<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Asks for the neighbours of each query, on all threads.
pub(crate) fn ask<'py>(
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
