//! The items you usually need to define or run metrics.

pub use crate::contract::{
    MetricCall, MetricSpec, MetricTier, Scores, WithSettings, typed_metric_fn,
};
pub use crate::judge::{rescale, share};
#[cfg(feature = "metrics")]
#[doc(hidden)]
pub use crate::metrics::setters::*;
pub use crate::optimizers::{
    AcceptanceTest, FeedbackEvaluator, FeedbackMetric, Grade, MetricScore, traced_metric_fn,
};
pub use crate::rows::Trace;
#[cfg(all(feature = "metrics", feature = "evaluate"))]
pub use crate::scoring::DefaultMetrics;
pub use crate::stats::harmonic_mean;
pub use crate::trajectory::{Message, ToolCall, Trajectory};
pub use crate::{
    Example, Metric, Outcome, ParamGroup, Prediction, Record, async_trait, eval, example, judge,
    judge_output, metric, metric_fn, prediction,
};
