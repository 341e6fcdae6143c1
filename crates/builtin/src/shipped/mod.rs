//! The judges of the library.
//!
//! The judges are defined with `#[judge]`, like your own judges. With `.offline()` or `--offline`, they score by token
//! overlap ([`lexical`]) instead of calling a model. Every offline result is labelled.
//!
//! A gold response or answer can be a string or a list of acceptable strings ([`References`]).
//!
//! | judge | reads | returns |
//! | --- | --- | --- |
//! | [`SemanticF1`], [`DecompositionalSemanticF1`] | `gold.question`, `gold.response`, `pred.response` | F1 of recall and precision of ideas |
//! | [`CompleteAndGrounded`] | the same and `pred.context` | F1 of completeness and groundedness |
//! | [`LlmJudge`] | `gold.question`, `gold.answer` (both optional), `pred.answer` | a score in [0, 1] by your criteria |
//! | [`AnswerRelevance`] | `gold.question`, `pred.answer` | whether the answer addresses the question |
//! | [`AnswerGroundedness`] | `pred.context`, `pred.answer` | whether the context supports the answer |
//! | [`GEvalCompleteness`] | `gold.question`, `gold.response`, `pred.response` | completeness from 1 to 5, normalized to [0, 1] |
//! | [`PairwisePreference`] | `gold.question`, `gold.response`, `pred.response` | whether the prediction is the better answer; it passes if preferred in one order and not worse in the other |
//! | [`SemanticEquivalence`] | `gold.answer`, `pred.answer` | whether both have the same meaning |
//!
//! The guide compares the fields of each judge with those of the original judge.
//!
//! A prediction without a required field scores 0 without a call. For [`AnswerRelevance`] and [`AnswerGroundedness`],
//! an empty answer or context also scores 0 without a call.
//!
//! [`Diff`](crate::metrics::Diff) uses [`SemanticEquivalence`] at the strictness `semantic`.

mod conversations;
mod grounded;
mod judges;
pub mod lexical;
mod rag;

pub use self::conversations::*;
pub use self::grounded::*;
pub use self::judges::*;
pub use self::rag::*;
pub use crate::contract::rows::field_types::{References, TextOrList};

use crate::contract::{Requirement, Requires};

/// Adds what a judge requires, for the metric that asks it.
pub(crate) fn require(judge: &impl Requires, metric: &str, all: &mut Vec<Requirement>) {
    let mut required = Vec::new();
    judge.requirements(&mut required);
    all.extend(required.into_iter().map(|it| it.of(metric)));
}
