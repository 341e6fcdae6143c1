//! The assistant that a simulated user talks to: any program, as one type.

use std::marker::PhantomData;

use async_trait::async_trait;

use crate::core::{Example, Program, ProgramOutput, ProgramRunError};

/// A program from the conversation so far to a reply.
#[async_trait]
pub(super) trait Assistant: Send + Sync {
    async fn reply(&self, inputs: &Example) -> Result<ProgramOutput, ProgramRunError>;
}

/// A program whose kind the compiler has inferred.
pub(super) struct Of<A, Kind> {
    program: A,
    kind: PhantomData<fn() -> Kind>,
}

impl<A, Kind> Of<A, Kind> {
    pub(super) fn new(program: A) -> Self {
        Self {
            program,
            kind: PhantomData,
        }
    }
}

#[async_trait]
impl<A: Program<Example, crate::core::Prediction, Kind>, Kind> Assistant for Of<A, Kind> {
    async fn reply(&self, inputs: &Example) -> Result<ProgramOutput, ProgramRunError> {
        self.program.output(inputs, None).await
    }
}
