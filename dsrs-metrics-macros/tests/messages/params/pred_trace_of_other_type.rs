use dsrs_metrics::prelude::*;

#[metric]
fn steps(pred_trace: Option<&str>) -> bool {
    pred_trace.is_some()
}

fn main() {}
