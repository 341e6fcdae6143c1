//! Judges a sample of the rows, once all other metrics have evaluated all of them.

use std::pin::pin;

use futures_util::{StreamExt, stream};

use super::state::{Run, stop_signal};
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
        let mut judged = pin!(judged);
        let (mut stop, mut grace_period) = (pin!(stop_signal(self.stop_when.as_ref())), None);
        loop {
            tokio::select! {
                biased;
                () = &mut stop, if !self.stop.is_requested() => self.stop.request(),
                () = self.stop.requested(), if grace_period.is_none() => {
                    grace_period = Some(self.start_grace_period());
                }
                () = &mut judged => break,
                () = self.stop.abandoned() => break,
            }
        }
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
