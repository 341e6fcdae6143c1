//! The samples of a log, and their summaries.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::ScoreValue;
use super::header::model;
use crate::contract::Fields;
use crate::error::FormatError;
use crate::export::run::{ExportedRun, Sample, fields, present, token_usage};
use crate::import::as_string;
use crate::results::{ResultOutcome, ResultRow, ResultScore};
use crate::trajectory::Trajectory;

#[derive(Serialize)]
pub(super) struct EvalSample<'a> {
    #[serde(flatten)]
    summary: Summary<'a>,
    messages: Vec<Value>,
    output: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// What a sample and its summary have in common.
#[derive(Serialize)]
pub(super) struct Summary<'a> {
    id: &'a str,
    epoch: u32,
    input: String,
    target: Value,
    scores: IndexMap<&'a str, Score<'a>>,
    metadata: Map<String, Value>,
    model_usage: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_time: Option<f64>,
    uuid: String,
}

#[derive(Serialize)]
pub(super) struct SampleSummary<'a> {
    #[serde(flatten)]
    summary: Summary<'a>,
    message_count: usize,
    completed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Score<'a> {
    value: ScoreValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
}

impl ExportedRun<'_> {
    pub(super) fn sample<'r>(&self, row: &'r ResultRow) -> Result<EvalSample<'r>, FormatError> {
        let sample = Sample::of(row, self)?;
        let messages = messages(&sample);
        let model = model(self);
        let output = sample.output.as_ref().map(|text| {
            let message = json!({ "role": "assistant", "content": text, "source": "generate", "model": model });
            json!({
                "model": model, "completion": text,
                "choices": [{ "message": message, "stop_reason": "stop" }],
            })
        });
        let output =
            output.unwrap_or_else(|| json!({ "model": model, "choices": [], "completion": "" }));
        let error = failure_of_program(row);
        let error =
            error.map(|text| json!({ "message": text, "traceback": "", "traceback_ansi": "" }));
        Ok(EvalSample {
            summary: self.common(row, sample),
            messages,
            output,
            error,
        })
    }

    pub(super) fn summary<'r>(&self, row: &'r ResultRow) -> Result<SampleSummary<'r>, FormatError> {
        let sample = Sample::of(row, self)?;
        let message_count = match &sample.trajectory {
            Some(trajectory) => trajectory.messages().len(),
            None => 1 + usize::from(sample.output.is_some()),
        };
        let error = failure_of_program(row);
        let completed = error.is_none();
        Ok(SampleSummary {
            summary: self.common(row, sample),
            message_count,
            completed,
            error,
        })
    }

    fn common<'r>(&self, row: &'r ResultRow, sample: Sample) -> Summary<'r> {
        let scores = row
            .scores
            .iter()
            .map(|(name, it)| (&**name, self.score(name, it)))
            .collect();
        let usage = token_usage(row).map(|tokens| (model(self).to_owned(), tokens));
        let target = match <[String; 1]>::try_from(sample.target) {
            Ok([target]) => target.into(),
            Err(targets) if targets.is_empty() => "".into(),
            Err(targets) => targets.into(),
        };
        Summary {
            id: &row.id,
            epoch: 1,
            input: sample.input,
            target,
            scores,
            metadata: attributes(&row.attributes),
            model_usage: usage.into_iter().collect(),
            total_time: row.latency_s,
            working_time: row.latency_s,
            uuid: self.uuid(&["sample", &row.id]),
        }
    }

    fn score<'r>(&self, name: &str, score: &'r ResultScore) -> Score<'r> {
        let value = match score.value {
            Some(value) if self.is_verdict(name) => ScoreValue::Verdict(value >= 1.0),
            Some(value) => ScoreValue::Number(value),
            None => ScoreValue::NotScored,
        };
        let mut metadata = score.metadata.clone();
        metadata.extend(fields(json!({
            "passed": score.passed.filter(|_| matches!(value, ScoreValue::Number(_))),
            "parts": Some(&score.parts).filter(|it| !it.is_empty()),
            "cost_msats": Some(score.cost_msats).filter(|it| *it > 0),
            // inspect_ai has one value, "not scored", for all outcomes without a score.
            "dsrs_metrics_outcome": score.value.is_none().then(|| score.outcome.name()),
        })));
        Score {
            value,
            explanation: score.explanation(),
            metadata,
        }
    }
}

/// Returns the attributes of a row. The attribute `metadata`, which rows of inspect_ai have, is the metadata itself.
fn attributes(attributes: &Fields) -> Map<String, Value> {
    let mut metadata = Map::new();
    for (name, value) in attributes.iter() {
        match value {
            Value::Object(fields) if name == "metadata" => metadata.extend(fields.clone()),
            value => drop(metadata.insert(name.to_owned(), value.clone())),
        }
    }
    metadata
}

/// Returns the error of the program, if it failed.
fn failure_of_program(row: &ResultRow) -> Option<String> {
    let failed = row
        .scores
        .values()
        .find(|it| it.outcome == ResultOutcome::ProgramFailed)?;
    Some(
        failed
            .error
            .clone()
            .unwrap_or_else(|| failed.outcome.name().to_owned()),
    )
}

/// Returns the trajectory, or else the input and the answer, as messages of inspect_ai.
fn messages(sample: &Sample) -> Vec<Value> {
    match &sample.trajectory {
        Some(trajectory) => of_trajectory(trajectory),
        None => {
            let question = json!({ "role": "user", "content": sample.input, "source": "input" });
            let answer = sample
                .output
                .as_ref()
                .map(|text| json!({ "role": "assistant", "content": text, "source": "generate" }));
            [question].into_iter().chain(answer).collect()
        }
    }
}

fn of_trajectory(trajectory: &Trajectory) -> Vec<Value> {
    let failed = |id: &String| {
        trajectory
            .tool_calls()
            .iter()
            .any(|it| it.failed && it.id.as_ref() == Some(id))
    };
    let messages = trajectory.messages().iter().enumerate();
    let messages = messages.map(|(turn, message)| {
        let calls = message.tool_calls.iter().enumerate().map(|(number, call)| {
            let id = call.id.clone();
            let (arguments, error) = match &call.args {
                args @ Value::Object(_) => (args.clone(), None),
                malformed => (json!({}), Some(as_string(malformed))),
            };
            present(json!({
                "id": id.unwrap_or_else(|| format!("{turn}-{number}")),
                "function": call.name,
                "arguments": arguments,
                "type": "function",
                "parse_error": error,
            }))
        });
        let calls: Vec<Value> = calls.collect();
        let error = message.tool_call_id.as_ref().filter(|id| failed(id));
        present(json!({
            "role": message.role.as_str(),
            "content": message.text,
            "tool_calls": Some(calls).filter(|it| !it.is_empty()),
            "tool_call_id": message.tool_call_id,
            "error": error.map(|_| json!({ "type": "unknown", "message": message.text })),
        }))
    });
    messages.collect()
}
