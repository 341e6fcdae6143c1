use dsrs_metrics::prelude::*;

#[metric]
fn steps(#[trace] steps: Option<Trace>) -> usize {
    steps.map_or(0, |trace| trace.steps.len())
}

fn main() {}
