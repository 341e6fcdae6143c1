//! Interfaces for program optimizers: feedback on a row ([`FeedbackEvaluator`]), and pass or fail while tracing
//! ([`AcceptanceTest`]).
//!
//! While an optimizer runs, it passes the program's [`Trace`](crate::rows::Trace) to the metric. A metric that returns
//! `bool` or has a threshold then returns `true` if it accepts the row.

#[doc(hidden)]
pub use dsrs_metrics_core::objectives;
pub use dsrs_metrics_core::{
    AcceptanceTest, FeedbackEvaluator, FeedbackMetric, Grade, MetricScore, traced_metric_fn,
};
