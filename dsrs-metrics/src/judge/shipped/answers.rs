//! Relevance and groundedness of an answer, each a yes or no.

use super::lexical;
use super::texts::TextOrList;
use dsrs_metrics::judge;

/// Judge whether an answer is relevant to the question: does it address what was asked? Whether it is correct
/// does not matter here. An empty answer addresses nothing.
#[judge(
    name = "answer_relevance",
    struct = AnswerRelevance,
    cost = "100 msat",
    offline = lexical::relevant
)]
pub struct RelevanceOfAnswer {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[output(desc = "whether the answer addresses the question")]
    relevant: bool,
}

/// Judge whether an answer is grounded in the retrieved context: does the context support every claim of the
/// answer? What the context does not say is not supported, even if it is true. An empty answer, or an answer
/// without any context, is not grounded.
#[judge(
    name = "answer_groundedness",
    struct = AnswerGroundedness,
    cost = "100 msat",
    offline = lexical::grounded
)]
pub struct GroundednessOfAnswer {
    #[input(pred, desc = "what had been retrieved")]
    context: TextOrList,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[output(desc = "whether the context supports the answer")]
    grounded: bool,
}

/// Judge whether two answers mean the same. Wording, order, formatting and detail that changes nothing do not
/// matter; a different fact, number, name or negation does.
#[judge(
    name = "semantic_equivalence",
    struct = SemanticEquivalence,
    cost = "50 msat",
    offline = lexical::equivalent
)]
pub struct EquivalenceOfAnswers {
    #[input(gold = "answer", desc = "what was expected; several texts are each as good")]
    expected: TextOrList,
    #[input(pred = "answer", desc = "what was answered")]
    actual: TextOrList,
    #[output(desc = "whether both mean the same")]
    equivalent: bool,
}
