//! Ends a run once its gates are decided.
//!
//! A hash of the row's id and the seed determines the order of the rows. Each check of the gates uses the first rows in
//! this order.
//!
//! A row that finishes before an earlier one waits for it, so the result doesn't depend on concurrency.
//!
//! `gate.rs` reads and tests a gate.

mod gate;

use std::collections::BTreeMap;
use std::sync::Mutex;

use derive_where::derive_where;

pub use self::gate::{Bound, EarlyGate, End, Figure, parse_limit};

use self::gate::GateTest;
use super::error::{EvaluateError, Level, Stop, lock};
use super::input::{Numbered, Source};
use super::manifest::{DecidedGate, EarlyResult};
use super::row::{MetricEntry, Plan, RowResult, counted};
use super::summary::MetricSummary;
use crate::contract::{Outcome, ScoreKind};
use crate::stats::{Interval, Uncertainty, confidence_sequence};

/// The conditions for ending a run before all rows are evaluated.
#[derive(Debug, Clone)]
pub(crate) struct EarlyOptions {
    pub(crate) gates: Vec<EarlyGate>,
    /// The maximum probability that any gate is decided wrongly. With `None`, the run continues until no remaining row
    /// can change a verdict.
    pub(crate) alpha: Option<f64>,
}

impl EarlyOptions {
    /// Checks what can be checked before any row is read.
    pub(crate) fn check<G: Sync, P: Sync>(
        &self,
        plan: &Plan<'_, G, P>,
        has_groups: bool,
    ) -> Result<(), EvaluateError> {
        let invalid = |reason: String| Err(EvaluateError::setting(reason));
        if let Some(alpha) = self.alpha.filter(|alpha| !(*alpha > 0.0 && *alpha <= 0.5)) {
            return invalid(format!(
                "expected an alpha above 0 and at most 0.5, found {alpha}; write 0.01"
            ));
        }
        if self.gates.is_empty() {
            return invalid(
                "expected at least one gate, found none; write `polite >= 0.9`".to_owned(),
            );
        }
        for gate in &self.gates {
            let reason = match gate.range(&plan.metrics, plan.options.failure_score) {
                Err(reason) => reason,
                Ok(_) if !gate.is_of_rows() && self.alpha.is_none() => {
                    "it cannot be decided for certain before all rows are evaluated; set an alpha such as 0.01".to_owned()
                }
                Ok(_) if !gate.is_of_rows() && has_groups => {
                    "its test needs independent rows, but the rows are grouped; remove the grouping, or evaluate all rows".to_owned()
                }
                Ok(_) => continue,
            };
            return invalid(format!("gate `{}`: {reason}", gate.text));
        }
        Ok(())
    }
}

/// The state of a run that ends once its gates are decided.
pub(crate) struct EarlyRun<G, P> {
    /// For each position in the input, the position in the order of evaluation.
    ranks: Vec<u64>,
    alpha: Option<f64>,
    failure_score: f64,
    ranges: Vec<Option<Interval>>,
    has_program: bool,
    state: Mutex<State<G, P>>,
}

#[derive_where(Default)]
struct State<G, P> {
    tests: Vec<GateTest>,
    /// The values of each metric with a range, in the order of evaluation.
    values: Vec<Vec<Option<f64>>>,
    /// Rows that finished before an earlier row did, by rank, with their positions in the input.
    waiting: BTreeMap<u64, (u64, RowResult<G, P>)>,
    /// The number of rows used to test the gates.
    tested: u64,
    is_decided: bool,
}

