use dsrs_metrics::prelude::*;

#[metric]
fn same(gold: &Prediction, pred: &Example) -> bool {
    gold.get("answer") == pred.get("answer")
}

fn main() {}
