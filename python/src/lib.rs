//! The methods of `tessera-core` for Python. Arrays are read in place, and the interpreter is free
//! while they work; the package `tessera` makes estimators of these classes.

mod advisers;
mod candidates;
mod cover_tree;
mod distributed;
mod errors;
mod library;
mod memory;
mod mixture;
mod neighbours;
mod online;
mod recogniser;
mod work;

/// Keeps what it freed: workers of Dask tell the usual allocator of Linux to give all of it back, and
/// to take the memory for the next shard anew costs more than most jobs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::advisers::Advisers;
    #[pymodule_export]
    use crate::candidates::Candidates;
    #[pymodule_export]
    use crate::cover_tree::CoverTree;
    #[pymodule_export]
    use crate::distributed::{
        Manifest, choice, chosen, copies, copies_found, features_of, hashes_of, joined, judged, judging, mixture_assigned, mixture_begin,
        mixture_clusters, mixture_first, mixture_next, nearest, nearest_found, recognised, recognition, shard_of, shard_of_known,
        shard_without, shards_of, state_of, taken, taking, word_counts, words, words_found,
    };
    #[pymodule_export]
    use crate::errors::{CancelledError, Error};
    #[pymodule_export]
    use crate::library::Library;
    #[pymodule_export]
    use crate::memory::MemoryTree;
    #[pymodule_export]
    use crate::mixture::Mixture;
    #[pymodule_export]
    use crate::online::{Online, max_norm};
    #[pymodule_export]
    use crate::recogniser::Recogniser;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("InvalidValueError", crate::errors::invalid_value_error(module.py())?)
    }
}