impl<G: Send + Sync, P: Send + Sync> EarlyRun<G, P> {
    /// Reads and orders all rows.
    ///
    /// # Errors
    /// Returns the error of the first row that can't be read.
    pub(crate) async fn start(
        options: &EarlyOptions,
        plan: &Plan<'_, G, P>,
        source: &mut Source<'_, G, P>,
        (seed, stop): (u64, &Stop),
        has_program: bool,
    ) -> Result<Self, EvaluateError> {
        let ranks = source.shuffle(seed, stop).await?;
        let rows = ranks.len() as u64;
        let failure_score = plan.options.failure_score;
        let test = |gate: &EarlyGate| {
            let range = gate.range(&plan.metrics, failure_score);
            let range = range.map_err(EvaluateError::setting)?;
            let mut names = plan.metrics.iter().map(|metric| &*metric.name);
            let metric = names.position(|name| Some(name) == gate.metric());
            let (gate, metric) = (gate.clone(), metric.unwrap_or(0));
            Ok(GateTest::new(gate, metric, range, rows))
        };
        let tests: Result<Vec<_>, EvaluateError> = options.gates.iter().map(test).collect();
        let range = |metric: &MetricEntry<'_, G, P>| {
            let range = metric.range_with(failure_score);
            range.filter(|_| metric.kind != ScoreKind::Corpus)
        };
        let tests = tests?;
        Ok(Self {
            ranks,
            alpha: options.alpha,
            failure_score,
            ranges: plan.metrics.iter().map(range).collect(),
            has_program,
            state: Mutex::new(State {
                tests,
                values: vec![Vec::new(); plan.metrics.len()],
                ..State::default()
            }),
        })
    }

    /// Takes a finished row and returns the rows that can now be recorded. Ends the run once all gates are decided.
    pub(crate) fn finished(
        &self,
        index: u64,
        row: RowResult<G, P>,
        stop: &Stop,
    ) -> Vec<(u64, RowResult<G, P>)> {
        let mut state = lock(&self.state);
        state.waiting.insert(self.rank(index), (index, row));
        let mut ready = Vec::new();
        while !state.is_decided
            && let next = state.tested
            && let Some((index, row)) = state.waiting.remove(&next)
        {
            self.test(&mut state, &row);
            ready.push((index, row));
        }
        if state.is_decided {
            stop.raise(Level::Stopped);
        }
        ready
    }

    /// Returns the number of finished rows that are waiting for an earlier one.
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.state).waiting.len()
    }

    fn rank(&self, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.ranks.get(index).copied().unwrap_or(u64::MAX)
    }

    fn test(&self, state: &mut State<G, P>, row: &RowResult<G, P>) {
        let gates = state.tests.len() as f64;
        // Each gate has one true hypothesis, so the error probabilities of all gates add up to at most alpha.
        let needed = self.alpha.map_or(f64::INFINITY, |alpha| gates / alpha);
        for test in &mut state.tests {
            test.record(row, self.failure_score, needed);
        }
        for ((values, range), outcome) in
            state.values.iter_mut().zip(&self.ranges).zip(&row.outcomes)
        {
            if range.is_some() {
                values.push(counted(outcome, self.failure_score));
            }
        }
        state.tested += 1;
        let is_last = state.tested == self.ranks.len() as u64;
        state.is_decided = !is_last && state.tests.iter().all(|test| test.passed.is_some());
    }

    /// Returns the rows that were not recorded. If the gates are decided, these are the rows that are not needed.
    /// Otherwise, they are waiting for a row that a stop kept from finishing.
    pub(crate) fn rest(&self, source: &Source<'_, G, P>) -> Vec<(u64, RowResult<G, P>)> {
        let mut state = lock(&self.state);
        let waiting = std::mem::take(&mut state.waiting).into_values();
        if !state.is_decided {
            return waiting.collect();
        }
        let metrics = self.ranges.len();
        let not_needed = |mut row: RowResult<G, P>| {
            row.outcomes = vec![Outcome::NotNeeded; metrics];
            (row.repeats, row.traceback) = (Vec::new(), None);
            if self.has_program {
                (row.pred, row.run) = (None, None);
            }
            row
        };
        let unread = |(index, input): Numbered<G, P>| (index, RowResult::begin(input).0);
        let unread = source.drain().into_iter().map(unread);
        let rest = waiting.chain(unread);
        rest.map(|(index, row)| (index, not_needed(row))).collect()
    }

    /// Returns what the rows decided, and sets the intervals of the means that were decided early. `is_complete` is
    /// `true` if the run was not stopped.
    pub(crate) fn finish(
        &self,
        summaries: &mut [Vec<MetricSummary>],
        failed_rows: u64,
        is_complete: bool,
    ) -> (EarlyResult, bool) {
        let state = lock(&self.state);
        let rows = self.ranks.len() as u64;
        let mut sequences = BTreeMap::new();
        if state.is_decided {
            let of_metrics = summaries.iter_mut().zip(&self.ranges).zip(&state.values);
            for ((summaries, range), values) in of_metrics {
                let mut summaries = summaries.iter_mut();
                let own = summaries.next().zip(*range);
                if let Some((summary, range)) = own {
                    let ci95 = confidence_sequence(values, range, rows);
                    sequences.insert(summary.name.clone(), [ci95.low, ci95.high]);
                    summary.uncertainty = Uncertainty::WithoutStderr { ci95 };
                    summary.has_few = false;
                }
                summaries.for_each(|part| part.uncertainty = Uncertainty::NotComputed);
            }
        }
        let failed = failed_rows as f64 / state.tested.max(1) as f64;
        let gate = |test: &GateTest| {
            let found = || test.gate.holds(summaries, failed).filter(|_| is_complete);
            DecidedGate {
                gate: test.gate.text.clone(),
                passed: test.passed.or_else(found),
                e_value: test.passed.and_then(|_| test.evidence()),
            }
        };
        let result = EarlyResult {
            alpha: self.alpha,
            evaluated: state.tested,
            rows,
            gates: state.tests.iter().map(gate).collect(),
            ci95: sequences,
        };
        (result, state.is_decided)
    }
}

impl EarlyGate {
    /// Returns the verdict on all rows, as in a run that does not end early. Returns `None` for a comparison.
    fn holds(&self, summaries: &[Vec<MetricSummary>], failed: f64) -> Option<bool> {
        let value = match &self.figure {
            Figure::Failed => Some(failed),
            Figure::Gain { .. } => None,
            Figure::Score { metric, end } => {
                let mut summaries = summaries.iter().filter_map(|metric| metric.first());
                let summary = summaries.find(|summary| summary.name == *metric)?;
                end.of(summary)
            }
        };
        value.map(|value| self.bound.holds(value))
    }
}
