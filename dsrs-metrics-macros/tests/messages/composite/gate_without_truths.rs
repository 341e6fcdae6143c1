use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(gate(proxy(format_ok) >= 0.5))]
struct Checked;

fn main() {}
