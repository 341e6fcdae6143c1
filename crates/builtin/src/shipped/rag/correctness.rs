//! Judges of an answer against the reference answer, claim by claim.

use serde::{Deserialize, Serialize};

use super::ClaimVerdict;
use crate::core::judge::ChecksParams;
use crate::core::score::check::valid_beta;
use crate::metrics::SemanticSimilarity;
use crate::metrics::rag::share_of;
use crate::stats::f_beta;
use dsrs_metrics::{judge, metric};

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

/// The number of claims into which [`FactualCorrectness`] breaks a string down.
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
    /// How much more recall counts than precision in `f`: a finite number, 0 or more.
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
    #[step(
        from(reference),
        cost = "100 msat",
        desc = "the claims of the reference answer"
    )]
    reference_claims: Vec<String>,
    #[output(each = claims, empty = 0.0)]
    verdicts: Vec<ClaimVerdict>,
    #[output(each = reference_claims, empty = abstain)]
    reference_verdicts: Vec<ClaimVerdict>,
}

impl ChecksParams for FactualCorrectness {
    fn check(&self) -> Result<(), String> {
        valid_beta(self.beta)
    }
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
        FactualScore::Precision => share_of(hits, hits + wrong),
        FactualScore::Recall => share_of(hits, hits + lacking),
        FactualScore::F => f_beta(hits, wrong, lacking, beta),
    }
}

/// Whether the answer is correct, by its claims and by its similarity to the correct answer, weighted 0.75 to 0.25.
///
/// `0.75 factual_correctness + 0.25 semantic_similarity`, as `AnswerCorrectness` of ragas, in [-0.25, 1]. For other weights or parameters,
/// define your own composite, for example `#[metric(weighted(factual_correctness = 0.9, semantic_similarity = 0.1))]`.
///
/// ```
/// use dsrs_metrics::contract::Settings;
/// use dsrs_metrics::judge::{Models, shipped::AnswerCorrectness};
/// use dsrs_metrics::lm::{LmRequest, ScriptedEmbedder, ScriptedLm};
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let model = ScriptedLm::new().otherwise(|request: &LmRequest| match request.purpose.split_once(", step ") {
///     Some((_, step)) => json!({ step: ["The Louvre is in Paris."] }),
///     None => {
///         let verdicts = json!([{ "item": 1, "reason": "the same", "supported": true }]);
///         json!({ "verdicts": verdicts, "reference_verdicts": verdicts })
///     }
/// });
/// let vectors = ScriptedEmbedder::new().when("In Paris.", [3.0, 4.0]).when("Paris.", [4.0, 3.0]);
/// let settings = Settings::new().with(Models::new(model).with_embedder(vectors));
/// let (gold, pred) = (example! { "answer" => "In Paris." }, prediction! { "answer" => "Paris." });
/// let score = settings.scope(AnswerCorrectness.evaluate(&gold, &pred)).await?;
/// assert!((score.value - (0.75 + 0.25 * 0.96)).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[metric(weighted(factual_correctness = 0.75, semantic_similarity = 0.25))]
pub struct AnswerCorrectness;
