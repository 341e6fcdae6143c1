//! The aggregates `metric_mean`, `metric_ci95` and `metric_summary`.

mod accumulator;
mod function;
mod input;
mod tally;

use datafusion::logical_expr::AggregateUDF;

/// Returns the aggregates over scores, for a registry other than a `SessionContext`.
///
/// Each takes the column of a metric's score or of its details:
/// - `metric_mean` is the mean in which a failed row counts as 0;
/// - `metric_ci95` is the 95% interval of that mean, a struct of `low` and `high`, or NULL if there are not enough rows;
/// - `metric_summary` is a struct of these figures with their counts.
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
    use function::{Aggregate, Figure};
    [Figure::Mean, Figure::Ci95, Figure::Summary].map(|figure| Aggregate::new(figure).into())
}
