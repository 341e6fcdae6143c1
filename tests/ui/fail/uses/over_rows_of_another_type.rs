use dsrs_metrics::prelude::*;

struct Gold {
    answer: String,
}

#[metric]
fn same(gold: &Gold, #[pred] answer: &str) -> bool {
    gold.answer == answer
}

fn run(_: &dyn Metric) {}

fn main() {
    run(&Same);
}
