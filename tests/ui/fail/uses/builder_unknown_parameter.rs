use dsrs_metrics::prelude::*;

#[metric]
fn known(#[pred] answer: &str, #[param(default = 1)] least: usize) -> bool {
    answer.len() >= least
}

fn main() {
    let _ = Known::builder().most(2usize).build();
}
