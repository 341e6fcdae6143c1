//! The `gen_ai.evaluation.result` event for one metric and one row.
//!
//! The event's attributes and body follow the semantic conventions for generative AI (`docs/gen-ai/gen-ai-events.md` in
//! `open-telemetry/semantic-conventions-genai`). The event also has the attributes that pydantic-evals adds in the same
//! namespace (`pydantic_evals/_otel_emit.py`), and our own under `dsrs.`.

use std::collections::HashMap;
use std::error::Error as _;
use std::time::SystemTime;

use dsrs_metrics_core::score::OFFLINE_JUDGE;
use dsrs_metrics_core::{Direction, MetricError, MetricIdentity};
use dsrs_metrics_lm::LmError;
use dsrs_metrics_run::results::{ResultOutcome, ResultScore, RunManifest};
use heck::ToSnakeCase as _;
use opentelemetry::logs::{AnyValue, LogRecord, Severity};
use opentelemetry::{SpanId, TraceFlags, TraceId};
use serde_json::{Value, json};

/// The name of the event.
const NAME: &str = "gen_ai.evaluation.result";

/// Which results are sent as events, and what an event contains.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Detail {
    /// `true` to send explanations and error messages.
    pub(crate) texts: bool,
    /// `true` to send events for results that have no score but are not failures.
    pub(crate) unscored: bool,
}

/// The result of one metric on one row.
pub(crate) struct EvaluationEvent<'a> {
    pub(crate) row: &'a EvaluatedRow<'a>,
    pub(crate) metric: &'a str,
    pub(crate) score: &'a ResultScore,
    /// The kind of the metric's error, if known.
    pub(crate) error_type: Option<String>,
    pub(crate) detail: Detail,
}

/// A row, the time of its evaluation if known, and the evaluated span or response if the row's attributes name one.
pub(crate) struct EvaluatedRow<'a> {
    id: &'a str,
    time: Option<SystemTime>,
    span: Option<(TraceId, SpanId)>,
    response_id: Option<&'a str>,
}

impl<'a> EvaluatedRow<'a> {
    /// Reads the attributes `trace_id` and `span_id` (in hexadecimal) and `response_id`. Invalid ids are ignored.
    pub(crate) fn new(
        id: &'a str,
        time: Option<SystemTime>,
        attribute: impl Fn(&str) -> Option<&'a Value>,
    ) -> Self {
        let text = |name| {
            attribute(name)
                .and_then(Value::as_str)
                .filter(|text| !text.is_empty())
        };
        let span = || {
            let trace = TraceId::from_hex(text("trace_id").filter(|it| it.len() == 32)?).ok()?;
            let span = SpanId::from_hex(text("span_id").filter(|it| it.len() == 16)?).ok()?;
            (trace != TraceId::INVALID && span != SpanId::INVALID).then_some((trace, span))
        };
        Self {
            id,
            time,
            span: span(),
            response_id: text("gen_ai.response.id").or_else(|| text("response_id")),
        }
    }
}

impl EvaluationEvent<'_> {
    /// Returns `true` if an event is sent for the result. A row that only counts towards a score over all rows has no
    /// result of its own.
    pub(crate) fn is_emitted(&self) -> bool {
        match self.score.outcome {
            ResultOutcome::Counted => false,
            ResultOutcome::Scored => true,
            outcome => outcome.is_failure() || self.detail.unscored,
        }
    }

    /// Writes the event to a record. Its label is `pass` or `fail`, or the outcome if the row has no score.
    pub(crate) fn write(
        &self,
        record: &mut impl LogRecord,
        common: impl Iterator<Item = Attribute>,
    ) {
        let (row, score) = (self.row, self.score);
        record.set_event_name(NAME);
        if let Some(time) = row.time {
            record.set_timestamp(time);
        }
        if let Some((trace, span)) = row.span {
            record.set_trace_context(trace, span, Some(TraceFlags::SAMPLED));
        }
        let (outcome, metric) = (score.outcome, self.metric);
        let is_failure = outcome.is_failure();
        if is_failure {
            record.set_severity_number(Severity::Warn);
        }
        let label = match score.passed {
            _ if is_failure => None,
            _ if outcome != ResultOutcome::Scored => Some(outcome.name()),
            passed => passed.map(|passed| if passed { "pass" } else { "fail" }),
        };
        let explanation = score.explanation().filter(|_| self.detail.texts);
        let error_type = self.error_type.as_deref().unwrap_or(outcome.name());
        let result = match (score.value, label, explanation) {
            (Some(value), ..) => format!("={value}"),
            (None, Some(label), _) => format!(": {label}"),
            (None, None, Some(error)) => format!(" failed: {error}"),
            (None, None, None) => " failed".to_owned(),
        };
        record.set_body(format!("evaluation: {metric}{result}").into());
        let text = |text: &str| AnyValue::from(text.to_owned());
        let cost = i64::try_from(score.cost_msats).unwrap_or(i64::MAX);
        let judge = score.is_judged_offline.then_some(OFFLINE_JUDGE);
        let mut add = |name, value: Option<AnyValue>| {
            if let Some(value) = value {
                record.add_attribute(name, value);
            }
        };
        add("gen_ai.evaluation.name", Some(text(metric)));
        add("dsrs.row.id", Some(text(row.id)));
        add("gen_ai.evaluation.score.value", score.value.map(Into::into));
        add("gen_ai.evaluation.score.label", label.map(text));
        add("gen_ai.evaluation.explanation", explanation.map(text));
        add("error.type", is_failure.then(|| text(error_type)));
        add("gen_ai.response.id", row.response_id.map(text));
        add("dsrs.cost_msats", (cost > 0).then(|| cost.into()));
        add("dsrs.judge", judge.map(AnyValue::from));
        common.for_each(|(name, value)| add(name, Some(value)));
    }
}

