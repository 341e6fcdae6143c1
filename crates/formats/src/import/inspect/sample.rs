//! Reads one epoch of a sample.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::score::{Attachments, Score, text_of, trajectory};
use crate::contract::ProgramRun;
use crate::import::scores::program_run;
use crate::import::text::{Unique, parse};
use crate::json::describe::found;

/// A sample.
#[derive(Deserialize)]
pub(super) struct Sample {
    pub(super) id: Value,
    pub(super) epoch: u32,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    choices: Value,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    messages: Vec<Value>,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    pub(super) scores: Option<Unique<Score>>,
    /// The only score, in logs before version 2.
    #[serde(default)]
    score: Option<Score>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    attachments: HashMap<String, String>,
    #[serde(default)]
    model_usage: HashMap<String, Usage>,
    #[serde(default)]
    total_time: Option<f64>,
    #[serde(default)]
    working_time: Option<f64>,
    #[serde(default)]
    invalidation: Value,
    #[serde(default)]
    error: Option<SampleError>,
    #[serde(default)]
    limit: Option<Limit>,
}

#[derive(Deserialize)]
struct SampleError {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Limit {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_cache_read: Option<u64>,
    input_tokens_cache_write: Option<u64>,
}

impl Sample {
    /// The fields that are read: not events, which make up most of a log.
    pub(super) const FIELDS: [&str; 17] = [
        "id",
        "epoch",
        "input",
        "choices",
        "target",
        "messages",
        "output",
        "scores",
        "score",
        "metadata",
        "attachments",
        "model_usage",
        "total_time",
        "working_time",
        "invalidation",
        "error",
        "limit",
    ];

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut sample: Self = parse(text.as_bytes())?;
        if let Some(score) = sample.score.take() {
            let scores = sample.scores.get_or_insert_with(|| Unique(IndexMap::new()));
            scores.0.entry("score".to_owned()).or_insert(score);
        }
        let mut attachments = Attachments::new(std::mem::take(&mut sample.attachments));
        let Self {
            input,
            choices,
            target,
            messages,
            output,
            metadata,
            ..
        } = &mut sample;
        for value in [input, choices, target, output, metadata]
            .into_iter()
            .chain(messages)
        {
            attachments.resolve(value)?;
        }
        Ok(sample)
    }

    /// The id as a string.
    pub(super) fn id(&self) -> Result<String, String> {
        id_of(&self.id)
    }

    /// Returns the message of the error that ended the sample.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_ref().map(|error| &*error.message)
    }

    /// Returns the gold row: input and target. The target is also the field `answer`, which metrics read.
    pub(super) fn gold(&mut self) -> Value {
        let mut gold = Map::new();
        let input = match std::mem::take(&mut self.input) {
            Value::Array(messages) => trajectory(messages),
            input => input,
        };
        let target = std::mem::take(&mut self.target);
        for (name, value) in [
            ("input", input),
            ("answer", target.clone()),
            ("target", target),
            ("choices", std::mem::take(&mut self.choices)),
        ] {
            if !value.is_null() {
                gold.insert(name.to_owned(), value);
            }
        }
        Value::Object(gold)
    }

    /// Returns the prediction: the completion, and the messages as a trajectory; `None` if the sample failed.
    pub(super) fn pred(&mut self) -> Option<Value> {
        if self.error.is_some() {
            return None;
        }
        let mut pred = Map::new();
        let completion = match self.output.get("completion") {
            Some(Value::String(completion)) => Some(completion.clone()),
            // Logs of earlier versions have only the message.
            _ => self
                .output
                .get("choices")
                .and_then(|choices| text_of(choices.get(0)?.get("message")?.get("content")?)),
        };
        if let Some(answer) = completion {
            pred.insert("answer".to_owned(), answer.into());
        }
        pred.insert(
            "trajectory".to_owned(),
            trajectory(std::mem::take(&mut self.messages)),
        );
        Some(Value::Object(pred))
    }

    /// Returns the sample's working time and the tokens of the evaluated model.
    pub(super) fn run(&self, model: &str) -> ProgramRun {
        let usage = self.model_usage.get(model).map(|usage| {
            let input = [
                usage.input_tokens,
                usage.input_tokens_cache_read,
                usage.input_tokens_cache_write,
            ];
            let input = input.into_iter().flatten().fold(0, u64::saturating_add);
            [input, usage.output_tokens.unwrap_or(0)]
        });
        program_run(self.working_time.or(self.total_time), usage)
    }

    /// Returns the properties that all epochs of the sample share.
    pub(super) fn metadata(&mut self) -> Value {
        std::mem::take(&mut self.metadata)
    }

    /// Returns the limit that ended the sample.
    pub(super) fn limit(&self) -> Option<&str> {
        self.limit.as_ref().map(|limit| &*limit.kind)
    }

    pub(super) fn is_invalidated(&self) -> bool {
        !self.invalidation.is_null()
    }
}

/// Returns an id as a string, because a log may use integers.
pub(super) fn id_of(id: &Value) -> Result<String, String> {
    match id {
        Value::String(id) => Ok(id.clone()),
        Value::Number(id) => Ok(id.to_string()),
        other => Err(format!(
            "`id`: expected a string or a number, found {}",
            found(other)
        )),
    }
}
