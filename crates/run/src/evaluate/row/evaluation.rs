//! Evaluates one row: its prediction, then its scores, with timeout, second attempt and panic isolation.
//!
//! `prediction.rs` runs the program, `row_scores.rs` evaluates the metrics.

use std::sync::Arc;

use futures_util::FutureExt;

use super::kept::{KeptRepeat, KeptRow, RunStore};
use super::plan::Plan;
use super::row_result::RowResult;
use crate::contract::{
    Metric, MetricCall, MetricError, Origin, Outcome, Program, RepeatNumber, Settings, panic,
};
use crate::evaluate::error::EvaluateError;
use crate::evaluate::input::Input;

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(crate) async fn finish<Kind>(
        &self,
        index: u64,
        mut input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
        store: Option<&RunStore<G, P>>,
    ) -> RowResult<G, P> {
        let given = input.take_rollouts();
        let mut row = RowResult::begin(index, input);
        let is_given = row.pred.is_some() || given.is_some();
        let gold = Arc::clone(&row.gold);
        let kept = store.map(|store| store.row(&gold, self.inputs.as_deref(), is_given));
        let kept = kept.as_ref();
        match (&self.gate, self.options.repeats) {
            (Some(gate), _) => {
                let rollouts = self.evaluate_rollouts(gate, &mut row, given, program, kept);
                Box::pin(rollouts).await;
            }
            (None, None) => self.evaluate(&mut row, program, (kept, 0)).await,
            (None, Some(repeats)) => {
                // Boxed, so a row that is evaluated once takes less memory.
                let repeats = (repeats, given);
                Box::pin(self.evaluate_repeatedly(&mut row, program, repeats, kept)).await;
            }
        }
        // Without a judgement yet; a row whose program failed has all its outcomes.
        let unsampled = Outcome::NotSampled { probability: 0.0 };
        row.outcomes.resize(self.metrics.len(), unsampled);
        row
    }

    /// Evaluates a row by a metric that judges a sample of the rows.
    pub(crate) async fn judge(
        &self,
        row: &mut RowResult<G, P>,
        metric: usize,
        store: Option<&RunStore<G, P>>,
    ) {
        let Some(pred) = &row.pred else { return };
        let row_in_store = store.map(|store| store.row(&row.gold, None, true));
        let kept = row_in_store.as_ref().map(|row| row.repeat(0));
        let call = self.call(&row.gold, pred, row.run.as_deref());
        let memo = self.sharing.as_ref();
        let memo = memo.map(|sharing| sharing.memo(call.address()));
        let scores = kept.as_ref().map(|kept| kept.scores(&call));
        let known = scores.as_ref().map(|scores| scores.known(self));
        let call = call.with_memo(memo.as_ref());
        let scored = self.score_metrics(
            call,
            self.deadline(),
            scores.as_ref(),
            known.unwrap_or_default(),
            metric..metric + 1,
            std::iter::empty(),
        );
        let (outcomes, traceback) = match &kept {
            Some(kept) => kept.scope(scored).await,
            None => scored.await,
        };
        row.outcomes.splice(metric..=metric, outcomes);
        row.traceback = row.traceback.take().or(traceback);
    }

    /// Evaluates a row several times in sequence, or once with each given prediction, and reduces the outcomes of each
    /// metric to one.
    async fn evaluate_repeatedly<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        (repeats, given): (u32, Option<Vec<P>>),
        kept: Option<&KeptRow<'_, G, P>>,
    ) {
        let repeats = given.as_ref().map_or(repeats, |given| {
            u32::try_from(given.len()).unwrap_or(u32::MAX)
        });
        let mut given = given.into_iter().flatten();
        let is_predicted = row.pred.is_none();
        let mut traceback = None;
        for number in 0..repeats {
            let first = row.pred.take_if(|_| is_predicted);
            row.pred = row.pred.take().or_else(|| given.next());
            let settings = Settings::new().with(RepeatNumber(number));
            settings
                .scope(self.evaluate(row, program, (kept, number)))
                .await;
            traceback = traceback.or(row.traceback.take());
            let pred = std::mem::replace(&mut row.pred, first);
            // A given prediction has the same run in all repeats.
            let run = row.run.take_if(|_| is_predicted);
            let outcomes = std::mem::take(&mut row.outcomes);
            row.push_repeat(pred, run, outcomes);
        }
        row.traceback = traceback;
        row.outcomes = self.reduced(&row.repeats);
    }

    /// Evaluates a row once.
    async fn evaluate<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        (kept, repeat): (Option<&KeptRow<'_, G, P>>, u32),
    ) {
        let Some(kept) = kept else {
            return self.evaluate_once(row, program, None).await;
        };
        let kept = kept.repeat(repeat);
        // Boxed, so rows of a run without a store take less memory.
        Box::pin(kept.scope(self.evaluate_once(row, program, Some(&kept)))).await;
    }

    async fn evaluate_once<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        kept: Option<&KeptRepeat<'_, G, P>>,
    ) {
        let deadline = self.deadline();
        if row.pred.is_none() {
            match self.predict(&row.gold, program, deadline, kept).await {
                Ok((pred, run)) => (row.pred, row.run) = (Some(pred), Some(Box::new(run))),
                Err(failure) => {
                    (row.outcomes, row.traceback) =
                        (self.program_failed(&failure), failure.traceback);
                }
            }
        }
        if let Some(pred) = &row.pred {
            let call = self.call(&row.gold, pred, row.run.as_deref());
            if kept.is_none() && self.is_immediate {
                let mut outcomes = Vec::with_capacity(self.cheap);
                if let Some(traceback) = self.score_now(call, &mut outcomes) {
                    (row.outcomes, row.traceback) = (outcomes, traceback);
                    return;
                }
            }
            // Boxed, so rows whose metrics share nothing take less memory.
            let memo = self
                .sharing
                .as_ref()
                .map(|sharing| Box::new(sharing.memo(call.address())));
            let kept = kept.map(|kept| kept.scores(&call));
            let call = call.with_memo(memo.as_deref());
            let known = kept
                .as_ref()
                .map(|kept| kept.known(self))
                .unwrap_or_default();
            let (metrics, charges) = (0..self.cheap, std::iter::empty());
            let scored = self.score_metrics(call, deadline, kept.as_ref(), known, metrics, charges);
            (row.outcomes, row.traceback) = scored.await;
        }
    }
}

