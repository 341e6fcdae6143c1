use dsrs_metrics::prelude::*;

const COUNT: usize = 3;

/// Say whether the answer is polite.
#[judge(panel(models = [default; COUNT]))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
