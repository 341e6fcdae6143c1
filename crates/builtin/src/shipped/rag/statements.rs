//! Judges of the statements of an answer: faithfulness, and noise sensitivity.

use serde::{Deserialize, Serialize};

use super::StatementSupport;
use crate::judge::share;
use dsrs_metrics::{judge, judge_output};

/// Judge for each statement whether the contexts support it. A statement is supported if it follows directly from one or more of
/// the contexts. A statement that is true but does not follow from a context is not supported.
#[judge(
    name = "faithfulness",
    struct = Faithfulness,
    score = share(verdicts, |it| it.is_supported()),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct FaithfulnessOfAnswer {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred, desc = "the answer to the question")]
    answer: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    /// Break the answer down into statements. Each statement is one fact, in a full sentence that is understandable alone: write
    /// names in place of pronouns. Leave out what states no fact, such as greetings and remarks about the answer itself.
    #[step(
        from(question, answer),
        cost = "100 msat",
        desc = "the statements of the answer"
    )]
    statements: Vec<String>,
    #[output(each = statements, empty = abstain, cites = contexts)]
    verdicts: Vec<StatementSupport>,
}

/// The verdict on a statement of an answer: the contexts that support it, and whether the reference does.
#[judge_output]
#[derive(Debug, Clone)]
pub struct AnswerStatementSupport {
    /// why, in one sentence
    pub reason: String,
    /// the contexts from which the statement follows; empty if there is none
    pub contexts: Vec<u32>,
    /// whether the statement follows from the reference answer
    pub in_reference: bool,
}

/// The contexts whose influence [`NoiseSensitivity`] measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Noise {
    /// Wrong statements that a relevant context supports.
    #[default]
    Relevant,
    /// Wrong statements that only irrelevant contexts support.
    Irrelevant,
}

/// Judge for each statement from which contexts it follows directly, and for each statement of the answer also whether it follows
/// from the reference answer. A statement that is true but does not follow from a text is not supported by it.
#[judge(
    name = "noise_sensitivity",
    struct = NoiseSensitivity,
    score = noise_sensitivity(&reference_verdicts, &verdicts, noise),
    range = 0.0..=1.0,
    lower_is_better,
    cost = "300 msat",
    missing = 1.0,
    reasoning = false
)]
pub struct NoiseInAnswer {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    /// The contexts whose influence is measured: `relevant` or `irrelevant`.
    #[param(default = Noise::Relevant, in_prompt = false)]
    noise: Noise,
    /// Break the reference answer down into statements. Each statement is one fact, in a full sentence that is understandable
    /// alone: write names in place of pronouns.
    #[step(
        from(question, reference),
        cost = "100 msat",
        desc = "the statements of the reference answer"
    )]
    reference_statements: Vec<String>,
    /// Break the answer down into statements. Each statement is one fact, in a full sentence that is understandable alone: write
    /// names in place of pronouns.
    #[step(
        from(question, answer),
        cost = "100 msat",
        desc = "the statements of the answer"
    )]
    statements: Vec<String>,
    #[output(each = reference_statements, empty = abstain, cites = contexts)]
    reference_verdicts: Vec<StatementSupport>,
    #[output(each = statements, empty = abstain, cites = contexts)]
    verdicts: Vec<AnswerStatementSupport>,
}

/// The share of the answer's statements that are wrong and supported by the contexts. A context is relevant if it supports a
/// statement of the reference. A wrong statement that a relevant context supports is not counted as one of the irrelevant contexts.
fn noise_sensitivity(
    reference: &[StatementSupport],
    answer: &[AnswerStatementSupport],
    noise: Noise,
) -> f64 {
    let is_relevant = |context: &u32| reference.iter().any(|it| it.contexts.contains(context));
    share(answer, |statement| {
        let by_relevant = statement.contexts.iter().any(is_relevant);
        let is_counted = match noise {
            Noise::Relevant => by_relevant,
            Noise::Irrelevant => !by_relevant && !statement.contexts.is_empty(),
        };
        is_counted && !statement.in_reference
    })
}
