//! The proxy checks: format, keywords, length, syntax, tool calls.

mod bad_input;
mod balance;
mod diff;
mod fields;
mod format;
mod keyword;
mod languages;
mod length;
mod repeated;
mod schema;
mod traps;
mod trees;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{Scored, contract::MetricCall};

/// Evaluates a metric on an answer.
#[track_caller]
fn scored(metric: &impl Metric, answer: &str) -> Scored {
    let (gold, pred) = (example! {}, prediction! { "answer" => answer });
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .expect("a synchronous metric");
    scored.unwrap_or_else(|error| panic!("{error}"))
}

/// The score and feedback of an answer.
#[track_caller]
fn evaluate(metric: &impl Metric, answer: &str) -> (f64, String) {
    let scored = scored(metric, answer);
    (
        scored.score.value,
        scored.feedback().unwrap_or_default().into_owned(),
    )
}

/// The error of a metric on a prediction.
#[track_caller]
fn error_of(metric: &impl Metric, pred: &Prediction) -> String {
    let gold = example! {};
    let scored = metric
        .answer(MetricCall::new(&gold, pred))
        .ready()
        .expect("a synchronous metric");
    scored.expect_err("no score").to_string()
}
