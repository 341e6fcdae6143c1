//! Evaluates a list of rows concurrently: the default of [`Metric::evaluate_batch`].

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::metric::Metric;
use crate::metric::answer::Answer;
use crate::metric::call::MetricCall;
use crate::score::MetricScore;
use crate::score::error::Result;
use crate::score::row_answer::RowAnswer;

/// The largest number of calls of one batch that are pending at a time.
pub(crate) const CONCURRENCY: usize = 32;

/// Scores pairs of rows, at most [`CONCURRENCY`] at a time. The scores are in the order of the pairs. A synchronous
/// metric allocates no future per row.
pub(crate) async fn evaluate<G, P, M>(metric: &M, pairs: &[(G, P)]) -> Vec<Result<MetricScore>>
where
    G: Sync,
    P: Sync,
    M: Metric<G, P> + ?Sized,
{
    let mut scores = Vec::with_capacity(pairs.len());
    let mut pending = FuturesUnordered::new();
    for (position, (gold, pred)) in pairs.iter().enumerate() {
        match metric.answer(MetricCall::new(gold, pred)) {
            Answer::Ready(scored) => {
                scores.push((position, scored));
                tokio::task::consume_budget().await;
            }
            Answer::Pending(answer) => {
                if pending.len() == CONCURRENCY {
                    scores.extend(pending.next().await);
                }
                pending.push(async move { (position, answer.await) });
            }
        }
    }
    while let Some(scored) = pending.next().await {
        scores.push(scored);
    }
    scores.sort_unstable_by_key(|(position, _)| *position);
    let score = |result: Result<RowAnswer>| Ok(result?.scored()?.into_score());
    scores
        .into_iter()
        .map(|(_, result)| score(result))
        .collect()
}
