//! Which of two responses is better, judged in both orders because of the position bias of models.

use super::lexical;
use crate::judge::Preference;
use dsrs_metrics::judge;

/// Compare two responses to the same question by the criteria and decide which is better, or that neither is. Do not
/// let the order of the responses or their length influence your decision.
///
/// The score is 1 if the prediction is better than the gold response, 0 if it is worse and 0.5 if neither is. Both
/// orders are judged; if the verdicts contradict each other, the result is a tie with a confidence of 0.5.
// The threshold is above 0.5, the score of a judge that always prefers the first response.
#[judge(
    name = "pairwise_preference",
    struct = PairwisePreference,
    pairwise(response_1, response_2),
    cost = "200 msat",
    threshold = 0.75,
    missing = 0.0,
    offline = lexical::preference
)]
pub struct PreferenceOfResponses {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred = "response", desc = "the first response")]
    response_1: String,
    #[input(gold = "response", desc = "the second response")]
    response_2: String,
    /// The evaluation criteria.
    #[param(default = ["Correctness", "Completeness", "Clarity"].map(str::to_owned).to_vec())]
    criteria: Vec<String>,
    #[output(desc = "the better response")]
    preferred: Preference,
}
