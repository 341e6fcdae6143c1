use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, Default)]
enum Match {
    #[default]
    Whole,
    Part,
}

#[metric]
fn known(#[pred] answer: &str, #[param(default)] mode: Match) -> bool {
    matches!(mode, Match::Part) || answer.is_empty()
}

fn main() {
    let _ = Known::builder().mode("part").build();
}
