//! Judges a sample of the rows, once all other metrics have evaluated all of them.

use futures_util::{StreamExt, stream};

use super::state::Run;
use crate::evaluate::report::Lines;
use crate::evaluate::truth::{SampledRow, TruthRun};

impl<G: Send + Sync, P: Send + Sync> Run<'_, G, P> {
    /// Draws and judges the samples, and records all rows. After a stop, no further row is judged.
    pub(crate) async fn judge_samples(&self) {
        let Some(truth) = &self.truth else { return };
        let is_stopped = self.stop.is_set() || self.source.failed();
        let rows = stream::iter(truth.draw(is_stopped));
        let judged = rows.for_each_concurrent(self.concurrency, |row| async {
            let judged = self.judge(truth, row);
            #[cfg(feature = "lm")]
            let judged = crate::lm::replay::in_scope(judged);
            judged.await;
        });
        self.supervise(async {
            tokio::select! {
                biased;
                () = judged => {}
                () = self.stop.abandoned() => {}
            }
        })
        .await;
    }

    async fn judge(&self, truth: &TruthRun<G, P>, sampled: SampledRow<G, P>) {
        let SampledRow {
            index,
            mut row,
            judges,
        } = sampled;
        for judge in judges {
            if self.stop.is_set() {
                break;
            }
            let metric = truth.metric(judge.0);
            self.plan.judge(&mut row, metric, self.store.as_ref()).await;
            truth.record(judge, &row.outcomes[metric]);
        }
        self.finished(index, row, &mut Lines::default());
    }
}
