//! Rows on their way into the harness: those that a metric cannot read are bad input.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{FutureExt, Stream, stream};

use crate::data::{DataError, Mapping, Pairs};
use crate::error::MetricError;
use crate::metric::{Metric, MetricCall};
use crate::pair::{Origin, Pair};
use crate::row::{Example, Prediction};

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
            if let Some(error) = unreadable(&**metric, &pair.gold, &pair.pred) {
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
    let said = metric.call_now(call).or_else(|| metric.call(call).now_or_never());
    let said = said.and_then(Result::err);
    Some(said.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}

/// What to do about a field that is not there.
#[derive(Debug)]
pub(super) struct MapHint(Option<String>);

impl MapHint {
    fn of(error: &MetricError, mappings: &[Mapping]) -> Self {
        let MetricError::MissingField { side, field, .. } = error else {
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
    rows: CheckedRows,
) -> io::Result<impl Stream<Item = Result<Pair, RowError>> + Send + 'static> {
    const AHEAD: usize = 8;
    let (send, receive) = tokio::sync::mpsc::channel(AHEAD);
    let read = move || {
        for row in rows {
            if send.blocking_send(row).is_err() {
                // The harness wants no more.
                break;
            }
        }
    };
    std::thread::Builder::new().name("rows".to_owned()).spawn(read)?;
    Ok(stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|row| (row, receive))
    }))
}
