//! The figures of a run, over all rows or over the rows of a group.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use crate::contract::{Direction, MetricIdentity};
use crate::evaluate::report::ResultRow;
use crate::evaluate::summary::{Place, Tally};
use crate::evaluate::{EarlyResult, Ending, EvaluationResult, MetricSummary};
use crate::json;
use crate::messages::escape;
use crate::results::Results;
use crate::stats::Moments;

/// Returns an error if the run did not evaluate all rows, or if no row could be evaluated.
pub(super) fn complete<G, P>(result: &EvaluationResult<G, P>) -> Result<(), String> {
    let rows = result.rows;
    if !matches!(result.ending, Ending::Complete | Ending::Decided) {
        return Err(format!("after {rows} rows: {}", result.ending));
    }
    match result.first_error.as_deref().map(escape::escaped) {
        Some(error) if result.failed_rows == rows => {
            Err(format!("all {rows} rows failed; first error: {error}"))
        }
        _ => Ok(()),
    }
}

/// A finished run, independent of the types of its rows.
pub(super) struct Finished<'a> {
    /// The rows as they appear in result files, in run order.
    pub(super) results: &'a Results,
    pub(super) whole: Figures,
    of_rows: FiguresOfRows<'a>,
    metrics: &'a IndexMap<String, MetricIdentity>,
    /// The field that defines the groups.
    pub(super) group: Option<String>,
    /// The verdicts that ended the run before all rows were evaluated.
    pub(super) early: Option<&'a EarlyResult>,
}

/// A function that returns the figures for some rows, given their positions.
type FiguresOfRows<'a> = Box<dyn Fn(&[usize]) -> Figures + 'a>;

/// The figures for some of the rows.
pub(super) struct Figures {
    pub(super) metrics: Vec<MetricSummary>,
    pub(super) rows: u64,
    pub(super) failed_rows: u64,
    /// The mean time of the program per row, in seconds.
    pub(super) latency_s: Option<f64>,
    /// The ids of the rows, or `None` for all rows.
    pub(super) ids: Option<HashSet<String>>,
}

impl Figures {
    pub(super) fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

impl<'a> Finished<'a> {
    pub(super) fn new<G: Serialize, P: Serialize>(
        result: &'a EvaluationResult<G, P>,
        results: &'a Results,
        group: Option<&str>,
    ) -> Self {
        let group = group.map(|field| path_of(field, results));
        let clusters = group.as_deref().map(|path| clusters(path, results));
        let names = result.metric_names();
        let metrics = names.filter_map(|name| result.metric(name).cloned());
        let whole = Figures {
            metrics: metrics.collect(),
            rows: result.rows,
            failed_rows: result.failed_rows,
            latency_s: result.program.mean_latency_s(),
            ids: None,
        };
        let early = result.early.as_ref();
        Self {
            results,
            whole,
            of_rows: Box::new(move |positions| figures(result, clusters.as_deref(), positions)),
            metrics: &result.manifest.run.metrics,
            group,
            early: early.filter(|_| result.ending == Ending::Decided),
        }
    }

    /// Returns a metric's direction.
    pub(super) fn direction(&self, metric: &str) -> Option<Direction> {
        self.metrics.get(metric).map(MetricIdentity::direction)
    }

    /// Groups the rows by a field, in row order. Also returns the number of rows without the field.
    pub(super) fn by(&self, field: &str) -> (IndexMap<String, Figures>, usize) {
        let path = path_of(field, self.results);
        let mut groups: IndexMap<String, Vec<usize>> = IndexMap::new();
        let mut without = 0;
        for (position, row) in self.results.rows().iter().enumerate() {
            match value(row, &path) {
                Some(value) => groups.entry(value).or_default().push(position),
                None => without += 1,
            }
        }
        let groups = groups.into_iter();
        let groups = groups.map(|(name, positions)| (name, (self.of_rows)(&positions)));
        (groups.collect(), without)
    }
}

fn figures<G, P>(
    result: &EvaluationResult<G, P>,
    clusters: Option<&[u32]>,
    positions: &[usize],
) -> Figures {
    let run = &result.manifest.run;
    let tally = |(name, metric): (&String, &MetricIdentity)| {
        let kind = result.metric(name)?.kind;
        Some(Tally::new(
            name,
            kind,
            metric.range(),
            run,
            clusters.is_some(),
        ))
    };
    let mut tallies: Vec<Tally> = run.metrics.iter().filter_map(tally).collect();
    for position in positions {
        let group = clusters.map_or(0, |clusters| clusters[*position]);
        let row = *position as u64;
        let place = Place { row, group };
        Tally::record_row(&mut tallies, place, &result.results[*position]);
    }
    let rows = || positions.iter().map(|position| &result.results[*position]);
    let latency = rows().filter_map(|row| row.run.as_ref()?.latency);
    let latencies: Moments = latency.map(|latency| latency.as_secs_f64()).collect();
    let summaries = tallies.iter().map(Tally::summaries);
    Figures {
        metrics: summaries.filter_map(|it| it.into_iter().next()).collect(),
        rows: positions.len() as u64,
        failed_rows: rows().filter(|row| row.is_failure()).count() as u64,
        latency_s: latencies.mean(),
        ids: Some(rows().map(|row| row.id.clone()).collect()),
    }
}

/// Returns the path of a field: as written if a row has it, otherwise as a field of gold rows.
fn path_of(field: &str, results: &Results) -> String {
    match results.rows().iter().any(|row| value(row, field).is_some()) {
        true => field.to_owned(),
        false => format!("gold.{field}"),
    }
}

pub(super) fn value(row: &ResultRow, path: &str) -> Option<String> {
    row.field(path).cloned().and_then(json::text)
}

/// Numbers the groups of rows. A row without a group forms its own group.
fn clusters(path: &str, results: &Results) -> Vec<u32> {
    let mut groups = IndexSet::new();
    let rows = results.rows().iter().enumerate();
    // A row without a value is a group of its own.
    let keys = rows.map(|(position, row)| value(row, path).ok_or(position));
    let numbers = keys.map(|key| groups.insert_full(key).0);
    let numbers = numbers.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    numbers.collect()
}

/// Returns the value that a row contributes to a metric's mean.
pub(super) fn counted(results: &Results, row: &ResultRow, metric: &str) -> Option<f64> {
    let score = row.scores.get(metric)?;
    let failed = score.outcome.is_failure().then(|| results.failure_score());
    score.value.or(failed)
}
