//! Metrics that judge only a sample of the rows.
//!
//! All other metrics evaluate every row first, and the rows wait in memory. Then the sample is drawn by the hash of the
//! rows' ids, so it doesn't depend on concurrency. `estimate.rs` draws the sample, and estimates the mean over all
//! rows.

mod estimate;

use std::sync::Mutex;

use derive_where::derive_where;

use self::estimate::{draw, estimate};
use super::error::{EvaluateError, lock};
use super::input::hash_order;
use super::manifest::{TruthResult, TruthStratum};
use super::row::{MetricEntry, Plan, RowResult, Sample, counted};
use super::summary::MetricSummary;
use crate::contract::{Outcome, ScoreKind, ScoreRange};
use crate::messages::{escape, thousands};
use crate::stats::Uncertainty;

/// The minimum number of rows in a sample.
const MIN_ROWS: u64 = 10;

/// Checks what can be checked before any row is read. `reason` says why the run needs all rows.
pub(crate) fn check<G: Sync, P: Sync>(
    plan: &Plan<'_, G, P>,
    reason: Option<&str>,
) -> Result<(), EvaluateError> {
    let (cheap, truths) = plan.metrics.split_at(plan.cheap);
    for entry in truths {
        let Some(sample) = &entry.sample else {
            continue;
        };
        let found = checked(entry, sample, cheap);
        let found = found.and_then(|()| reason.map_or(Ok(()), |reason| Err(reason.to_owned())));
        let named = |reason| format!("truth `{}`: {reason}", entry.name);
        found.map_err(|reason| EvaluateError::setting(named(reason)))?;
    }
    Ok(())
}

