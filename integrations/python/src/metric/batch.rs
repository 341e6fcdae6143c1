//! A metric over lists, tables or columns of rows: `Metric.batch`.

use dsrs_metrics::contract::ScoreKind;
use futures_util::{StreamExt, stream};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::Metric;
use super::call::{Call, Rows};
use crate::columns::results;
use crate::errors::{RowError, in_row, value_error};
use crate::parallel::map;
use crate::row_reader::{Columns, RowReader};
use crate::runtime::block_on;
use crate::strings::{rows, same_length};

/// The number of rows that are read between two checks for signals.
const ROWS_PER_CHECK: usize = 4096;

/// The value of a row, or why it has none.
type Outcome = Result<f64, RowError>;

impl Metric {
    /// Returns the scores of rows.
    ///
    /// # Errors
    /// The exception of a row; `KeyboardInterrupt`.
    pub(super) fn batch_of<'py>(
        &self,
        py: Python<'py>,
        golds: Option<&Bound<'py, PyAny>>,
        preds: &Bound<'py, PyAny>,
        concurrency: usize,
        return_exceptions: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (golds, preds) = self.sides(golds, preds)?;
        let at_once = !self.is_async && !return_exceptions;
        let is_column = golds.is_column() || preds.is_column();
        if at_once && golds.is_columnar() && preds.is_columnar() {
            return self.batch_of_columns(py, &golds, &preds);
        }
        let calls = self.calls(py, &golds, &preds)?;
        if at_once {
            // Without the outcome of each row, which is larger than its value.
            let worker = || {
                let (mut rows, calls) = (Rows::default(), &calls);
                move |row: usize| {
                    self.at_once(&calls[row], &mut rows)
                        .map(|scored| scored.score.value)
                }
            };
            let values = map(py, &self.name, calls.len(), worker)?;
            return self.values(py, values, is_column);
        }
        let outcomes = match self.is_async {
            true => self.batch_awaited(py, &calls, concurrency, return_exceptions)?,
            false => {
                let worker = || {
                    let (mut rows, calls) = (Rows::default(), &calls);
                    move |row: usize| {
                        let scored = self.at_once(&calls[row], &mut rows);
                        Ok(Some(scored.map(|scored| scored.score.value)))
                    }
                };
                map(py, &self.name, calls.len(), worker)?
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        if is_column && !return_exceptions {
            let value = |(row, outcome): (usize, Outcome)| {
                outcome.map_err(|error| error.into_exception(py, Some(row)))
            };
            let values = outcomes.into_iter().enumerate().map(value);
            return self.values(py, values.collect::<PyResult<_>>()?, true);
        }
        let items = outcomes
            .into_iter()
            .enumerate()
            .map(|(row, outcome)| match outcome {
                Ok(value) => Ok(self.value(py, value)),
                Err(error) => {
                    let error = error.into_exception(py, Some(row));
                    if return_exceptions {
                        Ok(error.into_value(py).into_bound(py).into_any())
                    } else {
                        Err(error)
                    }
                }
            });
        Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }

    /// Evaluates rows concurrently. Without `keep_going`, the outcomes end with the first failure.
    fn batch_awaited(
        &self,
        py: Python<'_>,
        calls: &[Call],
        concurrency: usize,
        keep_going: bool,
    ) -> PyResult<Vec<Outcome>> {
        if concurrency == 0 {
            return Err(value_error(
                "expected `concurrency` to be at least 1, found 0",
            ));
        }
        let outcome = |row: usize| async move {
            self.awaited(&calls[row])
                .await
                .map(|scored| scored.score.value)
        };
        block_on(py, async {
            let mut running = stream::iter(0..calls.len())
                .map(outcome)
                .buffered(concurrency);
            let mut outcomes = Vec::with_capacity(calls.len());
            while let Some(outcome) = running.next().await {
                let ends = outcome.is_err() && !keep_going;
                outcomes.push(outcome);
                if ends {
                    break;
                }
            }
            outcomes
        })
    }

    /// Scores rows of columns, without an object for each row.
    fn batch_of_columns<'py>(
        &self,
        py: Python<'py>,
        golds: &SideRows<'py>,
        preds: &SideRows<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (golds, preds, len) = (golds.columns(), preds.columns(), preds.len());
        let worker = || {
            let mut rows = Rows::default();
            move |row| {
                let sides = [(golds, &mut rows.gold.data), (preds, &mut rows.pred.data)];
                for (columns, fields) in sides {
                    let written = columns.map_or(Ok(()), |columns| columns.write(row, fields));
                    written.map_err(|message| RowError::input(&self.name, message))?;
                }
                self.score_now(&rows).map(|scored| scored.score.value)
            }
        };
        let values = map(py, &self.name, len, worker)?;
        self.values(py, values, true)
    }

