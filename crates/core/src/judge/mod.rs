//! Judges, which are metrics that ask a language model.
//!
//! This module defines a judge's question ([`Signature`]) and fences row content in prompts ([`Untrusted`]). It also
//! parses replies and aggregates the verdicts of several judges ([`Panel`]).
//!
//! `steps.rs` declares the calls before the last one, and `pipeline.rs` makes all calls to one model, for each turn.
//! `prompt.rs` writes the messages to the model, `untrusted.rs` fences row content and shortens traces, and `reply.rs`
//! parses the answer. `scoring.rs` computes a score from probabilities or several draws. `forward.rs` runs a judge as a
//! program.
//!
//! Language models are in [`lm`](crate::lm), and the built-in judges are in `dsrs_metrics::judge::shipped`.
//!
//! ```
//! use dsrs_metrics::lm::ScriptedLm;
//! use dsrs_metrics::prelude::*;
//! use serde_json::json;
//!
//! /// Compare a system's response to the ground truth and report recall and precision.
//! #[judge(score = harmonic_mean(precision, recall), threshold = 0.66, cost = "100 msat")]
//! struct SemanticRecallPrecision {
//!     #[input(gold)]
//!     question: String,
//!     #[input(gold = "response")]
//!     ground_truth: String,
//!     #[input(pred = "response")]
//!     system_response: String,
//!     /// fraction of the ground truth that the response covers
//!     #[output(range = 0.0..=1.0)]
//!     recall: f64,
//!     /// fraction of the response that the ground truth supports
//!     #[output(range = 0.0..=1.0)]
//!     precision: f64,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> dsrs_metrics::Result<()> {
//! let lm = ScriptedLm::new()
//!     .otherwise(json!({ "reasoning": "Half of it.", "recall": 0.5, "precision": 1.0 }));
//! let judge = SemanticRecallPrecisionJudge::default().with_lm(lm);
//! let gold = example! { "question" => "Capital of France?", "response" => "Paris, on the Seine" };
//! let score = judge.evaluate(&gold, &prediction! { "response" => "Paris" }).await?;
//! assert_eq!(score.value, 2.0 / 3.0);
//! assert_eq!(score.details.as_deref(), Some("Half of it."));
//! # Ok(())
//! # }
//! ```

mod aggregation;
#[doc(hidden)]
pub mod configured;
mod contract;
mod error;
pub(crate) mod forward;
mod json_object;
mod judged;
mod members;
mod model_call;
mod models;
mod output_spec;
mod panel;
mod pipeline;
mod prompt;
mod reply;
#[doc(hidden)]
pub mod row;
mod scoring;
mod signature;
mod steps;
mod untrusted;

pub use schemars;
pub use schemars::JsonSchema;

pub use self::aggregation::{Aggregation, IntoScore, Preference, rescale, share};
pub use self::contract::{Answers, Choice, Judge};
pub use self::error::JudgeError;
pub use self::judged::Judged;
pub use self::models::{Models, embed, embedder_requirement, embedding_model};
pub use self::output_spec::{AnswersOffline, OutputSpec};
pub use self::panel::{JudgeBuilder, Panel};
pub use self::prompt::{Demo, Fenced, Prompt};
pub use self::reply::{Answer, JudgeOutput, Reply};
pub use self::signature::Signature;
pub use self::untrusted::{Content, MAX_TRACE_BYTES, Shown, Untrusted};
#[doc(hidden)]
pub use self::{
    aggregation::{CheckedInteger, Conversation, Overflow, Reduction, Scoring, Turns},
    contract::{ChecksParams, Itself, answer_of},
    forward::{Rescored, rescored},
    output_spec::Offline,
    reply::OutputType,
    row::row,
    signature::IsMetric,
    steps::{Each, Empty},
    untrusted::{shown_calls, shown_conversation, shown_items, shown_trace},
};
pub use crate::lm::{IntoModel, JudgeModel};
