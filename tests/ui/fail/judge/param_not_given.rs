use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[param]
    criteria: Vec<String>,
    #[output]
    polite: bool,
}

fn main() {
    let _ = PoliteJudge::builder().build();
}
