//! The file of the run: what was evaluated, and the score of each metric with its interval.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Names, SCHEMA_VERSION, Samples};
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::{MetricIdentity, ScoreKind};
use crate::export::run::{Annotator, ExportedRun};
use crate::results::MetricFigures;

/// Returns the results of the metrics that have a score, and a note for each other one.
pub(super) fn results(run: &ExportedRun<'_>, names: &Names) -> (Vec<Value>, Vec<String>) {
    let (mut results, mut notes) = (Vec::new(), Vec::new());
    for (metric, figures) in &run.metrics {
        match figures.score.filter(|score| score.is_finite()) {
            Some(score) => results.push(result(run, names, (metric, figures, score))),
            None => {
                let metric = crate::messages::escape::name(metric);
                notes.push(format!(
                    "metric `{metric}` is not exported, because it has no score"
                ));
            }
        }
    }
    (results, notes)
}

/// The id by which rows refer to the result of a metric.
pub(super) fn result_id(names: &Names, metric: &str) -> String {
    format!("{}/{metric}", names.evaluation_id)
}

fn result(
    run: &ExportedRun<'_>,
    names: &Names,
    (metric, figures, score): (&str, &MetricFigures, f64),
) -> Value {
    let counts = figures.counts;
    let mut details = strings([
        ("scored", counts.scored),
        ("failed", counts.failed),
        ("gated", counts.gated),
        ("skipped", counts.skipped),
        ("abstained", counts.abstained),
    ]);
    details.insert(
        "failure_score".to_owned(),
        run.failure_score().to_string().into(),
    );
    json!({
        "evaluation_result_id": result_id(names, metric),
        "evaluation_name": metric,
        "source_data": source_data(run, names),
        "metric_config": metric_config(run, (metric, figures)),
        "score_details": {
            "score": score,
            "details": details,
            "uncertainty": uncertainty(figures),
        },
    })
}

fn uncertainty(figures: &MetricFigures) -> Value {
    let mut known = Map::new();
    if let Some(stderr) = figures.uncertainty.stderr() {
        known.insert(
            "standard_error".to_owned(),
            json!({ "value": stderr, "method": "analytic" }),
        );
    }
    if let Some(ci95) = figures.uncertainty.ci95() {
        let interval = json!({
            "lower": ci95.low, "upper": ci95.high, "confidence_level": 0.95, "method": figures.method,
        });
        known.insert("confidence_interval".to_owned(), interval);
    }
    known.insert(
        "num_samples".to_owned(),
        (figures.counts.scored + figures.counts.failed).into(),
    );
    known.into()
}

fn metric_config(run: &ExportedRun<'_>, (metric, figures): (&str, &MetricFigures)) -> Value {
    let identity = run.identity(metric);
    let is_verdict = figures.kind == ScoreKind::Bool;
    let range = match is_verdict {
        true => Some((0.0, 1.0)),
        false => identity
            .and_then(MetricIdentity::range)
            .map(|range| (range.min, range.max)),
    };
    // A failed row may count as a score outside the range, and then the mean may be outside too.
    let failure = run.failure_score();
    let range = range.map(|(min, max)| match figures.counts.failed {
        0 => (min, max),
        _ => (min.min(failure), max.max(failure)),
    });
    let (min, max) = match range {
        Some((min, max)) => (json!(min), json!(max)),
        None => ("-Infinity".into(), "Infinity".into()),
    };
    let mut config = Map::new();
    let mut add = |key: &str, value: Value| config.insert(key.to_owned(), value);
    add("evaluation_description", description(run, metric).into());
    add("metric_id", metric.into());
    add("metric_name", metric.into());
    if is_verdict {
        add("metric_unit", "proportion".into());
    }
    add("lower_is_better", run.is_lower_better(metric).into());
    add(
        "score_type",
        if is_verdict { "binary" } else { "continuous" }.into(),
    );
    add("min_score", min);
    add("max_score", max);
    let parameters = identity
        .map(MetricIdentity::parameters)
        .into_iter()
        .flatten();
    let parameters: Map<_, _> = parameters
        .map(|(name, value)| (name.clone(), Value::from(value.clone())))
        .collect();
    if !parameters.is_empty() {
        add("metric_parameters", parameters.into());
    }
    match run.annotator(metric) {
        Annotator::Code => {}
        Annotator::OfflineJudge => {
            add("additional_details", json!({ "judge": OFFLINE_JUDGE }));
        }
        Annotator::Models(models) => {
            let prompts = identity
                .map(MetricIdentity::prompts)
                .unwrap_or_default()
                .join(", ");
            add(
                "llm_scoring",
                json!({
                    "judges": models.iter().map(|model| json!({ "model_info": judge(model) })).collect::<Vec<_>>(),
                    "input_prompt": format!("not in the result file, which has its hash: {prompts}"),
                }),
            );
        }
    }
    config.into()
}

