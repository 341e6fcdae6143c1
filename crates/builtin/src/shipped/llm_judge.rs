//! A general judge with a configurable system prompt and criteria.

use super::lexical;
use crate::core::rows::field_types::References;
use dsrs_metrics::judge;

/// Evaluate an answer by each of the criteria, in the role that the system prompt describes. If there is a question,
/// the answer should address it. If there is a reference answer, it is correct.
#[judge(
    name = "llm_judge",
    struct = LlmJudge,
    cost = "100 msat",
    threshold = 0.5,
    missing = 0.0,
    offline = lexical::grade
)]
pub struct GradeByCriteria {
    #[input(gold, desc = "the question")]
    question: Option<String>,
    #[input(
        gold = "answer",
        desc = "the correct answer; if there are several, each is acceptable"
    )]
    reference: Option<References>,
    #[input(pred, desc = "the answer to evaluate")]
    answer: String,
    /// The role of the judge.
    #[param(default = "You are a careful and impartial expert.")]
    system_prompt: String,
    /// The evaluation criteria.
    #[param(default = ["Correctness", "Completeness", "Clarity"].map(str::to_owned).to_vec())]
    criteria: Vec<String>,
    #[output(range = 0.0..=1.0, desc = "from 0 (meets no criterion) to 1 (fully meets all criteria)")]
    score: f64,
    #[output(desc = "what to change for a better score, in one or two sentences")]
    feedback: String,
}
