use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric]
fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let metric: &dyn Metric<Example, Answer> = &Length;
    let _ = metric.name();
}
