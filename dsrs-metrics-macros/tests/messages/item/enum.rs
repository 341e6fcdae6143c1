use dsrs_metrics::prelude::*;

#[metric]
enum Verdict {
    Pass,
    Fail,
}

fn main() {}
