//! The content of both files. The run's file says what was evaluated, with the score and interval of each metric. The
//! rows' file has a record for each row and metric.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Names, SCHEMA_VERSION};
use crate::FormatError;
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::{MetricIdentity, ScoreKind};
use crate::export::run::{
    Annotator, ExportedRun, LeftOut, Sample, fields, present, since_1970, token_usage,
};
use crate::import::as_string;
use crate::messages::escape;
use crate::messages::hash::sha256;
use crate::results::{MetricFigures, ResultRow, ResultScore};
use crate::trajectory::{Role, Trajectory};

/// Returns the results of the metrics that have a score, and a note for each metric without one.
pub(super) fn results(run: &ExportedRun<'_>, names: &Names) -> (Vec<Value>, Vec<String>) {
    let (mut results, mut notes) = (Vec::new(), Vec::new());
    for (metric, figures) in &run.metrics {
        match figures.score.filter(|score| score.is_finite()) {
            Some(score) => results.push(result(run, names, (metric, figures, score))),
            None => notes.push(format!(
                "metric `{}` is not exported, because it has no score",
                escape::name(metric)
            )),
        }
    }
    (results, notes)
}

/// Returns the id that rows use to refer to a metric's result.
fn result_id(names: &Names, metric: &str) -> String {
    format!("{}/{metric}", names.evaluation_id)
}

fn result(
    run: &ExportedRun<'_>,
    names: &Names,
    (metric, figures, score): (&str, &MetricFigures, f64),
) -> Value {
    let counts = figures.counts;
    json!({
        "evaluation_result_id": result_id(names, metric),
        "evaluation_name": metric,
        "source_data": source_data(run, names),
        "metric_config": metric_config(run, (metric, figures)),
        "score_details": {
            "score": score,
            "details": {
                "scored": counts.scored.to_string(),
                "failed": counts.failed.to_string(),
                "gated": counts.gated.to_string(),
                "skipped": counts.skipped.to_string(),
                "abstained": counts.abstained.to_string(),
                "failure_score": run.manifest.failure_score.to_string(),
            },
            "uncertainty": uncertainty(figures),
        },
    })
}

fn uncertainty(figures: &MetricFigures) -> Value {
    let stderr = figures.uncertainty.stderr();
    let interval = figures.uncertainty.ci95().map(|ci95| {
        json!({
            "lower": ci95.low, "upper": ci95.high, "confidence_level": 0.95, "method": figures.method,
        })
    });
    present(json!({
        "standard_error": stderr.map(|value| json!({ "value": value, "method": "analytic" })),
        "confidence_interval": interval,
        "num_samples": figures.counts.scored + figures.counts.failed,
    }))
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
    // A failed row can count as a score outside the range, so the mean can be outside the range too.
    let failure = run.manifest.failure_score;
    let (min, max) = match (range, figures.counts.failed) {
        (Some((min, max)), 0) => (json!(min), json!(max)),
        (Some((min, max)), _) => (json!(min.min(failure)), json!(max.max(failure))),
        (None, _) => ("-Infinity".into(), "Infinity".into()),
    };
    let parameters = identity.map(MetricIdentity::parameters);
    let (details, scoring) = match run.annotator(metric) {
        Annotator::Code => (None, None),
        Annotator::OfflineJudge => (Some(json!({ "judge": OFFLINE_JUDGE })), None),
        Annotator::Models(models) => {
            let prompts = identity.map(MetricIdentity::prompts).unwrap_or_default();
            let judges = models
                .iter()
                .map(|model| json!({ "model_info": judge(model) }));
            let scoring = json!({
                "judges": judges.collect::<Vec<_>>(),
                "input_prompt": format!("not in the result file, which has its hash: {}", prompts.join(", ")),
            });
            (None, Some(scoring))
        }
    };
    present(json!({
        "evaluation_description": description(run, metric),
        "metric_id": metric,
        "metric_name": metric,
        "metric_unit": is_verdict.then_some("proportion"),
        "lower_is_better": run.is_lower_better(metric),
        "score_type": if is_verdict { "binary" } else { "continuous" },
        "min_score": min,
        "max_score": max,
        "metric_parameters": parameters.filter(|it| !it.is_empty()),
        "additional_details": details,
        "llm_scoring": scoring,
    }))
}

