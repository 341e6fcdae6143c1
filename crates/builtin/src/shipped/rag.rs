//! Judges of retrieval-augmented generation, based on ragas 0.4.
//!
//! The guide's `rag` page lists their formulas and the differences from ragas.
//!
//! The judges read some of the fields `gold.question`, `gold.answer`, `pred.answer` and `pred.context`. The context is
//! a list of strings in the order of retrieval.
//!
//! The model must return exactly one verdict for each statement; otherwise, the row fails.
//!
//! The file is long because it contains the prompts and outputs of seven judges. The code itself is short.

use serde::{Deserialize, Serialize};

use crate::contract::judge::ChecksParams;
use crate::contract::valid_beta;
use crate::judge::share;
use crate::metrics::SemanticSimilarity;
use crate::metrics::rag::share_of;
use crate::retrieval::average_precision;
use crate::stats::f_beta;
use dsrs_metrics::{judge, judge_output, metric};

/// The verdict on a statement.
///
/// The verdict lists the contexts that support the statement.
#[judge_output]
#[derive(Debug, Clone)]
pub struct StatementSupport {
    /// why, in one sentence
    pub reason: String,
    /// the contexts from which the statement follows; empty if there is none
    pub contexts: Vec<u32>,
}

impl StatementSupport {
    /// Returns `true` if a context supports the statement.
    fn is_supported(&self) -> bool {
        !self.contexts.is_empty()
    }
}

/// The verdict on a claim.
#[judge_output]
#[derive(Debug, Clone)]
pub struct ClaimVerdict {
    /// why, in one sentence
    pub reason: String,
    /// whether the claim follows from the other text
    pub supported: bool,
}

/// The verdict on a context.
#[judge_output]
#[derive(Debug, Clone)]
pub struct ContextVerdict {
    /// why, in one sentence
    pub reason: String,
    /// whether the context was useful
    pub useful: bool,
}

/// Judge for each context whether it was useful for arriving at the reference answer to the question.
#[judge(
    name = "context_precision",
    struct = ContextPrecision,
    score = average_precision(verdicts.iter().map(|it| it.useful)),
    range = 0.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct PrecisionOfContexts {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    #[output(each = contexts, empty = 0.0)]
    verdicts: Vec<ContextVerdict>,
}

/// Judge for each context whether it was useful for arriving at the given answer to the question.
#[judge(
    name = "context_utilization",
    struct = ContextUtilization,
    score = average_precision(verdicts.iter().map(|it| it.useful)),
    range = 0.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct UtilizationOfContexts {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred, desc = "the answer that was given")]
    answer: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    #[output(each = contexts, empty = 0.0)]
    verdicts: Vec<ContextVerdict>,
}

/// Judge for each statement of the reference answer whether it can be attributed to the contexts: whether it follows directly from
/// one or more of them.
#[judge(
    name = "context_recall",
    struct = ContextRecall,
    score = share(verdicts, |it| it.is_supported()),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct RecallOfContexts {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    /// Break the reference answer down into statements. Each statement is one fact, in a full sentence that is understandable
    /// alone: write names in place of pronouns.
    #[step(
        from(question, reference),
        cost = "100 msat",
        desc = "the statements of the reference answer"
    )]
    statements: Vec<String>,
    #[output(each = statements, empty = abstain, cites = contexts)]
    verdicts: Vec<StatementSupport>,
}

/// The contexts that mention an entity.
#[judge_output]
#[derive(Debug, Clone)]
pub struct EntityMentions {
    /// the contexts that mention the entity, also under another name; empty if there is none
    pub contexts: Vec<u32>,
}

/// Find for each entity the contexts that mention it. Another name, spelling or format of the same entity is a mention of it.
#[judge(
    name = "context_entity_recall",
    struct = ContextEntityRecall,
    score = share(mentions, |it| !it.contexts.is_empty()),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct EntityRecallOfContexts {
    #[input(gold = "answer", desc = "the correct answer")]
    reference: String,
    #[input(pred = "context", desc = "the retrieved contexts")]
    contexts: Vec<String>,
    /// List the entities in the reference answer, each once: people, organizations, places, events, works, dates, and amounts.
    #[step(
        from(reference),
        cost = "100 msat",
        desc = "the entities in the reference answer"
    )]
    entities: Vec<String>,
    #[output(each = entities, empty = abstain, cites = contexts)]
    mentions: Vec<EntityMentions>,
}

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

/// The verdict on a statement of an answer.
///
/// The verdict lists the contexts that support the statement, and says whether the reference answer supports the
/// statement too.
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
    /// Counts the wrong statements that at least one relevant context supports.
    #[default]
    Relevant,
    /// Counts the wrong statements that only irrelevant contexts support.
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

/// Returns the share of the answer's statements that are wrong and supported by the contexts. A context is relevant if
/// it supports a statement of the reference. A wrong statement that a relevant context supports does not count for the
/// irrelevant ones.
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

/// The score that [`FactualCorrectness`] reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FactualScore {
    /// The fraction of the answer's claims that the reference supports.
    Precision,
    /// The recall of the claims in the reference answer.
    ///
    /// The recall is `supported / (supported + missing)`. `supported` is the number of supported claims in the answer,
    /// and `missing` is the number of reference claims that the answer lacks.
    Recall,
    /// The F-beta score of precision and recall.
    #[default]
    F,
}

/// How finely [`FactualCorrectness`] splits a string into claims.
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

/// Precision, recall or F-beta of claims. True positives are the answer's claims that the reference supports, false
/// positives its other claims, and false negatives the reference's claims that the answer does not support.
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

/// Scores how correct the answer is.
///
/// The metric judges the answer's claims, and measures its similarity to the correct answer.
///
/// The score is `0.75 factual_correctness + 0.25 semantic_similarity`, in [-0.25, 1], like ragas's `AnswerCorrectness`.
///
/// For other weights or parameters, define your own composite, for example `#[metric(weighted(factual_correctness =
/// 0.9, semantic_similarity = 0.1))]`.
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
