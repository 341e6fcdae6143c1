//! A program of a user's with a judge of their own, which nothing answers offline.
#![forbid(unsafe_code)]

use dsrs_metrics::prelude::*;

/// Say whether the response is polite.
#[judge(cost = "10 msat")]
struct Polite {
    #[input(pred)]
    response: String,
    #[output]
    polite: bool,
}

dsrs_metrics::main![PoliteJudge];
