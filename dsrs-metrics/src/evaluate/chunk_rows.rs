//! The rows of a chunk: those that were counted as they were decoded, and those that are evaluated later.
#![cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the command line lends rows"))]

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::EvaluateError;
use super::source_row::{Evaluated, Input};
use crate::core::rows::pair::{Origin, Pair};

/// Evaluates a row that the chunk lends.
pub(super) type ScoreRow<'s, G, P> = &'s mut (dyn FnMut(&G, &P) -> Lent + 's);

/// What became of a row that a chunk lends.
pub(super) enum Lent {
    /// It was counted as a plain row.
    Counted,
    Evaluated(Evaluated),
    /// It was not evaluated, and no other of the chunk will be.
    Later,
}

/// Receives the rows of a chunk in order.
pub(crate) struct ChunkRows<'s, G, P> {
    /// `None` if rows are evaluated after they are decoded.
    score: Option<ScoreRow<'s, G, P>>,
    /// The outcomes of the row that was lent last, unless it was counted.
    evaluated: Option<Evaluated>,
    pub(super) decoded: DecodedChunk<G, P>,
}

/// The rows of a chunk after they are decoded.
pub(super) struct DecodedChunk<G, P> {
    pub(super) counted: CountedRows,
    /// The other rows, each with the number of counted rows before it.
    pub(super) rows: Vec<(usize, UnnumberedRow<G, P>)>,
}

type UnnumberedRow<G, P> = Result<Input<G, P>, EvaluateError>;

/// The ids and the places of counted rows.
#[derive(Default)]
pub(super) struct CountedRows {
    ids: String,
    /// The end of each id, and its line.
    rows: Vec<(usize, u64)>,
    /// All rows of a chunk are from one file.
    file: Option<Arc<Path>>,
}

impl<'s, G, P> ChunkRows<'s, G, P> {
    pub(super) fn new(score: Option<ScoreRow<'s, G, P>>) -> Self {
        let decoded = DecodedChunk { counted: CountedRows::default(), rows: Vec::new() };
        Self { score, evaluated: None, decoded }
    }

    /// Adds a row, or the error that is the last of the chunk.
    pub(crate) fn push(&mut self, row: Result<Pair<G, P>, EvaluateError>) {
        let evaluated = self.evaluated.take();
        let row = row.map(|pair| Input::from(pair).evaluated(evaluated));
        self.decoded.rows.push((self.decoded.counted.rows.len(), row));
    }
}

impl<G, P> ChunkRows<'_, G, P> {
    /// Returns whether rows may be lent.
    pub(crate) fn takes_lent(&self) -> bool {
        self.score.is_some()
    }

    /// Evaluates a row of the chunk's file. Returns whether it was counted; otherwise it must be pushed next.
    pub(crate) fn lend(&mut self, id: &str, at: &Origin, gold: &G, pred: &P) -> bool {
        let Some(score) = &mut self.score else { return false };
        match score(gold, pred) {
            Lent::Counted => {
                self.decoded.counted.add(id, at);
                return true;
            }
            Lent::Evaluated(evaluated) => self.evaluated = Some(evaluated),
            Lent::Later => self.score = None,
        }
        false
    }
}

impl<G, P> DecodedChunk<G, P> {
    /// A chunk that could not be decoded.
    pub(super) fn failed(error: EvaluateError) -> Self {
        Self { counted: CountedRows::default(), rows: vec![(0, Err(error))] }
    }
}

impl CountedRows {
    fn add(&mut self, id: &str, at: &Origin) {
        self.file.get_or_insert_with(|| Arc::clone(&at.file));
        self.ids.push_str(id);
        self.rows.push((self.ids.len(), at.line));
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Calls a function with the id and the place of each row of a range, up to the first error.
    pub(super) fn try_each<E>(
        &self,
        rows: Range<usize>,
        mut call: impl FnMut(&str, &Origin) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut at = Origin { file: Arc::clone(file), line: 0 };
        let mut start = rows.start.checked_sub(1).map_or(0, |before| self.rows[before].0);
        for (end, line) in &self.rows[rows] {
            at.line = *line;
            call(&self.ids[start..*end], &at)?;
            start = *end;
        }
        Ok(())
    }
}
