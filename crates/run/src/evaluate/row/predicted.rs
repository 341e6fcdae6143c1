//! The program of rows that already have predictions.

use crate::core::program::Program;
use crate::core::program::ProgramRunError;
use crate::core::program_run::ProgramOutput;

/// The program of rows that already have predictions; it is never called.
pub(crate) struct Predicted;

impl<G: Sync, P> Program<G, P, Predicted> for Predicted {
    async fn output(
        &self,
        _: &G,
        _: Option<&[String]>,
    ) -> Result<ProgramOutput<P>, ProgramRunError> {
        Err("the row has no prediction".to_owned().into())
    }
}
