use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

#[metric]
fn short(#[pred] answer: &str, #[param] max: usize) -> bool {
    answer.len() <= max
}

fn main() {
    let _ = Evaluate::builder().metric(Short::builder().max(3));
}
