use dsrs_metrics::prelude::*;

#[metric(missing = 0.0)]
fn overlap(#[gold] answer: f64, #[pred] hint: Option<f64>, #[pred(missing)] note: f64) -> f64 {
    answer + hint.unwrap_or(note)
}

fn main() {}
