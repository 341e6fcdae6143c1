use dsrs_metrics::prelude::*;

struct Overlap;

fn main() {
    let _: &dyn Metric = &Overlap;
}
