use dsrs_metrics::prelude::*;

#[metric]
fn same(example: &Example, pred: &mut Prediction) -> bool {
    example.get("answer") == pred.get("answer")
}

fn main() {}