/// Returns the kind of a metric's error, such as `timed_out`, or the kind of the model's error that caused it.
pub(crate) fn error_type(error: &MetricError) -> String {
    let sources = std::iter::successors(error.source(), |&error| error.source());
    let mut causes = sources.filter_map(|cause| cause.downcast_ref::<LmError>());
    let of_model = causes.next().map(|error| variant(error.kind()));
    of_model.unwrap_or_else(|| variant(error.kind()))
}

/// Returns an enum variant's name in snake case.
pub(crate) fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let name = text.split(|it: char| !it.is_alphanumeric()).next();
    name.unwrap_or_default().to_snake_case()
}

/// An attribute's name and value.
pub(crate) type Attribute = (&'static str, AnyValue);

/// The attributes for each metric in a run.
#[derive(Debug, Default)]
pub(crate) struct RunAttributes {
    of_run: Vec<Attribute>,
    of_metrics: HashMap<String, Vec<Attribute>>,
}

impl RunAttributes {
    pub(crate) fn new(manifest: &RunManifest) -> Self {
        let label = manifest.label.iter().flat_map(|label| {
            let names = ["gen_ai.evaluation.target", "dsrs.run.label"];
            names.map(|name| (name, label.clone().into()))
        });
        let repeats = manifest.repeats.iter();
        let repeats = repeats.map(|repeats| ("dsrs.repeats", i64::from(*repeats).into()));
        let metrics = manifest.metrics.iter();
        let of_metrics = metrics.map(|(name, identity)| (name.clone(), of_metric(name, identity)));
        Self {
            of_run: label.chain(repeats).collect(),
            of_metrics: of_metrics.collect(),
        }
    }

    /// Returns a metric's attributes. If the manifest doesn't list the metric, returns those of the run.
    pub(crate) fn of(&self, metric: &str) -> impl Iterator<Item = Attribute> {
        let of_metric = self.of_metrics.get(metric).into_iter().flatten();
        self.of_run.iter().chain(of_metric).cloned()
    }
}

fn of_metric(name: &str, identity: &MetricIdentity) -> Vec<Attribute> {
    let fields = serde_json::to_value(identity).unwrap_or_default();
    let parameters = fields.get("parameters").and_then(Value::as_object);
    let arguments = parameters.filter(|parameters| !parameters.is_empty());
    // As pydantic-evals writes an evaluator: its name, and its arguments or null.
    let source = json!({ "name": name, "arguments": arguments });
    let version = match fields.get("version") {
        None | Some(Value::Null) => None,
        Some(Value::String(version)) => Some(version.clone()),
        Some(version) => Some(version.to_string()),
    };
    let direction = match identity.direction() {
        Direction::LowerIsBetter => "lower_is_better",
        _ => "higher_is_better",
    };
    let (range, source) = (identity.range(), source.to_string());
    let mut attributes: Vec<Attribute> = vec![
        ("gen_ai.evaluation.evaluator.source", source.into()),
        ("dsrs.score.direction", direction.into()),
    ];
    let version = version.map(AnyValue::from);
    attributes.extend(version.map(|it| ("gen_ai.evaluation.evaluator.version", it)));
    attributes.extend(range.map(|range| ("dsrs.score.min", range.min.into())));
    attributes.extend(range.map(|range| ("dsrs.score.max", range.max.into())));
    attributes
}

#[cfg(test)]
mod tests {
    use dsrs_metrics_core::score::error::{MetricError, MetricErrorKind};
    use dsrs_metrics_lm::{LmError, LmErrorKind};
    use serde_json::{Value, json};

    use super::{EvaluatedRow, error_type};

    #[test]
    fn the_type_of_an_error_is_the_kind_of_its_cause() {
        let timeout = MetricError::new("f1", MetricErrorKind::TimedOut { seconds: 1.5 });
        assert_eq!(error_type(&timeout), "timed_out");
        let lost = LmErrorKind::Disconnected("reset".to_owned());
        let lost = MetricError::caused_by("polite", LmError::new("openai:m", lost));
        assert_eq!(error_type(&lost), "disconnected");
    }

    #[test]
    fn only_valid_ids_name_a_span() {
        let read = |trace: Value, span: Value| {
            let row = json!({"trace_id": trace, "span_id": span});
            EvaluatedRow::new("1", None, |name| row.get(name))
                .span
                .is_some()
        };
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        assert!(read(json!(trace), json!(span)));
        assert!(!read(json!(trace), Value::Null));
        assert!(!read(json!("0".repeat(32)), json!(span)));
        assert!(!read(json!("1"), json!("1")));
        assert!(!read(json!("é".repeat(16)), json!(span)));
    }
}
