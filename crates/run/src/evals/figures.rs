//! The figures of a run, over all rows or over the rows of a group.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Serialize;

use crate::contract::{Direction, MetricIdentity, Outcome};
use crate::evaluate::report::ResultRow;
use crate::evaluate::summary::{IntervalOptions, Place, Tally, TallyOptions};
use crate::evaluate::{EarlyResult, Ending, EvaluationResult, MetricSummary, RowResult};
use crate::json::describe;
use crate::messages::escape;
use crate::results::Results;

/// Returns an error if the run did not evaluate all rows, or if no row could be evaluated.
pub(super) fn complete<G, P>(result: &EvaluationResult<G, P>) -> Result<(), String> {
    if !matches!(result.ending, Ending::Complete | Ending::Decided) {
        return Err(format!("after {} rows: {}", result.rows, result.ending));
    }
    match &result.first_error {
        Some(error) if result.failed_rows == result.rows => Err(format!(
            "all {} rows failed; first error: {}",
            result.rows,
            escape::escaped(error)
        )),
        _ => Ok(()),
    }
}

/// A finished run, independent of the types of its rows.
pub(super) struct Finished<'a> {
    /// The rows as result files have them, in the order of `rows`.
    pub(super) results: &'a Results,
    pub(super) whole: Figures,
    rows: Vec<FinishedRow<'a>>,
    metrics: &'a IndexMap<String, MetricIdentity>,
    options: TallyOptions,
    /// The group of each row, for intervals.
    clusters: Option<Vec<u32>>,
    /// The field that defines the groups.
    pub(super) group: Option<String>,
    /// The verdicts that ended the run before all rows were evaluated.
    pub(super) early: Option<&'a EarlyResult>,
}

struct FinishedRow<'a> {
    outcomes: &'a [Outcome],
    repeats: Vec<&'a [Outcome]>,
    is_failure: bool,
    latency_s: Option<f64>,
}

/// The figures for some of the rows.
pub(super) struct Figures {
    pub(super) metrics: Vec<MetricSummary>,
    pub(super) rows: u64,
    pub(super) failed_rows: u64,
    /// The mean time of the program per row, in seconds.
    pub(super) latency_s: Option<f64>,
    /// The best and worst score among each metric's scored rows.
    extremes: Vec<Option<(f64, f64)>>,
}

impl Figures {
    pub(super) fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// Returns the worst score of a metric, if a failed row would count as better than it.
    pub(super) fn worst_below_failures(&self, metric: &str, direction: Direction) -> Option<f64> {
        let mut metrics = self.metrics.iter().zip(&self.extremes);
        let (summary, extremes) = metrics.find(|(summary, _)| summary.name == metric)?;
        let (low, high) = (*extremes)?;
        let (worst, is_better) = match direction {
            Direction::HigherIsBetter => (low, summary.failure_score > low),
            Direction::LowerIsBetter => (high, summary.failure_score < high),
        };
        (summary.failed > 0 && is_better).then_some(worst)
    }
}

impl<'a> Finished<'a> {
    pub(super) fn new<G: Serialize, P: Serialize>(
        result: &'a EvaluationResult<G, P>,
        results: &'a Results,
        group: Option<&str>,
    ) -> Self {
        let rows: Vec<FinishedRow<'a>> = result.results.iter().map(FinishedRow::of).collect();
        let group = group.map(|field| path_of(field, results));
        let clusters = group.as_deref().map(|path| clusters(path, results));
        let run = &result.manifest.run;
        let intervals = IntervalOptions {
            by_group: group.is_some(),
            bootstrap: None,
        };
        let options = TallyOptions {
            failure_score: result.failure_score(),
            repeats: run.repeats,
            intervals,
        };
        let whole = Figures {
            metrics: result
                .metric_names()
                .filter_map(|name| result.metric(name).cloned())
                .collect(),
            rows: result.rows,
            failed_rows: result.failed_rows,
            latency_s: result.program.mean_latency_s(),
            extremes: extremes(rows.iter(), run.metrics.len()),
        };
        Self {
            results,
            whole,
            rows,
            metrics: &run.metrics,
            options,
            clusters,
            group,
            early: result
                .early
                .as_ref()
                .filter(|_| result.ending == Ending::Decided),
        }
    }

    /// Returns the direction of a metric of the run.
    pub(super) fn direction(&self, metric: &str) -> Option<Direction> {
        self.metrics.get(metric).map(MetricIdentity::direction)
    }

