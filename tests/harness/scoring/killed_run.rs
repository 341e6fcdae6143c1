//! A scorer with a store in a process of its own, which `killed.rs` starts and kills. Before a call that costs something
//! returns, it is written to the file `paid`.
//!
//! Arguments: the directory, the number of rows, and the budget in millisatoshis.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    composite::OnMissing,
    contract::Settings,
    runs::RolloutNumber,
    scoring::{AggregationMethod, Scorer},
};

const CONCURRENCY: usize = 8;

/// Writes a call as one line: its kind, row, rollout and cost.
fn pay(dir: &Path, kind: &str, pred: (u64, u64), cost: u64) {
    let paid = OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join("paid"));
    let line = format!("{kind} {} {} {cost}\n", pred.0, pred.1);
    paid.unwrap().write_all(line.as_bytes()).unwrap();
}

fn number(example: &Example, name: &str) -> u64 {
    example
        .get(name)
        .and_then(serde_json::Value::as_u64)
        .unwrap()
}

/// Returns row and rollout of a prediction.
fn place(pred: &Prediction) -> (u64, u64) {
    let number = |name: &str| pred.get(name).and_then(serde_json::Value::as_u64).unwrap();
    (number("row"), number("rollout"))
}

/// A truth metric with a cost.
struct Dear(PathBuf);

#[async_trait]
impl Metric for Dear {
    fn name(&self) -> &'static str {
        "dear"
    }

    fn spec(&self) -> MetricSpec<'_> {
        let spec = MetricSpec::new("dear")
            .with_tier(MetricTier::Truth)
            .with_range(0.0, 1.0);
        spec.with_cost_msats(100).with_async()
    }

    async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        let (row, rollout) = place(pred);
        let cost = 70 + 10 * (row % 3);
        pay(&self.0, "dear", (row, rollout), cost);
        tokio::time::sleep(Duration::from_millis(2)).await;
        let score = f64::from(u32::try_from((row + rollout) % 7).unwrap()) / 6.0;
        Ok(MetricScore::new(score).with_cost_msats(cost))
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, rows, budget] = &arguments[..] else {
        panic!("expected three arguments")
    };
    let dir = PathBuf::from(dir);
    let cheap = metric_fn("cheap", |_, pred| {
        let (row, rollout) = place(pred);
        (row + rollout) % 5 != 0
    });
    let store = dir.join("store");
    let scorer = Scorer::builder()
        .proxy(cheap)
        .truth(Dear(dir.clone()))
        .num_rollouts(3)
        .aggregation(AggregationMethod::Mean)
        .on_missing(OnMissing::Skip)
        .budget_msats(budget.parse().unwrap())
        .inputs(["row"])
        .evaluate(|run| run.models(|models| models.store(store)))
        .build()
        .unwrap();
    let paid = dir.clone();
    let program = move |inputs: Example| {
        let (dir, row) = (paid.clone(), number(&inputs, "row"));
        async move {
            let rollout = Settings::get::<RolloutNumber>().unwrap().0 as u64;
            pay(&dir, "program", (row, rollout), 0);
            tokio::time::sleep(Duration::from_millis(1)).await;
            match (row % 13, rollout) {
                (5, 1) => Err("told to fail"),
                _ => Ok(prediction! { "row" => row, "rollout" => rollout }),
            }
        }
    };
    let rows: u64 = rows.parse().unwrap();
    let examples = (0..rows).map(|row| example! { "row" => row });
    let result = scorer.run(program, examples, CONCURRENCY).await.unwrap();
    let rows: Vec<_> = result
        .rows
        .iter()
        .map(|row| row.status.to_string())
        .collect();
    let shown = serde_json::json!({
        "summary": result.summary, "rows": rows, "metrics": result.metrics,
        "budget": scorer.budget(),
    });
    fs::write(dir.join("result.json"), shown.to_string()).unwrap();
    println!("{result}; {:?}", result.store);
}
