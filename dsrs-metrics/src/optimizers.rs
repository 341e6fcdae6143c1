//! Interfaces for program optimizers: [`FeedbackEvaluator`] gives feedback on a row, and [`AcceptanceTest`] tells the
//! optimizer if a row passes while the program is traced.
//!
//! While an optimizer runs, it passes the program's [`Trace`](crate::rows::Trace) to the metric. If the metric returns
//! `bool` or has a threshold, it returns `true` for the rows it accepts.

#[doc(hidden)]
pub use dsrs_metrics_core::objectives;
pub use dsrs_metrics_core::{
    AcceptanceTest, FeedbackEvaluator, FeedbackMetric, Grade, MetricScore, traced_metric_fn,
};
