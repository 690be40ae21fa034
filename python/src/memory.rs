//! Contextual memory trees.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::cmt::oas::OneAgainstSome;
use tessera_core::cmt::{Cmt, CmtOptions, LeafCap, Similarity};
use tessera_core::ids::{ClassId, ItemId};
use tessera_core::progress::Progress;
use tessera_core::sparse::SparseVec;
use tessera_core::{Error, Result};

use crate::errors::{exception, refused};
use crate::work::run;

/// Labels of all rows, one row after another, and how many each has.
type Labelled<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Memories of one class each, or of several labels each.
enum Memories {
    Classes(Cmt<ClassId>),
    Labels(OneAgainstSome),
}

/// A memory tree, or several that share their memories.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct MemoryTree {
    memories: RwLock<Memories>,
    /// The number of the next memory, and how many labels are known: to be read while others learn.
    next: AtomicU32,
    known: AtomicU32,
}

/// Rows as they come: all values of each, or as SciPy's `csr_array` keeps them, where each ends,
/// the columns and the values.
#[derive(FromPyObject)]
enum Given<'py> {
    Dense(PyReadonlyArray2<'py, f32>),
    Sparse((PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f32>)),
}

impl Given<'_> {
    fn rows(&self) -> PyResult<Rows<'_>> {
        Ok(match self {
            Self::Dense(rows) => Rows::Dense { columns: rows.shape()[1].max(1), values: rows.as_slice()? },
            Self::Sparse((ends, columns, values)) => {
                Rows::Sparse { ends: ends.as_slice()?, columns: columns.as_slice()?, values: values.as_slice()? }
            }
        })
    }
}

/// Rows of one length.
enum Rows<'a> {
    Dense { columns: usize, values: &'a [f32] },
    Sparse { ends: &'a [i64], columns: &'a [i64], values: &'a [f32] },
}

/// The part of a list that belongs to row `i`, by where rows end.
fn part<'a, T>(ends: &[i64], i: usize, list: &'a [T]) -> Result<&'a [T]> {
    let end = |at: usize| ends.get(at).and_then(|end| usize::try_from(*end).ok()).unwrap_or(usize::MAX);
    list.get(end(i)..end(i + 1)).ok_or_else(|| Error::value("rows", "ends that ascend up to the number of values", "others"))
}

impl Rows<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Dense { columns, values } => values.len() / columns,
            Self::Sparse { ends, .. } => ends.len().saturating_sub(1),
        }
    }

    fn row(&self, i: usize) -> Result<SparseVec> {
        match self {
            Self::Dense { columns, values } => {
                let row = values.get(i * columns..(i + 1) * columns).unwrap_or_default();
                SparseVec::from_pairs((0..).zip(row.iter().copied()).filter(|(_, value)| *value != 0.0))
            }
            Self::Sparse { ends, columns, values } => {
                let column = |column: &i64| u32::try_from(*column).map_err(|_| Error::value("column", "below 2^32", column.to_string()));
                let columns = part(ends, i, columns)?.iter().map(column).collect::<Result<Vec<u32>>>()?;
                SparseVec::from_pairs(columns.into_iter().zip(part(ends, i, values)?.iter().copied()))
            }
        }
    }

    /// What each row gives, in their order.
    fn each<T: Send>(&self, progress: &Progress, of: impl Fn(&SparseVec) -> T + Sync) -> Result<Vec<T>> {
        progress.begin("Asking memory", self.len() as u64);
        let one = |i: usize| progress.step().and_then(|()| Ok(of(&self.row(i)?)));
        (0..self.len()).into_par_iter().map(one).collect()
    }
}

fn number(label: i64) -> ClassId {
    ClassId(u32::try_from(label).unwrap_or(u32::MAX))
}

