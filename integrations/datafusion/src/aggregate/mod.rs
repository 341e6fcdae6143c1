//! The aggregates `metric_mean`, `metric_ci95` and `metric_summary`.

mod accumulator;
mod function;
mod input;
mod tally;

use datafusion::logical_expr::AggregateUDF;
use dsrs_metrics::contract::ScoreRange;
use serde::{Deserialize, Serialize};

use self::function::{Aggregate, Figure};

/// Returns the aggregates over scores, for a registry other than a `SessionContext`.
///
/// Each takes the column of a metric's score or of its details:
/// - `metric_mean` is the mean in which a failed row counts as 0;
/// - `metric_ci95` is the 95% interval of that mean, a struct of `low` and `high`, or NULL if there are not enough rows;
/// - `metric_summary` is a struct of these figures with their counts, and with the identity of the metric as JSON, which is NULL
///   if the column is not of a metric.
///
/// ```
/// use dsrs_metrics_datafusion::aggregate_functions;
///
/// let functions = aggregate_functions();
/// let names: Vec<_> = functions.iter().map(|function| function.name()).collect();
/// assert_eq!(names, ["metric_mean", "metric_ci95", "metric_summary"]);
/// ```
#[must_use]
pub fn functions() -> [AggregateUDF; 3] {
    [Figure::Mean, Figure::Ci95, Figure::Summary]
        .map(|figure| Aggregate::new(figure, ScoreSource::default()).into())
}

/// What is known of the metric whose scores an aggregate reads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScoreSource {
    /// The range of its scores, which limits the interval of the mean.
    pub range: Option<ScoreRange>,
    /// Its [identity](dsrs_metrics::contract::MetricIdentity) as JSON.
    pub identity: Option<String>,
}

/// Returns what an aggregate of this crate knows of the metric whose scores it reads, as the optimizer found it in the query;
/// `None` if it knows nothing, or for another function.
///
/// A plan that goes to another process must take this with it, since columns lose it on the way.
///
/// ```
/// use dsrs_metrics::contract::ScoreRange;
/// use dsrs_metrics_datafusion::{ScoreSource, aggregate_functions, score_source, with_score_source};
///
/// let [mean, ..] = aggregate_functions();
/// assert_eq!(score_source(&mean), None);
/// let mut source = ScoreSource::default();
/// source.range = Some(ScoreRange::UNIT);
/// let bound = with_score_source(&mean, source.clone()).unwrap();
/// assert_eq!(score_source(&bound), Some(source));
/// ```
#[must_use]
pub fn score_source(function: &AggregateUDF) -> Option<ScoreSource> {
    let source = function.inner().downcast_ref::<Aggregate>()?.source();
    (source != ScoreSource::default()).then_some(source)
}

/// Returns an aggregate of this crate for the scores of this metric; `None` for another function. See [`score_source`].
#[must_use]
pub fn with_score_source(function: &AggregateUDF, source: ScoreSource) -> Option<AggregateUDF> {
    let aggregate = function.inner().downcast_ref::<Aggregate>()?;
    Some(Aggregate::new(aggregate.figure(), source).into())
}
