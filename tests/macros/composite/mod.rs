//! Composites: what they refuse, what they give, and what they never do.

mod declared;
mod formulas;
mod laws;
mod missing;
mod refused;
mod sharing;

use dsrs_metrics::prelude::*;

/// A bool metric that says what the row says.
#[metric]
pub(crate) fn format_ok(#[pred] format: bool) -> bool {
    format
}

/// A number in [0, 1] that says what the row says.
#[metric(range = 0.0..=1.0)]
pub(crate) fn overlap(#[pred] overlap: Option<f64>) -> Option<f64> {
    overlap
}

/// Another, with a threshold of its own.
#[metric(range = 0.0..=1.0, threshold = 0.5)]
pub(crate) fn length(#[pred] length: f64) -> f64 {
    length
}

/// A truth metric that must be awaited.
#[metric(tier = truth, cost = "100 msat", range = 0.0..=1.0, threshold = 0.5)]
pub(crate) async fn judged(#[pred] judged: f64) -> Result<f64, String> {
    tokio::task::yield_now().await;
    if judged < 0.0 { Err("the judge is away".to_owned()) } else { Ok(judged) }
}

/// Lower is better.
#[metric(range = 0.0..=2.0, threshold = 0.5, lower_is_better)]
pub(crate) fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

/// No range at all.
#[metric]
pub(crate) fn words(#[pred] words: f64) -> f64 {
    words
}

/// The score of a composite without asynchronous components.
fn score(composite: &impl Metric, pred: &Prediction) -> dsrs_metrics::Result<dsrs_metrics::Scored> {
    let gold = example! {};
    composite.answer(MetricCall::new(&gold, pred)).ready().expect("all components are synchronous")
}
