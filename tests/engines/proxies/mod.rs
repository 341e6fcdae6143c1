//! The checks of form: format, keywords, length, syntax, tool calls.

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
use dsrs_metrics::{MetricCall, Scored};

/// What a metric says of an answer.
#[track_caller]
fn judged(metric: &impl Metric, answer: &str) -> Scored {
    let (gold, pred) = (example! {}, prediction! { "answer" => answer });
    let scored =
        metric.answer(MetricCall::new(&gold, &pred)).ready().expect("a synchronous metric");
    scored.unwrap_or_else(|error| panic!("{error}"))
}

/// Score and feedback.
#[track_caller]
fn said(metric: &impl Metric, answer: &str) -> (f64, String) {
    let scored = judged(metric, answer);
    (scored.score.value, scored.feedback().unwrap_or_default().into_owned())
}

/// Why a metric gives no score.
#[track_caller]
fn refused(metric: &impl Metric, pred: &Prediction) -> String {
    let gold = example! {};
    let scored = metric.answer(MetricCall::new(&gold, pred)).ready().expect("a synchronous metric");
    scored.expect_err("no score").to_string()
}
