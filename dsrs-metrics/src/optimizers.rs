//! Interfaces for optimizers of programs: feedback for a row ([`FeedbackEvaluator`]), and acceptance in trace mode
//! ([`AcceptanceTest`]).
//!
//! While an optimizer runs, a metric receives the [`Trace`](crate::rows::Trace) of the program, and a metric that returns
//! `bool` or has a threshold returns whether the row is accepted.

#[doc(hidden)]
pub use dsrs_metrics_core::objectives;
pub use dsrs_metrics_core::{
    AcceptanceTest, FeedbackEvaluator, FeedbackMetric, Grade, MetricScore, traced_metric_fn,
};
