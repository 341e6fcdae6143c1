use dsrs_metrics::prelude::*;

#[metric]
fn overlap(
    answer: &str,
    #[gold] #[pred] both: &str,
    #[pred(rename = "x")] renamed: &str,
    #[pred] mutable: &mut String,
    #[pred(default)] optional: Option<u8>,
    trace: &Trace,
    gold: Example,
) -> bool {
    answer == both
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! {});
    let metric: Box<dyn Metric> = Box::new(Overlap);
    let _ = metric.name();
}
