use dsrs_metrics::prelude::*;

#[metric]
fn is_short(#[pred(named_by = "field")] text: &str, #[param(default = "answer")] field: &str) -> bool {
    text.len() < 10
}

fn main() {}
