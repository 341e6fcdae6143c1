//! Metrics of one judge or two whose score is computed in code: DSPy's `CompleteAndGrounded`, and the relevancy of an
//! answer by the questions that it answers.
//!
//! The two judges of `CompleteAndGrounded` have separate inputs, so a response is not judged grounded because it agrees
//! with the ground truth.

use dsrs_metrics::{judge, metric};
use serde_json::{Map, Value};

use super::{lexical, require};
use crate::contract::{References, Requirement, Requires, TextOrList};
use crate::judge::{IntoModel, Judge, JudgeError, Judged, Rescored, Untrusted, rescored, row};
use crate::lm::{Embedder, LmError, LmErrorKind};
use crate::stats::harmonic_mean;

/// Estimate the completeness of a system's response, compared with the ground truth. First enumerate the key ideas in
/// each, discuss their overlap, and then report completeness. Additional ideas in the response do not count.
#[judge(score = completeness, cost = "100 msat", missing = 0.0, offline = lexical::completeness)]
pub struct AnswerCompleteness {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "a correct and complete response; if there are several, each is acceptable"
    )]
    ground_truth: References,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(desc = "the key ideas in the ground truth, one for each item")]
    ground_truth_key_ideas: Vec<String>,
    #[output(desc = "the key ideas in the system response, one for each item")]
    system_response_key_ideas: Vec<String>,
    #[output(
        desc = "which ideas of the ground truth the system response contains, and which it lacks"
    )]
    discussion: String,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the ground truth covered by the system response")]
    completeness: f64,
}

/// Estimate the groundedness of a system's response in the retrieved context. First enumerate the non-trivial or
/// check-worthy claims in the response, then discuss to which extent each can be deduced from the retrieved context
/// and basic common sense, and then report groundedness.
#[judge(score = groundedness, cost = "100 msat", missing = 0.0, offline = lexical::groundedness)]
pub struct ResponseGroundedness {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred = "context", desc = "the context that the system retrieved")]
    retrieved_context: TextOrList,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(
        desc = "the claims in the system response that are worth checking, one for each item"
    )]
    system_response_claims: Vec<String>,
    #[output(desc = "which claims the retrieved context supports, and which it does not")]
    discussion: String,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the system response supported by the retrieved context")]
    groundedness: f64,
}

/// Scores how complete and grounded a response is.
///
/// The score is the F1 of completeness and groundedness. Completeness compares the response with the ground truth.
/// Groundedness compares the response with the retrieved context.
///
/// The metric makes two model calls per row.
#[metric(
    struct = CompleteAndGrounded,
    tier = truth,
    cost = "200 msat",
    missing = 0.0,
    threshold = 0.66,
    range = 0.0..=1.0
)]
pub async fn complete_and_grounded(
    #[gold] question: String,
    #[gold("response")] ground_truth: References,
    #[pred("response")] system_response: String,
    #[pred("context")] retrieved_context: TextOrList,
    /// The models that judge, and how to aggregate their answers.
    #[param(default)]
    panel: judge::Panel,
) -> Judged<f64> {
    let complete = AnswerCompletenessJudge {
        panel: panel.clone().of_half(0),
    };
    let about_truth = AnswerCompletenessInput {
        question: question.clone().into(),
        ground_truth: ground_truth.into(),
        system_response: system_response.clone().into(),
    };
    let grounded = ResponseGroundednessJudge {
        panel: panel.of_half(1),
    };
    let about_context = ResponseGroundednessInput {
        question: question.into(),
        retrieved_context: Untrusted::new(retrieved_context),
        system_response: system_response.into(),
    };
    let (completeness, groundedness) =
        futures_util::future::join(row(&complete, &about_truth), row(&grounded, &about_context))
            .await;
    completeness.with(
        groundedness,
        ["completeness", "groundedness"],
        |completeness, groundedness| harmonic_mean(groundedness, completeness),
    )
}

impl Requires for CompleteAndGrounded {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(self.panel.invalid_setting(&Self::SPEC));
        let [completeness, groundedness] = [0, 1].map(|half| self.panel.clone().of_half(half));
        let judge = AnswerCompletenessJudge {
            panel: completeness,
        };
        require(&judge, Self::SPEC.name, all);
        let judge = ResponseGroundednessJudge {
            panel: groundedness,
        };
        require(&judge, Self::SPEC.name, all);
    }

    /// Both judges have the same panel.
    fn max_cost(&self, declared_msats: u64) -> u64 {
        let judge = AnswerCompletenessJudge::signature();
        self.panel.max_cost(judge, declared_msats)
    }
}

impl CompleteAndGrounded {
    setters! {
        /// Sets the model that both judges call.
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Scores by token overlap instead of calling a model.
        ///
        /// Every result is labelled as offline.
        pub fn offline() in panel.offline;

        /// Sets the lowest passing score.
        pub fn with_threshold(threshold: f64) in panel.threshold;

        /// Replaces each score with 1 (pass) or 0 (fail).
        pub fn strict() in panel.strict;

        /// Sets the maximum expected cost in millisatoshis.
        ///
        /// The cost covers the calls of both judges to one model.
        pub fn with_cost_msats(cost_msats: u64) in panel.cost_msats;
    }
}

impl CompleteAndGroundedBuilder {
    /// Sets the model that both judges call.
    pub fn with_lm(self, lm: impl IntoModel) -> Self {
        self.change(|panel| panel.with_lm(lm))
    }

    /// Scores by token overlap instead of calling a model.
    ///
    /// Every result is labelled as offline.
    pub fn offline(self) -> Self {
        self.change(judge::Panel::offline)
    }

    /// Sets the lowest passing score.
    pub fn threshold(self, threshold: f64) -> Self {
        self.change(|panel| panel.threshold(threshold))
    }