    /// Returns values as a column or a list, of bools if the metric is one.
    fn values<'py>(
        &self,
        py: Python<'py>,
        values: Vec<f64>,
        is_column: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.kind {
            ScoreKind::Bool => {
                let values: Vec<bool> = values.into_iter().map(|value| value >= 1.0).collect();
                results(py, values, is_column)
            }
            _ => results(py, values, is_column),
        }
    }

    /// Reads the rows of a batch as lists, tables or columns. `golds` may be `None` for a metric that reads no gold fields.
    pub(super) fn sides<'py>(
        &self,
        golds: Option<&Bound<'py, PyAny>>,
        preds: &Bound<'py, PyAny>,
    ) -> PyResult<(SideRows<'py>, SideRows<'py>)> {
        let [gold_reader, pred_reader] = &*self.readers;
        let side = |reader: &RowReader, name, value| match reader.columns(value)? {
            Some(columns) => Ok::<_, PyErr>(SideRows::Columns(columns)),
            None => Ok(SideRows::Objects(rows(name, value)?)),
        };
        let preds = side(pred_reader, "preds", preds)?;
        let golds = match golds {
            Some(golds) => side(gold_reader, "golds", golds)?,
            None => SideRows::None(preds.len()),
        };
        same_length(("golds", golds.len()), ("preds", preds.len()))?;
        Ok((golds, preds))
    }

    /// Reads each row of a batch.
    pub(super) fn calls<'py>(
        &self,
        py: Python<'py>,
        golds: &SideRows<'py>,
        preds: &SideRows<'py>,
    ) -> PyResult<Vec<Call>> {
        let [gold_reader, pred_reader] = &*self.readers;
        let none = py.None().into_bound(py);
        let read = |row: usize| {
            if row.is_multiple_of(ROWS_PER_CHECK) {
                py.check_signals()?;
            }
            let object = |side: &SideRows<'py>| side.object(row).unwrap_or_else(|| none.clone());
            let call = match (golds, preds) {
                (SideRows::Objects(_) | SideRows::None(_), SideRows::Objects(_)) => {
                    Call::of_rows(self, &object(golds), &object(preds))
                }
                _ => {
                    let read = |side: &SideRows<'py>, reader: &RowReader| match side.columns() {
                        Some(columns) => columns.row(row),
                        None => reader.read(&object(side)),
                    };
                    let gold = read(golds, gold_reader);
                    gold.and_then(|gold| Ok(Call::of_columns(gold, read(preds, pred_reader)?)))
                }
            };
            call.map_err(|error| in_row(py, row, error))
        };
        (0..preds.len()).map(read).collect()
    }
}

/// The rows of one side of a batch.
pub(super) enum SideRows<'py> {
    Objects(Bound<'py, PyTuple>),
    Columns(Columns),
    /// The number of rows, for a metric that reads no fields of this side.
    None(usize),
}

impl<'py> SideRows<'py> {
    fn len(&self) -> usize {
        match self {
            Self::Objects(rows) => rows.len(),
            Self::Columns(columns) => columns.len(),
            Self::None(rows) => *rows,
        }
    }

    fn columns(&self) -> Option<&Columns> {
        match self {
            Self::Columns(columns) => Some(columns),
            Self::Objects(_) | Self::None(_) => None,
        }
    }

    fn is_column(&self) -> bool {
        self.columns().is_some()
    }

    /// Returns `true` if no row is an object.
    fn is_columnar(&self) -> bool {
        !matches!(self, Self::Objects(_))
    }

    fn object(&self, row: usize) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Objects(rows) => rows.get_item(row).ok(),
            Self::Columns(_) | Self::None(_) => None,
        }
    }
}
