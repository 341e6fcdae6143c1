use dsrs_metrics::prelude::*;

#[metric]
fn steps(trace: &Trace) -> usize {
    trace.steps.len()
}

fn main() {}
