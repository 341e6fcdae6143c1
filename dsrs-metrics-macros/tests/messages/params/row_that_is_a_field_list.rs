use dsrs_metrics::prelude::*;

#[metric]
fn same(#[gold] answer: Vec<String>, pred: Vec<String>) -> bool {
    answer == pred
}

fn main() {}
