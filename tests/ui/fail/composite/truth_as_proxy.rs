use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(tier = truth, cost = "100 msat", range = 0.0..=1.0, threshold = 0.5)]
async fn judged(#[pred] answer: &str) -> f64 {
    if answer.is_empty() { 0.0 } else { 1.0 }
}

#[metric(range = 1.0..=5.0, tier = truth, cost = "50 msat")]
async fn stars(#[pred] stars: f64) -> f64 {
    stars
}

#[metric(gate(proxy(format_ok, judged) >= 0.5, truth(stars)))]
struct Checked;

fn main() {}
