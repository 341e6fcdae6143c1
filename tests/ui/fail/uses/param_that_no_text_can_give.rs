use dsrs_metrics::prelude::*;

#[derive(Debug, Clone)]
struct Limit(f64);

#[metric]
fn overlap(#[pred] share: f64, #[param] most: Limit) -> bool {
    share <= most.0
}

fn configured<M: dsrs_metrics::contract::Configure>() {}

fn main() {
    configured::<Overlap>();
}
