//! The order of evaluation. Each component is evaluated once per row. Components behind a gate are evaluated only if it
//! opens, and components in a branch only if it is taken. Asynchronous components run concurrently.

use std::borrow::Cow;

use futures_util::future::{BoxFuture, join_all};

use super::OnMissing;
use super::node::{Combine, Missing, Value, component, path};
use super::plan::Plan;
use super::shape::Operator;
use crate::metric::answer::shared;
use crate::metric::{Answer, Metric, MetricCall};
use crate::panic::{self, Panic};
use crate::score::component_results;
use crate::score::{
    ComponentResult, Components, MetricError, MetricErrorKind, Outcome, Result, RowAnswer, Scored,
};
use crate::spec::MetricSpec;

/// An awaited answer, with the component's number.
type Pending<'a> = (usize, BoxFuture<'a, Result<RowAnswer>>);

/// Evaluates a composite on one row. The answer is ready if every component's answer is ready.
pub(super) fn answer<'a, G: Sync, P: Sync>(
    plan: &'a Plan,
    leaves: &[&'a dyn Metric<G, P>],
    call: MetricCall<'a, G, P>,
    spec: &'a MetricSpec<'a>,
) -> Answer<'a> {
    let results = std::iter::repeat_with(ComponentResult::default);
    let mut row = Row {
        plan,
        spec,
        results: results.take(leaves.len()).collect(),
        is_explained: call.is_explained(),
        value: Err(Missing::Unfinished),
    };
    let mut pending = Vec::new();
    row.advance(leaves, call, &mut pending);
    // If a component has decided, the others are not polled and cost nothing.
    if pending.is_empty() || row.is_decided() {
        return row.finish().into();
    }
    wait(row, pending, leaves.to_vec(), call)
}

/// Awaits components until nothing more can be evaluated.
fn wait<'a, G: Sync, P: Sync>(
    mut row: Row<'a>,
    mut pending: Vec<Pending<'a>>,
    leaves: Vec<&'a dyn Metric<G, P>>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    Answer::pending(async move {
        while !pending.is_empty() && !row.is_decided() {
            let all = pending.drain(..).map(|(index, future)| async move {
                (index, panic::catch_async(false, future).await)
            });
            for (index, answer) in join_all(all).await {
                row.store(index, answer);
            }
            match row.results.iter().position(ComponentResult::is_over_budget) {
                Some(index) => row.decide(index),
                None => row.advance(&leaves, call, &mut pending),
            }
        }
        row.finish()
    })
}

/// The evaluation of one composite on one row.
struct Row<'a> {
    plan: &'a Plan,
    /// The composite's own name and spec.
    spec: &'a MetricSpec<'a>,
    results: Box<[ComponentResult]>,
    /// `true` if the components' results are read.
    is_explained: bool,
    value: Result<Value, Missing>,
}

impl<'a> Row<'a> {
    /// Evaluates every component that can be evaluated now, and adds the futures of those that must be awaited.
    fn advance<G: Sync, P: Sync>(
        &mut self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        pending: &mut Vec<Pending<'a>>,
    ) {
        loop {
            let mut combine = Combine::new(self.plan.on_missing, &self.results);
            self.value = combine.node(&self.plan.node);
            let mut ready = combine.ready;
            if self.results.iter().any(ComponentResult::is_estimated) {
                // An estimated component could have any score, so all others could be called.
                let is_open = |index: &usize| !self.results[*index].is_asked();
                ready = (0..leaves.len()).filter(is_open).collect();
                if !ready.is_empty() {
                    self.value = Err(Missing::Unfinished);
                }
            }
            if self.is_decided() {
                return;
            }
            ready.sort_unstable();
            ready.dedup();
            let (is_last, mut waits) = (ready.is_empty(), false);
            for index in ready {
                let key = self.plan.keys.get(index).and_then(Option::as_ref);
                match panic::catch(false, || shared(leaves[index], key, call)) {
                    Ok(Answer::Pending(future)) => {
                        self.results[index].is_pending = true;
                        pending.push((index, future));
                        waits = true;
                    }
                    Ok(Answer::Ready(answer)) => self.store(index, Ok(answer)),
                    Err(panic) => self.store(index, Err(panic)),
                }
                if self.stops(index) {
                    return self.decide(index);
                }
            }
            // Nothing behind a gate is paid for while a component before it may still fail.
            if is_last || waits {
                return;
            }
        }
    }

