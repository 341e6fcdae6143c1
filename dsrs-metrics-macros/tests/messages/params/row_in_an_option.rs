use dsrs_metrics::prelude::*;

#[metric]
fn same(gold: Option<&Example>) -> bool {
    gold.is_none()
}

fn main() {}
