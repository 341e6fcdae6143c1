//! A score with its explanation as a dict.

use dsrs_metrics::{Scored, contract::Component};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::json::to_python;

/// Converts a score to the dict of `Metric.details`.
pub(super) fn details<'py>(py: Python<'py>, scored: &Scored) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &described(scored))
}

fn described(scored: &Scored) -> Value {
    let score = scored.clone().into_score();
    let parts = scored
        .parts()
        .iter()
        .map(|part| json!({ "name": part.name, "value": part.value, "feedback": part.feedback }));
    json!({
        "score": score.value,
        "passed": scored.passed,
        "confidence": score.confidence,
        "details": score.details,
        "feedback": scored.feedback(),
        "cost_msats": score.cost_msats,
        "metadata": scored.metadata().cloned().unwrap_or_else(Map::new),
        "parts": parts.collect::<Vec<_>>(),
        "components": scored.components().map(|one| component(&one)).collect::<Vec<_>>(),
        "missing_fields": scored.missing_fields(),
    })
}

/// Describes a component of a composite: its outcome, and what [`described`] shows of a score.
fn component(component: &Component<'_>) -> Value {
    let outcome = &component.outcome;
    let mut shown = match outcome.scored().map(described) {
        Some(Value::Object(shown)) => shown,
        _ => Map::from_iter([("error".to_owned(), json!(outcome.error()))]),
    };
    shown.insert("name".to_owned(), json!(component.name));
    shown.insert("outcome".to_owned(), json!(outcome.name()));
    Value::Object(shown)
}
