use dsrs_metrics::prelude::*;

#[metric]
fn overlap(
    #[pred(named_by = field, missing)] text: &str,
    #[param(default = "answer")] field: &str,
) -> bool {
    text.is_empty()
}

fn main() {}
