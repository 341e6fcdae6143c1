use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(range = 1.0..=5.0, tier = truth, cost = "50 msat")]
async fn stars(#[pred] stars: f64) -> f64 {
    stars
}

#[metric(gate(proxy(format_ok) >= 0.5, truth(stars)), strict)]
struct Checked;

fn main() {}
