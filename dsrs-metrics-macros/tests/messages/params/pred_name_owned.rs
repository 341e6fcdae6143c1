use dsrs_metrics::prelude::*;

#[metric]
fn is_named(pred_name: Option<String>) -> bool {
    pred_name.is_some()
}

fn main() {}
