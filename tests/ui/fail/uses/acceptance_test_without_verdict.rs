use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn bootstrap(_: impl AcceptanceTest) {}

fn main() {
    bootstrap(Overlap);
}
