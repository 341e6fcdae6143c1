//! The general judge: your system prompt, your criteria.

use super::lexical;
use super::texts::TextOrList;
use dsrs_metrics::judge;

/// Grade an answer by every one of the criteria, as the system prompt describes you. If there is a question, the
/// answer should answer it; if there is a reference answer, it shows what is right.
#[judge(
    name = "llm_judge",
    struct = LlmJudge,
    cost = "100 msat",
    threshold = 0.5,
    offline = lexical::grade
)]
pub struct GradeByCriteria {
    #[input(gold, desc = "the question that was asked")]
    question: Option<String>,
    #[input(gold = "answer", desc = "what is right; several texts are each as good")]
    reference: Option<TextOrList>,
    #[input(pred, desc = "the answer to grade")]
    answer: String,
    /// Who the judge is and what it attends to.
    #[param(default = "You are a careful and impartial expert.")]
    system_prompt: String,
    /// What an answer is graded by.
    #[param(default = ["Correctness", "Completeness", "Clarity"].map(str::to_owned).to_vec())]
    criteria: Vec<String>,
    #[output(range = 0.0..=1.0, desc = "0 meets no criterion, 1 meets all of them fully")]
    score: f64,
    #[output(desc = "what would have to change for a better grade, in one or two sentences")]
    feedback: String,
}
