//! How components' scores make the whole. Nothing is asked here: who has which score is told.

use smallvec::SmallVec;

use super::OnMissing;
use crate::spec::ScoreRange;

/// A checked expression over numbered components.
#[derive(Debug)]
pub(super) enum Node {
    Leaf(usize),
    Weighted(Vec<(Child, f64)>, Option<ScoreRange>),
    All(Vec<Child>),
    Any(Vec<Child>),
    Min(Vec<Child>),
    Max(Vec<Child>),
    Gate { proxies: Vec<Child>, at_least: f64, truths: Vec<Child>, range: Option<ScoreRange> },
    Invert(Box<Child>, ScoreRange),
    AtLeast(Box<Child>, f64),
}

/// A part of a combination.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) node: Node,
    /// What it counts as where it is missing and the user said zero.
    pub(super) low: f64,
    pub(super) name: String,
}

/// What a part says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) passed: Option<bool>,
}

/// Why a part says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Missing {
    /// The component of this number has no score.
    Leaf(usize),
    /// Proxies of a gate rejected the row.
    Gated { by: String },
}

/// So many parts that none of them needs memory of its own.
type Few<T> = SmallVec<[T; 8]>;

pub(super) type Folded = Result<Value, Missing>;

/// Folds an expression; `leaf` tells what the component of a number says.
pub(super) fn fold(
    node: &Node,
    on_missing: OnMissing,
    leaf: &mut dyn FnMut(usize) -> Folded,
) -> Folded {
    Fold { on_missing, leaf }.node(node)
}

/// The components that can be asked now: those without an outcome, but behind a gate only once its
/// proxies are known and let the row through.
pub(super) fn wanted(
    node: &Node,
    on_missing: OnMissing,
    leaf: &mut dyn FnMut(usize) -> Option<Folded>,
) -> Vec<usize> {
    let mut wanted = Vec::new();
    collect(node, on_missing, leaf, &mut wanted);
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

fn collect(
    node: &Node,
    on_missing: OnMissing,
    leaf: &mut dyn FnMut(usize) -> Option<Folded>,
    wanted: &mut Vec<usize>,
) {
    match node {
        Node::Leaf(index) if leaf(*index).is_none() => wanted.push(*index),
        Node::Leaf(_) => {}
        Node::Weighted(parts, _) => {
            parts.iter().for_each(|(part, _)| collect(&part.node, on_missing, leaf, wanted));
        }
        Node::All(parts) | Node::Any(parts) | Node::Min(parts) | Node::Max(parts) => {
            parts.iter().for_each(|part| collect(&part.node, on_missing, leaf, wanted));
        }
        Node::Invert(part, _) | Node::AtLeast(part, _) => {
            collect(&part.node, on_missing, leaf, wanted);
        }
        Node::Gate { proxies, at_least, truths, .. } => {
            let before = wanted.len();
            proxies.iter().for_each(|part| collect(&part.node, on_missing, leaf, wanted));
            let mut known = |index| leaf(index).unwrap_or(Err(Missing::Leaf(index)));
            let mut fold = Fold { on_missing, leaf: &mut known };
            if wanted.len() == before && fold.opens(proxies, *at_least).is_ok() {
                truths.iter().for_each(|part| collect(&part.node, on_missing, leaf, wanted));
            }
        }
    }
}

struct Fold<'a> {
    on_missing: OnMissing,
    leaf: &'a mut dyn FnMut(usize) -> Folded,
}

