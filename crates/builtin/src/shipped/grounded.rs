//! DSPy's `CompleteAndGrounded`: two judges with separate inputs, so a response is not judged grounded because it
//! agrees with the ground truth.

use super::{lexical, require};
use crate::contract::{References, Requirement, Requires, TextOrList};
use crate::judge::{IntoModel, Judge, Judged, Untrusted, row};
use crate::stats::harmonic_mean;
use dsrs_metrics::{judge, metric};

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

/// The F1 of completeness (compared with the ground truth) and groundedness (in the retrieved context) of a response,
/// judged in two calls.
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
        let panel = |index| self.panel.clone().of_half(index);
        require(
            &AnswerCompletenessJudge { panel: panel(0) },
            Self::SPEC.name,
            all,
        );
        require(
            &ResponseGroundednessJudge { panel: panel(1) },
            Self::SPEC.name,
            all,
        );
    }

    /// Both judges have the same panel.
    fn max_cost(&self, declared_msats: u64) -> u64 {
        self.panel.max_cost(
            <AnswerCompletenessJudge as Judge>::signature(),
            declared_msats,
        )
    }
}

impl CompleteAndGrounded {
    setters! {
        /// Sets the model.
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Uses both judges' offline stand-ins instead of a model. Every result is labelled as offline.
        pub fn offline() in panel.offline;

        /// Sets the smallest passing score.
        pub fn with_threshold(threshold: f64) in panel.threshold;

        /// Replaces each score with 1 (pass) or 0 (fail).
        pub fn strict() in panel.strict;

        /// Sets the maximum expected cost of both calls to one model, in millisatoshis.
        pub fn with_cost_msats(cost_msats: u64) in panel.cost_msats;
    }
}

impl CompleteAndGroundedBuilder {
    /// Sets the model.
    pub fn with_lm(self, lm: impl IntoModel) -> Self {
        self.change(|panel| panel.with_lm(lm))
    }

    /// Uses both judges' offline stand-ins instead of a model. Every result is labelled as offline.
    pub fn offline(self) -> Self {
        self.change(judge::Panel::offline)
    }

    /// Sets the smallest passing score.
    pub fn threshold(self, threshold: f64) -> Self {
        self.change(|panel| panel.threshold(threshold))
    }

    /// Replaces each score with 1 (pass) or 0 (fail).
    pub fn strict(self) -> Self {
        self.change(judge::Panel::strict)
    }

    /// Sets the maximum expected cost of both calls to one model, in millisatoshis.
    pub fn cost_msats(self, cost_msats: u64) -> Self {
        self.change(|panel| panel.cost_msats(cost_msats))
    }

    fn change(mut self, set: impl FnOnce(judge::Panel) -> judge::Panel) -> Self {
        self.panel = Some(set(self.panel.take().unwrap_or_default()));
        self
    }
}
