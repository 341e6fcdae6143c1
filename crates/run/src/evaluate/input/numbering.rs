//! Rows are numbered in the order in which they are read, and their ids are checked.

use std::collections::VecDeque;
use std::sync::{Mutex, TryLockError};

use super::seen_ids::SeenIds;
use super::source_row::Input;
use crate::core::panic::Panic;
use crate::evaluate::error::EvaluateError;

/// A row and its position, from 0.
pub(crate) type Numbered<G, P> = (u64, Input<G, P>);

/// The next row, or the position of the row that ends the run, with the error.
pub(crate) type NextRow<G, P> = Result<Numbered<G, P>, (u64, EvaluateError)>;

/// Rows that a thread has taken and not yet evaluated. Others may take them once the source has no more, so that no row
/// waits for a thread that is blocked.
pub(crate) type OwnRows<G, P> = Mutex<VecDeque<Numbered<G, P>>>;

/// Rows in the order in which they are read, with the number and ids of the rows before.
pub(crate) struct Numbering<S> {
    pub(crate) rows: S,
    next: u64,
    seen: SeenIds,
    /// `true` if a row so far had no id of its own.
    has_positional: bool,
}

impl<S> Numbering<S> {
    pub(crate) fn new(rows: S) -> Self {
        Self {
            rows,
            next: 0,
            seen: SeenIds::default(),
            has_positional: false,
        }
    }

    pub(crate) fn number<G, P>(
        &mut self,
        row: Result<Input<G, P>, EvaluateError>,
    ) -> NextRow<G, P> {
        let at = self.next;
        let row = row.map_err(|error| (at, error))?;
        if let Some(id) = row.id() {
            if id.is_empty() {
                let place = row
                    .origin()
                    .map_or_else(|| format!("row {}", at + 1), ToString::to_string);
                let reason = "`id`: expected a string or a number, found an empty string";
                return Err((at, EvaluateError::input(format!("{place}: {reason}"))));
            }
            let inserted = self.seen.insert(id, at, row.origin());
            inserted.map_err(|error| (at, error))?;
        }
        self.has_positional |= row.is_positional();
        self.next += 1;
        Ok((at, row))
    }
}

/// Returns `true` if a row so far had no id of its own.
pub(crate) fn has_positional<S>(rows: &Mutex<Numbering<S>>) -> bool {
    match rows.try_lock() {
        Ok(rows) => rows.has_positional,
        Err(TryLockError::Poisoned(rows)) => rows.into_inner().has_positional,
        Err(TryLockError::WouldBlock) => false,
    }
}

pub(crate) fn input_panicked(panic: Panic) -> EvaluateError {
    EvaluateError::Rows {
        message: panic.message,
    }
}
