//! Runs the program on one row.

use tokio::time::Instant;

use super::attempt::Failure;
use super::plan::Plan;
use super::run_journal::{JournaledRow, ProgramResult};
use crate::core::program::Program;
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
        let interrupted =
            |error, traceback| Err(ProgramFailure { error, traceback, is_interrupted: true });
        let predicted = match self.options.attempt(start, Result::is_ok, deadline).await {
            Ok(output) => output.map_err(|error| ProgramFailure { error, ..Default::default() }),
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
        if let Some(journal) = journal {
            journal.record(&predicted);
        }
        predicted
    }
}
