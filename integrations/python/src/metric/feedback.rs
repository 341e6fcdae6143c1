//! Scores with feedback as `dspy.Prediction`.

use dsrs_metrics::Scored;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Returns the class `dspy.Prediction`.
///
/// # Errors
/// `ImportError` without DSPy.
pub(super) fn prediction_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "dspy", "Prediction")
}

/// Converts a score to a prediction with `score` and `feedback`.
pub(super) fn prediction(py: Python<'_>, scored: Scored) -> PyResult<Bound<'_, PyAny>> {
    let feedback = scored.into_feedback();
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "score"), feedback.score)?;
    fields.set_item(intern!(py, "feedback"), feedback.feedback)?;
    prediction_class(py)?.call((), Some(&fields))
}
