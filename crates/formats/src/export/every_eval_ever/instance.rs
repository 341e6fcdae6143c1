//! The file for the rows: one record for each row and metric.

use serde_json::{Map, Value, json};

use super::aggregate::result_id;
use super::{Names, SCHEMA_VERSION};
use crate::FormatError;
use crate::contract::MetricIdentity;
use crate::export::run::{ExportedRun, LeftOut, Sample, fields, present, token_usage};
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
