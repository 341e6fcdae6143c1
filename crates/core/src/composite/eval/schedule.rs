//! Finds the components of a composite with gates or decisions that can be evaluated next. Their scores are combined in `combine.rs`.

use super::combine::{Combine, Missing, Resolved, Stop, resolved};
use super::tree::{Child, Decision, Node};
use crate::composite::OnMissing;
use crate::score::component_results::ComponentResult;

/// Returns the components to evaluate next. Components behind a gate wait until every proxy has accepted the row, those in a
/// branch until its node has the answer.
///
/// # Errors
/// If the composite cannot have a value any more, so that no other component has to be evaluated. The reason is stored in
/// `missing`.
pub(super) fn next(
    node: &Node,
    on_missing: OnMissing,
    results: &[ComponentResult],
    missing: &mut Missing,
) -> Result<Vec<usize>, Stop> {
    let (ready, unfinished, estimated) = (Vec::new(), 0, 0);
    let mut search = Search {
        on_missing,
        results,
        missing,
        ready,
        unfinished,
        estimated,
    };
    search.node(node)?;
    let mut ready = search.ready;
    ready.sort_unstable();
    ready.dedup();
    Ok(ready)
}

struct Search<'a> {
    on_missing: OnMissing,
    results: &'a [ComponentResult],
    missing: &'a mut Missing,
    ready: Vec<usize>,
    /// The number of components found without a result, including pending ones.
    unfinished: usize,
    /// The number of components found that could have any score.
    estimated: usize,
}

impl Search<'_> {
    fn node(&mut self, node: &Node) -> Result<(), Stop> {
        match node {
            Node::Leaf(index) => self.leaf(*index),
            Node::Gate {
                proxies,
                at_least,
                truths,
                ..
            } => self.gate(proxies, *at_least, truths),
            Node::Decision(decision) => self.decision(decision),
            _ => self.parts(node.operands()),
        }
    }

    fn parts<'c>(&mut self, mut parts: impl Iterator<Item = &'c Child>) -> Result<(), Stop> {
        parts.try_for_each(|part| self.node(&part.node))
    }

    fn leaf(&mut self, index: usize) -> Result<(), Stop> {
        let result = &self.results[index];
        if result.is_open() {
            self.ready.push(index);
        }
        if result.is_open() || result.is_pending() {
            self.unfinished += 1;
            return Ok(());
        }
        let stop = match resolved(result) {
            Resolved::Gated => Stop::Gated,
            Resolved::Missing if result.is_estimated() => {
                self.estimated += 1;
                return Ok(());
            }
            Resolved::Missing if self.on_missing == OnMissing::Fail => Stop::Missing,
            Resolved::Value(_) | Resolved::Missing => return Ok(()),
        };
        *self.missing = Missing::Leaf(index);
        Err(stop)
    }

    fn gate(&mut self, proxies: &[Child], at_least: f64, truths: &[Child]) -> Result<(), Stop> {
        let (unfinished, estimated) = (self.unfinished, self.estimated);
        self.parts(proxies.iter())?;
        if self.unfinished > unfinished {
            return Ok(());
        }
        if self.estimated > estimated {
            // The gate may open.
            return self.parts(truths.iter());
        }
        let Self {
            on_missing,
            results,
            missing,
            ..
        } = self;
        match (Combine {
            on_missing: *on_missing,
            results,
            missing,
        })
        .opens(proxies, at_least)
        {
            Ok(()) => self.parts(truths.iter()),
            // All proxies are missing, but the composite may have a value without this gate.
            Err(Stop::Missing) => Ok(()),
            Err(Stop::Gated) => Err(Stop::Gated),
        }
    }

    fn decision(&mut self, decision: &Decision) -> Result<(), Stop> {
        let (unfinished, estimated) = (self.unfinished, self.estimated);
        self.leaf(decision.node)?;
        if self.unfinished > unfinished {
            return Ok(());
        }
        if self.estimated > estimated {
            // Any branch may be taken.
            return self.parts(decision.branches.iter().map(|(_, to)| to));
        }
        match decision.taken(self.results) {
            Ok(taken) => self.node(&taken.to.node),
            Err(missing) => {
                *self.missing = missing;
                match self.on_missing {
                    OnMissing::Fail => Err(Stop::Missing),
                    // The composite may have a value without this tree.
                    OnMissing::Skip | OnMissing::Zero => Ok(()),
                }
            }
        }
    }
}