    /// Returns the figures of some rows, by their positions.
    fn figures(&self, positions: &[usize]) -> Figures {
        let mut tallies: Vec<Tally> = self
            .metrics
            .iter()
            .zip(&self.whole.metrics)
            .map(|((name, metric), whole)| {
                Tally::new(name, whole.kind, metric.range(), self.options)
            })
            .collect();
        for position in positions {
            let row = &self.rows[*position];
            let group = self
                .clusters
                .as_ref()
                .map_or(0, |clusters| clusters[*position]);
            let place = Place {
                row: *position as u64,
                group,
            };
            for (metric, (tally, outcome)) in tallies.iter_mut().zip(row.outcomes).enumerate() {
                tally.record(place, outcome);
                if !row.repeats.is_empty() {
                    let repeats = row.repeats.iter().filter_map(|repeat| repeat.get(metric));
                    tally.record_repeats(&repeats.collect::<Vec<_>>());
                }
            }
        }
        let rows = || positions.iter().map(|position| &self.rows[*position]);
        let latencies: Vec<f64> = rows().filter_map(|row| row.latency_s).collect();
        let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
        Figures {
            metrics: tallies
                .iter()
                .filter_map(|it| it.summaries().into_iter().next())
                .collect(),
            rows: positions.len() as u64,
            failed_rows: rows().filter(|row| row.is_failure).count() as u64,
            latency_s: (!latencies.is_empty()).then_some(mean),
            extremes: extremes(rows(), self.metrics.len()),
        }
    }

    /// Returns the groups of rows by a field, in the order of the rows, and the number of rows without one.
    pub(super) fn by(&self, field: &str) -> (IndexMap<String, GroupOfRows>, usize) {
        let path = path_of(field, self.results);
        let mut groups: IndexMap<String, Vec<usize>> = IndexMap::new();
        let mut without = 0;
        for (position, row) in self.results.rows().iter().enumerate() {
            match value(row, &path) {
                Some(value) => groups.entry(value).or_default().push(position),
                None => without += 1,
            }
        }
        let group = |(name, positions): (String, Vec<usize>)| {
            let ids = positions
                .iter()
                .map(|it| self.results.rows()[*it].id.clone())
                .collect();
            (
                name,
                GroupOfRows {
                    figures: self.figures(&positions),
                    ids,
                },
            )
        };
        (groups.into_iter().map(group).collect(), without)
    }
}

/// The rows of a group.
pub(super) struct GroupOfRows {
    pub(super) figures: Figures,
    pub(super) ids: HashSet<String>,
}

impl<'a> FinishedRow<'a> {
    fn of<G, P>(row: &'a RowResult<G, P>) -> Self {
        let run = row.run.as_deref();
        Self {
            outcomes: &row.outcomes,
            repeats: row.repeats.iter().map(|repeat| &*repeat.outcomes).collect(),
            is_failure: row.is_failure(),
            latency_s: run
                .and_then(|run| run.latency)
                .map(|latency| latency.as_secs_f64()),
        }
    }
}

fn extremes<'a>(
    rows: impl Iterator<Item = &'a FinishedRow<'a>>,
    metrics: usize,
) -> Vec<Option<(f64, f64)>> {
    let mut extremes = vec![None; metrics];
    for row in rows {
        for (extreme, outcome) in extremes.iter_mut().zip(row.outcomes) {
            if let Some(value) = outcome.value() {
                let (low, high) = extreme.unwrap_or((value, value));
                *extreme = Some((f64::min(low, value), f64::max(high, value)));
            }
        }
    }
    extremes
}

/// Returns the path of a field: as written if a row has it, otherwise as a field of gold rows.
fn path_of(field: &str, results: &Results) -> String {
    match results.rows().iter().any(|row| value(row, field).is_some()) {
        true => field.to_owned(),
        false => format!("gold.{field}"),
    }
}

pub(super) fn value(row: &ResultRow, path: &str) -> Option<String> {
    row.field(path).cloned().and_then(describe::text)
}

/// Numbers the groups of rows; a row without a group is a group of its own.
fn clusters(path: &str, results: &Results) -> Vec<u32> {
    let (mut numbers, mut next) = (IndexMap::new(), 0);
    let mut number = |row: &ResultRow| {
        let mut take = || {
            next += 1;
            next - 1
        };
        match value(row, path) {
            Some(value) => *numbers.entry(value).or_insert_with(take),
            None => take(),
        }
    };
    results.rows().iter().map(&mut number).collect()
}
