//! One call of a metric: panics are caught, and every result is an outcome.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dsrs_metrics::{
    Example, Metric, MetricError, Outcome, Prediction,
    contract::{Answer, MetricCall, MetricErrorKind},
};
use futures::FutureExt;

/// Evaluates a metric that does not wait.
pub(crate) fn evaluate_now(metric: &dyn Metric, call: MetricCall<'_>) -> Outcome {
    let result = match catch_unwind(AssertUnwindSafe(|| metric.answer(call))) {
        Ok(Answer::Ready(result)) => result,
        Ok(Answer::Pending(_)) => Err(MetricError::failed(
            metric.name(),
            "expected a synchronous metric, found one that waits; declare it with `MetricSpec::with_async`",
        )),
        Err(payload) => Err(panicked(metric, payload)),
    };
    Outcome::from(result)
}

/// Evaluates a metric that may wait.
pub(crate) async fn evaluate(
    metric: &dyn Metric,
    (gold, pred): (&Example, &Prediction),
    is_explained: bool,
) -> Outcome {
    let answer = async {
        metric
            .answer(call(gold, pred, is_explained))
            .resolved()
            .await
    };
    let result = AssertUnwindSafe(answer).catch_unwind().await;
    Outcome::from(result.unwrap_or_else(|payload| Err(panicked(metric, payload))))
}

pub(crate) fn call<'a>(
    gold: &'a Example,
    pred: &'a Prediction,
    is_explained: bool,
) -> MetricCall<'a> {
    let call = MetricCall::new(gold, pred);
    if is_explained {
        call
    } else {
        call.without_explanation()
    }
}

#[cold]
fn panicked(metric: &dyn Metric, payload: Box<dyn Any + Send>) -> MetricError {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = text.unwrap_or_else(|| "a value that is not a string".to_owned());
    // Dropping a value of the user may panic again.
    std::mem::forget(payload);
    MetricError::new(metric.name(), MetricErrorKind::Panicked { message })
}
