//! Judges of an answer against the reference answer, claim by claim.

use serde::{Deserialize, Serialize};

use super::ClaimVerdict;
use crate::stats::f_beta;
use dsrs_metrics::judge;

/// The headline of [`FactualCorrectness`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactualScore {
    /// The share of the answer's claims that the reference supports.
    Precision,
    /// The supported claims of the answer, relative to these and the claims of the reference that the answer lacks.
    Recall,
    /// F-beta of precision and recall.
    #[default]
    F,
}

/// How finely [`FactualCorrectness`] breaks a text down, and how much of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detail {
    /// Few claims.
    #[default]
    Low,
    /// Many claims.
    High,
}

/// Judge for each claim of the answer whether the reference answer supports it, and for each claim of the reference answer whether
/// the answer supports it. A claim is supported if it follows directly from the text.
#[judge(
    name = "factual_correctness",
    struct = FactualCorrectness,
    score = factual_correctness(&verdicts, &reference_verdicts, headline, beta),
    range = 0.0..=1.0,
    cost = "300 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct CorrectnessOfClaims {
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    /// The headline: `precision`, `recall` or `f`.
    #[param(default = FactualScore::F, in_prompt = false)]
    headline: FactualScore,
    /// How much more recall counts than precision in `f`, above 0.
    #[param(default = 1.0, in_prompt = false)]
    beta: f64,
    /// The atomicity of claims: `high` if each claim is a single fact, `low` if a claim may join facts that belong together.
    #[param(default = Detail::Low)]
    atomicity: Detail,
    /// The coverage of claims: `high` if they contain all information of the text, `low` if they contain its main points.
    #[param(default = Detail::Low)]
    coverage: Detail,
    /// Break the answer down into claims, with the given atomicity and coverage. Each claim is a full sentence that is
    /// understandable alone.
    #[step(from(answer), cost = "100 msat", desc = "the claims of the answer")]
    claims: Vec<String>,
    /// Break the reference answer down into claims, with the given atomicity and coverage. Each claim is a full sentence that is
    /// understandable alone.
    #[step(from(reference), cost = "100 msat", desc = "the claims of the reference answer")]
    reference_claims: Vec<String>,
    #[output(each = claims, empty = 0.0)]
    verdicts: Vec<ClaimVerdict>,
    #[output(each = reference_claims, empty = abstain)]
    reference_verdicts: Vec<ClaimVerdict>,
}

/// Precision, recall or F-beta. True positives are the claims of the answer that the reference supports, false positives its other
/// claims, false negatives the claims of the reference that the answer does not support.
fn factual_correctness(
    answer: &[ClaimVerdict],
    reference: &[ClaimVerdict],
    headline: FactualScore,
    beta: f64,
) -> f64 {
    let supported = |claims: &[ClaimVerdict]| claims.iter().filter(|it| it.supported).count();
    let hits = supported(answer);
    let (wrong, lacking) = (answer.len() - hits, reference.len() - supported(reference));
    match headline {
        FactualScore::Precision => share_of(hits, wrong),
        FactualScore::Recall => share_of(hits, lacking),
        FactualScore::F => f_beta(hits, wrong, lacking, beta),
    }
}

/// The share of the first of two counts; 0 if both are 0.
pub(in crate::shipped) fn share_of(first: usize, second: usize) -> f64 {
    if first == 0 { 0.0 } else { first as f64 / (first + second) as f64 }
}
