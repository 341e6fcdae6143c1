use dsrs_metrics::prelude::*;

impl Polite {
    fn model() -> u8 {
        5
    }
}

/// Say whether the answer is polite.
#[judge(panel(models = [Polite::model()]))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
