use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(tier = truth)]
fn verified(#[pred] answer: &str) -> bool {
    answer == "42"
}

#[metric(gate(proxy(format_ok) >= 0.5, truth(verified)), threshold = 0.5)]
struct Checked;

fn main() {}
