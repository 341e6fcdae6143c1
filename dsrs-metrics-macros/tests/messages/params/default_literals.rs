use dsrs_metrics::prelude::*;

#[metric]
fn shares(
    #[pred(default = "few")] count: u8,
    #[pred("count", missing = true)] share: f64,
    #[gold(default = 3)] answer: &str,
    #[gold("answer", default = 0.5)] owned: String,
    #[param(default = "true")] strict: bool,
    #[param(default = 0)] folded: bool,
    #[param(default = "1, 2")] sizes: Vec<u32>,
    #[param(default = "0.5")] weights: &[f64],
    #[param(default = "")] words: Vec<String>,
) -> bool {
    true
}

fn main() {}
