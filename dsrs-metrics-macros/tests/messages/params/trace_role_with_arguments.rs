use dsrs_metrics::prelude::*;

#[metric]
fn steps(#[trace("steps")] steps: &Trace, #[trace = "more"] more: Option<&Trace>) -> usize {
    steps.steps.len() + more.map_or(0, |trace| trace.steps.len())
}

fn main() {}
