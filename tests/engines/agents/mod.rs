//! Metrics of the steps of coding agents: plans, replies, and outcomes of tool calls.

mod formula;
mod labels;
mod outcome;
mod planning;
mod replies;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    contract::{Configure, Params},
    rows::Pair,
};

/// The value of each component, and the feedback.
fn components(metric: &impl Metric, pred: &Prediction) -> (Vec<f64>, String) {
    let gold = example! {};
    let scored = metric
        .answer(MetricCall::new(&gold, pred))
        .ready()
        .unwrap()
        .unwrap();
    let values = scored.parts().iter().map(|part| part.value).collect();
    (values, scored.feedback().unwrap_or_default().into_owned())
}

fn value(metric: &impl Metric, pred: &Prediction) -> f64 {
    let gold = example! {};
    metric
        .answer(MetricCall::new(&gold, pred))
        .ready()
        .unwrap()
        .unwrap()
        .score
        .value
}

fn error(metric: &impl Metric, pred: &Prediction) -> String {
    let gold = example! {};
    metric
        .answer(MetricCall::new(&gold, pred))
        .ready()
        .unwrap()
        .unwrap_err()
        .to_string()
}

/// A metric that is configured as on the command line.
fn configured<M: Configure>(params: &[(&str, &str)]) -> M {
    let mut given = Params::default();
    for (name, value) in params {
        given.insert(*name, *value);
    }
    M::configure(&given).unwrap()
}

/// The error before the first row.
async fn preflight_error(metric: impl Metric + 'static) -> String {
    let evaluate = Evaluate::builder().metric(metric).build().unwrap();
    let row = Pair::new("1", example! {}, prediction! {});
    evaluate.score([row]).await.unwrap_err().to_string()
}
