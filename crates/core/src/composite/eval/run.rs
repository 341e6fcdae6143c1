//! The order in which components are evaluated: each once per row, components behind a gate only if the gate opens, components
//! in a branch only if it is taken, asynchronous components concurrently.

use std::cell::Cell;

use futures_util::future::{BoxFuture, join_all};

use super::combine::{Missing, Resolved, Value, combine, resolved};
use super::decision::path;
use super::numbers;
use super::schedule::next;
use super::tree::{Node, Tree};
use crate::composite::OnMissing;
use crate::dedup::key::Key;
use crate::metric::Metric;
use crate::metric::answer::Answer;
use crate::metric::call::MetricCall;
use crate::metric::shared_answer;
use crate::panic;
use crate::score::Scored;
use crate::score::component_results::{self, ComponentResult, Components};
use crate::score::error::{MetricError, MetricErrorKind, Result};
use crate::score::outcome::Outcome;
use crate::score::row_answer::RowAnswer;
use crate::spec::MetricSpec;

/// The parts of a composite that are the same for all rows.
pub(in crate::composite) struct Run<'a> {
    pub(in crate::composite) tree: &'a Tree,
    pub(in crate::composite) on_missing: OnMissing,
    /// The names of the components, by number.
    pub(in crate::composite) components: &'static [&'static str],
    /// The keys of the components, by number; empty if none has to be compared.
    pub(in crate::composite) keys: &'a [Option<Key>],
    /// The composite's own name and spec.
    pub(in crate::composite) name: &'a str,
    pub(in crate::composite) spec: &'a MetricSpec<'a>,
}

/// A component's answer that has to be awaited, with the component's number.
type Pending<'a> = (usize, BoxFuture<'a, Result<RowAnswer>>);

impl<'a> Run<'a> {
    /// Evaluates the composite. The answer is ready if every component's is.
    #[inline]
    pub(in crate::composite) fn answer<G: Sync, P: Sync>(
        self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
    ) -> Answer<'a> {
        if !self.tree.has_stages && leaves.len() <= numbers::FEW {
            return numbers::answer(self, leaves, call);
        }
        let results = leaves.iter().map(|_| ComponentResult::default()).collect();
        Row::new(self, results, call.is_explained()).answer(leaves, call, Vec::new())
    }
}

/// Awaits components until nothing more can be evaluated.
#[cold]
fn wait<'a, G: Sync, P: Sync>(
    mut row: Row<'a>,
    mut pending: Vec<Pending<'a>>,
    leaves: Vec<&'a dyn Metric<G, P>>,
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    Answer::pending(async move {
        while !pending.is_empty() && !row.is_decided {
            let all = pending.drain(..).map(|(index, future)| {
                let name = row.run.components[index];
                async move { (index, caught(name, future).await) }
            });
            for (index, result) in join_all(all).await {
                row.results[index] = result;
            }
            if let Some(index) = row.results.iter().position(ComponentResult::is_over_budget) {
                (row.missing, row.is_decided) = (Missing::Leaf(index), true);
                break;
            }
            row.advance(&leaves, call, &mut pending);
        }
        row.finish()
    })
}

async fn caught(name: &str, future: BoxFuture<'_, Result<RowAnswer>>) -> ComponentResult {
    match panic::catch_async(false, future).await {
        Ok(answer) => answer.into(),
        Err(panic) => ComponentResult::panicked(name, panic.message),
    }
}

/// The number of no component.
const NO_COMPONENT: usize = usize::MAX;

/// One row under one composite.
pub(super) struct Row<'a> {
    run: Run<'a>,
    results: Box<[ComponentResult]>,
    /// Whether the results of the components are read.
    is_explained: bool,
    missing: Missing,
    /// Whether the composite can have no score any more, for the reason in `missing`.
    is_decided: bool,
}

impl<'a> Row<'a> {
    pub(super) fn new(run: Run<'a>, results: Box<[ComponentResult]>, is_explained: bool) -> Self {
        Self {
            run,
            results,
            is_explained,
            missing: Missing::Leaf(0),
            is_decided: false,
        }
    }