/// Returns the metric's version and settings.
fn description(run: &ExportedRun<'_>, metric: &str) -> String {
    match run.identity(metric) {
        Some(identity) => format!("{metric} of dsrs-metrics: {identity}"),
        None => format!("{metric}; the result file does not describe it"),
    }
}

/// Converts a judge such as `openai:gpt-6-luna at https://..` to a model. The result file does not say who operates the
/// endpoint.
fn judge(model: &str) -> Value {
    let (id, endpoint) = model.split_once(" at ").unwrap_or((model, ""));
    let details = present(json!({
        "deployment_type": "unknown",
        "model_availability": "unknown",
        "endpoint": Some(endpoint).filter(|it| !it.is_empty()),
    }));
    json!({ "name": id, "id": id.replacen(':', "/", 1), "additional_details": details })
}

fn source_data(run: &ExportedRun<'_>, names: &Names) -> Value {
    let described = |file| serde_json::to_value(file).unwrap_or_default().to_string();
    let files = run.manifest.data.iter();
    let files: BTreeMap<&str, String> = files.map(|file| (&*file.name, described(file))).collect();
    present(json!({
        "dataset_name": names.dataset,
        "source_type": "other",
        "additional_details": Some(files).filter(|it| !it.is_empty()),
    }))
}

/// Returns the content of the run's file.
pub(super) fn document(
    run: &ExportedRun<'_>,
    names: &Names,
    evaluation_results: &[Value],
    samples: Option<&Value>,
) -> Value {
    let is_other = |name: &str| KNOWN_TAGS.split(' ').all(|known| known != name);
    let mut tags = run.manifest.tags.clone();
    tags.retain(|name, _| is_other(name));
    let source_metadata = present(json!({
        "source_name": run.manifest.label.as_deref().unwrap_or("dsrs-metrics"),
        "source_type": "evaluation_run",
        "source_organization_name": names.organization,
        "evaluator_relationship": run.tag("relationship").unwrap_or("other"),
        "additional_details": Some(tags).filter(|it| !it.is_empty()),
    }));
    let deployment = json!({
        "deployment_type": run.tag("deployment").unwrap_or("unknown"),
        "model_availability": run.tag("availability").unwrap_or("unknown"),
    });
    let started = run.started.map(humantime::format_rfc3339_seconds);
    present(json!({
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": names.evaluation_id,
        "evaluation_timestamp": started.map(|it| it.to_string()),
        "retrieved_timestamp": since_1970(run.ended).as_secs().to_string(),
        "source_metadata": source_metadata,
        "eval_library": { "name": "dsrs-metrics", "version": run.manifest.library.version },
        "model_info": { "name": names.model, "id": names.model, "additional_details": deployment },
        "evaluation_results": evaluation_results,
        "detailed_evaluation_results": samples,
    }))
}

/// The tags that have their own fields.
const KNOWN_TAGS: &str = "availability dataset deployment model organization relationship";

