//! Metrics that are called without awaiting anything.

use crate::score::error::MetricError;

/// Returns the error of an asynchronous metric in a synchronous call.
#[cold]
pub(crate) fn is_asynchronous(metric: &str) -> MetricError {
    MetricError::failed(
        metric,
        "the metric is asynchronous; call `evaluate(..).await`",
    )
}

/// A synchronous metric. `G` defers the check to the call of `score`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is asynchronous, so it cannot be scored synchronously",
    label = "must be awaited",
    note = "write `.evaluate(&gold, &pred).await` instead of `.score(&gold, &pred)`"
)]
#[doc(hidden)]
pub trait ScoredAtOnce<G> {}
