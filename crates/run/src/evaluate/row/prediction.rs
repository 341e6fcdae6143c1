//! Runs the program on one row.

use tokio::time::Instant;

use super::attempt::Failure;
use super::plan::Plan;
use super::run_journal::{JournaledRow, ProgramResult};
use crate::core::program::Program;
use crate::core::program_run_error::ProgramRunError;
use crate::evaluate::journal::ProgramFailure;

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(crate) async fn predict<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        deadline: Option<Instant>,
        journal: Option<&JournaledRow<G, P>>,
    ) -> ProgramResult<P> {
        if let Some(journal) = journal {
            match journal.predicted() {
                Some(predicted) => return predicted,
                // The program may return another prediction this time.
                None => journal.row.forget_outcomes(),
            }
        }
        // The call is made in an async block because it may panic before its first await.
        let start = |_| async {
            let started = Instant::now();
            let (prediction, run) =
                program.output(gold, self.inputs.as_deref()).await?.into_parts();
            Ok((prediction, run.measured(started.elapsed())))
        };
        let interrupted = |error, traceback| {
            Err(ProgramFailure { error, traceback, is_interrupted: true, budget_msats: None })
        };
        let predicted = match self.options.attempt(start, Result::is_ok, deadline).await {
            Ok(output) => output.map_err(|ProgramRunError { message, budget_msats, .. }| {
                ProgramFailure { error: message, budget_msats, ..Default::default() }
            }),
            Err(Failure::Panicked(panic)) => {
                let error = format!("the program panicked: {}", panic.message);
                interrupted(error, panic.traceback)
            }
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                let error = format!(
                    "the program returned no prediction within {seconds} s; raise `timeout`"
                );
                interrupted(error, None)
            }
        };
        // A row that the budget skipped is evaluated again.
        let is_skipped = predicted.as_ref().is_err_and(|failure| failure.budget_msats.is_some());
        if let Some(journal) = journal.filter(|_| !is_skipped) {
            journal.record(&predicted);
        }
        predicted
    }
}
