//! A checked expression over numbered components.

use std::slice;

use super::combine::Value;
use crate::composite::shape::Reads;
use crate::score::component_results::ComponentResult;
use crate::spec::ScoreRange;

/// A checked expression over numbered components.
#[derive(Debug)]
pub(in crate::composite) enum Node {
    Leaf(usize),
    Weighted(Weighted),
    All(Vec<Child>),
    Any(Vec<Child>),
    Min(Vec<Child>),
    Max(Vec<Child>),
    Gate {
        proxies: Vec<Child>,
        at_least: f64,
        truths: Vec<Child>,
        range: Option<ScoreRange>,
    },
    Invert(Box<Child>, ScoreRange),
    AtLeast(Box<Child>, f64),
    Decision(Decision),
    Number(f64),
}

/// A node of a decision tree.
#[derive(Debug)]
pub(in crate::composite) struct Decision {
    /// The component that is asked.
    pub(in crate::composite) node: usize,
    pub(in crate::composite) reads: Reads,
    /// The answers that lead to each branch.
    pub(in crate::composite) branches: Vec<(&'static [&'static str], Child)>,
}

/// A weighted mean.
#[derive(Debug)]
pub(in crate::composite) struct Weighted {
    pub(in crate::composite) parts: Vec<(Child, f64)>,
    pub(in crate::composite) range: Option<ScoreRange>,
}

impl Node {
    /// Returns the operands. The operands of a gate are its proxies; a decision has none.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Child> {
        let (parts, weighted): (&[Child], &[(Child, f64)]) = match self {
            Self::Leaf(_) | Self::Decision(_) | Self::Number(_) => (&[], &[]),
            Self::Weighted(weighted) => (&[], &weighted.parts),
            Self::All(parts) | Self::Any(parts) | Self::Min(parts) | Self::Max(parts) => {
                (parts, &[])
            }
            Self::Gate { proxies, .. } => (proxies, &[]),
            Self::Invert(part, _) | Self::AtLeast(part, _) => (slice::from_ref(part), &[]),
        };
        parts.iter().chain(weighted.iter().map(|(child, _)| child))
    }

    /// Returns the operands that are evaluated after the others: the truths of a gate.
    pub(super) fn later_operands(&self) -> &[Child] {
        match self {
            Self::Gate { truths, .. } => truths,
            _ => &[],
        }
    }

    fn has_decisions(&self) -> bool {
        let mut parts = self.operands().chain(self.later_operands());
        matches!(self, Self::Decision(_)) || parts.any(|part| part.node.has_decisions())
    }
}

/// An operand of a combinator.
#[derive(Debug)]
pub(in crate::composite) struct Child {
    pub(in crate::composite) node: Node,
    /// Its value if it is missing and `OnMissing::Zero` is set: the worst possible one.
    pub(in crate::composite) worst: Value,
    pub(in crate::composite) name: String,
}

/// An expression, and what it has.
#[derive(Debug)]
pub(in crate::composite) struct Tree {
    pub(in crate::composite) node: Node,
    pub(super) has_decisions: bool,
}

impl Tree {
    pub(in crate::composite) fn new(node: Node) -> Self {
        let has_decisions = node.has_decisions();
        Self {
            node,
            has_decisions,
        }
    }
}

/// Returns the paths through the decision trees of an expression, one line each: `has_headings: yes, heading_order: Partly`.
pub(super) fn path(node: &Node, names: &[&str], results: &[ComponentResult]) -> Option<String> {
    let mut lines = Vec::new();
    each_tree(node, names, results, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn each_tree(node: &Node, names: &[&str], results: &[ComponentResult], lines: &mut Vec<String>) {
    let (mut node, mut steps) = (node, Vec::new());
    while let Node::Decision(decision) = node {
        let Ok(taken) = decision.taken(results) else {
            break;
        };
        steps.push(format!("{}: {}", names[decision.node], taken.answer));
        node = &taken.to.node;
    }
    if !steps.is_empty() {
        lines.push(steps.join(", "));
    }
    let parts = node.operands().chain(node.later_operands());
    parts.for_each(|part| each_tree(&part.node, names, results, lines));
}
