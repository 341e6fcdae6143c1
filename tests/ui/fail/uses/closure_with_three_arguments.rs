use dsrs_metrics::prelude::*;

fn main() {
    let _ = metric_fn("answer", |gold, pred, trace| gold.get("answer") == pred.get("answer"));
}
