//! What a file that defines or runs metrics wants in scope.

pub use crate::{
    AcceptanceTest, Example, FeedbackEvaluator, FeedbackMetric, Grade, Metric, MetricCall,
    MetricScore, MetricSpec, MetricTier, Outcome, ParamGroup, Prediction, Record, Scores, Trace,
    WithSettings, async_trait, example, judge, judge_output, metric, metric_fn, prediction,
    traced_metric_fn, typed_metric_fn,
};

#[cfg(all(feature = "metrics", feature = "evaluate"))]
pub use crate::DefaultMetrics;
pub use crate::judge::rescale;
#[cfg(feature = "metrics")]
#[doc(hidden)]
pub use crate::metrics::setters::*;
pub use crate::stats::harmonic_mean;