/// The version and the settings of the metric.
fn description(run: &ExportedRun<'_>, metric: &str) -> String {
    match run.identity(metric) {
        Some(identity) => format!("{metric} of dsrs-metrics: {identity}"),
        None => format!("{metric}; the result file does not describe it"),
    }
}

/// `openai:gpt-6-luna at https://..` as a model.
fn judge(model: &str) -> Value {
    let (id, endpoint) = model.split_once(" at ").unwrap_or((model, ""));
    let mut details = unknown_deployment();
    if !endpoint.is_empty() {
        details.insert("endpoint".to_owned(), endpoint.into());
    }
    json!({ "name": id, "id": id.replacen(':', "/", 1), "additional_details": details })
}

/// The result file does not contain who operates a model.
fn unknown_deployment() -> Map<String, Value> {
    let fields = ["deployment_type", "model_availability"];
    fields
        .map(|field| (field.to_owned(), "unknown".into()))
        .into_iter()
        .collect()
}

fn source_data(run: &ExportedRun<'_>, names: &Names) -> Value {
    let data = run
        .manifest()
        .map(|manifest| &*manifest.run.data)
        .unwrap_or_default();
    let described = |file| serde_json::to_value(file).unwrap_or_default().to_string();
    let files: BTreeMap<String, String> = data
        .iter()
        .map(|file| (file.name.clone(), described(file)))
        .collect();
    let mut source = json!({ "dataset_name": names.dataset, "source_type": "other" });
    if let (false, Some(source)) = (files.is_empty(), source.as_object_mut()) {
        source.insert("additional_details".to_owned(), json!(files));
    }
    source
}

fn strings<const N: usize>(fields: [(&str, u64); N]) -> Map<String, Value> {
    fields
        .map(|(name, count)| (name.to_owned(), count.to_string().into()))
        .into_iter()
        .collect()
}

/// The file of the run.
#[derive(Serialize)]
pub(super) struct Document {
    schema_version: &'static str,
    evaluation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation_timestamp: Option<String>,
    retrieved_timestamp: String,
    source_metadata: Value,
    eval_library: Value,
    model_info: Value,
    evaluation_results: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detailed_evaluation_results: Option<Value>,
}

pub(super) fn document(
    run: &ExportedRun<'_>,
    names: &Names,
    evaluation_results: Vec<Value>,
    samples: Option<Samples>,
) -> Document {
    let tags: BTreeMap<_, _> = run
        .tags()
        .into_iter()
        .filter(|(name, _)| !KNOWN_TAGS.contains(name))
        .collect();
    let mut source_metadata = json!({
        "source_name": run.label().unwrap_or("dsrs-metrics"),
        "source_type": "evaluation_run",
        "source_organization_name": names.organization,
        "evaluator_relationship": run.tag("relationship").unwrap_or("other"),
    });
    if let (false, Some(fields)) = (tags.is_empty(), source_metadata.as_object_mut()) {
        fields.insert("additional_details".to_owned(), json!(tags));
    }
    let mut deployment = unknown_deployment();
    for (tag, field) in [
        ("deployment", "deployment_type"),
        ("availability", "model_availability"),
    ] {
        if let Some(value) = run.tag(tag) {
            deployment.insert(field.to_owned(), value.into());
        }
    }
    let detailed = samples.map(|samples| {
        let path = names.folder.join(names.samples());
        let path = path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        json!({
            "format": "jsonl", "file_path": path, "hash_algorithm": "sha256", "checksum": samples.sha256,
            "total_rows": samples.rows,
        })
    });
    Document {
        schema_version: SCHEMA_VERSION,
        evaluation_id: names.evaluation_id.clone(),
        evaluation_timestamp: run
            .started
            .map(|it| humantime::format_rfc3339_seconds(it).to_string()),
        retrieved_timestamp: run.ended_s().to_string(),
        source_metadata,
        eval_library: json!({ "name": "dsrs-metrics", "version": run.version() }),
        model_info: json!({ "name": names.model, "id": names.model, "additional_details": deployment }),
        evaluation_results,
        detailed_evaluation_results: detailed,
    }
}

/// The tags that have a place of their own.
const KNOWN_TAGS: [&str; 6] = [
    "availability",
    "dataset",
    "deployment",
    "model",
    "organization",
    "relationship",
];
