//! Completeness as in G-Eval: evaluation steps that the judge follows, and a grade that is normalized to [0, 1].

use super::lexical;
use crate::core::rows::field_types::References;
use crate::judge::rescale;
use dsrs_metrics::judge;

/// Evaluate the completeness of a generated response, compared with the expected response. Follow the evaluation
/// steps one by one and write down the result of each. Then assign a score from 1 to 5: 1 if the response covers
/// none of the expected content, 2 a small part, 3 about half, 4 all except details, 5 all of it.
///
/// The metric's value is the score normalized to [0, 1], `(score - 1) / 4`: 1 becomes 0, 3 becomes 0.5, 5 becomes 1.
#[judge(
    name = "geval_completeness",
    struct = GEvalCompleteness,
    score = rescale(f64::from(score), 1.0..=5.0),
    range = 0.0..=1.0,
    threshold = 0.5,
    cost = "100 msat",
    missing = 0.0,
    offline = lexical::completeness_of_five
)]
pub struct CompletenessOfResponse {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "the expected response; if there are several, each is acceptable"
    )]
    expected_response: References,
    #[input(pred = "response", desc = "the response to evaluate")]
    generated_response: String,
    /// The evaluation steps.
    #[param(default = steps())]
    steps: Vec<String>,
    #[output(range = 1..=5, desc = "the score")]
    score: u8,
}

fn steps() -> Vec<String> {
    [
        "List the facts and instructions in the expected response.",
        "For each of them, check whether the generated response contains it, or note that it is missing.",
        "Assess how important each missing item is for answering the question.",
        "Do not penalize additional content in the generated response.",
    ]
    .map(str::to_owned)
    .to_vec()
}
