//! A metric over lists of rows: `Metric.batch`.

use futures_util::{StreamExt, stream};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::Metric;
use super::call::{Call, Rows};
use crate::errors::{RowError, in_row, value_error};
use crate::parallel::map;
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
        let calls = self.calls(py, golds, preds)?;
        if !self.is_async && !return_exceptions {
            // Without the outcome of each row, which is larger than its value.
            let worker = || {
                let mut rows = Rows::default();
                move |call: &Call| self.at_once(call, &mut rows).map(|scored| scored.score.value)
            };
            let values = map(py, &self.name, &calls, worker)?;
            let values = values.into_iter().map(|value| self.value(py, value));
            return Ok(PyList::new(py, values.collect::<Vec<_>>())?.into_any());
        }
        let outcomes = match self.is_async {
            true => self.batch_awaited(py, &calls, concurrency, return_exceptions)?,
            false => {
                let worker = || {
                    let mut rows = Rows::default();
                    move |call: &Call| {
                        Ok(Some(self.at_once(call, &mut rows).map(|scored| scored.score.value)))
                    }
                };
                map(py, &self.name, &calls, worker)?.into_iter().flatten().collect()
            }
        };
        let items = outcomes.into_iter().enumerate().map(|(row, outcome)| match outcome {
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
            return Err(value_error("`concurrency` must be at least 1, found 0"));
        }
        let outcome = |row: usize| async move {
            self.awaited(&calls[row]).await.map(|scored| scored.score.value)
        };
        block_on(py, async {
            let mut running = stream::iter(0..calls.len()).map(outcome).buffered(concurrency);
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

    /// Reads the rows of a batch. `golds` may be `None` for a metric that reads no gold fields.
    pub(super) fn calls<'py>(
        &self,
        py: Python<'py>,
        golds: Option<&Bound<'py, PyAny>>,
        preds: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Call>> {
        let preds = rows("preds", preds)?;
        let golds = match golds {
            Some(golds) => rows("golds", golds)?,
            None => PyTuple::new(py, preds.iter().map(|_| py.None()).collect::<Vec<_>>())?,
        };
        same_length(("golds", golds.len()), ("preds", preds.len()))?;
        let pairs = golds.iter().zip(preds.iter()).enumerate();
        let read = |(row, (gold, pred)): (usize, (Bound<'py, PyAny>, Bound<'py, PyAny>))| {
            if row % ROWS_PER_CHECK == 0 {
                py.check_signals()?;
            }
            Call::of_rows(self, &gold, &pred).map_err(|error| in_row(py, row, error))
        };
        pairs.map(read).collect()
    }
}
