//! A checked expression over numbered components, and its value. No component is evaluated here.

use std::slice;

use smallvec::SmallVec;

use crate::composite::shape::{OnMissing, Reads};
use crate::score::{ComponentResult, Outcome};
use crate::spec::ScoreRange;

/// A checked expression over numbered components.
#[derive(Debug)]
pub(in crate::composite) enum Node {
    Leaf(usize),
    /// Parts with their weights, and the range of their sum.
    Weighted(Vec<(Child, f64)>, Option<ScoreRange>),
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
    /// The component whose answer decides.
    pub(in crate::composite) node: usize,
    pub(in crate::composite) reads: Reads,
    /// The branches, each with the answers that lead to it.
    pub(in crate::composite) branches: Vec<(&'static [&'static str], Child)>,
}

impl Node {
    fn operands(&self) -> impl Iterator<Item = &Child> {
        let (parts, others, weighted): (&[Child], &[Child], &[(Child, f64)]) = match self {
            Self::Leaf(_) | Self::Decision(_) | Self::Number(_) => (&[], &[], &[]),
            Self::Weighted(weighted, _) => (&[], &[], weighted),
            Self::All(parts) | Self::Any(parts) | Self::Min(parts) | Self::Max(parts) => {
                (parts, &[], &[])
            }
            Self::Gate {
                proxies, truths, ..
            } => (proxies, truths, &[]),
            Self::Invert(part, _) | Self::AtLeast(part, _) => (slice::from_ref(part), &[], &[]),
        };
        parts
            .iter()
            .chain(others)
            .chain(weighted.iter().map(|(child, _)| child))
    }
}

/// An operand of a combinator.
#[derive(Debug)]
pub(in crate::composite) struct Child {
    pub(in crate::composite) node: Node,
    /// The worst possible value, used for a missing one under `OnMissing::Zero`.
    pub(in crate::composite) worst: Value,
    pub(in crate::composite) name: String,
}

/// The value of an expression on one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::composite) struct Value {
    pub(in crate::composite) value: f64,
    pub(in crate::composite) passed: Option<bool>,
}

impl Value {
    const fn number(value: f64) -> Self {
        let passed = None;
        Self { value, passed }
    }
}

/// Why an expression has no value.
#[derive(Debug, PartialEq)]
pub(super) enum Missing {
    /// A component has no result yet.
    Unfinished,
    /// A gate's proxies rejected the row. The setting for missing scores does not apply to such a row.
    Rejected { by: String },
    /// The component with this number rejected the row.
    Gated(usize),
    /// The component with this number is only estimated, so it could have any score.
    Estimated(usize),
    /// The component with this number has no score.
    Failed(usize),
    /// The component with this number has a score, but no answer that the decision tree can follow.
    NoAnswer(usize, String),
}

impl Missing {
    pub(super) fn is_gated(&self) -> bool {
        matches!(self, Self::Rejected { .. } | Self::Gated(_))
    }
}

/// Values of operands. The usual number is stored inline.
type Few = SmallVec<[f64; 8]>;

/// Combines the results of components and finds those to evaluate next. Components behind a gate wait until every proxy
/// has accepted the row, those in a branch until its node has the answer.
pub(super) struct Combine<'a> {
    pub(super) on_missing: OnMissing,
    pub(super) results: &'a [ComponentResult],
    /// Components that can be evaluated now. One may occur several times.
    pub(super) ready: SmallVec<[usize; 8]>,
    /// How many of the components found could have any score.
    pub(super) estimated: usize,
}

/// Returns the value of the component with this number.
#[inline]
pub(super) fn component(results: &[ComponentResult], index: usize) -> Result<Value, Missing> {
    match results[index].outcome() {
        Some(Outcome::Scored(scored)) => Ok(Value {
            value: scored.score.value,
            passed: scored.passed,
        }),
        Some(Outcome::Gated { .. }) => Err(Missing::Gated(index)),
        _ => Err(Missing::Failed(index)),
    }
}

impl<'a> Combine<'a> {
    pub(super) fn new(on_missing: OnMissing, results: &'a [ComponentResult]) -> Self {
        Self {
            on_missing,
            results,
            ready: SmallVec::new(),
            estimated: 0,
        }
    }

