//! Evaluates a metric used in several places of a run once per call, with the call's memo.

use tokio::sync::OnceCell;

use crate::dedup::Key;
use crate::metric::{Answer, Metric, MetricCall};
use crate::panic;
use crate::score::{MetricError, Result, RowAnswer};

/// Returns the metric's answer, or the answer that an equal metric already returned for this call. A reused answer
/// costs nothing.
pub fn answer<'a, G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &'a M,
    key: Option<&Key>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    let cell = key
        .zip(call.memo)
        .and_then(|(key, memo)| memo.cell(key, call.address()));
    match cell {
        None => metric.answer(call),
        Some(cell) => shared_answer(metric, cell, call),
    }
}

#[cold]
fn shared_answer<'a, G: Sync, P: Sync, M: Metric<G, P> + ?Sized>(
    metric: &'a M,
    cell: &'a OnceCell<Result<RowAnswer>>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    if let Some(answer) = cell.get() {
        return Answer::Ready(reused(answer));
    }
    let panicked = |panic: panic::Panic| Err(MetricError::panicked(metric.name(), panic.message));
    let future = match panic::catch(false, || metric.answer(call)) {
        Ok(Answer::Pending(future)) => future,
        Ok(Answer::Ready(answer)) => return Answer::Ready(keep(cell, answer)),
        Err(panic) => return Answer::Ready(keep(cell, panicked(panic))),
    };
    Answer::pending(async move {
        let mut is_first = false;
        let evaluate = async {
            is_first = true;
            panic::catch_async(false, future)
                .await
                .unwrap_or_else(panicked)
        };
        let answer = cell.get_or_init(|| evaluate).await;
        if is_first {
            answer.clone()
        } else {
            reused(answer)
        }
    })
}

/// Stores an answer. If another thread has stored one in the meantime, both evaluations are charged.
fn keep(cell: &OnceCell<Result<RowAnswer>>, answer: Result<RowAnswer>) -> Result<RowAnswer> {
    let _ = cell.set(answer.clone());
    answer
}

fn reused(answer: &Result<RowAnswer>) -> Result<RowAnswer> {
    match answer {
        Ok(answer) => Ok(answer.clone().without_cost()),
        Err(error) => Err(error.clone().with_cost_msats(0)),
    }
}

#[cfg(test)]
mod tests {
    use crate::dedup::Sharing;
    use crate::metric::Metric;
    use crate::metric::call::MetricCall;
    use crate::rows::dynamic::{Example, Prediction};
    use crate::{example, metric, prediction};

    /// Passes if the answers are equal.
    #[metric(explain = |answer, given, _| format!("expected {answer}, found {given}"))]
    fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
        answer == given
    }

    #[test]
    fn an_answer_without_an_explanation_is_not_reused_where_one_is_read() {
        let metric = Same;
        let key = Metric::<Example, Prediction>::key(&metric);
        let keys = vec![key.clone().unwrap(); 2];
        let sharing = Sharing::among(&keys).unwrap();
        let (gold, pred) = (
            example! { "answer" => "Paris" },
            prediction! { "answer" => "Lyon" },
        );
        let call = MetricCall::<Example, Prediction>::new(&gold, &pred);
        let details = |call: MetricCall<'_>| {
            let answer = super::answer(&metric, key.as_ref(), call)
                .ready()
                .unwrap()
                .unwrap();
            answer.score.details.is_some()
        };
        let memo = sharing.memo(call.without_explanation().address());
        let call = call.with_memo(Some(&memo));
        assert!(!details(call.without_explanation()));
        assert!(details(call));
        assert!(!details(call.without_explanation()));
    }
}
