//! The attributes that all events of a metric share in a run.

use std::collections::HashMap;

use dsrs_metrics_core::{Direction, MetricIdentity};
use dsrs_metrics_run::results::RunManifest;
use opentelemetry::logs::AnyValue;
use serde_json::{Value, json};

/// The name and the value of an attribute.
pub(crate) type Attribute = (&'static str, AnyValue);

/// The attributes of each metric in a run.
#[derive(Debug, Default)]
pub(crate) struct RunAttributes {
    /// The names of the metrics, in the order of outcomes.
    metrics: Vec<String>,
    of_run: Vec<Attribute>,
    of_metrics: HashMap<String, Vec<Attribute>>,
}

impl RunAttributes {
    pub(crate) fn new(manifest: &RunManifest) -> Self {
        let mut of_run = Vec::new();
        if let Some(label) = &manifest.label {
            of_run.push(("gen_ai.evaluation.target", label.clone().into()));
            of_run.push(("dsrs.run.label", label.clone().into()));
        }
        if let Some(repeats) = manifest.repeats {
            of_run.push(("dsrs.repeats", i64::from(repeats).into()));
        }
        let metrics = manifest.metrics.iter();
        let of_metrics = metrics.map(|(name, identity)| (name.clone(), of_metric(name, identity)));
        Self {
            metrics: Vec::new(),
            of_run,
            of_metrics: of_metrics.collect(),
        }
    }

    /// Sets the names of the metrics.
    pub(crate) fn named(self, metrics: &[String]) -> Self {
        Self {
            metrics: metrics.to_vec(),
            ..self
        }
    }

    pub(crate) fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(String::as_str)
    }

    /// Returns the attributes of a metric. A metric missing from the manifest has those of the run.
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
    let mut attributes = vec![(
        "gen_ai.evaluation.evaluator.source",
        source.to_string().into(),
    )];
    if let Some(version) = fields.get("version").filter(|version| !version.is_null()) {
        let version = version
            .as_str()
            .map_or_else(|| version.to_string(), str::to_owned);
        attributes.push(("gen_ai.evaluation.evaluator.version", version.into()));
    }
    let direction = match identity.direction() {
        Direction::LowerIsBetter => "lower_is_better",
        _ => "higher_is_better",
    };
    attributes.push(("dsrs.score.direction", direction.into()));
    if let Some(range) = identity.range() {
        attributes.push(("dsrs.score.min", range.min.into()));
        attributes.push(("dsrs.score.max", range.max.into()));
    }
    attributes
}
