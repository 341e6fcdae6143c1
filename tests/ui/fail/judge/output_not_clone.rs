use dsrs_metrics::judge::{JsonSchema, schemars};
use dsrs_metrics::prelude::*;

#[derive(Debug, serde::Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
enum Tone {
    Good,
    Bad,
}

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
    #[output]
    tone: Tone,
}

fn main() {}
