//! Scores with feedback as `dspy.Prediction`.

use dsrs_metrics::Scored;
use dsrs_metrics::contract::MetricSpec;
use dsrs_metrics::optimizers::objectives;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use serde_json::Value;

/// Returns the class `dspy.Prediction`.
///
/// # Errors
/// `ImportError` without DSPy.
pub(super) fn prediction_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "dspy", "Prediction")
}

/// Converts a score to a prediction with `score`, `feedback` and `objective_scores`: a score for each objective, by name.
pub(super) fn prediction<'py>(
    py: Python<'py>,
    scored: Scored,
    spec: &MetricSpec<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let objective_scores = PyDict::new(py);
    for objective in objectives(&scored, spec) {
        let name = objective
            .metadata
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or(spec.name);
        objective_scores.set_item(name, objective.score)?;
    }
    let feedback = scored.into_feedback();
    let fields = PyDict::new(py);
    fields.set_item(intern!(py, "score"), feedback.score)?;
    fields.set_item(intern!(py, "feedback"), feedback.feedback)?;
    fields.set_item(intern!(py, "objective_scores"), objective_scores)?;
    prediction_class(py)?.call((), Some(&fields))
}
