//! The errors of core as exceptions.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(tessera, Error, PyException, "Whatever tessera refuses or fails to do.");
create_exception!(tessera, InvalidValueError, Error, "An option or a value that is not valid.");
create_exception!(tessera, CancelledError, Error, "The work was cancelled.");

/// The exception that tells what the error tells.
pub(crate) fn exception(error: tessera_core::Error) -> PyErr {
    let told = error.to_string();
    match error {
        tessera_core::Error::Option { .. } | tessera_core::Error::Value { .. } => InvalidValueError::new_err(told),
        tessera_core::Error::Cancelled => CancelledError::new_err(told),
        _ => Error::new_err(told),
    }
}

/// The exception for an option that is none of those expected.
pub(crate) fn refused(name: &'static str, found: &str, expected: &'static str) -> PyErr {
    exception(tessera_core::Error::Option { name, found: found.into(), expected })
}
