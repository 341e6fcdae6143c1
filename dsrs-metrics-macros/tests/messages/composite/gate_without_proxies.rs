use dsrs_metrics::prelude::*;

#[metric(tier = truth, cost = "100 msat", range = 0.0..=1.0, threshold = 0.5)]
async fn judged(#[pred] answer: &str) -> f64 {
    if answer.is_empty() { 0.0 } else { 1.0 }
}

#[metric(gate(truth(judged)))]
struct Checked;

fn main() {}
