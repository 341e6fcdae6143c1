//! A program of a user's with judges of their own, which nothing answers offline.
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

/// Judge which statements are true.
#[judge(score = share(verdicts, |it| it), range = 0.0..=1.0, cost = "30 msat", reasoning = false)]
struct TrueStatements {
    #[input(pred)]
    response: String,
    /// Write the statements that the response makes.
    #[step(from(response))]
    statements: Vec<String>,
    /// Write the topic of each statement.
    #[step(from(statements), each = statements, empty = 1.0)]
    topics: Vec<String>,
    #[output(each = statements, empty = 1.0)]
    verdicts: Vec<bool>,
}

dsrs_metrics::main![PoliteJudge, TrueStatementsJudge];
