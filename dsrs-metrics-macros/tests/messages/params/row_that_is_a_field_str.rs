use dsrs_metrics::prelude::*;

#[metric]
fn same(#[gold] answer: &str, pred: &str) -> bool {
    answer == pred
}

fn main() {}
