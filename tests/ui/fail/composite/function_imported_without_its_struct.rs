use dsrs_metrics::metrics::{em, f1};
use dsrs_metrics::prelude::*;

#[metric(weighted(em = 0.5, f1 = 0.5))]
struct Blend;

fn main() {}
