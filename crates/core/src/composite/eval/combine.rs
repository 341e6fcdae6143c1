//! Combines the scores of components. No component is evaluated here.

use smallvec::SmallVec;

use super::tree::{Child, Node, Term, Weighted};
use crate::composite::{IsMissing, OnMissing};
use crate::judge::NoAnswer;
use crate::score::component_results::ComponentResult;
use crate::score::outcome::Outcome;
use crate::spec::ScoreRange;

/// The value of an expression on one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::composite) struct Value {
    pub(in crate::composite) value: f64,
    pub(in crate::composite) passed: Option<bool>,
}

/// The result of an expression on one row: small enough to be returned in registers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Resolved {
    Value(Value),
    /// A gate inside the component rejected the row.
    Gated,
    Missing,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Missing {
    /// The component with this number has no score, or rejected the row.
    Leaf(usize),
    /// Proxies of a gate of the expression rejected the row.
    Gated { by: String },
    /// The component with this number has a score, but no answer that the decision tree can follow.
    NoAnswer(usize, NoAnswer),
}

/// Values of operands; the usual number of them is stored inline.
type Few = SmallVec<[f64; FEW]>;

const FEW: usize = 8;

/// Combines the results of components by an expression. If there is no value, the reason is stored in `missing`.
#[inline]
pub(super) fn combine(
    node: &Node,
    on_missing: OnMissing,
    results: &[ComponentResult],
    missing: &mut Missing,
) -> Resolved {
    if let Node::Weighted(weighted) = node
        && let Some(value) = weighted.plain_sum(results)
    {
        return Resolved::Value(Value {
            value,
            passed: None,
        });
    }
    Combine {
        on_missing,
        results,
        missing,
    }
    .node(node)
}

#[inline]
pub(super) fn resolved(result: &ComponentResult) -> Resolved {
    if let Some(value) = result.plain() {
        return Resolved::Value(Value {
            value,
            passed: result.passed(),
        });
    }
    match result.as_outcome() {
        Some(Outcome::Scored(scored)) => Resolved::Value(Value {
            value: scored.score.value,
            passed: scored.passed,
        }),
        Some(Outcome::Gated { .. }) => Resolved::Gated,
        _ => Resolved::Missing,
    }
}

pub(super) struct Combine<'a> {
    pub(super) on_missing: OnMissing,
    pub(super) results: &'a [ComponentResult],
    /// Why the last expression without a value has none.
    pub(super) missing: &'a mut Missing,
}

/// An operand has no value, and `OnMissing` does not replace it.
pub(super) enum Stop {
    Gated,
    Missing,
}

impl From<Stop> for Resolved {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Gated => Self::Gated,
            Stop::Missing => Self::Missing,
        }
    }
}

