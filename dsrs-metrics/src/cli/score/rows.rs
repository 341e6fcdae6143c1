//! Rows on their way into the harness: those that a metric cannot read are bad input.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{FutureExt, Stream, stream};

use super::super::bugs::catch;
use crate::core::call::MetricCall;
use crate::core::error::{FieldError, MetricError, MetricErrorKind};
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::{Origin, Pair};
use crate::data::{DataError, Mapping, Pairs};

/// The mappings that no row could use, known once all rows were read.
pub(super) type UnusedMappings = Arc<Mutex<Vec<Mapping>>>;

/// What [`UnusedMappings`] holds.
pub(super) fn unused(mappings: &UnusedMappings) -> Vec<Mapping> {
    mappings.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Rows, up to the first that cannot be scored.
pub(super) struct CheckedRows {
    pairs: Pairs,
    /// The metrics that must be able to read every row.
    metrics: Vec<Arc<dyn Metric>>,
    mappings: Vec<Mapping>,
    unused: UnusedMappings,
}

/// Why there are no more rows.
#[derive(Debug, thiserror::Error)]
pub(super) enum RowError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{at}: {error}{hint}")]
    Unreadable { at: Origin, error: Box<MetricError>, hint: MapHint },
    #[error("reading the rows panicked: {0}")]
    Panicked(String),
}

impl CheckedRows {
    pub(super) fn new(
        pairs: Pairs,
        metrics: Vec<Arc<dyn Metric>>,
        mappings: Vec<Mapping>,
        unused: UnusedMappings,
    ) -> Self {
        Self { pairs, metrics, mappings, unused }
    }

    fn check(&self, pair: Pair) -> Result<Pair, RowError> {
        let Some(at) = &pair.origin else {
            return Ok(pair);
        };
        for metric in &self.metrics {
            let metric = &**metric;
            // The types of a metric's fields are read by code of its author's.
            let error = catch(|| unreadable(metric, &pair.gold, &pair.pred));
            if let Some(error) = error.unwrap_or_else(|message| Some(panicked(metric, message))) {
                let hint = MapHint::of(&error, &self.mappings);
                let (at, error) = (at.clone(), Box::new(error));
                return Err(RowError::Unreadable { at, error, hint });
            }
        }
        Ok(pair)
    }
}

impl Iterator for CheckedRows {
    type Item = Result<Pair, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(pair) = self.pairs.next() else {
            let unused = self.pairs.unused_mappings().cloned().collect();
            *self.unused.lock().unwrap_or_else(PoisonError::into_inner) = unused;
            return None;
        };
        Some(pair.map_err(RowError::from).and_then(|pair| self.check(pair)))
    }
}

/// Why the metric cannot read the row.
fn unreadable(metric: &dyn Metric, gold: &Example, pred: &Prediction) -> Option<MetricError> {
    if metric.can_evaluate(gold, pred) {
        return None;
    }
    // `can_evaluate` says only that it is so. The call says why, before it awaits anything.
    let call = MetricCall::new(gold, pred);
    let said = metric.answer(call).into_future().now_or_never().and_then(Result::err);
    Some(said.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}

fn panicked(metric: &dyn Metric, message: String) -> MetricError {
    MetricError::panicked(metric.name(), message)
}

/// What to do about a field that is not there.
#[derive(Debug)]
pub(super) struct MapHint(Option<String>);

impl MapHint {
    fn of(error: &MetricError, mappings: &[Mapping]) -> Self {
        let MetricErrorKind::Field { side, error: FieldError::Missing { field, .. } } =
            error.kind()
        else {
            return Self(None);
        };
        let mapping = mappings.iter().find(|mapping| mapping.sets(*side, field));
        Self(Some(match mapping {
            Some(mapping) => format!("the row has no `{}`, which is mapped to it", mapping.path()),
            None => format!("say where it is with --map {side}.{field}=PATH"),
        }))
    }
}

impl fmt::Display for MapHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// The rows, read on a thread of their own, a few ahead.
pub(super) fn on_a_thread(
    rows: impl Iterator<Item = Result<Pair, RowError>> + Send + 'static,
) -> io::Result<impl Stream<Item = Result<Pair, RowError>> + Send + 'static> {
    const AHEAD: usize = 8;
    let (send, receive) = tokio::sync::mpsc::channel(AHEAD);
    let read = move || {
        let all = catch(|| {
            for row in rows {
                if send.blocking_send(row).is_err() {
                    // The harness wants no more.
                    break;
                }
            }
        });
        if let Err(said) = all {
            // A channel that just closes would look like the end of the rows.
            let _ = send.blocking_send(Err(RowError::Panicked(said)));
        }
    };
    std::thread::Builder::new().name("rows".to_owned()).spawn(read)?;
    Ok(stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|row| (row, receive))
    }))
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::{RowError, on_a_thread};

    #[test]
    fn a_reader_that_panics_is_an_error_and_no_end() {
        let rows = std::iter::from_fn(|| panic!("no more paper"));
        let rows = on_a_thread(rows).unwrap().collect::<Vec<_>>();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let rows = runtime.block_on(rows);
        let said: Vec<_> =
            rows.iter().map(|row| row.as_ref().map_err(RowError::to_string)).collect();
        assert_eq!(said.len(), 1);
        assert_eq!(said[0].as_ref().unwrap_err(), "reading the rows panicked: no more paper");
    }
}
