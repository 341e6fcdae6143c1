//! The spec of a metric as a dict.

use dsrs_metrics::contract::MetricSpec;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::create::registry;
use crate::json::to_python;
use crate::row_reader::RowReader;

/// Converts a spec to a dict. The fields have the names that parameters set, and the types and defaults are described for
/// readers of Python.
pub(super) fn spec<'py>(
    py: Python<'py>,
    spec: &MetricSpec<'_>,
    readers: &[RowReader; 2],
) -> PyResult<Bound<'py, PyAny>> {
    let described = serde_json::to_value(spec);
    let mut described = described.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    // Without the example, which is in Rust.
    described["doc"] = json!(spec.doc.split("```").next().unwrap_or_default().trim());
    let sides = [("gold", spec.gold), ("pred", spec.pred)];
    for ((side, fields), reader) in sides.into_iter().zip(readers) {
        for ((position, field), name) in fields.iter().enumerate().zip(reader.names()) {
            described[side][position]["name"] = json!(name);
            if field.help.is_some() {
                described[side][position]["type"] = json!(field.help.to_string());
            }
        }
    }
    let defaults = registry().defaults(spec.name).unwrap_or_default();
    for (position, param) in spec.params.iter().enumerate() {
        if param.help.is_some() {
            described["params"][position]["type"] = json!(param.help.to_string());
        }
        if let Some(Some(default)) = defaults.get(position) {
            let value = serde_json::from_str(default).unwrap_or_else(|_| json!(default));
            described["params"][position]["default"] = value;
        }
        described["params"][position]["required"] = Value::Bool(param.default.is_none());
    }
    to_python(py, &described)
}
