use dsrs_metrics::prelude::*;

#[derive(Debug, Clone)]
struct Limit(f64);

#[metric]
fn overlap(#[pred] share: f64, #[param] most: Limit) -> bool {
    share <= most.0
}

dsrs_metrics::main![Overlap];
