//! Runs the program on one row.

use tokio::time::Instant;

use super::attempt::{Failure, ProgramFailure, ProgramResult};
use super::kept::KeptRepeat;
use super::plan::Plan;
use crate::contract::{IsProgram, Program, ProgramOutput, ProgramRunError};

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(crate) async fn predict<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        deadline: Option<Instant>,
        kept: Option<&KeptRepeat<'_, G, P>>,
    ) -> ProgramResult<P> {
        if let Some(output) = kept.and_then(KeptRepeat::output) {
            return Ok(output);
        }
        // Called in an async block, because it may panic before its first await.
        let start = |_| async {
            let started = Instant::now();
            let (prediction, run) = program
                .output(gold, self.inputs.as_deref())
                .await?
                .into_parts();
            Ok((prediction, run.measured(started.elapsed())))
        };
        let interrupted = |error, traceback| {
            Err(ProgramFailure {
                error,
                traceback,
                is_interrupted: true,
                budget_msats: None,
            })
        };
        let predicted = match self.options.attempt(start, Result::is_ok, deadline).await {
            Ok(output) => output.map_err(
                |ProgramRunError {
                     message,
                     budget_msats,
                     ..
                 }| {
                    ProgramFailure {
                        error: message,
                        budget_msats,
                        ..Default::default()
                    }
                },
            ),
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
        if let Some(kept) = kept {
            kept.keep_output(&predicted);
        }
        predicted
    }
}

/// Stands in for the program when rows already have predictions; never called.
pub(crate) struct Predicted;

impl<G> IsProgram<G, Predicted> for Predicted {}

impl<G: Sync, P> Program<G, P, Predicted> for Predicted {
    async fn output(
        &self,
        _: &G,
        _: Option<&[String]>,
    ) -> Result<ProgramOutput<P>, ProgramRunError> {
        Err("the row has no prediction".to_owned().into())
    }
}
