//! The file of the rows: a record for each metric of a row.

use serde_json::{Map, Value, json};

use super::aggregate::result_id;
use super::{Names, SCHEMA_VERSION};
use crate::contract::MetricIdentity;
use crate::error::FormatError;
use crate::export::run::{ExportedRun, LeftOut, Sample};
use crate::import::as_string;
use crate::messages::hash::sha256;
use crate::results::{ResultRow, ResultScore};
use crate::trajectory::{Role, Trajectory};

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
        // A failed row counts in the score of the run, so it counts here.
        let value = match score.value {
            Some(value) => value,
            None if score.outcome.is_failure() => run.failure_score(),
            None => {
                left_out.add(score.outcome);
                continue;
            }
        };
        let mut record = common.clone();
        let mut add = |key: &str, value: Value| record.insert(key.to_owned(), value);
        add("evaluation_name", metric.clone().into());
        add("evaluation_result_id", result_id(names, metric).into());
        let mut evaluation = json!({
            "score": value,
            "is_correct": is_correct(run, (metric, score)),
        });
        if let (Some(trajectory), Some(evaluation)) =
            (&sample.trajectory, evaluation.as_object_mut())
        {
            let turns = trajectory
                .messages()
                .iter()
                .filter(|it| it.role == Role::Assistant)
                .count();
            evaluation.insert("num_turns".to_owned(), turns.max(1).into());
            evaluation.insert(
                "tool_calls_count".to_owned(),
                trajectory.tool_calls().len().into(),
            );
        }
        add("evaluation", evaluation);
        if let Some(error) = &score.error {
            add("error", error.clone().into());
        } else if score.outcome.is_failure() {
            add("error", score.outcome.name().into());
        }
        records.push(record.into());
    }
    Ok(records)
}

/// The verdict; of a metric without one, whether the score is the best one that the metric has.
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

/// What the records of all metrics of a row have.
fn common(names: &Names, row: &ResultRow, sample: &Sample) -> Map<String, Value> {
    let mut record = Map::new();
    let mut add = |key: &str, value: Value| record.insert(key.to_owned(), value);
    add("schema_version", SCHEMA_VERSION.into());
    add("evaluation_id", names.evaluation_id.clone().into());
    add("model_id", names.model.clone().into());
    add("sample_id", row.id.clone().into());
    add(
        "sample_hash",
        sha256(format!("{}{}", sample.input, sample.target.concat()).as_bytes()).into(),
    );
    add(
        "input",
        json!({ "raw": sample.input, "reference": sample.target }),
    );
    add("answer_attribution", json!([]));
    match &sample.trajectory {
        Some(trajectory) => {
            let calls_tools = !trajectory.tool_calls().is_empty();
            add(
                "interaction_type",
                if calls_tools { "agentic" } else { "multi_turn" }.into(),
            );
            add("messages", messages(trajectory));
        }
        None => {
            add("interaction_type", "single_turn".into());
            let output: Vec<&str> = sample.output.iter().map(String::as_str).collect();
            add("output", json!({ "raw": output }));
        }
    }
    if let (Some(input), Some(output)) = (row.input_tokens, row.output_tokens) {
        add(
            "token_usage",
            json!({
                "input_tokens": input, "output_tokens": output, "total_tokens": input.saturating_add(output),
            }),
        );
    }
    if let Some(seconds) = row.latency_s {
        add("performance", json!({ "latency_ms": 1000.0 * seconds }));
    }
    let attributes: Map<_, _> = row
        .attributes
        .iter()
        .map(|(name, value)| (name.to_owned(), Value::from(as_string(value))))
        .collect();
    if !attributes.is_empty() {
        add("metadata", attributes.into());
    }
    record
}

fn messages(trajectory: &Trajectory) -> Value {
    let messages = trajectory
        .messages()
        .iter()
        .enumerate()
        .map(|(turn, message)| {
            let mut written =
                json!({ "turn_idx": turn, "role": message.role.as_str(), "content": message.text });
            let Some(fields) = written.as_object_mut() else {
                return written;
            };
            let calls = message.tool_calls.iter().enumerate().map(|(number, call)| {
                let id = call
                    .id
                    .clone()
                    .unwrap_or_else(|| format!("{turn}-{number}"));
                let args: Map<_, _> = match &call.args {
                    Value::Object(args) => {
                        let text =
                            |(name, value): (&String, _)| (name.clone(), as_string(value).into());
                        args.iter().map(text).collect()
                    }
                    malformed => Map::from_iter([("args".to_owned(), as_string(malformed).into())]),
                };
                json!({ "id": id, "name": call.name, "arguments": args })
            });
            if !message.tool_calls.is_empty() {
                fields.insert("tool_calls".to_owned(), calls.collect());
            }
            if let Some(id) = &message.tool_call_id {
                fields.insert("tool_call_id".to_owned(), json!([id]));
            }
            written
        });
    messages.collect()
}
