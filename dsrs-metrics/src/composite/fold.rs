//! How components' scores make the whole. Nothing is asked here: who has which score is told.

use smallvec::SmallVec;

use super::OnMissing;
use super::tree::{Child, Node, Term, Weighted};
use crate::core::component_results::Kept;
use crate::core::outcome::Outcome;
use crate::core::spec::ScoreRange;

/// What a part says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) passed: Option<bool>,
}

/// What a component says of a row: small enough to be handed over in registers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Said {
    Value(Value),
    /// A gate inside the component rejected the row.
    Gated,
    Missing,
}

/// Why an expression says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Missing {
    /// The component of this number has no score, or rejected the row.
    Leaf(usize),
    /// Proxies of a gate of the expression rejected the row.
    Gated { by: String },
}

/// So many parts that none of them needs memory of its own.
type Few = SmallVec<[f64; FEW]>;

const FEW: usize = 8;

/// Folds an expression over what became of its components; `ask` sees to those that were not asked.
/// Why there is no value, if there is none, is left in `missing`.
pub(super) fn fold(
    node: &Node,
    on_missing: OnMissing,
    kept: &mut [Kept],
    missing: &mut Missing,
    ask: impl FnMut(usize, &mut Kept),
) -> Said {
    if let Node::Weighted(weighted) = node
        && let Some(value) = weighted.plain_sum(kept)
    {
        return Said::Value(Value { value, passed: None });
    }
    Fold { on_missing, kept, ask, missing }.node(node)
}

#[inline]
pub(super) fn said(kept: &Kept) -> Said {
    if let Some(value) = kept.plain() {
        return Said::Value(Value { value, passed: kept.passed() });
    }
    match kept.as_whole() {
        Some(Outcome::Scored(scored)) => {
            Said::Value(Value { value: scored.score.value, passed: scored.passed })
        }
        Some(Outcome::Gated { .. }) => Said::Gated,
        _ => Said::Missing,
    }
}

pub(super) struct Fold<'a, F> {
    pub(super) on_missing: OnMissing,
    pub(super) kept: &'a mut [Kept],
    pub(super) ask: F,
    /// Why the last part without a value has none.
    pub(super) missing: &'a mut Missing,
}

/// A part has no value, and no rule says what then.
pub(super) enum Stop {
    Gated,
    Missing,
}

impl From<Stop> for Said {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Gated => Self::Gated,
            Stop::Missing => Self::Missing,
        }
    }
}