    pub(super) fn node(&mut self, node: &Node) -> Result<Value, Missing> {
        match node {
            Node::Leaf(index) => self.leaf(*index),
            Node::Weighted(parts, range) => self.weighted(parts, *range),
            Node::All(parts) => self.verdict(parts, true, |all, passed| all & passed),
            Node::Any(parts) => self.verdict(parts, false, |any, passed| any | passed),
            Node::Min(parts) => self.extreme(parts, f64::min),
            Node::Max(parts) => self.extreme(parts, f64::max),
            Node::Gate {
                proxies,
                at_least,
                truths,
                range,
            } => self.gate(proxies, *at_least, truths, *range),
            Node::Invert(part, range) => {
                let Value { value, .. } = self.child(part)?;
                let inverted = within(*range, range.min + range.max - value);
                Ok(Value::number(inverted))
            }
            Node::AtLeast(part, bound) => {
                let Value { value, .. } = self.node(&part.node)?;
                let passed = Some(value >= *bound);
                Ok(Value { value, passed })
            }
            Node::Decision(decision) => {
                let to = self.branch(decision)?;
                Ok(Value::number(self.child(to)?.value))
            }
            Node::Number(value) => Ok(Value::number(*value)),
        }
    }

    fn leaf(&mut self, index: usize) -> Result<Value, Missing> {
        let result = &self.results[index];
        if result.outcome().is_none() {
            if !result.is_pending {
                self.ready.push(index);
            }
            return Err(Missing::Unfinished);
        }
        match component(self.results, index) {
            Err(Missing::Failed(_)) if result.is_estimated() => {
                self.estimated += 1;
                Err(Missing::Estimated(index))
            }
            value => value,
        }
    }

    /// Returns an operand's value, or the worst one if a missing value counts as that.
    fn child(&mut self, child: &Child) -> Result<Value, Missing> {
        match self.node(&child.node) {
            Err(missing)
                if self.on_missing == OnMissing::Zero
                    && !missing.is_gated()
                    && missing != Missing::Unfinished =>
            {
                Ok(child.worst)
            }
            value => value,
        }
    }

    /// Calls `each` with the operands that have a value. Returns why the last omitted one has none.
    ///
    /// # Errors
    /// Returns [`Missing`] if no operand has a value, or one that may not be omitted has none.
    fn present<'c, T>(
        &mut self,
        parts: impl Iterator<Item = (&'c Child, T)>,
        mut each: impl FnMut(Value, T),
    ) -> Result<Option<Missing>, Missing> {
        let is_strict = self.on_missing == OnMissing::Fail;
        let (mut omitted, mut is_empty, mut is_unfinished) = (Vec::new(), true, false);
        for (child, extra) in parts {
            match self.child(child) {
                Ok(value) => {
                    is_empty = false;
                    each(value, extra);
                }
                Err(Missing::Unfinished) => is_unfinished = true,
                Err(missing @ Missing::Estimated(_)) => omitted.push(missing),
                Err(missing) if is_strict || missing.is_gated() => return Err(missing),
                Err(missing) => omitted.push(missing),
            }
        }
        match (is_empty || is_strict) && !omitted.is_empty() {
            _ if is_unfinished => Err(Missing::Unfinished),
            true => Err(omitted.swap_remove(0)),
            false => Ok(omitted.pop()),
        }
    }

