use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

fn check(metric: Box<dyn Metric>) {
    let _ = metric.score(&example! {}, &prediction! {});
    let metric: &dyn Metric = &*metric;
    let _ = metric.score(&example! {}, &prediction! {});
}

fn main() {
    let _ = Evaluate::builder();
}
