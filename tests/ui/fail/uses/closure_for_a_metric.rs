use dsrs_metrics::prelude::*;

fn run(_: impl Metric) {}

fn main() {
    run(|gold: &Example, pred: &Prediction| gold.get("answer") == pred.get("answer"));
}
