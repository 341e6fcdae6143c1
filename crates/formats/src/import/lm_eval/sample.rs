//! A line of samples: one document under one filter.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::core::Outcome;
use crate::import::scores::{invalid, scored};
use crate::import::text::Unique;

/// A sample, with its metrics among the other keys.
#[derive(Deserialize)]
pub(super) struct Sample {
    #[serde(default)]
    doc: Value,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    filtered_resps: Value,
    /// The names of the metrics, since lm-eval 0.4.8.
    metrics: Option<Vec<String>>,
    doc_hash: Option<String>,
    prompt_hash: Option<String>,
    target_hash: Option<String>,
    // Not read, and no metrics.
    #[serde(default, rename = "doc_id")]
    _doc_id: Value,
    #[serde(default, rename = "resps")]
    _resps: Value,
    #[serde(default, rename = "filter")]
    _filter: Value,
    #[serde(flatten)]
    others: Unique<Value>,
}

impl Sample {
    /// Removes the metrics with their values: those that the sample names, or else all numbers.
    pub(super) fn scores(&mut self) -> Vec<(String, Value)> {
        let others = std::mem::take(&mut self.others.0);
        match &self.metrics {
            Some(names) => names
                .iter()
                .map(|name| (name.clone(), others.get(name).cloned().unwrap_or_default()))
                .collect(),
            None => {
                let is_number = |value: &Value| value.is_number() || value.is_boolean();
                others
                    .into_iter()
                    .filter(|(_, value)| is_number(value))
                    .collect()
            }
        }
    }

    /// Returns the gold row: the target, also under the name that the metrics of the library read, the document, and the prompt.
    pub(super) fn gold(&mut self) -> Value {
        let mut gold = Map::new();
        let target = std::mem::take(&mut self.target);
        if !target.is_null() {
            gold.insert("answer".to_owned(), target.clone());
            gold.insert("target".to_owned(), target);
        }
        if !self.doc.is_null() {
            gold.insert("doc".to_owned(), std::mem::take(&mut self.doc));
        }
        // `{"gen_args_0": {"arg_0": PROMPT, ..}, ..}`
        let prompt = self
            .arguments
            .get("gen_args_0")
            .and_then(|first| first.get("arg_0"));
        if let Some(prompt) = prompt.filter(|prompt| prompt.is_string()) {
            gold.insert("prompt".to_owned(), prompt.clone());
        }
        Value::Object(gold)
    }

    /// Returns the prediction: the first filtered response, and all of them if there are several. Of a choice it is the number of the
    /// likeliest one.
    pub(super) fn prediction(&mut self) -> Map<String, Value> {
        let mut pred = Map::new();
        let mut responses = match std::mem::take(&mut self.filtered_resps) {
            Value::Array(responses) => responses,
            Value::Null => return pred,
            one => vec![one],
        };
        let likelihoods: Option<Vec<f64>> = responses.iter().map(likelihood).collect();
        if let Some(likelihoods) = likelihoods.filter(|all| !all.is_empty()) {
            let best = (0..likelihoods.len())
                .rev()
                .max_by(|a, b| likelihoods[*a].total_cmp(&likelihoods[*b]));
            pred.insert("answer".to_owned(), best.unwrap_or_default().into());
            pred.insert("log_likelihoods".to_owned(), likelihoods.into());
            return pred;
        }
        if let Some(first) = responses.first() {
            // A filter that takes all responses of a repeated task returns a list of them.
            let answer = match first {
                Value::Array(several) => several.first().cloned().unwrap_or_default(),
                one => one.clone(),
            };
            pred.insert("answer".to_owned(), answer);
        }
        if responses.len() > 1 {
            pred.insert("responses".to_owned(), responses.into());
        } else if let Some(Value::Array(several)) = responses.pop().filter(Value::is_array) {
            pred.insert("responses".to_owned(), several.into());
        }
        pred
    }

    /// Returns the hashes of document, prompt and target.
    pub(super) fn hashes(&self) -> Vec<(&'static str, Value)> {
        let hashes = [
            ("doc_hash", &self.doc_hash),
            ("prompt_hash", &self.prompt_hash),
            ("target_hash", &self.target_hash),
        ];
        hashes
            .into_iter()
            .filter_map(|(name, hash)| Some((name, hash.clone()?.into())))
            .collect()
    }
}

/// The log likelihood of `["-1.25", "False"]`, where the second is whether greedy decoding returns the choice.
fn likelihood(response: &Value) -> Option<f64> {
    let [likelihood, is_greedy] = response.as_array()?.as_slice() else {
        return None;
    };
    let is_bool = is_greedy.is_boolean() || matches!(is_greedy.as_str(), Some("True" | "False"));
    let likelihood = match likelihood {
        Value::String(text) => text.parse().ok()?,
        other => other.as_f64()?,
    };
    Some(likelihood).filter(|it: &f64| is_bool && it.is_finite())
}

/// Returns the outcome of a metric's value; `None` if the value is not a number.
pub(super) fn outcome(metric: &str, value: &Value) -> Option<Outcome> {
    let number = |number| scored(number, value.as_bool(), None, Map::new());
    match value {
        Value::Bool(passed) => Some(number(f64::from(u8::from(*passed)))),
        Value::Number(score) => Some(
            score
                .as_f64()
                .map_or_else(|| invalid(metric, value), number),
        ),
        _ => None,
    }
}