    /// Returns `true` if the composite has a value, or can no longer have one.
    fn is_decided(&self) -> bool {
        self.value != Err(Missing::Unfinished)
    }

    fn store(&mut self, index: usize, answer: std::result::Result<Result<RowAnswer>, Panic>) {
        let panicked = |panic: Panic| {
            let name = self.plan.names[index];
            Err(MetricError::panicked(name, panic.message))
        };
        self.results[index] = answer.unwrap_or_else(panicked).into();
    }

    /// Returns `true` if this component alone leaves the composite without a score.
    fn stops(&self, index: usize) -> bool {
        let result = &self.results[index];
        match component(&self.results, index) {
            Ok(_) => false,
            Err(missing) if missing.is_gated() => true,
            Err(_) if result.is_pending || result.is_estimated() => false,
            // A row that the budget does not cover is skipped as a whole.
            Err(_) => self.plan.on_missing == OnMissing::Fail || result.is_over_budget(),
        }
    }

    fn decide(&mut self, index: usize) {
        self.value = component(&self.results, index);
    }

    fn finish(self) -> Result<Scored> {
        let value = match &self.value {
            Ok(value) => value.value,
            Err(missing) => return Err(self.error(missing)),
        };
        let Self { plan, results, .. } = self;
        let numbers = component_results::numbers(&results);
        let path = match self.is_explained {
            true => path(&plan.node, &plan.names, &results),
            false => None,
        };
        // Purely numeric results already appear in the composite's numbers.
        let is_read = self.is_explained || !results.iter().all(ComponentResult::is_plain);
        let names = plan.names.iter().map(|name| Cow::Borrowed(*name));
        let components = is_read.then(|| Components(names.zip(results).collect()));
        let mut scored = Scored::of_components(value, numbers, components, self.spec)?;
        scored.score.details = path;
        Ok(scored)
    }

    fn error(&self, missing: &Missing) -> MetricError {
        let cost = self.results.iter().map(|result| result.cost_msats);
        let cost_msats = cost.fold(0, u64::saturating_add);
        let error = |kind| MetricError::new(self.spec.name, kind).with_cost_msats(cost_msats);
        let without = |index: usize, reason| {
            error(MetricErrorKind::MissingComponent {
                component: self.plan.names[index].to_owned(),
                reason,
                error: self.results[index].error().cloned(),
            })
        };
        let index = match missing {
            Missing::Unfinished => return MetricError::failed(self.spec.name, "unfinished"),
            Missing::Rejected { by } => return error(MetricErrorKind::Gated { by: by.clone() }),
            Missing::NoAnswer(index, reason) => return without(*index, reason.clone()),
            Missing::Gated(index) | Missing::Failed(index) => *index,
        };
        match self.results[index].outcome() {
            // A tree's score comes from one path, so without it there is nothing to score.
            Some(Outcome::Abstained)
                if matches!(self.plan.node.operator, Operator::Decision(_)) =>
            {
                error(MetricErrorKind::Abstained)
            }
            Some(Outcome::Gated { by }) => error(MetricErrorKind::Gated { by: by.clone() }),
            Some(&Outcome::Skipped {
                budget: budget_msats,
                ..
            }) => error(MetricErrorKind::OverBudget { budget_msats }),
            outcome => {
                let failed =
                    |it: &Outcome| it.error().unwrap_or_else(|| format!("it {}", it.name()));
                without(index, outcome.map_or_else(String::new, failed))
            }
        }
    }
}
