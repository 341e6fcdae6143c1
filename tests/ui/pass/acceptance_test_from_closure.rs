use dsrs_metrics::prelude::*;

fn bootstrap(_: impl AcceptanceTest) {}

fn main() {
    bootstrap(metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer")));
}
