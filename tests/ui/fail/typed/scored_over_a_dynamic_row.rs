use dsrs_metrics::prelude::*;

struct Gold {
    weight: f64,
}

#[metric(gold = Gold)]
fn weight(#[gold] weight: f64) -> f64 {
    weight
}

fn main() {
    let metric: Box<dyn Metric> = Box::new(Weight);
    let _ = metric.name();
}