impl Combine<'_> {
    fn node(&mut self, node: &Node) -> Resolved {
        let value = match node {
            Node::Leaf(index) => return self.leaf(*index),
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
            Node::Invert(part, range) => self.child(part).and_then(|value| {
                let Value { value, .. } = value.ok_or(Stop::Missing)?;
                let value = within(*range, range.min + range.max - value);
                Ok(Value {
                    value,
                    passed: None,
                })
            }),
            Node::AtLeast(part, bound) => match self.node(&part.node) {
                Resolved::Value(Value { value, .. }) => Ok(Value {
                    value,
                    passed: Some(value >= *bound),
                }),
                other => return other,
            },
            Node::Decision(decision) => self.decision(decision),
            Node::Number(value) => Ok(Value {
                value: *value,
                passed: None,
            }),
        };
        value.map_or_else(Resolved::from, Resolved::Value)
    }

    #[inline]
    fn leaf(&mut self, index: usize) -> Resolved {
        let resolved = resolved(&self.results[index]);
        if !matches!(resolved, Resolved::Value(_)) {
            *self.missing = Missing::Leaf(index);
        }
        resolved
    }

    /// An operand's value, or its replacement if it is missing; `None` leaves it out.
    #[inline]
    pub(super) fn child(&mut self, child: &Child) -> Result<Option<Value>, Stop> {
        let resolved = match &child.node {
            Node::Leaf(index) => self.leaf(*index),
            node => self.node(node),
        };
        match resolved {
            Resolved::Value(value) => Ok(Some(value)),
            // The rule for missing scores does not apply to a row that a gate rejected.
            Resolved::Gated => Err(Stop::Gated),
            Resolved::Missing => self
                .on_missing
                .replacement(child.worst)
                .map_err(|IsMissing| Stop::Missing),
        }
    }

    /// Calls `each` with the operands that have a value. If none has, the reason is the first operand's.
    #[inline]
    fn present<'c, T>(
        &mut self,
        parts: impl Iterator<Item = (&'c Child, T)>,
        mut each: impl FnMut(Value, T),
    ) -> Result<(), Stop> {
        let (mut first, mut none) = (None, true);
        for (child, extra) in parts {
            first = first.or(Some(child));
            if let Some(value) = self.child(child)? {
                none = false;
                each(value, extra);
            }
        }
        match first.filter(|_| none) {
            Some(first) => {
                // Evaluated again for its reason.
                self.node(&first.node);
                Err(Stop::Missing)
            }
            None => Ok(()),
        }
    }

    fn weighted(&mut self, weighted: &Weighted) -> Result<Value, Stop> {
        let len = weighted.terms.len();
        let (mut terms, mut weights) = (zeros(len), zeros(len));
        let mut present = 0;
        let parts = weighted.terms.iter().map(|term| (&term.child, term));
        self.present(parts, |value, Term { weight, place, .. }| {
            (terms[*place], weights[*place]) = (weight * value.value, *weight);
            present += 1;
        })?;
        let sum = weighted.sum(&mut terms);
        // If no operand is missing the weights sum to 1, and scaling could change the last bit.
        let value = match present == len {
            true => sum,
            false => scaled(sum, weighted.sum(&mut weights))?,
        };
        let value = weighted.range.map_or(value, |range| within(range, value));
        Ok(Value {
            value,
            passed: None,
        })
    }

    fn verdict(
        &mut self,
        parts: &[Child],
        start: bool,
        decide: fn(bool, bool) -> bool,
    ) -> Result<Value, Stop> {
        let mut passed = start;
        self.present(parts.iter().map(|child| (child, ())), |value, ()| {
            passed = decide(passed, value.passed == Some(true));
        })?;
        Ok(Value {
            value: f64::from(u8::from(passed)),
            passed: Some(passed),
        })
    }

    fn extreme(&mut self, parts: &[Child], pick: fn(f64, f64) -> f64) -> Result<Value, Stop> {
        let mut picked = None;
        self.present(parts.iter().map(|child| (child, ())), |value, ()| {
            picked = Some(picked.map_or(value.value, |picked| pick(picked, value.value)));
        })?;
        Ok(Value {
            value: picked.unwrap_or(0.0),
            passed: None,
        })
    }

    /// Returns `Ok` if the proxies accept the row.
    pub(super) fn opens(&mut self, proxies: &[Child], at_least: f64) -> Result<(), Stop> {
        let mut values = Few::new();
        let parts = proxies.iter().map(|child| (child, ()));
        self.present(parts, |value, ()| values.push(value.value))?;
        if mean(&mut values) >= at_least {
            return Ok(());
        }
        let names: Vec<&str> = proxies.iter().map(|proxy| proxy.name.as_str()).collect();
        *self.missing = Missing::Gated {
            by: names.join(", "),
        };
        Err(Stop::Gated)
    }

    fn gate(
        &mut self,
        proxies: &[Child],
        at_least: f64,
        truths: &[Child],
        range: Option<ScoreRange>,
    ) -> Result<Value, Stop> {
        self.opens(proxies, at_least)?;
        let (mut values, mut last) = (Few::new(), None);
        self.present(truths.iter().map(|child| (child, ())), |value, ()| {
            values.push(value.value);
            last = Some(value);
        })?;
        match last {
            Some(only) if values.len() == 1 => Ok(only),
            _ => {
                let value = mean(&mut values);
                let value = range.map_or(value, |range| within(range, value));
                Ok(Value {
                    value,
                    passed: None,
                })
            }
        }
    }
}

fn zeros(len: usize) -> Few {
    SmallVec::from_elem(0.0, len)
}

/// A weighted sum, divided by the sum of its weights. There is no value if all weights are 0.
fn scaled(sum: f64, weights: f64) -> Result<f64, Stop> {
    if weights > 0.0 {
        Ok(sum / weights)
    } else {
        Err(Stop::Missing)
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
