//! Exceptions: the types of `dsrs_metrics/_errors.py`, and panics as exceptions.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An exception type of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rows that a metric cannot compare: a `ValueError`.
    Input,
    /// A bug of the library: a metric panicked. A `RuntimeError`.
    Panic,
}

impl Kind {
    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static PANIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let (cell, name) = match self {
            Self::Input => (&INPUT, "InputError"),
            Self::Panic => (&PANIC, "PanicError"),
        };
        cell.import(py, "dsrs_metrics._errors", name)
    }
}

/// An error of one row, without the interpreter, so that a worker can return it.
#[derive(Debug)]
pub(crate) struct RowError {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    /// The name of the metric or function.
    pub(crate) metric: String,
}

impl RowError {
    /// Creates the error of a row that the metric cannot compare.
    pub(crate) fn input(metric: &str, message: impl Display) -> Self {
        Self { kind: Kind::Input, message: message.to_string(), metric: metric.to_owned() }
    }

    /// Converts the error to an exception. `row` is the index of the row in a batch.
    pub(crate) fn into_exception(self, py: Python<'_>, row: Option<usize>) -> PyErr {
        let message =
            row.map_or_else(|| self.message.clone(), |row| format!("row {row}: {}", self.message));
        let class = match self.kind.class(py) {
            Ok(class) => class,
            Err(error) => return error,
        };
        match class.call1((message, self.metric, row)) {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

/// Runs a function of the metric `metric` and converts its panic to an error.
pub(crate) fn caught<T>(metric: &str, run: impl FnOnce() -> T) -> Result<T, RowError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = format!(
            "panicked: {}; please report this bug of dsrs-metrics",
            panic_message(&*payload)
        );
        // A payload that is not a string is not dropped, since that may panic again.
        std::mem::forget(payload);
        RowError { kind: Kind::Panic, message, metric: metric.to_owned() }
    })
}

/// As [`caught`], for a function that is called from Python.
pub(crate) fn guarded<T>(
    py: Python<'_>,
    name: &str,
    run: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    caught(name, run).unwrap_or_else(|error| Err(error.into_exception(py, None)))
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is not a string")
}

/// Returns `ValueError`.
pub(crate) fn value_error(message: impl Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// Returns the `TypeError` of a value that is not a `str` or another expected type.
pub(crate) fn wrong_type(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("expected {expected}, found {}", type_name(found)))
}

/// Returns the name of a value's type for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().qualname();
    name.map_or_else(|_| "a value of an unknown type".to_owned(), |name| name.to_string())
}

/// Adds the index of the row to the message of an exception, and keeps its type.
pub(crate) fn in_row(py: Python<'_>, row: usize, error: PyErr) -> PyErr {
    let is_plain =
        error.is_instance_of::<PyTypeError>(py) || error.is_instance_of::<PyValueError>(py);
    let is_encoding = error.is_instance_of::<pyo3::exceptions::PyUnicodeError>(py);
    if !is_plain || is_encoding {
        return error;
    }
    let message = format!("row {row}: {}", error.value(py));
    PyErr::from_type(error.get_type(py), message)
}
