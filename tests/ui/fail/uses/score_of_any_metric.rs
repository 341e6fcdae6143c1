use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

fn check<M: Metric>(metric: M) {
    let _ = metric.score(&example! {}, &prediction! {});
}

fn main() {
    let _ = Evaluate::builder().metric(metric_fn("half", |_, _| 0.5));
}
