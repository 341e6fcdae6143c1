use dsrs_metrics::prelude::*;

struct Reply {
    answer: String,
}

#[metric(pred = Reply)]
fn overlap(#[pred(missing)] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
