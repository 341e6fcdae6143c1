use dsrs_metrics::prelude::*;

#[metric]
fn steps(trace: Option<Trace>) -> usize {
    trace.map_or(0, |trace| trace.steps.len())
}

fn main() {}
