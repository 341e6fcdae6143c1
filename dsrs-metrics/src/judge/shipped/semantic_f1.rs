//! dspy's `SemanticF1`: recall and precision of ideas, judged in one call.

use super::lexical;
use crate::stats::harmonic_mean;
use dsrs_metrics::judge;

/// Compare what a system responded with the ground truth, by meaning and not by wording. Judge how much of the
/// ground truth the response covers (recall) and how much of the response the ground truth supports
/// (precision).
#[judge(
    name = "semantic_f1",
    struct = SemanticF1,
    score = harmonic_mean(precision, recall),
    range = 0.0..=1.0,
    threshold = 0.66,
    cost = "100 msat",
    offline = lexical::recall_and_precision
)]
pub struct SemanticRecallPrecision {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(gold = "response", desc = "a correct and complete response")]
    ground_truth: String,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(range = 0.0..=1.0, desc = "fraction of the ground truth that the response covers")]
    recall: f64,
    #[output(range = 0.0..=1.0, desc = "fraction of the response that the ground truth supports")]
    precision: f64,
}

/// Compare what a system responded with the ground truth, idea by idea. First list the key ideas of each and
/// discuss where they overlap; then judge how many of the ground truth's ideas the response covers (recall)
/// and how many of the response's ideas the ground truth supports (precision).
#[judge(
    name = "decompositional_semantic_f1",
    struct = DecompositionalSemanticF1,
    score = harmonic_mean(precision, recall),
    range = 0.0..=1.0,
    threshold = 0.66,
    cost = "150 msat",
    offline = lexical::recall_and_precision
)]
pub struct DecompositionalRecallPrecision {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(gold = "response", desc = "a correct and complete response")]
    ground_truth: String,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(desc = "the key ideas of the ground truth, each in a sentence")]
    ground_truth_key_ideas: Vec<String>,
    #[output(desc = "the key ideas of the response, each in a sentence")]
    system_response_key_ideas: Vec<String>,
    #[output(desc = "where the two lists overlap and where they do not")]
    discussion: String,
    #[output(range = 0.0..=1.0, desc = "fraction of the ground truth's ideas that the response covers")]
    recall: f64,
    #[output(range = 0.0..=1.0, desc = "fraction of the response's ideas that the ground truth supports")]
    precision: f64,
}
