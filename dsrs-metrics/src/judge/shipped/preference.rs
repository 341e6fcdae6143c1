//! Which of two responses is better: asked in both orders, since judges prefer the first place.

use super::lexical;
use crate::judge::Preference;
use dsrs_metrics::judge;

/// Compare two responses to the same question by the criteria and say which is better, or that neither is. The
/// order in which they stand says nothing, and a longer response is not a better one.
///
/// The score is 1 where the prediction is better than the gold response, 0 where it is worse and 0.5 where
/// neither is; both orders are asked, and if they contradict each other it is a tie of half the confidence.
// Above 0.5, which a judge gives that always prefers the first place.
#[judge(
    name = "pairwise_preference",
    struct = PairwisePreference,
    pairwise(response_1, response_2),
    cost = "200 msat",
    threshold = 0.75,
    offline = lexical::preference
)]
pub struct PreferenceOfResponses {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(pred = "response", desc = "the first response")]
    response_1: String,
    #[input(gold = "response", desc = "the second response")]
    response_2: String,
    /// What the responses are compared by.
    #[param(default = ["Correctness", "Completeness", "Clarity"].map(str::to_owned).to_vec())]
    criteria: Vec<String>,
    #[output(desc = "the better response")]
    preferred: Preference,
}
