//! The samples of a log, and their summaries.

use serde_json::{Map, Value, json};

use super::NOT_SCORED;
use super::model;
use crate::FormatError;
use crate::contract::Fields;
use crate::export::run::{ExportedRun, Sample, fields, present, token_usage};
use crate::import::as_string;
use crate::results::{ResultOutcome, ResultRow, ResultScore};
use crate::trajectory::Trajectory;

impl ExportedRun<'_> {
    pub(super) fn sample(&self, row: &ResultRow) -> Result<Value, FormatError> {
        let sample = Sample::of(row, self)?;
        let model = model(self);
        let choices = sample.output.iter().map(|text| {
            let message = json!({ "role": "assistant", "content": text, "source": "generate", "model": model });
            json!({ "message": message, "stop_reason": "stop" })
        });
        let output = json!({
            "model": model,
            "completion": sample.output.as_deref().unwrap_or_default(),
            "choices": choices.collect::<Value>(),
        });
        let error = failure_of_program(row);
        let error =
            error.map(|text| json!({ "message": text, "traceback": "", "traceback_ansi": "" }));
        let mut written = self.common(row, &sample);
        written.extend(fields(json!({
            "messages": messages(&sample),
            "output": output,
            "error": error,
        })));
        Ok(written.into())
    }

    pub(super) fn summary(&self, row: &ResultRow) -> Result<Value, FormatError> {
        let sample = Sample::of(row, self)?;
        let message_count = match &sample.trajectory {
            Some(trajectory) => trajectory.messages().len(),
            None => 1 + usize::from(sample.output.is_some()),
        };
        let error = failure_of_program(row);
        let mut written = self.common(row, &sample);
        written.extend(fields(json!({
            "message_count": message_count,
            "completed": error.is_none(),
            "error": error,
        })));
        Ok(written.into())
    }

    /// What a sample and its summary have in common.
    fn common(&self, row: &ResultRow, sample: &Sample) -> Map<String, Value> {
        let scores = row.scores.iter();
        let scores = scores.map(|(name, it)| (name.clone(), self.score(name, it)));
        let usage = token_usage(row).map(|tokens| (model(self).to_owned(), tokens));
        let target = match &*sample.target {
            [] => "".into(),
            [target] => target.as_str().into(),
            targets => json!(targets),
        };
        fields(json!({
            "id": row.id,
            "epoch": 1,
            "input": sample.input,
            "target": target,
            "scores": scores.collect::<Map<_, _>>(),
            "metadata": attributes(&row.attributes),
            "model_usage": usage.into_iter().collect::<Map<_, _>>(),
            "total_time": row.latency_s,
            "working_time": row.latency_s,
            "uuid": self.uuid(&["sample", &row.id]),
        }))
    }

    fn score(&self, name: &str, score: &ResultScore) -> Value {
        let is_verdict = self.is_verdict(name);
        let value = match score.value {
            Some(value) if is_verdict => json!(if value >= 1.0 { "C" } else { "I" }),
            Some(value) => json!(value),
            None => NOT_SCORED.into(),
        };
        let mut metadata = score.metadata.clone();
        metadata.extend(fields(json!({
            "passed": score.passed.filter(|_| score.value.is_some() && !is_verdict),
            "parts": Some(&score.parts).filter(|it| !it.is_empty()),
            "cost_msats": Some(score.cost_msats).filter(|it| *it > 0),
            // inspect_ai has one value, "not scored", for all outcomes without a score.
            "dsrs_metrics_outcome": score.value.is_none().then(|| score.outcome.name()),
        })));
        present(json!({
            "value": value,
            "explanation": score.explanation(),
            "metadata": Some(metadata).filter(|it| !it.is_empty()),
        }))
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
    let mut scores = row.scores.values();
    let failed = scores.find(|it| it.outcome == ResultOutcome::ProgramFailed)?;
    let name = || failed.outcome.name().to_owned();
    Some(failed.error.clone().unwrap_or_else(name))
}

/// Returns the trajectory, or else the input and the answer, as messages of inspect_ai.
fn messages(sample: &Sample) -> Vec<Value> {
    match &sample.trajectory {
        Some(trajectory) => of_trajectory(trajectory),
        None => {
            let question = json!({ "role": "user", "content": sample.input, "source": "input" });
            let answer =
                |text| json!({ "role": "assistant", "content": text, "source": "generate" });
            let answer = sample.output.as_ref().map(answer);
            [question].into_iter().chain(answer).collect()
        }
    }
}

fn of_trajectory(trajectory: &Trajectory) -> Vec<Value> {
    let calls = trajectory.tool_calls();
    let failed = |id: &String| {
        let mut calls = calls.iter();
        calls.any(|it| it.failed && it.id.as_ref() == Some(id))
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