    /// Finds the components to evaluate in parts that depend on a component that could have any score.
    fn explore<'c>(&mut self, parts: impl Iterator<Item = &'c Child>) -> Result<(), Missing> {
        match self.present(parts.map(|part| (part, ())), |_, ()| {}) {
            Err(Missing::Unfinished) => Err(Missing::Unfinished),
            _ => Ok(()),
        }
    }

    fn weighted(
        &mut self,
        parts: &[(Child, f64)],
        range: Option<ScoreRange>,
    ) -> Result<Value, Missing> {
        let (mut terms, mut weights) = (Few::new(), Few::new());
        let parts = parts.iter().map(|(child, weight)| (child, *weight));
        let omitted = self.present(parts, |value, weight| {
            terms.push(weight * value.value);
            weights.push(weight);
        })?;
        let mut value = stable_sum(&mut terms);
        // If no operand is missing, the weights sum to 1, and scaling could change the last bit.
        if let Some(missing) = omitted {
            let sum = stable_sum(&mut weights);
            if sum <= 0.0 {
                return Err(missing);
            }
            value /= sum;
        }
        let value = range.map_or(value, |range| within(range, value));
        Ok(Value::number(value))
    }

    fn verdict(
        &mut self,
        parts: &[Child],
        start: bool,
        decide: fn(bool, bool) -> bool,
    ) -> Result<Value, Missing> {
        let mut passed = start;
        self.present(parts.iter().map(|child| (child, ())), |value, ()| {
            passed = decide(passed, value.passed == Some(true));
        })?;
        Ok(Value {
            value: f64::from(u8::from(passed)),
            passed: Some(passed),
        })
    }

    fn extreme(&mut self, parts: &[Child], pick: fn(f64, f64) -> f64) -> Result<Value, Missing> {
        let values = self.values(parts)?;
        let picked = values.into_iter().reduce(pick);
        Ok(Value::number(picked.unwrap_or(0.0)))
    }

    fn values(&mut self, parts: &[Child]) -> Result<Few, Missing> {
        let mut values = Few::new();
        let parts = parts.iter().map(|child| (child, ()));
        self.present(parts, |value, ()| values.push(value.value))?;
        Ok(values)
    }

    /// Returns `Ok` if the proxies accept the row.
    fn opens(&mut self, proxies: &[Child], at_least: f64) -> Result<(), Missing> {
        if mean(&mut self.values(proxies)?) >= at_least {
            return Ok(());
        }
        let names: Vec<&str> = proxies.iter().map(|proxy| proxy.name.as_str()).collect();
        let by = names.join(", ");
        Err(Missing::Rejected { by })
    }

    fn gate(
        &mut self,
        proxies: &[Child],
        at_least: f64,
        truths: &[Child],
        range: Option<ScoreRange>,
    ) -> Result<Value, Missing> {
        let estimated = self.estimated;
        let opened = self.opens(proxies, at_least);
        if self.estimated > estimated && opened != Err(Missing::Unfinished) {
            self.explore(truths.iter())?;
        }
        opened?;
        let mut values: SmallVec<[Value; 2]> = SmallVec::new();
        let parts = truths.iter().map(|child| (child, ()));
        self.present(parts, |value, ()| values.push(value))?;
        if let [only] = values[..] {
            return Ok(only);
        }
        let mut numbers: Few = values.iter().map(|value| value.value).collect();
        let value = mean(&mut numbers);
        let value = range.map_or(value, |range| within(range, value));
        Ok(Value::number(value))
    }

    /// Returns the branch that a decision takes. Even `OnMissing` does not replace a node without an answer.
    fn branch<'d>(&mut self, decision: &'d Decision) -> Result<&'d Child, Missing> {
        let node = self.leaf(decision.node);
        if matches!(node, Err(Missing::Estimated(_))) {
            self.explore(decision.branches.iter().map(|(_, to)| to))?;
        }
        node?;
        decision.taken(self.results).map(|(_, to)| to)
    }
}

impl Decision {
    /// Returns the node's answer and the branch it leads to.
    ///
    /// # Errors
    /// Fails if the node has no score or no answer.
    fn taken(&self, results: &[ComponentResult]) -> Result<(&'static str, &Child), Missing> {
        let Value { value, .. } = component(results, self.node)?;
        let answer = match self.reads {
            // Validated: 0 or 1.
            Reads::Bool => Ok(if value == 0.0 { "no" } else { "yes" }),
            Reads::Enum { read, .. } => {
                let scored = results[self.node].outcome().and_then(Outcome::scored);
                scored.map_or_else(|| Err(String::new()), read)
            }
        };
        answer
            .and_then(|answer| self.branch(answer))
            .map_err(|reason| Missing::NoAnswer(self.node, reason))
    }

    fn branch(&self, answer: &'static str) -> Result<(&'static str, &Child), String> {
        let leads = |(answers, _): &&(&[&str], Child)| answers.contains(&answer);
        match self.branches.iter().find(leads) {
            Some((_, to)) => Ok((answer, to)),
            None => Err(format!("its answer `{answer}` has no branch")),
        }
    }
}

/// Returns the paths taken through the expression's decision trees, one line each: `has_headings: yes, heading_order:
/// Partly`.
pub(super) fn path(node: &Node, names: &[&str], results: &[ComponentResult]) -> Option<String> {
    let mut lines = Vec::new();
    each_tree(node, names, results, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn each_tree(node: &Node, names: &[&str], results: &[ComponentResult], lines: &mut Vec<String>) {
    let (mut node, mut steps) = (node, Vec::new());
    while let Node::Decision(decision) = node {
        let Ok((answer, to)) = decision.taken(results) else {
            break;
        };
        steps.push(format!("{}: {}", names[decision.node], answer));
        node = &to.node;
    }
    if !steps.is_empty() {
        lines.push(steps.join(", "));
    }
    node.operands()
        .for_each(|part| each_tree(&part.node, names, results, lines));
}

fn mean(values: &mut [f64]) -> f64 {
    stable_sum(values) / values.len() as f64
}

/// Returns a sum that does not depend on the order of its terms. Sorts the terms.
fn stable_sum(terms: &mut [f64]) -> f64 {
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

/// Clamps a value that rounding moved out of its range.
fn within(range: ScoreRange, value: f64) -> f64 {
    value.max(range.min).min(range.max)
}
