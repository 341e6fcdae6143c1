//! dspy's `CompleteAndGrounded`: two questions, of which neither judge sees what the other is shown, so that
//! a response is not called grounded because the ground truth says the same.

use super::lexical;
use super::texts::TextOrList;
use crate::core::requirements::{Requirement, Requires};
use crate::judge::{IntoModel, Judged, Untrusted, row};
use crate::stats::harmonic_mean;
use dsrs_metrics::{judge, metric};

/// Judge how complete a system's response is: which share of what the ground truth says does the response say
/// too? What the response says beyond it does not count.
#[judge(score = completeness, cost = "100 msat", offline = lexical::completeness)]
pub struct AnswerCompleteness {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(gold = "response", desc = "a correct and complete response")]
    ground_truth: String,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(range = 0.0..=1.0, desc = "fraction of the ground truth that the response covers")]
    completeness: f64,
}

/// Judge how well a system's response is grounded: which share of its claims does the retrieved context
/// support? Common knowledge need not be supported.
#[judge(score = groundedness, cost = "100 msat", offline = lexical::groundedness)]
pub struct ResponseGroundedness {
    #[input(gold, desc = "the question that was asked")]
    question: String,
    #[input(pred = "context", desc = "what the system had retrieved")]
    retrieved_context: TextOrList,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(range = 0.0..=1.0, desc = "fraction of the response's claims that the context supports")]
    groundedness: f64,
}

/// Whether a response is complete (against the ground truth) and grounded (in the retrieved context): the F1
/// of both, judged in two calls.
#[metric(
    struct = CompleteAndGrounded,
    tier = truth,
    cost = "200 msat",
    threshold = 0.66,
    range = 0.0..=1.0
)]
pub async fn complete_and_grounded(
    #[gold] question: String,
    #[gold("response")] ground_truth: String,
    #[pred("response")] system_response: String,
    #[pred("context")] retrieved_context: TextOrList,
    /// Which models are asked, and how their answers become one.
    #[param(default)]
    panel: judge::Panel,
) -> Judged<f64> {
    let complete = AnswerCompletenessJudge { panel: panel.clone() };
    let about_truth = AnswerCompletenessInput {
        question: question.clone().into(),
        ground_truth: ground_truth.into(),
        system_response: system_response.clone().into(),
    };
    let grounded = ResponseGroundednessJudge { panel };
    let about_context = ResponseGroundednessInput {
        question: question.into(),
        retrieved_context: Untrusted::new(retrieved_context),
        system_response: system_response.into(),
    };
    let (completeness, groundedness) = futures_util::future::join(
        row(&complete, &about_truth, const { &AnswerCompletenessJudge::SPEC }),
        row(&grounded, &about_context, const { &ResponseGroundednessJudge::SPEC }),
    )
    .await;
    completeness.with(
        groundedness,
        ["completeness", "groundedness"],
        |completeness, groundedness| harmonic_mean(groundedness, completeness),
    )
}

impl Requires for CompleteAndGrounded {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        Requires::requirements(&AnswerCompletenessJudge { panel: self.panel.clone() }, all);
        Requires::requirements(&ResponseGroundednessJudge { panel: self.panel.clone() }, all);
    }
}

impl CompleteAndGrounded {
    /// Asks this model.
    #[must_use]
    pub fn with_lm(mut self, lm: impl IntoModel) -> Self {
        self.panel = self.panel.with_lm(lm);
        self
    }
}
