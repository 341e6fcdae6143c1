//! Evaluates one row: its prediction, then its scores, with timeout, second attempt and panic isolation.
//!
//! `prediction.rs` runs the program, `row_scores.rs` evaluates the metrics.

use std::collections::HashMap;

use super::plan::Plan;
use super::row_result::RowResult;
use super::run_journal::{JournaledRow, RowToJournal, RunJournal};
use crate::core::metric::repeat::RepeatNumber;
use crate::core::metric::settings::Settings;
use crate::core::program::Program;
use crate::core::score::outcome::Outcome;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::input::Input;

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(crate) async fn finish<Kind>(
        &self,
        index: u64,
        mut input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&RunJournal<G, P>>,
    ) -> Result<RowResult<G, P>, EvaluateError> {
        let of_gate = input.take_rollouts();
        let mut row = RowResult::begin(index, input);
        let journaled = journal.map(|journal| journal.row(index, &row, of_gate.as_deref()));
        let journaled = journaled.as_ref();
        let is_restored = match (&self.gate, self.options.repeats) {
            (Some(gate), _) => {
                let rollouts = self.evaluate_rollouts(gate, &mut row, of_gate, program, journaled);
                Box::pin(rollouts).await?
            }
            (None, None) => self.evaluate(&mut row, program, (journaled, 0)).await?,
            (None, Some(repeats)) => {
                // Boxed, so that a row that is evaluated once takes less memory.
                let rows = self.evaluate_repeatedly(&mut row, program, repeats, journaled);
                Box::pin(rows).await?
            }
        };
        journal.filter(|_| is_restored).inspect(|journal| journal.count_restored());
        Ok(row)
    }

    /// Evaluates a row several times, one after another, and reduces the outcomes of each metric to one.
    async fn evaluate_repeatedly<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        repeats: u32,
        journal: Option<&RowToJournal<'_, G, P>>,
    ) -> Result<bool, EvaluateError> {
        let is_predicted = row.pred.is_none();
        let mut traceback = None;
        let mut is_restored = true;
        for number in 0..repeats {
            let first = row.pred.take_if(|_| is_predicted);
            let settings = Settings::new().with(RepeatNumber(number));
            let evaluated = self.evaluate(row, program, (journal, number));
            is_restored &= settings.scope(evaluated).await?;
            traceback = traceback.or(row.traceback.take());
            let pred = std::mem::replace(&mut row.pred, first);
            // The run of a given prediction is the same in all repeats.
            let run = row.run.take_if(|_| is_predicted);
            let outcomes = std::mem::take(&mut row.outcomes);
            row.push_repeat(pred, run, outcomes);
        }
        row.traceback = traceback;
        row.outcomes = self.reduced(&row.repeats);
        Ok(is_restored)
    }

    /// Evaluates a row, and returns whether the journal had all of its results. A row that the budget skipped was not
    /// recorded.
    async fn evaluate<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        (journal, repeat): (Option<&RowToJournal<'_, G, P>>, u32),
    ) -> Result<bool, EvaluateError> {
        let Some(journal) = journal else {
            self.evaluate_once(row, program, None).await;
            return Ok(false);
        };
        let journal = journal.repeat(repeat).await?;
        // Boxed, so that a row of a run without a journal takes less memory.
        Box::pin(journal.scope(self.evaluate_once(row, program, Some(&journal)))).await;
        Ok(journal.row.is_restored() && !row.outcomes.iter().any(Outcome::is_skipped))
    }

    async fn evaluate_once<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&JournaledRow<G, P>>,
    ) {
        let deadline = self.deadline();
        if row.pred.is_none() {
            match self.predict(&row.gold, program, deadline, journal).await {
                Ok((pred, run)) => (row.pred, row.run) = (Some(pred), Some(Box::new(run))),
                Err(failure) => {
                    (row.outcomes, row.traceback) =
                        (self.program_failed(&failure), failure.traceback);
                }
            }
        }
        if let Some(pred) = &row.pred {
            let call = self.call(&row.gold, pred, row.run.as_deref());
            if journal.is_none() && self.is_immediate {
                let mut outcomes = Vec::with_capacity(self.metrics.len());
                if let Some(traceback) = self.score_now(call, &HashMap::new(), &mut outcomes) {
                    (row.outcomes, row.traceback) = (outcomes, traceback);
                    return;
                }
            }
            // Boxed, so that a row of metrics that share nothing takes less memory.
            let memo = self.sharing.as_ref().map(|sharing| Box::new(sharing.memo(call.address())));
            let call = call.with_memo(memo.as_deref());
            let journal = journal.map(|journal| &*journal.row);
            let known = journal.map(|row| self.take_outcomes(row)).unwrap_or_default();
            let (metrics, charges) = (0..self.metrics.len(), std::iter::empty());
            let scored = self.score_metrics(call, deadline, journal, known, metrics, charges);
            (row.outcomes, row.traceback) = scored.await;
        }
    }
}
