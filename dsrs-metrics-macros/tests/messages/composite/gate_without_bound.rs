use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(tier = truth, cost = "100 msat", range = 0.0..=1.0, threshold = 0.5)]
async fn judged(#[pred] answer: &str) -> f64 {
    if answer.is_empty() { 0.0 } else { 1.0 }
}

#[metric(gate(proxy(format_ok), truth(judged)))]
struct Checked;

fn main() {}
