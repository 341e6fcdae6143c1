//! Metrics around another one: the methods they forward, and pointers to metrics.

use std::sync::Arc;

use async_trait::async_trait;

use super::Metric;
use super::answer::{Answer, ScoredAtOnce};
use super::call::MetricCall;
use crate::dedup::Key;
use crate::score::{MetricScore, Result};

/// Forwards [`Metric`] methods to the inner metric unchanged. `all` also forwards the methods that depend on settings.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_metric {
    (<$gold:ty, $pred:ty> |$this:ident| $metric:expr) => {
        fn name(&self) -> &str {
            let $this = self;
            $metric.name()
        }
        fn tier(&self) -> $crate::spec::MetricTier {
            let $this = self;
            $metric.tier()
        }
        fn can_evaluate(&self, gold: &$gold, pred: &$pred) -> bool {
            let $this = self;
            $metric.can_evaluate(gold, pred)
        }
        fn files(&self, all: &mut Vec<$crate::files::MetricFile>) {
            let $this = self;
            $metric.files(all);
        }
    };
    (all <$gold:ty, $pred:ty> |$this:ident| $metric:expr) => {
        $crate::forward_metric!(<$gold, $pred> |$this| $metric);
        fn cost_estimate(&self) -> u64 {
            let $this = self;
            $metric.cost_estimate()
        }
        fn spec(&self) -> $crate::spec::MetricSpec<'_> {
            let $this = self;
            $metric.spec()
        }
        fn requirements(&self, all: &mut Vec<$crate::Requirement>) {
            let $this = self;
            $metric.requirements(all);
        }
        fn parameters(&self, all: &mut Vec<(String, String)>) {
            let $this = self;
            $metric.parameters(all);
        }
    };
}

macro_rules! metric_of_pointer {
    ($($pointer:ty => $key:expr),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<G, M: ScoredAtOnce<G> + ?Sized> ScoredAtOnce<G> for $pointer {}

        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<G: Sync, P: Sync, M: Metric<G, P> + ?Sized> Metric<G, P> for $pointer {
            forward_metric!(all <G, P> |this| (**this));
            async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
                (**self).evaluate(gold, pred).await
            }
            fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
                (**self).answer(call)
            }
            async fn evaluate_batch(&self, pairs: &[(G, P)]) -> Vec<Result<MetricScore>> {
                (**self).evaluate_batch(pairs).await
            }
            fn batch_size(&self) -> usize {
                (**self).batch_size()
            }
            fn key(&self) -> Option<Key> {
                let key: fn(&Self) -> Option<Key> = $key;
                (**self).key().or_else(|| key(self))
            }
            fn keys(&self, all: &mut Vec<Key>) {
                let before = all.len();
                (**self).keys(all);
                if (**self).key().is_none() {
                    all.splice(before..before, self.key());
                }
            }
        }
    )*};
}
// One value used in several places is one metric, even if its type cannot be compared.
metric_of_pointer!(&M => |_| None, Box<M> => |_| None, Arc<M> => |value| Some(Key::of_shared(value)));
