//! Rows and programs of the tests, without a language model.

use dspy_rs::{Example, LmUsage, Module, Prediction};
use serde_json::Value;

/// Returns an example whose input is `question`.
pub(crate) fn row<const N: usize>(fields: [(&str, Value); N]) -> Example {
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    Example::new(fields.collect(), vec!["question".to_owned()], Vec::new())
}

/// Returns an example with a question and the expected answer.
pub(crate) fn qa(question: &str, answer: &str) -> Example {
    row([("question", question.into()), ("answer", answer.into())])
}

pub(crate) fn prediction<const N: usize>(fields: [(&str, Value); N]) -> Prediction {
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    Prediction::new(fields.collect(), LmUsage::default())
}

/// Answers with the question. It fails for `fail`, panics for `panic`, and has no answer for `nothing`.
pub(crate) struct Echo;

impl Module for Echo {
    async fn forward(&self, inputs: Example) -> anyhow::Result<Prediction> {
        match inputs.get("question", None).as_str() {
            Some("fail") => Err(anyhow::anyhow!("status 503").context("no reply")),
            Some("panic") => panic!("unwrap of a reply"),
            Some("nothing") => Ok(prediction([("note", "none".into())])),
            answer => Ok(prediction([("answer", answer.into())])),
        }
    }
}