fn checked<G, P>(
    truth: &MetricEntry<'_, G, P>,
    sample: &Sample,
    cheap: &[MetricEntry<'_, G, P>],
) -> Result<(), String> {
    if sample.rows < MIN_ROWS {
        let found = sample.rows;
        return Err(format!(
            "expected a sample of at least {MIN_ROWS} rows, found {found}; write 100"
        ));
    }
    if truth.kind == ScoreKind::Corpus {
        return Err("it scores all rows together, so it needs all of them".to_owned());
    }
    if truth.kind == ScoreKind::Number && truth.range.is_none() {
        return Err("it has no range; a sample needs bounded scores".to_owned());
    }
    let Some(by) = &sample.by else { return Ok(()) };
    match cheap.iter().find(|entry| entry.name == *by) {
        Some(proxy) if proxy.kind == ScoreKind::Corpus => Err(format!(
            "`{by}` scores all rows together; stratify by a metric that scores each row"
        )),
        Some(_) => Ok(()),
        None => {
            let names: Vec<_> = cheap.iter().map(|it| format!("`{}`", it.name)).collect();
            let write = match names.is_empty() {
                true => format!("add the metric `{by}`"),
                false => format!("write {}", names.join(" or ")),
            };
            Err(format!(
                "expected another metric in the run to stratify by, found `{by}`; {write}"
            ))
        }
    }
}

/// The state of a run with metrics that judge a sample.
pub(crate) struct TruthRun<G, P> {
    seed: u64,
    failure_score: f64,
    max_errors: Option<u64>,
    held: Mutex<Held<G, P>>,
    truths: Vec<Mutex<Truth>>,
}

#[derive_where(Default)]
struct Held<G, P> {
    rows: Vec<(u64, RowResult<G, P>)>,
    failed: u64,
}

/// A metric that judges a sample.
struct Truth {
    /// The position of the metric.
    metric: usize,
    kind: ScoreKind,
    range: ScoreRange,
    sample: Sample,
    /// The position of the proxy.
    proxy: Option<usize>,
    strata: Vec<TruthStratum>,
    rows: Vec<RowOfTruth>,
    /// The number of rows whose program failed. They count as the failure score without being judged.
    failed: u64,
}

/// What the estimate needs to know about a row.
#[derive(Default)]
struct RowOfTruth {
    /// The key of the random order.
    order: u128,
    proxy: Option<f64>,
    stratum: usize,
    is_sampled: bool,
    value: Option<f64>,
}

/// A row and the metrics that judge it. Each metric has its number, its position, and the row's place among the
/// metric's rows.
pub(crate) struct SampledRow<G, P> {
    pub(crate) index: u64,
    pub(crate) row: RowResult<G, P>,
    pub(crate) judges: Vec<[usize; 3]>,
}

impl<G: Sync, P: Sync> TruthRun<G, P> {
    /// Returns the state of a run, or `None` if all metrics evaluate all rows.
    pub(crate) fn new(plan: &Plan<'_, G, P>, seed: u64, max_errors: Option<u64>) -> Option<Self> {
        let (cheap, _) = plan.metrics.split_at(plan.cheap);
        let truth = |(metric, entry): (usize, &MetricEntry<'_, G, P>)| {
            let sample = entry.sample.clone()?;
            let proxy = cheap
                .iter()
                .position(|it| Some(&it.name) == sample.by.as_ref());
            Some(Mutex::new(Truth {
                metric,
                kind: entry.kind,
                range: entry.range.unwrap_or(ScoreRange::UNIT),
                sample,
                proxy,
                strata: Vec::new(),
                rows: Vec::new(),
                failed: 0,
            }))
        };
        let truths: Vec<_> = plan.metrics.iter().enumerate().filter_map(truth).collect();
        (!truths.is_empty()).then(|| Self {
            seed,
            failure_score: plan.options.failure_score,
            max_errors,
            held: Mutex::default(),
            truths,
        })
    }

    /// Keeps a row until the sample is drawn. Returns `true` if so many rows failed that no more should be taken.
    pub(crate) fn hold(&self, index: u64, row: RowResult<G, P>) -> bool {
        let mut held = lock(&self.held);
        held.failed += u64::from(row.is_failure());
        held.rows.push((index, row));
        self.max_errors.is_some_and(|max| held.failed >= max)
    }

    /// Returns the rows, with the metrics that judge each of them. If the run was stopped, no metric judges a row.
    pub(crate) fn draw(&self, is_stopped: bool) -> Vec<SampledRow<G, P>> {
        let mut rows = std::mem::take(&mut lock(&self.held).rows);
        rows.sort_unstable_by_key(|(index, _)| *index);
        let unjudged = |(index, row)| SampledRow {
            index,
            row,
            judges: Vec::new(),
        };
        let mut rows: Vec<_> = rows.into_iter().map(unjudged).collect();
        if !is_stopped {
            for (number, truth) in self.truths.iter().enumerate() {
                lock(truth).draw(&mut rows, number, self.seed);
            }
        }
        rows
    }

    /// Counts the outcome of a sampled row.
    pub(crate) fn record(&self, truth: usize, place: usize, outcome: &Outcome) {
        lock(&self.truths[truth]).rows[place].value = counted(outcome, self.failure_score);
    }

    /// Sets the scores of the metrics that judged a sample of the rows. Returns their estimates, and notes about them.
    pub(crate) fn finish(
        &self,
        summaries: &mut [Vec<MetricSummary>],
    ) -> (Vec<TruthResult>, Vec<String>) {
        let (mut results, mut notes) = (Vec::new(), Vec::new());
        for truth in &self.truths {
            let truth = lock(truth);
            let [summary, parts @ ..] = &mut *summaries[truth.metric] else {
                continue;
            };
            if truth.rows.iter().all(|row| row.is_sampled) {
                let name = escape::name(&summary.name);
                let rows = thousands(truth.rows.len() as u64);
                let sample = thousands(truth.sample.rows);
                notes.push(format!(
                    "`{name}` judged all {rows} rows, because its sample size is {sample}"
                ));
                continue;
            }
            for part in parts {
                part.uncertainty = Uncertainty::NotComputed;
            }
            let estimated = estimate(&truth, &summary.name, self.failure_score);
            summary.uncertainty = Uncertainty::NotEnoughRows {
                found: summary.scored,
                needed: 3,
            };
            (summary.groups, summary.has_few) = (None, false);
            if let Some(result) = estimated.filter(|_| summary.scored > 0) {
                let ci95 = result.interval();
                summary.uncertainty = Uncertainty::WithoutStderr { ci95 };
                let has_fields = summary.unknown_fields.is_empty();
                summary.score = has_fields.then_some(result.mean);
                summary.mean = Some(result.mean);
                summary.sampled = Some(Box::new(result.clone()));
                results.push(result);
            }
        }
        (results, notes)
    }
}

impl Truth {
    /// Draws the sample from the rows that have a prediction.
    fn draw<G, P>(&mut self, rows: &mut [SampledRow<G, P>], number: usize, seed: u64) {
        let mut positions = Vec::new();
        for (position, SampledRow { index, row, .. }) in rows.iter().enumerate() {
            match &row.outcomes[self.metric] {
                Outcome::NotSampled { .. } => {
                    let id = (!row.is_positional).then_some(&*row.id);
                    let (order, _) = hash_order(seed, id, *index);
                    let proxy = self.proxy.and_then(|proxy| row.outcomes[proxy].value());
                    positions.push(position);
                    self.rows.push(RowOfTruth {
                        order,
                        proxy,
                        ..RowOfTruth::default()
                    });
                }
                outcome => self.failed += u64::from(outcome.is_failure()),
            }
        }
        self.strata = draw(&mut self.rows, self.sample.rows);
        for (place, (position, drawn)) in positions.into_iter().zip(&self.rows).enumerate() {
            let TruthStratum { rows: all, sampled } = self.strata[drawn.stratum];
            let probability = sampled as f64 / all as f64;
            let SampledRow { row, judges, .. } = &mut rows[position];
            row.outcomes[self.metric] = Outcome::NotSampled { probability };
            if drawn.is_sampled {
                judges.push([number, self.metric, place]);
            }
        }
    }
}
