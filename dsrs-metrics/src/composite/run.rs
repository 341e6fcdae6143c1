//! In which order components are asked: each once a row, those behind a gate only where it opens,
//! those that must be awaited side by side.

use std::cell::Cell;
use std::ops::Deref;

use futures_util::future::join_all;

use super::OnMissing;
use super::fold::{Missing, Said, Value, fold, said};
use super::tree::Tree;
use super::wanted::wanted;
use crate::core::component_results::{Components, Kept, Place};
use crate::core::dedup::key::Identity;
use crate::core::dedup::memo;
use crate::core::error::{MetricError, Result};
use crate::core::metric::{Metric, MetricCall};
use crate::core::outcome::Outcome;
use crate::core::panic;
use crate::core::score::Scored;
use crate::core::spec::MetricSpec;

/// The components of one composite on one row. They are held in any way that leads to metrics:
/// `&dyn Metric` as well as `Arc<dyn Metric>`.
pub(super) struct Run<'a, L> {
    leaves: &'a [L],
    names: &'static [&'static str],
    /// Of the components, by number; empty if they need not be compared.
    identities: &'a [Option<Identity>],
    on_missing: OnMissing,
    kept: Box<[Kept]>,
}

impl<'a, L: Deref> Run<'a, L> {
    pub(super) fn new(
        leaves: &'a [L],
        names: &'static [&'static str],
        on_missing: OnMissing,
    ) -> Self {
        let kept = leaves.iter().map(|_| Kept::default()).collect();
        Self { leaves, names, identities: &[], on_missing, kept }
    }

    /// Says which components may stand elsewhere in the run too.
    pub(super) fn sharing(mut self, identities: &'a [Option<Identity>]) -> Self {
        self.identities = identities;
        self
    }

    /// Where no component must be awaited.
    pub(super) fn now<G: Sync, P: Sync>(
        mut self,
        tree: &Tree,
        call: &MetricCall<'_, G, P>,
        name: &str,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L::Target: Metric<G, P>,
    {
        let (asking, mut missing) = (Cell::new(None), Missing::Leaf(0));
        let said = loop {
            // One net under all components: only when one falls is it asked which. What goes in and
            // out goes by reference, since moving it costs more than a simple component does.
            let mut said = Said::Missing;
            let mut ask = || said = self.ask(tree, call, &asking, &mut missing);
            let Err(panic) = panic::catch(false, &mut ask) else { break said };
            match asking.take() {
                Some(index) => self.kept[index] = panicked(self.names[index], panic.message),
                None => {
                    let (metric, message) = (name.to_owned(), panic.message);
                    return Err(MetricError::Panicked { metric, message });
                }
            }
        };
        self.settle(said, missing, name, spec)
    }

    /// Asks those components that were not yet: first, without further ado, those that stand before
    /// any gate.
    fn ask<G: Sync, P: Sync>(
        &mut self,
        tree: &Tree,
        call: &MetricCall<'_, G, P>,
        asking: &Cell<Option<usize>>,
        missing: &mut Missing,
    ) -> Said
    where
        L::Target: Metric<G, P>,
    {
        let Self { leaves, names, identities, .. } = *self;
        for (index, kept) in self.kept[..tree.ungated].iter_mut().enumerate() {
            if kept.is_unasked() {
                asking.set(Some(index));
                match call.memo {
                    None => leaves[index].tell_now(call, Place(kept)),
                    Some(_) => {
                        let identity = identity(identities, index);
                        kept.keep(names[index], memo::call_now(&*leaves[index], identity, *call));
                    }
                }
            }
            if !kept.is_plain() && stops(self.on_missing, kept) {
                break;
            }
        }
        asking.set(None);
        fold(&tree.node, self.on_missing, &mut self.kept, missing, |index, kept| {
            asking.set(Some(index));
            let answer = memo::call_now(&*leaves[index], identity(identities, index), *call);
            kept.keep(names[index], answer);
            asking.set(None);
        })
    }

    /// Where some must be: round by round, what can be asked is asked side by side, until the gates
    /// let nothing more through.
    pub(super) async fn awaited<G: Sync, P: Sync>(
        mut self,
        tree: &Tree,
        call: MetricCall<'_, G, P>,
        name: &str,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored>
    where
        L: Sync,
        L::Target: Metric<G, P>,
    {
        let mut missing = Missing::Leaf(0);
        loop {
            let wanted = match wanted(&tree.node, self.on_missing, &mut self.kept, &mut missing) {
                Ok(wanted) if wanted.is_empty() => break,
                Ok(wanted) => wanted,
                Err(said) => return self.settle(said, missing, name, spec),
            };
            let Self { leaves, names, identities, .. } = self;
            let asked = wanted.iter().map(|index| {
                ask(&*leaves[*index], names[*index], identity(identities, *index), call)
            });
            let asked = join_all(asked).await;
            for (index, answer) in wanted.into_iter().zip(asked) {
                self.kept[index] = answer;
            }
        }
        let said = fold(&tree.node, self.on_missing, &mut self.kept, &mut missing, |_, _| {});
        self.settle(said, missing, name, spec)
    }

    #[inline]
    fn settle(
        self,
        said: Said,
        missing: Missing,
        name: &str,
        spec: &MetricSpec<'_>,
    ) -> Result<Scored> {
        let Said::Value(Value { value, .. }) = said else {
            return Err(self.error(missing, name).with_cost_msats(self.cost_msats()));
        };
        let components = Components { names: self.names, kept: self.kept };
        Scored::of_components(value, components, name, spec)
    }

    /// What the components cost so far: a composite that fails has paid for them all the same.
    #[cold]
    fn cost_msats(&self) -> u64 {
        self.kept.iter().map(Kept::cost_msats).fold(0, u64::saturating_add)
    }

    #[cold]
    fn error(&self, missing: Missing, name: &str) -> MetricError {
        let metric = name.to_owned();
        let index = match missing {
            Missing::Gated { by } => return MetricError::Gated { metric, by },
            Missing::Leaf(index) => index,
        };
        let outcome = self.kept[index].outcome();
        if let Some(Outcome::Gated { by }) = outcome.as_deref() {
            return MetricError::Gated { metric, by: by.clone() };
        }
        if let Some(Outcome::Skipped { budget, .. }) = outcome.as_deref() {
            return MetricError::OverBudget { metric, budget_msats: *budget };
        }
        let reason = outcome.map_or_else(String::new, |outcome| {
            outcome.error().unwrap_or_else(|| format!("it {}", outcome.name()))
        });
        MetricError::NoComponent { metric, component: self.names[index].to_owned(), reason }
    }
}

/// Whether nothing more need be asked.
#[cold]
fn stops(on_missing: OnMissing, kept: &Kept) -> bool {
    match said(kept) {
        Said::Value(_) => false,
        Said::Gated => true,
        Said::Missing => on_missing == OnMissing::Fail,
    }
}

fn identity(identities: &[Option<Identity>], index: usize) -> Option<&Identity> {
    identities.get(index)?.as_ref()
}

async fn ask<G: Sync, P: Sync, M>(
    metric: &M,
    name: &str,
    identity: Option<&Identity>,
    call: MetricCall<'_, G, P>,
) -> Kept
where
    M: Metric<G, P> + ?Sized,
{
    let result = match panic::catch(false, || memo::call_now(metric, identity, call)) {
        Ok(Some(result)) => return Kept::of(result),
        Ok(None) => panic::catch_async(false, memo::call(metric, identity, call)).await,
        Err(panic) => Err(panic),
    };
    result.map_or_else(|panic| panicked(name, panic.message), Kept::of)
}

#[cold]
fn panicked(metric: &str, message: String) -> Kept {
    let error = MetricError::Panicked { metric: metric.to_owned(), message };
    // Whoever panics tells no cost.
    Kept::whole(Outcome::MetricFailed { error }, 0)
}