impl MemoryTree {
    fn of(memories: Memories, next: u32, known: u32) -> Self {
        Self { memories: RwLock::new(memories), next: AtomicU32::new(next), known: AtomicU32::new(known) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Memories> {
        self.memories.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Memories> {
        self.memories.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl MemoryTree {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the options of the estimator")]
    fn new(
        several: bool,
        trees: u32,
        alpha: f64,
        leaf_factor: f64,
        reroutes: u32,
        router_rate: f32,
        scorer_rate: f32,
        label_rate: f32,
        similarity: &str,
        learn_scorer: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let similarity = match similarity {
            "cosine" => Similarity::Cosine,
            "euclidean" => Similarity::NegEuclid,
            _ => return Err(refused("similarity", similarity, "cosine or euclidean")),
        };
        let leaf_cap = LeafCap::Log { c: leaf_factor };
        let options = CmtOptions {
            alpha,
            leaf_cap,
            reroutes,
            router_rate,
            scorer_rate,
            similarity,
            learn_scorer,
            trees,
            seed,
            ..CmtOptions::default()
        };
        let made = if several {
            OneAgainstSome::new(&options, label_rate).map(Memories::Labels)
        } else {
            Cmt::new(&options).map(Memories::Classes)
        };
        made.map(|memories| Self::of(memories, 0, 0)).map_err(exception)
    }

    /// Remembers rows with the labels of each, ascending, of so many labels in all; then asks for
    /// each of them `passes` times and learns from whether the answer is right.
    #[expect(clippy::too_many_arguments, reason = "arrays come in parts")]
    fn learn(
        &self,
        py: Python<'_>,
        rows: Given<'_>,
        label_ends: PyReadonlyArray1<'_, i64>,
        labels: PyReadonlyArray1<'_, i64>,
        known: u32,
        passes: u32,
        told: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let rows = rows.rows()?;
        let (label_ends, labels) = (label_ends.as_slice()?, labels.as_slice()?);
        run(py, told, |progress| {
            let mut memories = self.write();
            let first = self.next.load(Ordering::SeqCst);
            if u64::from(first) + rows.len() as u64 > u64::from(u32::MAX) {
                return Err(Error::value("rows", "memories with numbers below 2^32", format!("{} after {first}", rows.len())));
            }
            let ids = || (0..rows.len()).zip((first..).map(ItemId));
            progress.begin("Remembering", rows.len() as u64 * (1 + u64::from(passes)));
            progress.step()?;
            self.known.fetch_max(known, Ordering::SeqCst);
            for (i, id) in ids() {
                if i > 0 {
                    progress.step()?;
                }
                let own: Vec<ClassId> = part(label_ends, i, labels)?.iter().copied().map(number).collect();
                match &mut *memories {
                    Memories::Classes(memory) => memory.insert(id, rows.row(i)?, own.first().copied().unwrap_or(ClassId(u32::MAX)))?,
                    Memories::Labels(memory) => memory.insert(id, rows.row(i)?, own)?,
                }
                self.next.store(id.0 + 1, Ordering::SeqCst);
            }
            for _ in 0..passes {
                for (_, id) in ids() {
                    progress.step()?;
                    match &mut *memories {
                        Memories::Classes(memory) => {
                            for tree in 0..memory.n_trees() {
                                memory.replay(tree, id, 1, 1.0, |own, found| if own == found { 1.0 } else { 0.0 })?;
                            }
                        }
                        Memories::Labels(memory) => {
                            for tree in 0..memory.memories().n_trees() {
                                memory.replay(tree, id, 1.0)?;
                            }
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// The labels of each row, one row after another, and how many each has; of memories with one
    /// class each that of the best.
    fn predict<'py>(&self, py: Python<'py>, rows: Given<'py>, leaves: usize, told: Option<Py<PyAny>>) -> PyResult<Labelled<'py>> {
        let rows = rows.rows()?;
        let found = run(py, told, |progress| {
            let memories = self.read();
            rows.each(progress, |x| match &*memories {
                Memories::Classes(memory) => {
                    let best = memory.query_budget(x, 1, leaves).hits.first().and_then(|hit| memory.get(hit.id));
                    best.map(|memory| memory.value).into_iter().collect()
                }
                Memories::Labels(memory) => memory.predict(x, leaves),
            })
        })?;
        let counts: Vec<i64> = found.iter().map(|labels: &Vec<ClassId>| labels.len() as i64).collect();
        let labels: Vec<i64> = found.iter().flatten().map(|label| i64::from(label.0)).collect();
        Ok((labels.into_pyarray(py), counts.into_pyarray(py)))
    }

    /// Scores and numbers of the best `k` memories for each row, and how many there are.
    fn recall<'py>(
        &self,
        py: Python<'py>,
        rows: Given<'py>,
        k: usize,
        leaves: usize,
        told: Option<Py<PyAny>>,
    ) -> PyResult<crate::neighbours::Found<'py>> {
        let rows = rows.rows()?;
        let found = run(py, told, |progress| {
            let memories = self.read();
            rows.each(progress, |x| match &*memories {
                Memories::Classes(memory) => memory.query_budget(x, k, leaves).hits,
                Memories::Labels(memory) => memory.memories().query_budget(x, k, leaves).hits,
            })
        })?;
        let counts: Vec<i64> = found.iter().map(|hits| hits.len() as i64).collect();
        let scores: Vec<f64> = found.iter().flatten().map(|hit| hit.score).collect();
        let ids: Vec<i64> = found.iter().flatten().map(|hit| i64::from(hit.id.0)).collect();
        Ok((scores.into_pyarray(py), ids.into_pyarray(py), counts.into_pyarray(py)))
    }

    /// Forgets memories; how many of them there were.
    fn forget(&self, py: Python<'_>, ids: Vec<u32>) -> PyResult<usize> {
        run(py, None, |_| {
            let mut memories = self.write();
            let gone = ids.into_iter().filter(|id| match &mut *memories {
                Memories::Classes(memory) => memory.remove(ItemId(*id)).is_some(),
                Memories::Labels(memory) => memory.remove(ItemId(*id)),
            });
            Ok(gone.count())
        })
    }

    /// How many memories there are.
    fn size(&self, py: Python<'_>) -> usize {
        py.detach(|| match &*self.read() {
            Memories::Classes(memory) => memory.len(),
            Memories::Labels(memory) => memory.memories().len(),
        })
    }

    /// How many labels are known.
    fn known(&self) -> u32 {
        self.known.load(Ordering::SeqCst)
    }

    /// All of it, as bytes.
    fn state<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let state = py.detach(|| {
            let mut out = Writer::default();
            let memories = self.read();
            out.put(&self.next.load(Ordering::SeqCst));
            out.put(&self.known());
            match &*memories {
                Memories::Classes(memory) => (out.put(&false), out.put(memory)).1,
                Memories::Labels(memory) => (out.put(&true), out.put(memory)).1,
            }
            out.finish()
        });
        PyBytes::new(py, &state)
    }

    /// The memories that [`MemoryTree::state`] wrote.
    #[staticmethod]
    fn restored(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = || {
            let mut from = Reader::new("memory tree", bytes);
            let (next, known, several) = (from.get()?, from.get()?, from.get::<bool>()?);
            let memories = if several { Memories::Labels(Stored::read(&mut from)?) } else { Memories::Classes(Stored::read(&mut from)?) };
            from.end()?;
            Ok(Self::of(memories, next, known))
        };
        py.detach(read).map_err(exception)
    }
}