impl<F: FnMut(usize, &mut Kept)> Fold<'_, F> {
    fn node(&mut self, node: &Node) -> Said {
        let value = match node {
            Node::Leaf(index) => return self.leaf(*index),
            Node::Weighted(weighted) => self.weighted(weighted),
            Node::All(parts) => self.verdict(parts, true, |all, passed| all & passed),
            Node::Any(parts) => self.verdict(parts, false, |any, passed| any | passed),
            Node::Min(parts) => self.extreme(parts, f64::min),
            Node::Max(parts) => self.extreme(parts, f64::max),
            Node::Gate { proxies, at_least, truths, range } => {
                self.gate(proxies, *at_least, truths, *range)
            }
            Node::Invert(part, range) => self.child(part).and_then(|value| {
                let Value { value, .. } = value.ok_or(Stop::Missing)?;
                let value = within(*range, range.min + range.max - value);
                Ok(Value { value, passed: None })
            }),
            Node::AtLeast(part, bound) => match self.node(&part.node) {
                Said::Value(Value { value, .. }) => {
                    Ok(Value { value, passed: Some(value >= *bound) })
                }
                other => return other,
            },
        };
        value.map_or_else(Said::from, Said::Value)
    }

    #[inline]
    fn leaf(&mut self, index: usize) -> Said {
        let kept = &mut self.kept[index];
        if let Some(value) = kept.plain() {
            return Said::Value(Value { value, passed: kept.passed() });
        }
        self.rare_leaf(index)
    }

    #[cold]
    fn rare_leaf(&mut self, index: usize) -> Said {
        let kept = &mut self.kept[index];
        if kept.is_unasked() {
            (self.ask)(index, kept);
        }
        let said = said(kept);
        if !matches!(said, Said::Value(_)) {
            *self.missing = Missing::Leaf(index);
        }
        said
    }

    /// A part's value, or what stands for it where it is missing; `None` leaves it out.
    #[inline]
    fn child(&mut self, child: &Child) -> Result<Option<Value>, Stop> {
        let said = match &child.node {
            Node::Leaf(index) => self.leaf(*index),
            node => self.node(node),
        };
        match (said, self.on_missing) {
            (Said::Value(value), _) => Ok(Some(value)),
            // A gate says no to the row, which no rule for missing scores may overrule.
            (Said::Gated, _) => Err(Stop::Gated),
            (Said::Missing, OnMissing::Fail) => Err(Stop::Missing),
            (Said::Missing, OnMissing::Skip) => Ok(None),
            (Said::Missing, OnMissing::Zero) => Ok(Some(child.worst)),
        }
    }

    /// Tells `each` of the parts that are there; the first part's reason if none is.
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
                // Once more, for its reason.
                self.node(&first.node);
                Err(Stop::Missing)
            }
            None => Ok(()),
        }
    }

    fn weighted(&mut self, weighted: &Weighted) -> Result<Value, Stop> {
        let len = weighted.terms.len();
        let (mut terms, mut weights) = (zeros(len), zeros(len));
        let mut there = 0;
        let parts = weighted.terms.iter().map(|term| (&term.child, term));
        self.present(parts, |value, Term { weight, place, .. }| {
            (terms[*place], weights[*place]) = (weight * value.value, *weight);
            there += 1;
        })?;
        let sum = weighted.sum(&mut terms);
        // With every part there the weights sum to 1 and need no scaling, not even by a last bit.
        let value = match there == len {
            true => sum,
            false => scaled(sum, weighted.sum(&mut weights))?,
        };
        let value = weighted.range.map_or(value, |range| within(range, value));
        Ok(Value { value, passed: None })
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
        Ok(Value { value: f64::from(u8::from(passed)), passed: Some(passed) })
    }

    fn extreme(&mut self, parts: &[Child], pick: fn(f64, f64) -> f64) -> Result<Value, Stop> {
        let mut picked = None;
        self.present(parts.iter().map(|child| (child, ())), |value, ()| {
            picked = Some(picked.map_or(value.value, |picked| pick(picked, value.value)));
        })?;
        Ok(Value { value: picked.unwrap_or(0.0), passed: None })
    }

    /// Whether the proxies let the row through.
    pub(super) fn opens(&mut self, proxies: &[Child], at_least: f64) -> Result<(), Stop> {
        let mut cheap = Few::new();
        let parts = proxies.iter().map(|child| (child, ()));
        self.present(parts, |value, ()| cheap.push(value.value))?;
        if mean(&mut cheap) >= at_least {
            return Ok(());
        }
        let names: Vec<&str> = proxies.iter().map(|proxy| proxy.name.as_str()).collect();
        *self.missing = Missing::Gated { by: names.join(", ") };
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
        let (mut dear, mut last) = (Few::new(), None);
        self.present(truths.iter().map(|child| (child, ())), |value, ()| {
            dear.push(value.value);
            last = Some(value);
        })?;
        match last {
            Some(only) if dear.len() == 1 => Ok(only),
            _ => {
                let value = mean(&mut dear);
                let value = range.map_or(value, |range| within(range, value));
                Ok(Value { value, passed: None })
            }
        }
    }
}

fn zeros(len: usize) -> Few {
    SmallVec::from_elem(0.0, len)
}

/// A sum of parts whose weights sum to less than 1; where all that weighs anything is missing, so is the
/// sum.
fn scaled(sum: f64, weights: f64) -> Result<f64, Stop> {
    if weights > 0.0 { Ok(sum / weights) } else { Err(Stop::Missing) }
}

fn mean(values: &mut [f64]) -> f64 {
    stable_sum(values) / values.len() as f64
}

/// A sum that does not depend on the order of its terms, which it sorts.
pub(super) fn stable_sum(terms: &mut [f64]) -> f64 {
    terms.sort_unstable_by(f64::total_cmp);
    terms.iter().sum()
}

/// Takes back what rounding put outside a range in which the exact value lies.
pub(super) fn within(range: ScoreRange, value: f64) -> f64 {
    value.max(range.min).min(range.max)
}
