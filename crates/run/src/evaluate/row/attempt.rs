//! One awaited call of user code: its deadline, second attempt and panics, and why a program returned nothing.

use std::pin::pin;

use tokio::time::Instant;

use super::plan::RowOptions;
use crate::contract::panic::{self, Panic};
use crate::contract::{MetricError, MetricErrorKind, Outcome, ProgramRun, RowAnswer};

pub(super) type Attempt<T> = Result<T, Failure>;

/// Why an awaited call of user code returned nothing.
pub(super) enum Failure {
    Panicked(Panic),
    TimedOut,
}

/// A program's prediction with the record of its run, or why it returned none.
pub(crate) type ProgramResult<P> = Result<(P, ProgramRun), ProgramFailure>;

/// Why a program returned no prediction.
#[derive(Debug, Clone)]
pub(crate) struct ProgramFailure {
    /// The outcome of each metric.
    pub(crate) outcome: Outcome,
    pub(crate) traceback: Option<String>,
    /// `true` if the program panicked or was stopped. Then its error is a sentence about the program.
    pub(crate) is_interrupted: bool,
}

impl RowOptions {
    /// Returns `true` if a call has a deadline or may get a second attempt.
    pub(super) fn has_limits(&self, deadline: Option<Instant>) -> bool {
        deadline.is_some() || self.resubmit_after.is_some()
    }

    /// Awaits a call of user code within the row's deadline, with a second attempt if it is slow.
    pub(super) async fn attempt<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_conclusive: fn(&Result<T, E>) -> bool,
        deadline: Option<Instant>,
    ) -> Attempt<F::Output> {
        if !self.has_limits(deadline) {
            return self.once(&start, true).await;
        }
        // Boxed, so calls without limits take less memory.
        let attempts = Box::pin(self.first_of_two(start, is_conclusive));
        match deadline {
            None => attempts.await,
            Some(deadline) => {
                let attempts = tokio::time::timeout_at(deadline, attempts);
                let attempt = attempts.await.unwrap_or(Err(Failure::TimedOut));
                unless_late(attempt, is_conclusive, Some(deadline))
            }
        }
    }

    /// Awaits one call of user code.
    async fn once<F: Future>(
        &self,
        start: &impl Fn(bool) -> F,
        is_first: bool,
    ) -> Attempt<F::Output> {
        // Made inside the future, because the call may panic before it returns one.
        let called = panic::catch_async(self.traceback, async { start(is_first).await });
        called.await.map_err(Failure::Panicked)
    }

    /// Starts a second attempt at a slow call, and never a third. The first conclusive result wins, and the other call
    /// is cancelled. If one attempt fails or panics, the other is awaited. If both fail, the first failure is returned.
    async fn first_of_two<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_conclusive: fn(&Result<T, E>) -> bool,
    ) -> Attempt<F::Output> {
        let succeeded = |attempt: &Attempt<F::Output>| attempt.as_ref().is_ok_and(is_conclusive);
        let Some(delay) = self.resubmit_after else {
            return self.once(&start, true).await;
        };
        let mut first = pin!(self.once(&start, true));
        if let Ok(output) = tokio::time::timeout(delay, first.as_mut()).await {
            return output;
        }
        let mut second = pin!(self.once(&start, false));
        tokio::select! {
            biased;
            output = &mut first => {
                if succeeded(&output) {
                    return output;
                }
                let other = second.await;
                if succeeded(&other) { other } else { output }
            }
            output = &mut second => if succeeded(&output) { output } else { first.await },
        }
    }
}

/// Turns a conclusive result after the deadline into a timeout; a failure is returned unchanged.
pub(super) fn unless_late<T, E>(
    attempt: Attempt<Result<T, E>>,
    is_conclusive: fn(&Result<T, E>) -> bool,
    deadline: Option<Instant>,
) -> Attempt<Result<T, E>> {
    let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    match attempt {
        Ok(result) if is_conclusive(&result) && late() => Err(Failure::TimedOut),
        attempt => attempt,
    }
}

/// Returns `true` if a result is final: a score, a contribution to one or an abstention.
pub(super) fn is_conclusive(result: &Result<RowAnswer, MetricError>) -> bool {
    result.as_ref().map_or_else(
        |error| *error.kind() == MetricErrorKind::Abstained,
        |_| true,
    )
}