impl Fold<'_> {
    fn node(&mut self, node: &Node) -> Folded {
        match node {
            Node::Leaf(index) => (self.leaf)(*index),
            Node::Weighted(parts, range) => self.weighted(parts, *range),
            Node::All(parts) => {
                self.verdict(parts, |verdicts| verdicts.iter().all(|passed| *passed))
            }
            Node::Any(parts) => {
                self.verdict(parts, |verdicts| verdicts.iter().any(|passed| *passed))
            }
            Node::Min(parts) => self.extreme(parts, f64::min),
            Node::Max(parts) => self.extreme(parts, f64::max),
            Node::Gate { proxies, at_least, truths, range } => {
                self.gate(proxies, *at_least, truths, *range)
            }
            Node::Invert(part, range) => {
                let value = self.node(&part.node)?.value;
                Ok(Value { value: within(*range, range.min + range.max - value), passed: None })
            }
            Node::AtLeast(part, bound) => {
                let value = self.node(&part.node)?.value;
                Ok(Value { value, passed: Some(value >= *bound) })
            }
        }
    }

    /// A part's value, or what stands for it where it is missing; `None` leaves it out.
    fn child(&mut self, child: &Child) -> Result<Option<Value>, Missing> {
        match (self.node(&child.node), self.on_missing) {
            (Ok(value), _) => Ok(Some(value)),
            // A gate says no to the row, which no rule for missing scores may overrule.
            (Err(gated @ Missing::Gated { .. }), _) => Err(gated),
            (Err(missing), OnMissing::Fail) => Err(missing),
            (Err(_), OnMissing::Skip) => Ok(None),
            (Err(_), OnMissing::Zero) => Ok(Some(Value { value: child.low, passed: Some(false) })),
        }
    }

    /// The parts that are there; the first part's reason if none is.
    fn present<'c, T: Copy>(
        &mut self,
        parts: impl ExactSizeIterator<Item = (&'c Child, T)>,
    ) -> Result<Few<(Value, T)>, Missing> {
        let mut present = Few::with_capacity(parts.len());
        let mut first = None;
        for (child, extra) in parts {
            first = first.or(Some(child));
            if let Some(value) = self.child(child)? {
                present.push((value, extra));
            }
        }
        match first.filter(|_| present.is_empty()) {
            Some(first) => Err(self.node(&first.node).err().unwrap_or(Missing::Leaf(0))),
            None => Ok(present),
        }
    }

    fn weighted(&mut self, parts: &[(Child, f64)], range: Option<ScoreRange>) -> Folded {
        let present = self.present(parts.iter().map(|(child, weight)| (child, *weight)))?;
        let sum = stable_sum(present.iter().map(|(value, weight)| weight * value.value));
        // With every part there the weights sum to 1 and need no scaling, not even by a last bit.
        let value = match present.len() == parts.len() {
            true => sum,
            false => scaled(sum, stable_sum(present.iter().map(|(_, weight)| *weight))),
        };
        Ok(Value { value: range.map_or(value, |range| within(range, value)), passed: None })
    }

    fn verdict(&mut self, parts: &[Child], decide: fn(&[bool]) -> bool) -> Folded {
        let present = self.present(parts.iter().map(|child| (child, ())))?;
        let verdicts: Few<bool> =
            present.iter().map(|(value, ())| value.passed == Some(true)).collect();
        let passed = decide(&verdicts);
        Ok(Value { value: f64::from(u8::from(passed)), passed: Some(passed) })
    }

    fn extreme(&mut self, parts: &[Child], pick: fn(f64, f64) -> f64) -> Folded {
        let present = self.present(parts.iter().map(|child| (child, ())))?;
        let picked = present.iter().map(|(value, ())| value.value).reduce(pick);
        Ok(Value { value: picked.unwrap_or(0.0), passed: None })
    }

    /// Whether the proxies let the row through.
    fn opens(&mut self, proxies: &[Child], at_least: f64) -> Result<(), Missing> {
        let cheap = self.present(proxies.iter().map(|child| (child, ())))?;
        if mean(&cheap) >= at_least {
            return Ok(());
        }
        let names: Vec<&str> = proxies.iter().map(|proxy| proxy.name.as_str()).collect();
        Err(Missing::Gated { by: names.join(", ") })
    }

    fn gate(
        &mut self,
        proxies: &[Child],
        at_least: f64,
        truths: &[Child],
        range: Option<ScoreRange>,
    ) -> Folded {
        self.opens(proxies, at_least)?;
        let dear = self.present(truths.iter().map(|child| (child, ())))?;
        if let [(only, ())] = &dear[..] {
            return Ok(*only);
        }
        let value = mean(&dear);
        Ok(Value { value: range.map_or(value, |range| within(range, value)), passed: None })
    }
}

/// A sum of parts whose weights sum to less than 1; parts without weight say nothing.
fn scaled(sum: f64, weights: f64) -> f64 {
    if weights > 0.0 { sum / weights } else { sum }
}

fn mean(values: &[(Value, ())]) -> f64 {
    let sum = stable_sum(values.iter().map(|(value, ())| value.value));
    sum / values.len() as f64
}

/// A sum that does not depend on the order of its terms.
pub(super) fn stable_sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut terms: Few<f64> = terms.into_iter().collect();
    terms.sort_unstable_by(f64::total_cmp);
    terms.into_iter().sum()
}

/// Takes back what rounding put outside a range in which the exact value lies.
fn within(range: ScoreRange, value: f64) -> f64 {
    value.max(range.min).min(range.max)
}
