//! The methods of `tessera-core` for Python. Arrays are read in place, and the interpreter is free
//! while they work; the package `tessera` makes estimators of these classes.

mod candidates;
mod cover_tree;
mod errors;
mod library;
mod memory;
mod mixture;
mod neighbours;
mod online;
mod recogniser;
mod work;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::candidates::Candidates;
    #[pymodule_export]
    use crate::cover_tree::CoverTree;
    #[pymodule_export]
    use crate::errors::{CancelledError, Error, InvalidValueError};
    #[pymodule_export]
    use crate::library::Library;
    #[pymodule_export]
    use crate::memory::MemoryTree;
    #[pymodule_export]
    use crate::mixture::Mixture;
    #[pymodule_export]
    use crate::online::Online;
    #[pymodule_export]
    use crate::recogniser::Recogniser;
}