    /// Evaluates the components without a result. `pending` are the components whose future is already awaited.
    pub(super) fn answer<G: Sync, P: Sync>(
        mut self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        mut pending: Vec<Pending<'a>>,
    ) -> Answer<'a> {
        if !self.is_decided {
            self.advance(leaves, call, &mut pending);
        }
        // If a component has decided, the others are not polled, so they cost nothing.
        if pending.is_empty() || self.is_decided {
            return self.finish().into();
        }
        wait(self, pending, leaves.to_vec(), call)
    }

    /// Evaluates every component that can be evaluated now, and adds the components whose future has to be awaited.
    fn advance<G: Sync, P: Sync>(
        &mut self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        pending: &mut Vec<Pending<'a>>,
    ) {
        let current = Cell::new(NO_COMPONENT);
        loop {
            // One handler catches the panics of all components; `current` is the component that panicked.
            let evaluate = || self.evaluate(leaves, call, &current, pending);
            let Err(panic) = panic::catch(false, evaluate) else {
                return;
            };
            let index = current.replace(NO_COMPONENT);
            if index == NO_COMPONENT {
                // Not a component: the composite's own code.
                std::panic::resume_unwind(Box::new(panic.message));
            }
            self.store_panic(index, panic.message);
        }
    }

    fn evaluate<G: Sync, P: Sync>(
        &mut self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        current: &Cell<usize>,
        pending: &mut Vec<Pending<'a>>,
    ) {
        loop {
            let Self {
                run: Run {
                    tree, on_missing, ..
                },
                results,
                missing,
                ..
            } = self;
            let Ok(ready) = next(&tree.node, *on_missing, results, missing) else {
                self.is_decided = true;
                return;
            };
            let (is_last, mut waits) = (ready.is_empty(), false);
            for index in ready {
                current.set(index);
                let key = self.run.keys.get(index).and_then(Option::as_ref);
                let answer = shared_answer::answer(leaves[index], key, call);
                current.set(NO_COMPONENT);
                self.store(answer, index, pending);
                if self.is_decided {
                    return;
                }
                waits |= self.results[index].is_pending();
            }
            // Nothing behind a gate is paid for while a component before it may still fail.
            if is_last || waits {
                return;
            }
        }
    }

    /// Stores the answer of a component, which may decide that the composite has no score.
    pub(super) fn store(
        &mut self,
        answer: Answer<'a>,
        index: usize,
        pending: &mut Vec<Pending<'a>>,
    ) {
        let result = &mut self.results[index];
        match answer {
            Answer::Ready(answer) => *result = answer.into(),
            Answer::Pending(future) => {
                result.set_pending();
                pending.push((index, future));
            }
        }
        if !result.is_plain() && stops(self.run.on_missing, result) {
            (self.missing, self.is_decided) = (Missing::Leaf(index), true);
        }
    }

    /// Stores the panic of a component.
    pub(super) fn store_panic(&mut self, index: usize, message: String) {
        self.results[index] = ComponentResult::panicked(self.run.components[index], message);
    }

    /// Combines the components' results.
    #[inline]
    pub(super) fn finish(mut self) -> Result<Scored> {
        if self.is_decided {
            return Err(self.error());
        }
        let Self {
            run,
            results,
            missing,
            ..
        } = &mut self;
        match combine(&run.tree.node, run.on_missing, results, missing) {
            Resolved::Value(Value { value, .. }) => {
                let Self {
                    run,
                    results,
                    is_explained,
                    ..
                } = self;
                let numbers = component_results::numbers(&results);
                // Results that are numbers only are in the numbers of the composite.
                let is_read = is_explained || !results.iter().all(ComponentResult::is_plain);
                if is_explained && run.tree.has_decisions {
                    return with_path(&run, value, numbers, results);
                }
                let components = is_read.then(|| Components {
                    names: run.components,
                    results,
                });
                Scored::of_components(value, numbers, components, run.name, run.spec)
            }
            Resolved::Gated | Resolved::Missing => Err(self.error()),
        }
    }

    /// The error of a composite without a score. Its cost is the cost of the components that were evaluated.
    #[cold]
    fn error(self) -> MetricError {
        let cost = self.results.iter().map(ComponentResult::cost_msats);
        let cost_msats = cost.fold(0, u64::saturating_add);
        let error = MetricError::new(self.run.name, self.reason()).with_cost_msats(cost_msats);
        match (error.kind(), &self.missing) {
            (MetricErrorKind::MissingComponent { .. }, Missing::Leaf(index)) => {
                let of_component = self.results[*index].error().cloned();
                error.with_component_error(of_component)
            }
            _ => error,
        }
    }

    fn reason(&self) -> MetricErrorKind {
        let index = match &self.missing {
            Missing::Gated { by } => return MetricErrorKind::Gated { by: by.clone() },
            Missing::NoAnswer(index, reason) => {
                let component = self.run.components[*index].to_owned();
                return MetricErrorKind::MissingComponent {
                    component,
                    reason: reason.to_string(),
                };
            }
            Missing::Leaf(index) => *index,
        };
        let outcome = self.results[index].outcome();
        match outcome.as_deref() {
            // The score of a tree is that of one path, so without it there is nothing to score.
            Some(Outcome::Abstained) if matches!(self.run.tree.node, Node::Decision(_)) => {
                MetricErrorKind::Abstained
            }
            Some(Outcome::Gated { by }) => MetricErrorKind::Gated { by: by.clone() },
            Some(Outcome::Skipped { budget, .. }) => MetricErrorKind::OverBudget {
                budget_msats: *budget,
            },
            outcome => {
                let described = |outcome: &Outcome| {
                    outcome
                        .error()
                        .unwrap_or_else(|| format!("it {}", outcome.name()))
                };
                let reason = outcome.map_or_else(String::new, described);
                let component = self.run.components[index].to_owned();
                MetricErrorKind::MissingComponent { component, reason }
            }
        }
    }
}

/// The score of a composite with decision trees, whose details are the paths.
#[cold]
fn with_path(
    run: &Run<'_>,
    value: f64,
    numbers: (u64, f64),
    results: Box<[ComponentResult]>,
) -> Result<Scored> {
    let path = path(&run.tree.node, run.components, &results);
    let components = Components {
        names: run.components,
        results,
    };
    let mut scored = Scored::of_components(value, numbers, Some(components), run.name, run.spec)?;
    scored.score.details = path;
    Ok(scored)
}

/// Returns whether the result of one component decides that the composite has no score.
#[cold]
fn stops(on_missing: OnMissing, result: &ComponentResult) -> bool {
    match resolved(result) {
        Resolved::Value(_) => false,
        Resolved::Gated => true,
        // A row that the budget does not cover is skipped as a whole.
        Resolved::Missing => {
            let is_final = !result.is_pending() && !result.is_estimated();
            is_final && (on_missing == OnMissing::Fail || result.is_over_budget())
        }
    }
}
