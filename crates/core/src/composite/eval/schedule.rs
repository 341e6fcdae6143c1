//! Finds the components of a composite with gates or decisions that can be evaluated next. Their scores are combined in `combine.rs`.

use super::combine::{Combine, Missing, component};
use super::tree::{Child, Decision, Node};
use crate::composite::shape::OnMissing;
use crate::score::component_results::ComponentResult;

/// Returns the components to evaluate next. Components behind a gate wait until every proxy has accepted the row, those in a
/// branch until its node has the answer.
///
/// # Errors
/// If the composite cannot have a value any more, so that no other component has to be evaluated.
pub(super) fn next(
    node: &Node,
    on_missing: OnMissing,
    results: &[ComponentResult],
) -> Result<Vec<usize>, Missing> {
    let mut search = Search {
        on_missing,
        results,
        ready: Vec::new(),
        unfinished: 0,
        estimated: 0,
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
    ready: Vec<usize>,
    /// The number of components found without a result, including pending ones.
    unfinished: usize,
    /// The number of components found that could have any score.
    estimated: usize,
}

impl Search<'_> {
    fn node(&mut self, node: &Node) -> Result<(), Missing> {
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

    fn parts<'c>(&mut self, mut parts: impl Iterator<Item = &'c Child>) -> Result<(), Missing> {
        parts.try_for_each(|part| self.node(&part.node))
    }

    fn leaf(&mut self, index: usize) -> Result<(), Missing> {
        let result = &self.results[index];
        if result.is_open() {
            self.ready.push(index);
        }
        if result.is_open() || result.is_pending {
            self.unfinished += 1;
            return Ok(());
        }
        match component(self.results, index) {
            Err(missing) if missing.is_gated => Err(missing),
            Err(_) if result.is_estimated() => {
                self.estimated += 1;
                Ok(())
            }
            Err(missing) if self.on_missing == OnMissing::Fail => Err(missing),
            _ => Ok(()),
        }
    }

    fn gate(&mut self, proxies: &[Child], at_least: f64, truths: &[Child]) -> Result<(), Missing> {
        let (unfinished, estimated) = (self.unfinished, self.estimated);
        self.parts(proxies.iter())?;
        if self.unfinished > unfinished {
            return Ok(());
        }
        if self.estimated > estimated {
            // The gate may open.
            return self.parts(truths.iter());
        }
        let (on_missing, results) = (self.on_missing, self.results);
        match (Combine {
            on_missing,
            results,
        })
        .opens(proxies, at_least)
        {
            Ok(()) => self.parts(truths.iter()),
            Err(missing) if missing.is_gated => Err(missing),
            // All proxies are missing, but the composite may have a value without this gate.
            Err(_) => Ok(()),
        }
    }

    fn decision(&mut self, decision: &Decision) -> Result<(), Missing> {
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
            Err(missing) if self.on_missing == OnMissing::Fail => Err(missing),
            // The composite may have a value without this tree.
            Err(_) => Ok(()),
        }
    }
}
