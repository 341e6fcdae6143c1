//! DSPy's `SemanticF1`: recall and precision of ideas, judged in one call.

use super::lexical;
use crate::core::rows::field_types::References;
use crate::stats::harmonic_mean;
use dsrs_metrics::judge;

/// Compare a system's response to the ground truth to compute its recall and precision. Compare the meaning, not the
/// wording. In your reasoning, enumerate the key ideas in each response, and whether they are present in the other
/// response.
#[judge(
    name = "semantic_f1",
    struct = SemanticF1,
    score = harmonic_mean(precision, recall),
    range = 0.0..=1.0,
    threshold = 0.66,
    cost = "100 msat",
    missing = 0.0,
    offline = lexical::recall_and_precision
)]
pub struct SemanticRecallPrecision {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "a correct and complete response; if there are several, each is acceptable"
    )]
    ground_truth: References,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the ground truth covered by the system response")]
    recall: f64,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the system response covered by the ground truth")]
    precision: f64,
}

/// Compare a system's response to the ground truth to compute the recall and precision of key ideas. First enumerate
/// the key ideas in each response, discuss their overlap, and then report recall and precision.
#[judge(
    name = "decompositional_semantic_f1",
    struct = DecompositionalSemanticF1,
    score = harmonic_mean(precision, recall),
    range = 0.0..=1.0,
    threshold = 0.66,
    cost = "150 msat",
    missing = 0.0,
    offline = lexical::recall_and_precision
)]
pub struct DecompositionalRecallPrecision {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "a correct and complete response; if there are several, each is acceptable"
    )]
    ground_truth: References,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(desc = "enumeration of the key ideas in the ground truth")]
    ground_truth_key_ideas: Vec<String>,
    #[output(desc = "enumeration of the key ideas in the system response")]
    system_response_key_ideas: Vec<String>,
    #[output(desc = "discussion of the overlap between the ground truth and the system response")]
    discussion: String,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the ground truth covered by the system response")]
    recall: f64,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the system response covered by the ground truth")]
    precision: f64,
}
