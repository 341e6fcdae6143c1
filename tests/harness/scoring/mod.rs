//! Scoring through its public API: proxies first, truth metrics where they pass, within a budget. Each
//! file tests one guarantee.
#![allow(clippy::float_cmp, reason = "results must not differ by a single bit")]

mod aggregation;
mod budget;
mod document;
mod gate;
mod killed;
mod missing;
mod programs;
mod rollouts;
mod rows;
mod setup;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    MetricError,
    contract::{Answer, MetricSpec},
    rows::Pair,
    scoring::{Rollouts, ScorerBuilder},
};

/// A metric whose result is in the prediction's field of the same name: a number, `abstain`, `fail` or
/// `panic`; a list of the result and a number also defines its cost. It counts its calls.
#[derive(Debug, Clone)]
struct ScriptedMetric {
    name: &'static str,
    tier: MetricTier,
    declared: u64,
    lower_is_better: bool,
    waits: bool,
    calls: Arc<AtomicU64>,
}

impl ScriptedMetric {
    fn new(name: &'static str, tier: MetricTier, declared: u64) -> Self {
        let calls = Arc::new(AtomicU64::new(0));
        Self {
            name,
            tier,
            declared,
            lower_is_better: false,
            waits: false,
            calls,
        }
    }

    fn proxy(name: &'static str) -> Self {
        Self::new(name, MetricTier::Proxy, 0)
    }

    fn truth(name: &'static str, declared: u64) -> Self {
        Self::new(name, MetricTier::Truth, declared)
    }

    /// Makes it asynchronous.
    fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    fn lower_is_better(mut self) -> Self {
        self.lower_is_better = true;
        self
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    fn scripted(&self, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let told = pred.get(self.name).cloned().unwrap_or_default();
        let word = told.get(0).unwrap_or(&told);
        let cost = told
            .get(1)
            .and_then(serde_json::Value::as_u64)
            .unwrap_or(self.declared);
        match word.as_f64() {
            Some(value) => Ok(MetricScore::new(value).with_cost_msats(cost)),
            None if word == "nan" => Ok(MetricScore::new(f64::NAN)),
            None if word == "abstain" => Err(MetricError::abstained(self.name)),
            None if word == "panic" => panic!("told to panic"),
            None => Err(MetricError::failed(self.name, "told to fail")),
        }
    }
}

#[async_trait]
impl Metric for ScriptedMetric {
    fn name(&self) -> &str {
        self.name
    }

    fn spec(&self) -> MetricSpec<'_> {
        let spec = MetricSpec::new(self.name)
            .with_range(0.0, 1.0)
            .with_tier(self.tier);
        let spec = spec.with_cost_msats(self.declared);
        if self.lower_is_better {
            return spec.with_direction(dsrs_metrics::contract::Direction::LowerIsBetter);
        }
        spec
    }

    async fn evaluate(&self, _: &Example, pred: &Prediction) -> dsrs_metrics::Result<MetricScore> {
        tokio::task::yield_now().await;
        self.scripted(pred)
    }

    fn answer<'a>(&'a self, call: MetricCall<'a>) -> Answer<'a> {
        use dsrs_metrics::contract::MetricReturn;
        let validated = |score: MetricScore| score.into_scored(&self.spec());
        if !self.waits {
            return Answer::from(self.scripted(call.pred).and_then(validated));
        }
        Answer::pending(async move {
            self.evaluate(call.gold, call.pred)
                .await
                .and_then(validated)
        })
    }
}

/// One proxy `cheap` and one asynchronous truth metric `dear` of 100 msat.
fn cheap_and_dear() -> (ScorerBuilder, ScriptedMetric, ScriptedMetric) {
    let (cheap, dear) = (
        ScriptedMetric::proxy("cheap"),
        ScriptedMetric::truth("dear", 100).waiting(),
    );
    (
        ScorerBuilder::new()
            .metric(cheap.clone())
            .metric(dear.clone()),
        cheap,
        dear,
    )
}

fn pair(pred: Prediction) -> Pair {
    Pair::new("row", example! {}, pred)
}

fn rollouts<const N: usize>(preds: [Prediction; N]) -> Rollouts {
    Rollouts::new(example! {}, preds)
}
