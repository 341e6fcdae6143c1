//! Rows of files that a metric cannot read.

use futures_util::FutureExt;

use super::plan::Plan;
use crate::core::metric::Metric;
use crate::core::metric::call::MetricCall;
use crate::core::panic;
use crate::core::rows::pair::Origin;
use crate::core::score::error::MetricError;
use crate::evaluate::error::EvaluateError;

impl<G: Sync, P: Sync> Plan<'_, G, P> {
    /// Returns why a metric cannot read a row of a file, if that ends the run.
    pub(crate) fn unreadable(
        &self,
        gold: &G,
        pred: &P,
        at: Option<&Origin>,
    ) -> Option<EvaluateError> {
        let at = at.filter(|_| self.options.rejects_unreadable)?;
        self.metrics.iter().find_map(|entry| {
            // Reading a field may run code of the metric's author.
            let error = panic::catch(false, || read_error(entry.metric(), gold, pred));
            let panicked = |panic: panic::Panic| {
                Some(MetricError::panicked(entry.name.clone(), panic.message))
            };
            let error = Box::new(error.unwrap_or_else(panicked)?);
            Some(EvaluateError::UnreadableRow {
                at: at.clone(),
                error,
            })
        })
    }
}

/// Returns why the metric cannot read the row; `None` if it can.
fn read_error<G: Sync, P: Sync>(
    metric: &dyn Metric<G, P>,
    gold: &G,
    pred: &P,
) -> Option<MetricError> {
    if metric.can_evaluate(gold, pred) {
        return None;
    }
    // `can_evaluate` returns no reason. A call returns it before it awaits anything.
    let call = MetricCall::new(gold, pred);
    let error = metric
        .answer(call)
        .into_future()
        .now_or_never()
        .and_then(Result::err);
    Some(error.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}
