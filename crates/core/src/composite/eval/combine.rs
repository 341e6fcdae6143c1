//! Combines the scores of components, and follows decision trees. No component is evaluated here.

use smallvec::SmallVec;

use super::tree::{Child, Decision, Node, Weighted};
use crate::composite::shape::{OnMissing, Reads};
use crate::score::component_results::ComponentResult;
use crate::score::outcome::Outcome;
use crate::spec::ScoreRange;

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
pub(super) struct Missing {
    /// `true` if a gate rejected the row. The rule for missing scores does not apply to such a row.
    pub(super) is_gated: bool,
    pub(super) reason: Reason,
}

#[derive(Debug, PartialEq)]
pub(super) enum Reason {
    /// The component with this number has no score, or rejected the row.
    Component(usize),
    /// Proxies of a gate of the expression rejected the row.
    Gate { by: String },
    /// The component with this number has a score, but no answer that the decision tree can follow.
    NoAnswer(usize, String),
}

/// Values of operands; the usual number of them is stored inline.
type Few = SmallVec<[f64; 8]>;

/// Combines the results of components by an expression.
pub(super) struct Combine<'a> {
    pub(super) on_missing: OnMissing,
    pub(super) results: &'a [ComponentResult],
}

/// Returns the value of the component with this number.
pub(super) fn component(results: &[ComponentResult], index: usize) -> Result<Value, Missing> {
    match results[index].outcome() {
        Some(Outcome::Scored(scored)) => Ok(Value {
            value: scored.score.value,
            passed: scored.passed,
        }),
        outcome => Err(Missing {
            is_gated: matches!(outcome, Some(Outcome::Gated { .. })),
            reason: Reason::Component(index),
        }),
    }
}

impl Combine<'_> {
    pub(super) fn node(&self, node: &Node) -> Result<Value, Missing> {
        match node {
            Node::Leaf(index) => component(self.results, *index),
            Node::Weighted(weighted) => self.weighted(weighted),
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
                // A node without an answer is not replaced by one, whatever `OnMissing` is.
                let Value { value, .. } = self.child(decision.taken(self.results)?.to)?;
                Ok(Value::number(value))
            }
            Node::Number(value) => Ok(Value::number(*value)),
        }
    }

    /// Returns an operand's value, or the worst one for a missing value that counts as that.
    fn child(&self, child: &Child) -> Result<Value, Missing> {
        match self.node(&child.node) {
            Err(missing) if !missing.is_gated && self.on_missing == OnMissing::Zero => {
                Ok(child.worst)
            }
            value => value,
        }
    }

    /// Calls `each` with the operands that have a value, and returns why the last omitted one has none.
    ///
    /// # Errors
    /// No operand has a value, or one has none and is not omitted.
    fn present<'c, T>(
        &self,
        parts: impl Iterator<Item = (&'c Child, T)>,
        mut each: impl FnMut(Value, T),
    ) -> Result<Option<Missing>, Missing> {
        let (mut omitted, mut is_empty) = (Vec::new(), true);
        for (child, extra) in parts {
            match self.child(child) {
                Ok(value) => {
                    is_empty = false;
                    each(value, extra);
                }
                Err(missing) if missing.is_gated || self.on_missing == OnMissing::Fail => {
                    return Err(missing);
                }
                Err(missing) => omitted.push(missing),
            }
        }
        match is_empty && !omitted.is_empty() {
            true => Err(omitted.swap_remove(0)),
            false => Ok(omitted.pop()),
        }
    }

    fn weighted(&self, weighted: &Weighted) -> Result<Value, Missing> {
        let (mut terms, mut weights) = (Few::new(), Few::new());
        let parts = weighted
            .parts
            .iter()
            .map(|(child, weight)| (child, *weight));
        let omitted = self.present(parts, |value, weight| {
            terms.push(weight * value.value);
            weights.push(weight);
        })?;
        let mut value = stable_sum(&mut terms);
        // If no operand is missing the weights sum to 1, and scaling could change the last bit.
        if let Some(missing) = omitted {
            let sum = stable_sum(&mut weights);
            if sum <= 0.0 {
                return Err(missing);
            }
            value /= sum;
        }
        let value = weighted.range.map_or(value, |range| within(range, value));
        Ok(Value::number(value))
    }

    fn verdict(
        &self,
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

    fn extreme(&self, parts: &[Child], pick: fn(f64, f64) -> f64) -> Result<Value, Missing> {
        let values = self.values(parts)?;
        let picked = values.into_iter().reduce(pick);
        Ok(Value::number(picked.unwrap_or(0.0)))
    }

    fn values(&self, parts: &[Child]) -> Result<Few, Missing> {
        let mut values = Few::new();
        let parts = parts.iter().map(|child| (child, ()));
        self.present(parts, |value, ()| values.push(value.value))?;
        Ok(values)
    }

    /// Returns `Ok` if the proxies accept the row.
    pub(super) fn opens(&self, proxies: &[Child], at_least: f64) -> Result<(), Missing> {
        if mean(&mut self.values(proxies)?) >= at_least {
            return Ok(());
        }
        let names: Vec<&str> = proxies.iter().map(|proxy| proxy.name.as_str()).collect();
        Err(Missing {
            is_gated: true,
            reason: Reason::Gate {
                by: names.join(", "),
            },
        })
    }

    fn gate(
        &self,
        proxies: &[Child],
        at_least: f64,
        truths: &[Child],
        range: Option<ScoreRange>,
    ) -> Result<Value, Missing> {
        self.opens(proxies, at_least)?;
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
}

/// The branch that an answer leads to.
pub(super) struct Taken<'a> {
    pub(super) answer: &'static str,
    pub(super) to: &'a Child,
}

impl Decision {
    /// Returns the branch that the result of the node leads to.
    ///
    /// # Errors
    /// The node has no score or no answer.
    pub(super) fn taken(&self, results: &[ComponentResult]) -> Result<Taken<'_>, Missing> {
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
            .map_err(|reason| Missing {
                is_gated: false,
                reason: Reason::NoAnswer(self.node, reason),
            })
    }

    fn branch(&self, answer: &'static str) -> Result<Taken<'_>, String> {
        let leads = |(answers, _): &&(&[&str], Child)| answers.contains(&answer);
        match self.branches.iter().find(leads) {
            Some((_, to)) => Ok(Taken { answer, to }),
            None => Err(format!("its answer `{answer}` has no branch")),
        }
    }
}

fn mean(values: &mut [f64]) -> f64 {
    stable_sum(values) / values.len() as f64
}

/// A sum that does not depend on the order of its terms. Sorts the terms.
pub(super) fn stable_sum(terms: &mut [f64]) -> f64 {
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

/// Clamps a value that is outside its range because of rounding.
pub(super) fn within(range: ScoreRange, value: f64) -> f64 {
    value.max(range.min).min(range.max)
}
