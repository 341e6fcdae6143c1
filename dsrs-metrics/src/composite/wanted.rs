//! Which components can be asked now, where some must be awaited. What their answers make is in `fold.rs`.

use super::OnMissing;
use super::fold::{Fold, Missing, Said, Stop, said};
use super::tree::{Child, Node};
use crate::core::component_results::Kept;

/// The components that can be asked now: those without an outcome, but behind a gate only once its
/// proxies are known and let the row through.
///
/// # Errors
/// What the whole says, if it can have no value any more, and why in `missing`: nothing further need be
/// asked, or paid.
pub(super) fn wanted(
    node: &Node,
    on_missing: OnMissing,
    kept: &mut [Kept],
    missing: &mut Missing,
) -> Result<Vec<usize>, Said> {
    let mut search = Search { on_missing, kept, missing, wanted: Vec::new() };
    search.node(node)?;
    let mut wanted = search.wanted;
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

struct Search<'a> {
    on_missing: OnMissing,
    kept: &'a mut [Kept],
    missing: &'a mut Missing,
    wanted: Vec<usize>,
}

impl Search<'_> {
    fn node(&mut self, node: &Node) -> Result<(), Stop> {
        match node {
            Node::Leaf(index) => self.leaf(*index),
            Node::Weighted(weighted) => {
                weighted.children().try_for_each(|part| self.node(&part.node))
            }
            Node::All(parts) | Node::Any(parts) | Node::Min(parts) | Node::Max(parts) => {
                self.parts(parts)
            }
            Node::Invert(part, _) | Node::AtLeast(part, _) => self.node(&part.node),
            Node::Gate { proxies, at_least, truths, .. } => self.gate(proxies, *at_least, truths),
        }
    }

    fn parts(&mut self, parts: &[Child]) -> Result<(), Stop> {
        parts.iter().try_for_each(|part| self.node(&part.node))
    }

    fn leaf(&mut self, index: usize) -> Result<(), Stop> {
        if self.kept[index].is_unasked() {
            self.wanted.push(index);
            return Ok(());
        }
        let stop = match said(&self.kept[index]) {
            Said::Gated => Stop::Gated,
            Said::Missing if self.on_missing == OnMissing::Fail => Stop::Missing,
            Said::Value(_) | Said::Missing => return Ok(()),
        };
        *self.missing = Missing::Leaf(index);
        Err(stop)
    }

    fn gate(&mut self, proxies: &[Child], at_least: f64, truths: &[Child]) -> Result<(), Stop> {
        let before = self.wanted.len();
        self.parts(proxies)?;
        if self.wanted.len() > before {
            return Ok(());
        }
        let Self { on_missing, kept, missing, .. } = self;
        let mut fold = Fold { on_missing: *on_missing, kept, ask: |_, _: &mut _| {}, missing };
        match fold.opens(proxies, at_least) {
            Ok(()) => self.parts(truths),
            // All its proxies are missing, which the whole may do without.
            Err(Stop::Missing) => Ok(()),
            Err(Stop::Gated) => Err(Stop::Gated),
        }
    }
}
