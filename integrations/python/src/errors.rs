//! Exceptions: the types of `dsrs_metrics/_errors.py`, and panics as exceptions.

use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dsrs_metrics::{
    MetricError,
    contract::{MetricErrorKind, Side},
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An exception type of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A metric that cannot be created: a `ValueError`.
    Parameter,
    /// Rows that a metric cannot read or compare: a `ValueError`.
    Input,
    /// A metric that failed: a `RuntimeError`.
    Metric,
    /// A metric that has no score for a row, without having failed. A `RuntimeError`.
    Abstained,
    /// A bug of the library: a metric panicked. A `RuntimeError`.
    Panic,
}

impl Kind {
    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 5] = [const { PyOnceLock::new() }; 5];
        let name = match self {
            Self::Parameter => "ParameterError",
            Self::Input => "InputError",
            Self::Metric => "MetricError",
            Self::Abstained => "AbstainedError",
            Self::Panic => "PanicError",
        };
        let cell = &CLASSES[self as usize];
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
    /// `true` if the prediction lacks a field that the metric requires.
    pub(crate) is_missing_from_prediction: bool,
}

impl From<MetricError> for RowError {
    fn from(error: MetricError) -> Self {
        let kind = match error.kind() {
            MetricErrorKind::Field { .. } | MetricErrorKind::Row { .. } => Kind::Input,
            MetricErrorKind::Abstained => Kind::Abstained,
            MetricErrorKind::Panicked { .. } => Kind::Panic,
            _ => Kind::Metric,
        };
        let is_missing_from_prediction = error.is_missing_from_prediction();
        let (message, metric) = (error.to_string(), error.metric().to_owned());
        Self {
            kind,
            message,
            metric,
            is_missing_from_prediction,
        }
    }
}

impl RowError {
    /// Creates an error.
    pub(crate) fn new(kind: Kind, metric: &str, message: impl Display) -> Self {
        let (message, metric) = (message.to_string(), metric.to_owned());
        Self {
            kind,
            message,
            metric,
            is_missing_from_prediction: false,
        }
    }

    /// Creates the error of a row that the metric cannot compare.
    pub(crate) fn input(metric: &str, message: impl Display) -> Self {
        Self::new(Kind::Input, metric, message)
    }

    /// Converts the error to an exception. `row` is the index of the row in a batch.
    pub(crate) fn into_exception(self, py: Python<'_>, row: Option<usize>) -> PyErr {
        let message = row.map_or_else(
            || self.message.clone(),
            |row| format!("row {row}: {}", self.message),
        );
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
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| panicked(metric, payload))
}

/// Converts the payload of a panic to an error.
pub(crate) fn panicked(metric: &str, payload: Box<dyn Any + Send>) -> RowError {
    let message = panic_message(&*payload);
    let message = format!("panicked: {message}; please report this bug of dsrs-metrics");
    // A payload that is not a string is not dropped, because that may panic again.
    std::mem::forget(payload);
    RowError::new(Kind::Panic, metric, message)
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

/// Returns the error of a metric that cannot be created.
pub(crate) fn parameter_error(py: Python<'_>, metric: &str, message: impl Display) -> PyErr {
    RowError::new(Kind::Parameter, metric, message).into_exception(py, None)
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
    name.map_or_else(
        |_| "a value of an unknown type".to_owned(),
        |name| name.to_string(),
    )
}

/// Adds the index of the row to an exception: as its attribute `row`, and to its message.
pub(crate) fn in_row(py: Python<'_>, row: usize, error: PyErr) -> PyErr {
    let error = prefixed(py, &format!("row {row}"), error);
    // An exception without attributes has the index in its message only.
    let _ = error.value(py).setattr("row", row);
    error
}

/// Adds the name of the field to the message of an exception.
pub(crate) fn in_field(py: Python<'_>, side: Side, field: &str, error: PyErr) -> PyErr {
    prefixed(py, &format!("field `{side}.{field}`"), error)
}

/// Adds a place to the message of an exception of this module, which raises these two types. Another type may not be
/// created from a message.
fn prefixed(py: Python<'_>, place: &str, error: PyErr) -> PyErr {
    let class = error.get_type(py);
    let is = |other: Bound<'_, PyType>| class.is(&other);
    if !is(py.get_type::<PyTypeError>()) && !is(py.get_type::<PyValueError>()) {
        return error;
    }
    let message = format!("{place}: {}", error.value(py));
    PyErr::from_type(class, message)
}
