use dsrs_metrics::prelude::*;

#[metric(all(em, f1 >= 0.5), explain = explain_both)]
struct Both;

fn main() {}
