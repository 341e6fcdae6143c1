//! A checked expression over numbered components, and its value. No component is evaluated here.

use smallvec::SmallVec;

use super::OnMissing;
use super::derived::Derived;
use super::shape::{Decision, Operator, Reads};
use crate::score::{ComponentResult, Outcome};
use crate::spec::ScoreRange;

/// A part of a checked expression: an operator with its operands.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) operator: Operator,
    /// The operands: a gate's proxies before its truths, a decision's branches in the order of their answers.
    pub(super) parts: Vec<Self>,
    pub(super) known: Derived,
    /// The worst possible value, used for a missing one under `OnMissing::Zero`.
    pub(super) worst: Value,
    pub(super) name: String,
}

/// The value of an expression on one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) passed: Option<bool>,
}

impl Value {
    const fn number(value: f64) -> Self {
        let passed = None;
        Self { value, passed }
    }

    /// Clamps a number that rounding moved out of its range.
    fn within(range: Option<ScoreRange>, value: f64) -> Self {
        let clamped = |range: ScoreRange| value.max(range.min).min(range.max);
        Self::number(range.map_or(value, clamped))
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

/// Operand values. The usual number of values is stored inline.
type Few = SmallVec<[f64; 8]>;

/// Combines components' results and finds the components to evaluate next. Components behind a gate wait until every
/// proxy has accepted the row; those in a branch wait until the decision's node has an answer.
pub(super) struct Combine<'a> {
    pub(super) on_missing: OnMissing,
    pub(super) results: &'a [ComponentResult],
    /// Components that can be evaluated now. A component can occur several times.
    pub(super) ready: SmallVec<[usize; 8]>,
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
        }
    }

    pub(super) fn node(&mut self, node: &Node) -> Result<Value, Missing> {
        let (parts, range) = (&node.parts[..], node.known.range);
        match &node.operator {
            Operator::Leaf(index) => self.leaf(*index),
            Operator::Weighted(weights) => self.weighted(parts, weights, range),
            Operator::All => self.verdict(parts, true, |all, passed| all & passed),
            Operator::Any => self.verdict(parts, false, |any, passed| any | passed),
            Operator::Min => self.extreme(parts, f64::min),
            Operator::Max => self.extreme(parts, f64::max),
            Operator::Gate { proxies, at_least } => {
                let (proxies, truths) = parts.split_at(*proxies);
                self.gate(proxies, *at_least, truths, range)
            }
            Operator::Invert => {
                let Value { value, .. } = self.child(&parts[0])?;
                let inverted = |range: ScoreRange| range.min + range.max - value;
                Ok(Value::within(range, range.map_or(value, inverted)))
            }
            Operator::AtLeast(bound) => {
                let Value { value, .. } = self.node(&parts[0])?;
                let passed = Some(value >= *bound);
                Ok(Value { value, passed })
            }
            Operator::Decision(decision) => {
                let to = self.branch(decision, parts)?;
                Ok(Value::number(self.child(to)?.value))
            }
            Operator::Number(value) => Ok(Value::number(*value)),
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
        component(self.results, index)
    }

    /// Returns an operand's value, or the worst possible value if a missing one counts as the worst.
    fn child(&mut self, child: &Node) -> Result<Value, Missing> {
        match self.node(child) {
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

    /// Calls `each` with the position and value of each operand that has a value. Returns the reason why the first
    /// omitted operand has none.
    ///
    /// # Errors
    /// Returns [`Missing`] if no operand has a value, or if an operand that must not be omitted has none.
    fn present(
        &mut self,
        parts: &[Node],
        mut each: impl FnMut(usize, Value),
    ) -> Result<Option<Missing>, Missing> {
        let is_strict = self.on_missing == OnMissing::Fail;
        let (mut omitted, mut is_empty, mut is_unfinished) = (None, true, false);
        for (position, part) in parts.iter().enumerate() {
            match self.child(part) {
                Ok(value) => {
                    is_empty = false;
                    each(position, value);
                }
                Err(Missing::Unfinished) => is_unfinished = true,
                Err(missing) if is_strict || missing.is_gated() => return Err(missing),
                Err(missing) => omitted = omitted.or(Some(missing)),
            }
        }
        match omitted {
            _ if is_unfinished => Err(Missing::Unfinished),
            Some(missing) if is_empty => Err(missing),
            omitted => Ok(omitted),
        }
    }

    fn weighted(
        &mut self,
        parts: &[Node],
        weights: &[f64],
        range: Option<ScoreRange>,
    ) -> Result<Value, Missing> {
        let (mut terms, mut present) = (Few::new(), Few::new());
        let omitted = self.present(parts, |position, value| {
            terms.push(weights[position] * value.value);
            present.push(weights[position]);
        })?;
        let mut value = stable_sum(&mut terms);
        // If no operand is missing, the weights sum to 1, and scaling could change the last bit.
        if let Some(missing) = omitted {
            let sum = stable_sum(&mut present);
            if sum <= 0.0 {
                return Err(missing);
            }
            value /= sum;
        }
        Ok(Value::within(range, value))
    }

    fn verdict(
        &mut self,
        parts: &[Node],
        start: bool,
        decide: fn(bool, bool) -> bool,
    ) -> Result<Value, Missing> {
        let mut passed = start;
        self.present(parts, |_, value| {
            passed = decide(passed, value.passed == Some(true));
        })?;
        Ok(Value {
            value: f64::from(u8::from(passed)),
            passed: Some(passed),
        })
    }

    fn extreme(&mut self, parts: &[Node], pick: fn(f64, f64) -> f64) -> Result<Value, Missing> {
        let values = self.values(parts)?;
        let picked = values.into_iter().reduce(pick);
        Ok(Value::number(picked.unwrap_or(0.0)))
    }

    fn values(&mut self, parts: &[Node]) -> Result<Few, Missing> {
        let mut values = Few::new();
        self.present(parts, |_, value| values.push(value.value))?;
        Ok(values)
    }

    /// Returns `Ok` if the proxies accept the row.
    fn opens(&mut self, proxies: &[Node], at_least: f64) -> Result<(), Missing> {
        if mean(&mut self.values(proxies)?) >= at_least {
            return Ok(());
        }
        let names: Vec<&str> = proxies.iter().map(|proxy| proxy.name.as_str()).collect();
        let by = names.join(", ");
        Err(Missing::Rejected { by })
    }

    fn gate(
        &mut self,
        proxies: &[Node],
        at_least: f64,
        truths: &[Node],
        range: Option<ScoreRange>,
    ) -> Result<Value, Missing> {
        self.opens(proxies, at_least)?;
        let mut values: SmallVec<[Value; 2]> = SmallVec::new();
        self.present(truths, |_, value| values.push(value))?;
        if let [only] = values[..] {
            return Ok(only);
        }
        let mut numbers: Few = values.iter().map(|value| value.value).collect();
        Ok(Value::within(range, mean(&mut numbers)))
    }

    /// Returns the branch that a decision takes. `OnMissing` does not replace a node's missing answer.
    fn branch<'p>(&mut self, decision: &Decision, parts: &'p [Node]) -> Result<&'p Node, Missing> {
        self.leaf(decision.node)?;
        let (_, branch) = decision.taken(self.results)?;
        Ok(&parts[branch])
    }
}

