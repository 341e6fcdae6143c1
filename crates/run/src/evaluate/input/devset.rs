//! The devset of an evaluation: the rows that a program is run on.

use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::inputs;
use super::seen_ids::SeenIds;
use super::source::{Listed, RowId, Source, SourceData};
use super::source_row::{Input, ListedRow, RowDetails};
use crate::core::panic::{self, Panic};
use crate::core::rows::dynamic::Example;
use crate::core::rows::pair::Pair;
use crate::data::{DataFile, DataReader};
use crate::evaluate::error::EvaluateError;
use crate::evaluate::lock::lock;

/// The rows of a devset: every [`IntoIterator`] whose items are rows of type `G`.
pub trait DevsetRows<G> {
    /// Returns the rows.
    fn rows(self) -> impl Iterator<Item = G>;
}

impl<G: DevsetRow<I::Item>, I: IntoIterator> DevsetRows<G> for I {
    fn rows(self) -> impl Iterator<Item = G> {
        self.into_iter().map(G::from_row)
    }
}

/// A row type with the type `R` of the items of a list of rows, which is the same type. A bound on the item would have no
/// message of its own; this trait has one impl, so that the item of an empty list is inferred.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the rows of this devset are of type `{Self}`, found `{R}`",
    label = "expected rows of type `{Self}`",
    note = "write `Evaluate::typed()` for rows of your own type, `.iter().cloned()` for references to rows, and `Example::from_serialize(&value)` for other values"
)]
pub trait DevsetRow<R>: Sized {
    /// Returns the row.
    fn from_row(row: R) -> Self;
}

impl<G> DevsetRow<G> for G {
    fn from_row(row: G) -> Self {
        row
    }
}

/// Rows without predictions.
type GoldStream<G> = BoxStream<'static, Result<Arc<G>, String>>;

/// The rows that a program is run on.
pub(crate) enum Devset<G> {
    None,
    /// The rows, and the file that they were read from.
    List(Listed<G>, Arc<[DataFile]>),
    Stream(Arc<Mutex<Option<GoldStream<G>>>>),
    /// A file that cannot be read.
    Unreadable(EvaluateError),
}

impl<G> Clone for Devset<G> {
    fn clone(&self) -> Self {
        match self {
            Self::None => Self::None,
            Self::List(rows, files) => Self::List(Arc::clone(rows), Arc::clone(files)),
            Self::Stream(rows) => Self::Stream(Arc::clone(rows)),
            Self::Unreadable(error) => Self::Unreadable(error.clone()),
        }
    }
}

impl<G: Send + Sync + 'static> Devset<G> {
    pub(crate) fn list(rows: impl Iterator<Item = G>) -> Self {
        let rows = rows.map(|gold| ListedRow { gold: Arc::new(gold), details: None });
        Self::List(Arc::new(rows.collect()), Arc::default())
    }

    pub(crate) fn stream(rows: GoldStream<G>) -> Self {
        Self::Stream(Arc::new(Mutex::new(Some(rows))))
    }

    /// Checks the rows that are known before a run: their number and ids.
    pub(crate) fn check(&self, row_id: Option<&RowId<G>>) -> Result<(), EvaluateError> {
        let rows = match self {
            Self::None | Self::Stream(_) => return Ok(()),
            Self::Unreadable(error) => return Err(error.clone()),
            Self::List(rows, _) => rows,
        };
        if rows.is_empty() {
            return Err(EvaluateError::NoRows);
        }
        // The rows are in memory, too.
        let mut seen = SeenIds::in_memory();
        for (number, row) in rows.iter().enumerate() {
            let panicked = |panic: Panic| {
                let message = panic.message;
                EvaluateError::input(format!("`row_id` panicked on row {}: {message}", number + 1))
            };
            let named = row_id.map(|row_id| panic::catch(false, || row_id(&row.gold)));
            let named = named.transpose().map_err(panicked)?;
            if let Some(id) = named.as_deref().or_else(|| row.id()) {
                seen.insert(id, number as u64, row.origin())?;
            }
        }
        Ok(())
    }

    /// Returns the rows for one run. The inputs of a list are checked here, the inputs of a stream as its rows are read.
    pub(crate) fn source<P: Send + 'static>(
        &self,
        row_id: Option<RowId<G>>,
        inputs_of_run: Option<Arc<[String]>>,
    ) -> Result<Source<'static, G, P>, EvaluateError> {
        match self {
            Self::None => Err(EvaluateError::NoDevset),
            Self::Unreadable(error) => Err(error.clone()),
            Self::List(rows, files) => {
                inputs::check_rows(rows.iter().map(|row| &*row.gold), inputs_of_run.as_deref())?;
                let data = SourceData::Read(Arc::clone(files));
                Ok(Source::list(Arc::clone(rows), row_id).with_data(data))
            }
            Self::Stream(rows) => {
                let rows = lock(rows).take();
                let rows = rows.ok_or(EvaluateError::DevsetUsedUp)?.enumerate();
                let rows = rows.map(move |(number, row)| {
                    let row = row.map_err(EvaluateError::input)?;
                    inputs::check_row(number as u64 + 1, &*row, inputs_of_run.as_deref())?;
                    Ok(Input::to_predict(row))
                });
                Ok(Source::stream(rows.boxed(), row_id))
            }
        }
    }
}

impl Devset<Example> {
    /// Reads all rows of a file.
    pub(crate) fn read(file: &Path) -> Self {
        let read = DataReader::read_examples(file).and_then(|rows| {
            let (files, rows) = (rows.data_files(), rows.with_hashes());
            let rows = rows.map(|row| row.map(listed)).collect::<Result<Vec<_>, _>>()?;
            Ok((rows, files.finish(true)))
        });
        match read {
            Ok((rows, files)) => Self::List(Arc::new(rows), files.into()),
            Err(error) => Self::Unreadable(EvaluateError::input(error.to_string())),
        }
    }
}

fn listed(row: Pair) -> ListedRow<Example> {
    let Pair { id, gold, attributes, origin, .. } = row;
    let details = RowDetails { id, attributes, origin };
    ListedRow { gold: Arc::new(gold), details: Some(Box::new(details)) }
}
