use dsrs_metrics::prelude::*;

#[metric]
fn is_fast(run: &ProgramRun) -> bool {
    run.latency.is_some()
}

fn main() {}
