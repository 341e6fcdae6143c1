use dsrs_metrics::prelude::*;

#[metric]
fn is_small(#[pred(named_by = field)] count: usize, #[param(default = "count")] field: &str) -> bool {
    count < 10
}

fn main() {}
