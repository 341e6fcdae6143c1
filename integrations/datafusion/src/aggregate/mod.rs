//! The aggregates `metric_mean`, `metric_ci95` and `metric_summary`.

mod accumulator;
mod function;
mod identity;
mod input;
mod tally;

use datafusion::logical_expr::AggregateUDF;
use dsrs_metrics::contract::ScoreRange;

use self::function::{Aggregate, Figure};
pub use self::identity::FindIdentities;
pub(crate) use self::identity::{IDENTITY, answer};

/// Returns the aggregates over scores, for a registry other than a `SessionContext`.
///
/// Each takes the column of a metric's score or of its details:
/// - `metric_mean` is the mean in which a failed row counts as 0;
/// - `metric_ci95` is the 95% interval of that mean, a struct of `low` and `high`, or NULL if there are not enough rows;
/// - `metric_summary` is a struct of these figures with their counts, and the identity of the metric if [`FindIdentities`] found it.
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
    [Figure::Mean, Figure::Ci95, Figure::Summary].map(|figure| Aggregate::new(figure, None).into())
}

/// Returns the range of the scores that an aggregate of this crate reads, as the optimizer found it in the query; `None` if
/// there is none, or for another function. The range limits the interval of the mean.
///
/// A plan that goes to another process must take the range with it, because columns lose it on the way.
///
/// ```
/// use dsrs_metrics::contract::ScoreRange;
/// use dsrs_metrics_datafusion::{aggregate_functions, score_range, with_score_range};
///
/// let [mean, ..] = aggregate_functions();
/// assert_eq!(score_range(&mean), None);
/// let bound = with_score_range(&mean, ScoreRange::UNIT).unwrap();
/// assert_eq!(score_range(&bound), Some(ScoreRange::UNIT));
/// ```
#[must_use]
pub fn score_range(function: &AggregateUDF) -> Option<ScoreRange> {
    function.inner().downcast_ref::<Aggregate>()?.range()
}

/// Returns an aggregate of this crate for scores in this range; `None` for another function. See [`score_range`].
#[must_use]
pub fn with_score_range(function: &AggregateUDF, range: ScoreRange) -> Option<AggregateUDF> {
    let aggregate = function.inner().downcast_ref::<Aggregate>()?;
    Some(aggregate.with_range(range).into())
}

/// Returns the identity of the metric whose scores `metric_summary` reads, as JSON, if [`FindIdentities`] found it in the query;
/// `None` for another function. A plan that goes to another process must take it with it.
///
/// ```
/// use dsrs_metrics_datafusion::{aggregate_functions, score_identity, with_score_identity};
///
/// let [.., summary] = aggregate_functions();
/// assert_eq!(score_identity(&summary), None);
/// let bound = with_score_identity(&summary, r#"{"name":"f1"}"#).unwrap();
/// assert_eq!(score_identity(&bound), Some(r#"{"name":"f1"}"#));
/// ```
#[must_use]
pub fn score_identity(function: &AggregateUDF) -> Option<&str> {
    function
        .inner()
        .downcast_ref::<Aggregate>()?
        .identity()
        .map(|identity| &**identity)
}

/// Returns an aggregate of this crate for scores of this metric; `None` for another function. See [`score_identity`].
#[must_use]
pub fn with_score_identity(function: &AggregateUDF, identity: &str) -> Option<AggregateUDF> {
    Some(
        function
            .inner()
            .downcast_ref::<Aggregate>()?
            .with_identity(identity)
            .into(),
    )
}
