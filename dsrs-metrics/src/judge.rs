//! Judges: metrics that ask a language model. A [`Signature`] describes the question, [`Untrusted`] inserts row content
//! into the prompt safely, and a [`Panel`] combines the verdicts from several judges.
//!
//! Language models are in [`lm`](crate::lm), and the library's built-in judges are in [`shipped`].
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

#[cfg(feature = "metrics")]
pub use dsrs_metrics_builtin::shipped;
pub use dsrs_metrics_core::judge::*;
