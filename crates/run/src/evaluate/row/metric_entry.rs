//! A metric of a run.

use std::sync::Arc;

use derive_where::derive_where;

use crate::contract::declared::requirements::{self, NotReady};
use crate::contract::dedup::Sharing;
use crate::contract::metric::answer;
use crate::contract::{
    Answer, Key, Metric, MetricCall, MetricError, Outcome, Requirement, ScoreKind, ScoreRange,
    Scored,
};
use crate::stats::Interval;

/// A metric with the properties needed for every row.
#[derive_where(Clone)]
pub(crate) struct MetricEntry<'a, G, P> {
    pub(crate) name: String,
    pub(crate) kind: ScoreKind,
    pub(crate) range: Option<ScoreRange>,
    metric: Arc<dyn Metric<G, P> + 'a>,
    key: Option<Key>,
    /// The rows that the metric judges, or `None` if it evaluates all rows.
    pub(crate) sample: Option<Sample>,
}

impl<'a, G: Sync, P: Sync> MetricEntry<'a, G, P> {
    /// Rejects names that would collide with other columns, such as `NAME.PART` or `NAME.passed`.
    pub(crate) fn check_name(&self) -> Result<(), String> {
        let name = &*self.name;
        let is_invalid = |character: char| {
            matches!(character, '.' | ',') || character.is_whitespace() || character.is_control()
        };
        let reason = match name {
            "" => "the name is empty",
            _ if is_reserved(name) => "result files reserve this column name",
            _ if name.contains(is_invalid) => {
                "it contains a dot, a comma, white space or a control character"
            }
            _ => return Ok(()),
        };
        Err(format!(
            "invalid metric name {name:?}: {reason}; rename it with `#[metric(name = \"..\")]`"
        ))
    }

    pub(crate) fn new(metric: Arc<dyn Metric<G, P> + 'a>) -> Self {
        let spec = metric.spec();
        let (kind, range) = match spec.strict {
            true => (spec.kind, Some(ScoreRange::UNIT)),
            false => (spec.kind, spec.range),
        };
        // The key of the metric itself, not of this pointer.
        let (name, key) = (metric.name().to_owned(), (*metric).key());
        Self {
            name,
            kind,
            range,
            key,
            metric,
            sample: None,
        }
    }
}

impl<G: Sync, P: Sync> MetricEntry<'_, G, P> {
    /// Returns `true` if the metric can have this outcome. A stored record may have any.
    pub(crate) fn is_possible(&self, outcome: &Outcome) -> bool {
        outcome.scored().is_none_or(|scored| {
            self.is_in_range(scored) && ScoreRange::UNIT.contains(scored.score.confidence)
        })
    }

    /// Returns the range of values that a row can contribute to the mean, including the failure score. Returns `None`
    /// if there is no range.
    pub(crate) fn range_with(&self, failure_score: f64) -> Option<Interval> {
        self.range.map(|range| Interval {
            low: range.min.min(failure_score),
            high: range.max.max(failure_score),
        })
    }

    /// Returns `true` if a score is in range. A metric written by hand may change a score after it was validated.
    pub(crate) fn is_in_range(&self, scored: &Scored) -> bool {
        self.range
            .is_none_or(|range| range.contains(scored.score.value))
    }

    pub(crate) fn out_of_range(&self, scored: &Scored) -> MetricError {
        let (value, range) = (scored.score.value, self.range.unwrap_or(ScoreRange::UNIT));
        let error = MetricError::out_of_range(&self.name, value, range);
        error.with_cost_msats(scored.score.cost_msats)
    }

    /// Returns `true` if the metric calls a model, or needs one that is not set.
    pub(crate) fn calls_model(&self) -> bool {
        let is_call = |it: &Requirement| {
            it.lm().is_some() || it.embedding_model().is_some() || it.needs_model()
        };
        requirements(std::slice::from_ref(self)).iter().any(is_call)
    }

    pub(crate) fn metric(&self) -> &dyn Metric<G, P> {
        &*self.metric
    }

    pub(crate) fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        answer::shared(&*self.metric, self.key.as_ref(), call)
    }
}

/// Returns the metrics or components that occur more than once.
pub(crate) fn sharing<G: Sync, P: Sync>(metrics: &[MetricEntry<'_, G, P>]) -> Option<Sharing> {
    let mut all = Vec::new();
    metrics.iter().for_each(|entry| entry.metric.keys(&mut all));
    Sharing::among(&all)
}

/// Returns all requirements of the metrics.
pub(crate) fn requirements<G: Sync, P: Sync>(
    metrics: &[MetricEntry<'_, G, P>],
) -> Vec<Requirement> {
    let mut all = Vec::new();
    metrics
        .iter()
        .for_each(|entry| entry.metric.requirements(&mut all));
    all
}

/// Returns all requirements of the metrics of a run, with the models of the current scope.
///
/// # Errors
/// Returns the first metric that cannot score any row, if this is known without a call.
pub(crate) fn checked_requirements<G: Sync, P: Sync>(
    metrics: &[MetricEntry<'_, G, P>],
) -> Result<Vec<Requirement>, NotReady> {
    let all = requirements(metrics);
    requirements::check(&all)?;
    Ok(all)
}

/// A sample of the rows for an expensive metric to judge.
///
/// Pass the sample and the metric to [`EvaluateBuilder::truth`](crate::EvaluateBuilder::truth).
///
/// ```
/// use dsrs_metrics::runs::Sample;
///
/// let sample = Sample::rows(100).stratified_by("f1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub(crate) rows: u64,
    pub(crate) by: Option<String>,
}

impl Sample {
    /// Creates a sample of this many rows.
    ///
    /// The sample must have at least 10 rows.
    pub fn rows(rows: u64) -> Self {
        Self { rows, by: None }
    }

    /// Sets the proxy, which is the metric to stratify the sample by.
    ///
    /// The proxy must be another metric in the run. Rows are divided into strata by the proxy's verdicts, or into up to
    /// five strata by its scores. Each stratum is sampled in proportion to its size.
    ///
    /// The more closely the proxy agrees with the sampled metric, the narrower the interval.
    #[must_use]
    pub fn stratified_by(self, proxy: impl Into<String>) -> Self {
        let by = Some(proxy.into());
        Self { by, ..self }
    }
}

/// Returns `true` if this is the name of a result column that does not belong to a metric.
fn is_reserved(name: &str) -> bool {
    let of_row = ["id", "gold", "pred", "attributes", "traceback"];
    let of_file = ["manifest", "repeats"];
    let of_program = ["latency_s", "input_tokens", "output_tokens", "cost_msats"];
    let mut columns = of_row.iter().chain(&of_file).chain(&of_program);
    columns.any(|column| *column == name)
}
