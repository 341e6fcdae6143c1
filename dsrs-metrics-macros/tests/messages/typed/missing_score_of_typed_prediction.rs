use dsrs_metrics::prelude::*;

struct Reply {
    answer: String,
}

#[metric(pred = Reply, missing = false)]
fn overlap(#[pred] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
