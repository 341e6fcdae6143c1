//! Fields of rows: `dspy.Example`, `dspy.Prediction`, or any object with attributes.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyType};

static EXAMPLE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static PREDICTION: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns the attribute of a row.
///
/// A row of DSPy finds its fields in Python code, after an ordinary look-up has failed. That takes as long as comparing two
/// answers, so that the fields of its two types are read from where these store them.
///
/// # Errors
/// `AttributeError`, as the row raises it.
pub(crate) fn attribute<'py>(
    row: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(store) = dspy_fields(row)?
        && let Some(value) = store.get_item(name)?
    {
        return Ok(value);
    }
    row.getattr(name)
}

/// Returns the fields of a row whose type is DSPy's `Example` or `Prediction`. A subclass may look them up in another way.
pub(crate) fn dspy_fields<'py>(row: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if !is_prediction(row)? && !is_of(row, &EXAMPLE, "dspy.primitives.example", "Example")? {
        return Ok(None);
    }
    Ok(row.getattr(intern!(row.py(), "_store"))?.cast_into().ok())
}

/// Returns `true` if the type of a row is DSPy's `Prediction`.
pub(crate) fn is_prediction(row: &Bound<'_, PyAny>) -> PyResult<bool> {
    is_of(row, &PREDICTION, "dspy.primitives.prediction", "Prediction")
}

fn is_of(
    row: &Bound<'_, PyAny>,
    cell: &PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<bool> {
    let (py, ty) = (row.py(), row.get_type());
    cell.get(py)
        .map_or_else(|| learns(cell, &ty, module, name), |known| Ok(ty.is(known)))
}

/// Stores the type if it is the one of this module and name. DSPy is not imported for this.
fn learns(
    cell: &PyOnceLock<Py<PyType>>,
    ty: &Bound<'_, PyType>,
    module: &str,
    name: &str,
) -> PyResult<bool> {
    let is_named = ty.name()?.to_str()? == name && ty.module()?.to_str()? == module;
    if is_named {
        let _ = cell.set(ty.py(), ty.clone().unbind());
    }
    Ok(is_named)
}
