//! The errors of core as exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

create_exception!(tessera, Error, PyException, "Whatever tessera refuses or fails to do.");
create_exception!(tessera, CancelledError, Error, "The work was cancelled.");

/// `InvalidValueError`, which is an [`Error`] and a `ValueError` too, so that it is caught as what
/// scikit-learn itself refuses.
pub(crate) fn invalid_value_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static KIND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let make = || {
        let bases = (py.get_type::<Error>(), py.get_type::<PyValueError>());
        let known = PyDict::new(py);
        known.set_item("__doc__", "An option or a value that is not valid.")?;
        known.set_item("__module__", "tessera")?;
        let kind = py.get_type::<PyType>().call1(("InvalidValueError", bases, known))?;
        Ok::<_, PyErr>(kind.cast_into::<PyType>()?.unbind())
    };
    Ok(KIND.get_or_try_init(py, make)?.bind(py))
}

/// The exception for a value that is not valid.
pub(crate) fn invalid(told: String) -> PyErr {
    Python::attach(|py| match invalid_value_error(py) {
        Ok(kind) => PyErr::from_type(kind.clone(), told),
        Err(error) => error,
    })
}

/// The exception that tells what the error tells.
pub(crate) fn exception(error: tessera_core::Error) -> PyErr {
    let told = error.to_string();
    match error {
        tessera_core::Error::Option { .. } | tessera_core::Error::Value { .. } => invalid(told),
        tessera_core::Error::Cancelled => CancelledError::new_err(told),
        _ => Error::new_err(told),
    }
}

/// The exception for an option that is none of those expected.
pub(crate) fn refused(name: &'static str, found: &str, expected: &'static str) -> PyErr {
    exception(tessera_core::Error::Option { name, found: found.into(), expected })
}
