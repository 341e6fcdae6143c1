//! Interfaces for optimizers of programs: feedback for a row ([`FeedbackEvaluator`]), and acceptance in trace mode
//! ([`AcceptanceTest`]).
//!
//! While an optimizer runs, a metric receives the program's [`Trace`](crate::rows::Trace). A metric that returns `bool`
//! or has a threshold then returns `true` if it accepts the row.

#[doc(hidden)]
pub use dsrs_metrics_core::objectives;
pub use dsrs_metrics_core::{
    AcceptanceTest, FeedbackEvaluator, FeedbackMetric, Grade, MetricScore, traced_metric_fn,
};
