//! Composites: rejected expressions, scores, missing components and sharing.

mod declared;
mod formulas;
mod laws;
mod missing;
mod refused;
mod sharing;

use dsrs_metrics::prelude::*;

/// A bool metric that returns the row's field.
#[metric]
pub(crate) fn format_ok(#[pred] format: bool) -> bool {
    format
}

/// A number metric in [0, 1] that returns the row's field.
#[metric(range = 0.0..=1.0)]
pub(crate) fn overlap(#[pred] overlap: Option<f64>) -> Option<f64> {
    overlap
}

/// A number metric in [0, 1] with a threshold.
#[metric(range = 0.0..=1.0, threshold = 0.5)]
pub(crate) fn length(#[pred] length: f64) -> f64 {
    length
}

/// An asynchronous truth metric.
#[metric(tier = truth, cost = "100 msat", range = 0.0..=1.0, threshold = 0.5)]
pub(crate) async fn judged(#[pred] judged: f64) -> Result<f64, String> {
    tokio::task::yield_now().await;
    if judged < 0.0 {
        Err("the judge is away".to_owned())
    } else {
        Ok(judged)
    }
}

/// A lower-is-better metric.
#[metric(range = 0.0..=2.0, threshold = 0.5, lower_is_better)]
pub(crate) fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

/// A metric without a range.
#[metric]
pub(crate) fn words(#[pred] words: f64) -> f64 {
    words
}

/// Scores a row with a composite without asynchronous components.
fn score(composite: &impl Metric, pred: &Prediction) -> dsrs_metrics::Result<dsrs_metrics::Scored> {
    let gold = example! {};
    composite
        .answer(MetricCall::new(&gold, pred))
        .ready()
        .expect("all components are synchronous")
}