impl Decision {
    /// Returns the node's answer and the position of the branch that it leads to.
    ///
    /// # Errors
    /// Fails if the node has no score or no answer.
    fn taken(&self, results: &[ComponentResult]) -> Result<(&'static str, usize), Missing> {
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

    fn branch(&self, answer: &'static str) -> Result<(&'static str, usize), String> {
        let leads = |answers: &&[&str]| answers.contains(&answer);
        let branch = self.answers.iter().position(leads);
        let branch = branch.ok_or_else(|| format!("its answer `{answer}` has no branch"));
        branch.map(|branch| (answer, branch))
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
    while let Operator::Decision(decision) = &node.operator {
        let Ok((answer, branch)) = decision.taken(results) else {
            break;
        };
        steps.push(format!("{}: {}", names[decision.node], answer));
        node = &node.parts[branch];
    }
    if !steps.is_empty() {
        lines.push(steps.join(", "));
    }
    // Only the branch that is taken is part of the path.
    if !matches!(node.operator, Operator::Decision(_)) {
        let parts = node.parts.iter();
        parts.for_each(|part| each_tree(part, names, results, lines));
    }
}

fn mean(values: &mut [f64]) -> f64 {
    stable_sum(values) / values.len() as f64
}

/// Sorts the terms and returns their sum, so the original order does not affect the result.
fn stable_sum(terms: &mut [f64]) -> f64 {
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

#[cfg(test)]
mod tests;
