use dsrs_metrics::prelude::*;

#[metric]
fn short(#[pred] answer: &str, #[param] most: usize) -> bool {
    answer.len() <= most
}

fn main() {
    let _ = Short::default();
}
