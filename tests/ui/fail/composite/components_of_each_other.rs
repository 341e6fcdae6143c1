use dsrs_metrics::prelude::*;

#[metric]
fn valid(#[pred] ok: bool) -> bool {
    ok
}

#[metric(all(valid, second))]
struct First;

#[metric(any(valid, first))]
struct Second;

fn main() {}