    /// Replaces each score with 1 (pass) or 0 (fail).
    pub fn strict(self) -> Self {
        self.change(judge::Panel::strict)
    }

    /// Sets the maximum expected cost in millisatoshis.
    ///
    /// The cost covers the calls of both judges to one model.
    pub fn cost_msats(self, cost_msats: u64) -> Self {
        self.change(|panel| panel.cost_msats(cost_msats))
    }

    fn change(mut self, set: impl FnOnce(judge::Panel) -> judge::Panel) -> Self {
        self.panel = Some(set(self.panel.take().unwrap_or_default()));
        self
    }
}

/// Write three different questions that the answer answers, each as a user would ask it. Judge also whether the answer is
/// noncommittal: evasive, vague or ambiguous, such as "I don't know".
#[judge(
    score = f64::from(u8::from(!noncommittal)),
    range = -1.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct QuestionsOfAnswer {
    #[input(pred, desc = "the answer")]
    answer: TextOrList,
    #[output(desc = "a question that the answer answers")]
    question_1: String,
    #[output(desc = "another one")]
    question_2: String,
    #[output(desc = "a third one")]
    question_3: String,
    #[output(desc = "whether the answer is noncommittal")]
    noncommittal: bool,
}

/// Scores how well the answer fits the question.
///
/// A judge writes three questions that the answer could respond to. The score is the mean cosine similarity between
/// these questions and the original question.
///
/// The score is in [-1, 1]. It is 0 for a noncommittal answer such as "I don't know".
///
/// The metric does not check whether the answer is correct.
///
/// This metric is equivalent to ragas's `AnswerRelevancy`, which writes the questions in three calls.
///
/// ```
/// use dsrs_metrics::judge::shipped::AnswerRelevancy;
/// use dsrs_metrics::lm::{ScriptedEmbedder, ScriptedLm};
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let written = json!({ "question_1": "Where is it?", "question_2": "Which city?", "question_3": "Where is it?", "noncommittal": false });
/// let vectors = ScriptedEmbedder::new().when("Where is it?", [3.0, 4.0]).when("Which city?", [5.0, 0.0]);
/// let metric = AnswerRelevancy::builder().embedder(vectors).with_lm(ScriptedLm::new().otherwise(written)).build();
/// let gold = example! { "question" => "Where is it?" };
/// let score = metric.evaluate(&gold, &prediction! { "answer" => "In Paris." }).await?;
/// assert!((score.value - (1.0 + 0.6 + 1.0) / 3.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[metric(
    struct = AnswerRelevancy,
    tier = truth,
    cost = "100 msat",
    missing = 0.0,
    range = -1.0..=1.0
)]
pub async fn answer_relevancy(
    #[gold] question: String,
    #[pred] answer: TextOrList,
    /// The embedding model: `provider:model`, `static:FOLDER`, or the configured one.
    #[param(default = &Embedder::Configured, into)]
    embedder: &Embedder,
    /// The models that write the questions, and how to aggregate their scores.
    #[param(default)]
    panel: judge::Panel,
) -> Judged<f64> {
    let judge = QuestionsOfAnswerJudge { panel };
    let input = QuestionsOfAnswerInput {
        answer: answer.into(),
    };
    rescored(&judge, &input, |written| {
        similarity(embedder, &question, written)
    })
    .await
}

/// Returns the mean cosine between the question and those that a judge wrote; 0 for a noncommittal answer.
async fn similarity(
    embedder: &Embedder,
    question: &str,
    written: Map<String, Value>,
) -> Result<Rescored, JudgeError> {
    if written.get("noncommittal") == Some(&Value::Bool(true)) {
        let details = "the answer is noncommittal".to_owned();
        return Ok(Rescored {
            value: 0.0,
            cost_msats: 0,
            details,
        });
    }
    let names = ["question_1", "question_2", "question_3"];
    let written = names.map(|name| {
        written
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    });
    let [first, second, third] = written;
    let embeddings = judge::embed(embedder, &[question, first, second, third]).await?;
    let cosine = |at: usize| {
        embeddings.cosine(0, at).ok_or_else(|| {
            let reason = "the vector of a question is all zeros, so its cosine is undefined; use another embedding model";
            JudgeError::from(LmError::from(LmErrorKind::InvalidReply(reason.to_owned())))
        })
    };
    let cosines = [cosine(1)?, cosine(2)?, cosine(3)?];
    let line = |(text, cosine): (&str, f64)| format!("{} ({cosine:.4})", Value::from(text));
    let details: Vec<String> = written.into_iter().zip(cosines).map(line).collect();
    Ok(Rescored {
        value: cosines.iter().sum::<f64>() / 3.0,
        cost_msats: embeddings.cost_msats().unwrap_or(0),
        details: details.join("\n"),
    })
}

impl Requires for AnswerRelevancy {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(self.panel.invalid_setting(&Self::SPEC));
        let panel = self.panel.clone();
        require(&QuestionsOfAnswerJudge { panel }, Self::SPEC.name, all);
    }

    fn max_cost(&self, declared_msats: u64) -> u64 {
        let judge = QuestionsOfAnswerJudge::signature();
        self.panel.max_cost(judge, declared_msats)
    }
}

impl AnswerRelevancy {
    setters! {
        /// Sets the model that writes questions for the answer.
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Sets the lowest passing score.
        pub fn with_threshold(threshold: f64) in panel.threshold;
    }
}

impl AnswerRelevancyBuilder {
    /// Sets the model that writes questions for the answer.
    pub fn with_lm(mut self, lm: impl IntoModel) -> Self {
        self.panel = Some(self.panel.take().unwrap_or_default().with_lm(lm));
        self
    }
}
