//! Judges and models that several tests use.

use std::sync::Arc;

use dsrs_metrics::contract::Settings;
use dsrs_metrics::judge::{Models, Preference};
use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

/// Compare a system's response to the ground truth and report recall and precision.
#[judge(score = harmonic_mean(precision, recall), threshold = 0.66, range = 0.0..=1.0, cost = "100 msat", version = "2")]
pub(crate) struct SemanticRecallPrecision {
    #[input(gold)]
    pub(crate) question: String,
    #[input(gold = "response", desc = "the truth")]
    pub(crate) ground_truth: String,
    #[input(pred = "response")]
    pub(crate) system_response: String,
    /// fraction of the ground truth that the response covers
    #[output(range = 0.0..=1.0)]
    pub(crate) recall: f64,
    /// fraction of the response that the ground truth supports
    #[output(range = 0.0..=1.0)]
    pub(crate) precision: f64,
}

/// Grade the answer from 1 (useless) to 5 (perfect).
#[judge(threshold = 4.0, cost = "10 msat")]
pub(crate) struct Grade5 {
    #[input(pred)]
    answer: String,
    #[output(range = 1..=5)]
    score: u8,
}

/// Say whether the answer is polite.
#[judge(cost = "10 msat")]
pub(crate) struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// Say which is better.
#[judge(pairwise(ours, theirs), reasoning = false)]
pub(crate) struct BetterOfTwo {
    #[input(gold)]
    ours: String,
    #[input(pred)]
    theirs: String,
    #[output]
    better: Preference,
}

/// Runs without a configured model, whatever `DSRS_LM` is in the environment.
pub(crate) async fn unconfigured<F: Future>(run: F) -> F::Output {
    Settings::new().with(Models::default()).scope(run).await
}

pub(crate) fn rows() -> (Example, Prediction) {
    let gold = example! { "question" => "Capital of France?", "response" => "Paris, on the Seine" };
    (
        gold,
        prediction! { "response" => "Paris", "answer" => "Paris, please." },
    )
}

pub(crate) fn recall_precision(recall: f64, precision: f64) -> Value {
    json!({ "reasoning": "because", "recall": recall, "precision": precision })
}

/// An answer of the first call of `CompleteAndGrounded`.
pub(crate) fn complete(reasoning: &str, completeness: f64) -> Value {
    json!({
        "reasoning": reasoning, "ground_truth_key_ideas": ["Paris"], "system_response_key_ideas": ["Paris"],
        "discussion": "", "completeness": completeness,
    })
}

/// An answer of the second call.
pub(crate) fn grounded(reasoning: &str, groundedness: f64) -> Value {
    json!({
        "reasoning": reasoning, "system_response_claims": ["It is in Paris."], "discussion": "",
        "groundedness": groundedness,
    })
}

pub(crate) fn grade(score: i64) -> Value {
    json!({ "reasoning": "because", "score": score })
}

pub(crate) fn polite(polite: bool) -> Value {
    json!({ "reasoning": "because", "polite": polite })
}

pub(crate) fn says(reply: Value) -> ScriptedLm {
    ScriptedLm::new().cost(7).otherwise(reply)
}

pub(crate) fn user(request: &LmRequest) -> &str {
    &request.messages[1].content
}

/// A list of verdicts: a value of each item, with its number.
pub(crate) fn items<T>(list: &[T], item: impl Fn(&T) -> Value) -> Value {
    let numbered = list.iter().zip(1..).map(|(it, number)| {
        let mut item = item(it);
        item["item"] = json!(number);
        item
    });
    numbered.collect()
}

/// As many strings as the list has items.
pub(crate) fn named<T>(list: &[T]) -> Value {
    list.iter()
        .zip(1..)
        .map(|(_, number)| json!(format!("s{number}")))
        .collect()
}

/// A model with a reply for each step by its name, and for the last call.
pub(crate) fn lm<const N: usize>(
    steps: [(&'static str, Value); N],
    last: Value,
) -> Arc<dyn LanguageModel> {
    Arc::new(ScriptedLm::new().otherwise(move |request: &LmRequest| {
        let step = request.purpose.split_once(", step ").map(|(_, step)| step);
        match step.and_then(|step| steps.iter().find(|(name, _)| *name == step)) {
            Some((name, value)) => json!({ *name: value.clone() }),
            None => last.clone(),
        }
    }))
}
