//! Relevance, groundedness and equivalence of answers, each a yes-or-no verdict.

use super::lexical;
use crate::core::rows::field_types::{References, TextOrList};
use crate::judge::configured::PANEL;
use dsrs_metrics::judge;

/// `#[judge]` generates as many panel parameters as [`PANEL`] has. The judge has no other parameters.
const _: () = assert!(AnswerRelevance::SPEC.params.len() == PANEL.len());

/// Judge if an answer is relevant to the question: does it directly address what the question asks? Do not consider
/// whether the answer is correct. An empty answer is not relevant.
#[judge(
    name = "answer_relevance",
    struct = AnswerRelevance,
    cost = "100 msat",
    missing = false,
    empty = false,
    offline = lexical::relevant
)]
pub struct RelevanceOfAnswer {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[output(desc = "whether the answer addresses the question")]
    relevant: bool,
}

/// Judge if an answer is grounded in the retrieved context: does the context support every claim of the answer? A
/// claim that is not in the context is not supported, even if it is true. An empty answer, or an answer without
/// context, is not grounded.
#[judge(
    name = "answer_groundedness",
    struct = AnswerGroundedness,
    cost = "100 msat",
    missing = false,
    empty = false,
    offline = lexical::grounded
)]
pub struct GroundednessOfAnswer {
    #[input(pred, desc = "the retrieved context")]
    context: TextOrList,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[output(desc = "whether the context supports the answer")]
    grounded: bool,
}

/// Judge if two answers are semantically equivalent. Differences in wording, order, formatting or irrelevant detail
/// do not matter; a different fact, number, name or negation does.
#[judge(
    name = "semantic_equivalence",
    struct = SemanticEquivalence,
    cost = "50 msat",
    missing = false,
    offline = lexical::equivalent
)]
pub struct EquivalenceOfAnswers {
    #[input(
        gold = "answer",
        desc = "the expected answer; if there are several, each is acceptable"
    )]
    expected: References,
    #[input(pred = "answer", desc = "the actual answer")]
    actual: TextOrList,
    #[output(desc = "whether the two answers have the same meaning")]
    equivalent: bool,
}
