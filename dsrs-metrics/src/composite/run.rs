//! In which order components are asked: each once a row, those behind a gate only where it opens,
//! those that must be awaited side by side.

use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::join_all;

use super::OnMissing;
use super::fold::{Folded, Missing, Node, Value, fold, wanted};
use crate::error::{MetricError, Result};
use crate::evaluate::panic;
use crate::metric::{Metric, MetricCall};
use crate::outcome::Outcome;
use crate::score::{Components, MetricScore, Scored};
use crate::spec::MetricSpec;

/// The components of one composite on one row. They are held in any way that leads to metrics:
/// `&dyn Metric` as well as `Arc<dyn Metric>`.
pub(super) struct Run<'a, L> {
    leaves: &'a [L],
    names: &'a Arc<[String]>,
    on_missing: OnMissing,
    outcomes: Vec<Option<Outcome>>,
}

impl<'a, L: Deref> Run<'a, L> {
    pub(super) fn new(leaves: &'a [L], names: &'a Arc<[String]>, on_missing: OnMissing) -> Self {
        Self { leaves, names, on_missing, outcomes: vec![None; leaves.len()] }
    }

    /// Where no component must be awaited.
    pub(super) fn now<G: Sync, P: Sync>(
        mut self,
        node: &Node,
        call: MetricCall<'_, G, P>,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L::Target: Metric<G, P>,
    {
        let (leaves, names) = (self.leaves, self.names);
        let outcomes = &mut self.outcomes;
        let folded = fold(node, self.on_missing, &mut |index| {
            let ask = || ask_now(&*leaves[index], &names[index], call);
            said(index, outcomes[index].get_or_insert_with(ask))
        });
        self.settle(folded, spec)
    }

    /// Where some must be: round by round, what can be asked is asked side by side, until the gates
    /// let nothing more through.
    pub(super) async fn awaited<G: Sync, P: Sync>(
        mut self,
        node: &Node,
        call: MetricCall<'_, G, P>,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L: Sync,
        L::Target: Metric<G, P>,
    {
        loop {
            let outcomes = &self.outcomes;
            let wanted = wanted(node, self.on_missing, &mut |index| {
                outcomes[index].as_ref().map(|outcome| said(index, outcome))
            });
            if wanted.is_empty() {
                break;
            }
            let (leaves, names) = (self.leaves, self.names);
            let asked = wanted.iter().map(|index| ask(&*leaves[*index], &names[*index], call));
            let asked = join_all(asked).await;
            for (index, outcome) in wanted.into_iter().zip(asked) {
                self.outcomes[index] = Some(outcome);
            }
        }
        let outcomes = &self.outcomes;
        let folded = fold(node, self.on_missing, &mut |index| match &outcomes[index] {
            Some(outcome) => said(index, outcome),
            None => Err(Missing::Leaf(index)),
        });
        self.settle(folded, spec)
    }

    fn settle(self, folded: Folded, spec: &MetricSpec<'_>) -> Result<Scored> {
        let value = folded.map_err(|missing| self.error(missing, spec))?;
        let costs = self.scored().map(|scored| scored.score.cost_msats);
        let cost_msats = costs.fold(0, u64::saturating_add);
        let confidence = self.scored().map(|scored| scored.score.confidence).fold(1.0, f64::min);
        let score = MetricScore { confidence, cost_msats, ..MetricScore::new(value.value) };
        let components = Components { names: Arc::clone(self.names), outcomes: self.outcomes };
        Scored::of_components(score, components, spec)
    }

    fn scored(&self) -> impl Iterator<Item = &Scored> {
        self.outcomes.iter().flatten().filter_map(Outcome::scored)
    }

    fn error(&self, missing: Missing, spec: &MetricSpec<'_>) -> MetricError {
        let metric = spec.name.to_owned();
        match missing {
            Missing::Gated { by } => MetricError::Gated { metric, by },
            Missing::Leaf(index) => {
                let component = self.names[index].clone();
                let outcome = self.outcomes[index].as_ref();
                let reason = outcome.map_or_else(String::new, |outcome| {
                    outcome.error().unwrap_or_else(|| format!("it {}", outcome.name()))
                });
                MetricError::NoComponent { metric, component, reason }
            }
        }
    }
}

fn said(index: usize, outcome: &Outcome) -> Folded {
    match outcome {
        Outcome::Scored(scored) => Ok(Value { value: scored.score.value, passed: scored.passed }),
        Outcome::Gated { by } => Err(Missing::Gated { by: by.clone() }),
        _ => Err(Missing::Leaf(index)),
    }
}

fn ask_now<G: Sync, P: Sync, M>(metric: &M, name: &str, call: MetricCall<'_, G, P>) -> Outcome
where
    M: Metric<G, P> + ?Sized,
{
    match panic::catch(false, || metric.call_now(call)) {
        Ok(Some(result)) => result.into(),
        Ok(None) => {
            let error = MetricError::failed(name, "must be awaited, but its spec says not");
            Outcome::MetricFailed { error }
        }
        Err(panic) => panicked(name, panic.message),
    }
}

async fn ask<G: Sync, P: Sync, M>(metric: &M, name: &str, call: MetricCall<'_, G, P>) -> Outcome
where
    M: Metric<G, P> + ?Sized,
{
    let result = match panic::catch(false, || metric.call_now(call)) {
        Ok(Some(result)) => return result.into(),
        Ok(None) => panic::catch_async(false, metric.call(call)).await,
        Err(panic) => Err(panic),
    };
    result.map_or_else(|panic| panicked(name, panic.message), Outcome::from)
}

fn panicked(metric: &str, message: String) -> Outcome {
    Outcome::MetricFailed { error: MetricError::Panicked { metric: metric.to_owned(), message } }
}
