use dsrs_metrics::prelude::*;

#[metric]
fn same(expected: &Example, actual: &Prediction) -> bool {
    expected.get("answer") == actual.get("answer")
}

fn main() {}
