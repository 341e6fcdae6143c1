use dsrs_metrics::prelude::*;

#[metric]
fn same(#[gold] answer: &str, #[pred] answer: &str) -> bool {
    answer == answer
}

#[metric]
fn best(#[pred(default)] scores: &[f64], #[gold("points")] scores: Vec<f64>, #[gold] scores: f64) -> bool {
    scores.len() == 1
}

#[metric]
fn within(#[pred] given: f64, #[param] most: f64, #[param] most: f64) -> bool {
    given < most
}
