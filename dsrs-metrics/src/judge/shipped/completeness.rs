//! Completeness after G-Eval: evaluation steps that the judge follows, a grade on a scale, and that grade as a
//! share of the scale.

use super::lexical;
use crate::judge::rescale;
use dsrs_metrics::judge;

/// Grade how complete a response is. Follow the evaluation steps one by one and write down what each shows; then
/// give the grade: 1 covers nothing of what is expected, 2 a small part, 3 about half, 4 all but details,
/// 5 everything.
///
/// The score is the grade as a share of the scale, `(grade - 1) / 4`: 1 becomes 0, 3 becomes 0.5, 5 becomes 1.
#[judge(
    name = "geval_completeness",
    struct = GEvalCompleteness,
    score = rescale(f64::from(score), 1.0..=5.0),
    range = 0.0..=1.0,
    threshold = 0.5,
    cost = "100 msat",
    offline = lexical::completeness_of_five
)]
pub struct CompletenessOfResponse {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(gold = "response", desc = "the expected response")]
    expected_response: String,
    #[input(pred = "response", desc = "the response to grade")]
    generated_response: String,
    /// What the judge does, step by step.
    #[param(default = steps())]
    steps: Vec<String>,
    #[output(range = 1..=5, desc = "the grade")]
    score: u8,
}

fn steps() -> Vec<String> {
    [
        "List the facts and instructions of the expected response.",
        "For each of them, find the place in the generated response that says the same, or note that it is missing.",
        "Weigh what is missing by how much the question depends on it.",
        "Do not take points off for what the generated response says beyond the expected one.",
    ]
    .map(str::to_owned)
    .to_vec()
}
