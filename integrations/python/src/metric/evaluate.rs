//! The summary of a metric over lists of rows: `Metric.evaluate`.

use std::collections::BTreeMap;
use std::sync::Arc;

use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{EvaluateError, EvaluateErrorKind, EvaluationResult, MetricSummary},
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::Metric;
use super::call::Rows;
use crate::errors::{Kind, RowError};
use crate::json::to_python;
use crate::runtime::block_on;

/// The rows that a worker converts at once.
const CHUNK: usize = 256;

/// The keyword arguments of `Metric.evaluate`.
pub(super) struct Options {
    pub(super) concurrency: usize,
    pub(super) failure_score: f64,
    pub(super) label: Option<String>,
    pub(super) tags: BTreeMap<String, String>,
}

impl Metric {
    /// Returns the summary of rows.
    ///
    /// # Errors
    /// `InputError` without rows, and if no prediction has a field that the metric reads; `ParameterError` if an option is
    /// invalid; `MetricError` if no row can be scored; `KeyboardInterrupt`.
    pub(super) fn summary_of<'py>(
        &self,
        golds: Option<&Bound<'py, PyAny>>,
        preds: &Bound<'py, PyAny>,
        options: Options,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = preds.py();
        let (golds, preds) = self.sides(golds, preds)?;
        let calls = Arc::new(self.calls(py, &golds, &preds)?);
        let failed = |error: EvaluateError| {
            let kind = match error.kind() {
                EvaluateErrorKind::NoRows => Kind::Input,
                EvaluateErrorKind::Setting => Kind::Parameter,
                _ => Kind::Metric,
            };
            RowError::new(kind, &self.name, error).into_exception(py, None)
        };
        let Options {
            concurrency,
            failure_score,
            label,
            tags,
        } = options;
        let mut builder = Evaluate::builder()
            .metric(Arc::clone(&self.metric))
            .keep_results(false);
        builder = builder
            .concurrency(concurrency)
            .failures(|failures| failures.score(failure_score));
        if let Some(label) = label {
            builder = builder.label(label);
        }
        let builder = tags
            .into_iter()
            .fold(builder, |it, (name, value)| it.tag(name, value));
        let evaluate = builder.build().map_err(failed)?;

        let starts = (0..calls.len()).step_by(CHUNK);
        let readers = Arc::clone(&self.readers);
        let chunks = starts.map(move |start| {
            let (calls, readers) = (Arc::clone(&calls), Arc::clone(&readers));
            move || {
                let rows = start..calls.len().min(start + CHUNK);
                let pair = |row: usize| {
                    let Rows { gold, pred } = calls[row].finished_rows(&readers);
                    Ok::<_, EvaluateError>(Pair::new(row.to_string(), gold, pred))
                };
                rows.map(pair).collect::<Vec<_>>()
            }
        });
        let run = evaluate.score_chunks(chunks);
        let result = block_on(py, self.settings.clone().scope(run))?.map_err(failed)?;
        self.checked(py, &result)?;
        to_python(py, &summary(&result))
    }

    /// Raises what makes the whole summary invalid.
    fn checked(&self, py: Python<'_>, result: &EvaluationResult) -> PyResult<()> {
        let summary = result.metrics.first();
        match summary.and_then(|summary| summary.unknown_fields.first()) {
            Some(field) => Err(RowError::input(&self.name, field).into_exception(py, None)),
            None => Ok(()),
        }
    }
}

fn summary(result: &EvaluationResult) -> Value {
    let mut summaries = result.metrics.iter().map(one);
    let mut summary = summaries.next().unwrap_or_else(|| json!({}));
    summary["parts"] = summaries.collect();
    summary["rows"] = json!(result.rows);
    summary["first_error"] = json!(result.first_error);
    summary["manifest"] = json!(result.manifest);
    summary
}

fn one(summary: &MetricSummary) -> Value {
    let mut described = serde_json::to_value(summary).unwrap_or_else(|_| json!({}));
    described["name"] = json!(summary.name);
    described
}