pub(super) fn of_row(
    run: &ExportedRun<'_>,
    names: &Names,
    row: &ResultRow,
    left_out: &mut LeftOut,
) -> Result<Vec<Value>, FormatError> {
    let sample = Sample::of(row, run)?;
    let common = common(names, row, &sample);
    let mut records = Vec::with_capacity(row.scores.len());
    for (metric, score) in &row.scores {
        // A failed row counts towards the run's score, so it counts here.
        let value = match score.value {
            Some(value) => value,
            None if score.outcome.is_failure() => run.manifest.failure_score,
            None => {
                left_out.add(score.outcome);
                continue;
            }
        };
        let turns = |trajectory: &Trajectory| {
            let messages = trajectory.messages().iter();
            let replies = messages.filter(|it| it.role == Role::Assistant);
            replies.count().max(1)
        };
        let trajectory = sample.trajectory.as_ref();
        let failure = || score.outcome.is_failure().then(|| score.outcome.name());
        let mut record = common.clone();
        record.extend(fields(json!({
            "evaluation_name": metric,
            "evaluation_result_id": result_id(names, metric),
            "evaluation": present(json!({
                "score": value,
                "is_correct": is_correct(run, (metric, score)),
                "num_turns": trajectory.map(turns),
                "tool_calls_count": trajectory.map(|it| it.tool_calls().len()),
            })),
            "error": score.error.as_deref().or_else(failure),
        })));
        records.push(record.into());
    }
    Ok(records)
}

/// Returns the verdict. If the metric has no verdict, returns `true` if the score is the metric's best score.
fn is_correct(run: &ExportedRun<'_>, (metric, score): (&str, &ResultScore)) -> bool {
    let Some(value) = score.value else {
        return false;
    };
    if let Some(passed) = score.passed {
        return passed;
    }
    let range = run.identity(metric).and_then(MetricIdentity::range);
    match range {
        _ if run.is_verdict(metric) => value >= 1.0,
        Some(range) if run.is_lower_better(metric) => value <= range.min,
        Some(range) => value >= range.max,
        None => false,
    }
}

/// Returns the fields that the records of all metrics share for one row.
fn common(names: &Names, row: &ResultRow, sample: &Sample) -> Map<String, Value> {
    let hashed = format!("{}{}", sample.input, sample.target.concat());
    let interaction = match &sample.trajectory {
        Some(trajectory) if trajectory.tool_calls().is_empty() => "multi_turn",
        Some(_) => "agentic",
        None => "single_turn",
    };
    let output: Vec<&str> = sample.output.iter().map(String::as_str).collect();
    let is_text = sample.trajectory.is_none();
    let output = is_text.then(|| json!({ "raw": output }));
    let latency = |seconds| json!({ "latency_ms": 1000.0 * seconds });
    let attributes = row.attributes.iter();
    let attributes: Map<String, Value> = attributes
        .map(|(name, value)| (name.to_owned(), as_string(value).into()))
        .collect();
    fields(json!({
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": names.evaluation_id,
        "model_id": names.model,
        "sample_id": row.id,
        "sample_hash": sha256(hashed.as_bytes()),
        "input": { "raw": sample.input, "reference": sample.target },
        "answer_attribution": [],
        "interaction_type": interaction,
        "messages": sample.trajectory.as_ref().map(messages),
        "output": output,
        "token_usage": token_usage(row),
        "performance": row.latency_s.map(latency),
        "metadata": Some(attributes).filter(|it| !it.is_empty()),
    }))
}

fn messages(trajectory: &Trajectory) -> Value {
    let messages = trajectory
        .messages()
        .iter()
        .enumerate()
        .map(|(turn, message)| {
            let calls = message.tool_calls.iter().enumerate().map(|(number, call)| {
                let id = call.id.clone();
                let id = id.unwrap_or_else(|| format!("{turn}-{number}"));
                let mut args = match &call.args {
                    Value::Object(args) => args.clone(),
                    malformed => Map::from_iter([("args".to_owned(), malformed.clone())]),
                };
                let values = args.values_mut();
                values.for_each(|value| *value = as_string(value).into());
                json!({ "id": id, "name": call.name, "arguments": args })
            });
            let calls: Vec<Value> = calls.collect();
            present(json!({
                "turn_idx": turn,
                "role": message.role.as_str(),
                "content": message.text,
                "tool_calls": Some(calls).filter(|it| !it.is_empty()),
                "tool_call_id": message.tool_call_id.as_ref().map(|id| [id]),
            }))
        });
    messages.collect()
}
