//! The harness through its public API. Each file tests one guarantee.
#![allow(
    clippy::float_cmp,
    reason = "the promise is that not a single bit differs"
)]

mod batches;
mod blocking;
mod concurrency;
mod corpus;
mod denominators;
mod devset_file;
mod early;
mod failures;
mod faults;
mod files;
mod headlines;
mod input_files;
mod inputs;
mod intervals;
mod missing;
mod per_run;
mod programs;
mod repeats;
mod runs;
mod setup;
mod stopping;
mod summing;
mod table;
mod temporary_files;
mod time;
mod truth;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, MetricError,
    rows::Pair,
    runs::{EvaluateBuilder, EvaluationResult},
};

/// Rows whose prediction determines the result of the metric [`said`].
fn saying(words: &[&str]) -> Vec<Pair> {
    let pair = |(row, word): (usize, &&str)| {
        Pair::new(
            format!("row{row}"),
            example! {},
            prediction! { "say" => *word },
        )
    };
    words.iter().enumerate().map(pair).collect()
}

/// A number, `abstain`, `fail`, `panic`, `nan` or `huge`.
fn said(_: &Example, pred: &Prediction) -> Result<Option<f64>, String> {
    match pred
        .get("say")
        .and_then(|word| word.as_str())
        .unwrap_or_default()
    {
        "abstain" => Ok(None),
        "fail" => Err("told to fail".to_owned()),
        "panic" => panic!("told to panic"),
        "nan" => Ok(Some(f64::NAN)),
        "huge" => Ok(Some(9.2e124)),
        number => number.parse().map(Some).map_err(|error| format!("{error}")),
    }
}

/// The same metric, asynchronous, with a delay that depends on the row.
struct SaidLater;

#[async_trait]
impl Metric for SaidLater {
    fn name(&self) -> &'static str {
        "said_later"
    }

    fn spec(&self) -> MetricSpec<'_> {
        MetricSpec::new("said_later")
            .with_range(0.0, 1e6)
            .with_async()
    }

    async fn evaluate(
        &self,
        gold: &Example,
        pred: &Prediction,
    ) -> dsrs_metrics::Result<MetricScore> {
        tokio::task::yield_now().await;
        match said(gold, pred).map_err(|error| MetricError::failed("said_later", error))? {
            Some(value) => Ok(MetricScore::new(value)),
            None => Err(MetricError::abstained("said_later")),
        }
    }
}

fn scoring() -> EvaluateBuilder<Example, Prediction> {
    Evaluate::builder().metric(metric_fn("said", said).with_range(0.0, 1e6))
}

async fn score(words: &[&str]) -> EvaluationResult {
    scoring()
        .build()
        .unwrap()
        .score(saying(words))
        .await
        .unwrap()
}

/// The report without the elapsed time.
fn report(result: &EvaluationResult) -> String {
    let mut report = dsrs_metrics_tests::schema::to_value(result);
    report.as_object_mut().unwrap().remove("elapsed_s");
    format!(
        "{report}\n{result}\n{:?}\n{:?}",
        result.results, result.first_error
    )
}
