//! Runs with a store: what was paid for is paid once, and the result is that of a run with an empty store.

mod incremental;
mod resumed;
mod stored;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dsrs_metrics::metrics::{Accuracy, Bleu, Em, F1};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, MetricError,
    optimizers::MetricScore,
    runs::{EvaluateBuilder, EvaluationResult, ProgramOutput, ProgramUsage},
};
use serde_json::Value;

/// Calls that cost something, and the moment at which the run is stopped.
#[derive(Default)]
struct Paid {
    programs: AtomicU64,
    metrics: AtomicU64,
    stop_after: AtomicU64,
    stop: tokio::sync::Notify,
}

impl Paid {
    fn stopping_after(programs: u64) -> Arc<Self> {
        let paid = Self::default();
        paid.stop_after.store(programs, Ordering::SeqCst);
        Arc::new(paid)
    }

    fn programs(&self) -> u64 {
        self.programs.load(Ordering::SeqCst)
    }

    fn metrics(&self) -> u64 {
        self.metrics.load(Ordering::SeqCst)
    }
}

/// A metric that calls a service, which fails on some rows at no cost.
struct Remote(Arc<Paid>);

#[async_trait]
impl Metric for Remote {
    fn name(&self) -> &str {
        "remote"
    }

    fn spec(&self) -> MetricSpec<'_> {
        MetricSpec::new("remote").with_cost_msats(60).with_async()
    }

    async fn evaluate(&self, gold: &Example, _: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        self.0.metrics.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let number = gold.get("number").and_then(Value::as_u64).unwrap();
        match number % 7 {
            0 => Err(MetricError::failed(
                "remote",
                format!("no answer for {number}\n\u{1b}[31m"),
            )),
            1 => panic!("row {number}"),
            _ => Ok(MetricScore::new(1.0 / number as f64)
                .with_details(format!("1 / {number}"))
                .with_confidence(0.5)
                .with_cost_msats(number)),
        }
    }
}

/// The mean of both.
#[metric(weighted(em = 0.5, f1 = 0.5))]
struct Blend;

async fn program(paid: Arc<Paid>, inputs: Example) -> Result<ProgramOutput, String> {
    tokio::task::yield_now().await;
    let number = inputs.get("number").and_then(Value::as_u64).unwrap();
    let calls = paid.programs.fetch_add(1, Ordering::SeqCst) + 1;
    let stop_after = paid.stop_after.load(Ordering::SeqCst);
    if calls == stop_after {
        paid.stop.notify_one();
    } else if (1..calls).contains(&stop_after) {
        // The run is stopped meanwhile.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    if number % 11 == 5 {
        return Err(format!("no answer to {number}"));
    }
    let answer = match number % 3 {
        0 => format!("the answer {number}"),
        1 => number.to_string(),
        _ => String::new(),
    };
    let prediction = prediction! { "answer" => answer, "half" => number as f64 / 3.0 };
    Ok(ProgramOutput::new(prediction).with_usage(ProgramUsage::new(number, 1).with_cost_msats(3)))
}

const ROWS: u64 = 60;

fn devset(rows: u64) -> impl Iterator<Item = Example> {
    (0..rows).map(|number| example! { "number" => number, "answer" => number.to_string() })
}

fn builder(paid: &Arc<Paid>, out: &Path) -> EvaluateBuilder<Example, Prediction> {
    let stop = Arc::clone(paid);
    Evaluate::builder()
        .devset(devset(ROWS))
        .inputs(["number"])
        .metric(Em::default())
        .metric(Remote(Arc::clone(paid)))
        .metric(Blend)
        .metric(Accuracy::default())
        .metric(Bleu::default())
        .files(|files| files.jsonl(out))
        .concurrency(4)
        .stop(|run| run.when(async move { stop.stop.notified().await }))
}

/// Runs the program. A run that ends early drops it in the middle of some rows.
async fn run(
    evaluate: EvaluateBuilder<Example, Prediction>,
    paid: &Arc<Paid>,
) -> Result<EvaluationResult, dsrs_metrics::runs::EvaluateError> {
    let paid = Arc::clone(paid);
    evaluate
        .run(move |inputs: Example| program(Arc::clone(&paid), inputs))
        .await
}

/// The headlines and the result file of a run without a store.
async fn undisturbed(dir: &Path) -> (String, Vec<u8>) {
    let (paid, out) = (Arc::default(), dir.join("undisturbed.jsonl"));
    let result = run(builder(&paid, &out), &paid).await.unwrap();
    assert_eq!((paid.programs(), result.rows), (ROWS, ROWS));
    dsrs_metrics_tests::schema::validate_file(&out);
    (result.to_string(), std::fs::read(out).unwrap())
}