impl<G: Sync, P: Sync> Plan<'_, G, P> {
    /// Returns why a metric cannot read a row of a file, if that must end the run.
    pub(crate) fn unreadable(
        &self,
        gold: &G,
        pred: &P,
        at: Option<&Origin>,
    ) -> Option<EvaluateError> {
        let at = at.filter(|_| self.options.rejects_unreadable)?;
        self.metrics.iter().find_map(|entry| {
            // Reading a field may run the metric author's code.
            let error = panic::catch(false, || read_error(entry.metric(), gold, pred));
            let panicked = |panic: panic::Panic| {
                Some(MetricError::panicked(entry.name.clone(), panic.message))
            };
            let error = Box::new(error.unwrap_or_else(panicked)?);
            Some(EvaluateError::UnreadableRow {
                at: at.clone(),
                error,
            })
        })
    }
}

/// Returns why the metric cannot read the row; `None` if it can, or if it reads NaN, which only fails the row.
fn read_error<G: Sync, P: Sync>(
    metric: &dyn Metric<G, P>,
    gold: &G,
    pred: &P,
) -> Option<MetricError> {
    if metric.can_evaluate(gold, pred) {
        return None;
    }
    // `can_evaluate` gives no reason. A call does, before it awaits anything.
    let call = MetricCall::new(gold, pred);
    let error = metric
        .answer(call)
        .into_future()
        .now_or_never()
        .and_then(Result::err);
    if error.as_ref().is_some_and(MetricError::is_not_finite) {
        return None;
    }
    Some(error.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}
