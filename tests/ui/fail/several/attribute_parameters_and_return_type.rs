use dsrs_metrics::prelude::*;

#[metric(tier = "proxy", treshold = 0.5)]
fn overlap(answer: &str, #[pred(default)] given: Option<&str>) -> impl Into<f64> {
    0.5
}

fn main() {
    let metric: Box<dyn Metric> = Box::new(Overlap);
    let _ = metric.name();
    let _ = Overlap.score(&example! {}, &prediction! {});
}
