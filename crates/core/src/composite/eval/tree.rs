//! A checked expression over numbered components.

use std::slice;

use super::combine::{Value, stable_sum, within};
use crate::composite::shape::Reads;
use crate::score::component_results::{ComponentResult, Number};
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
    pub(super) terms: Vec<Term>,
    /// Whether two terms have the same name and weight, so that the terms have to be sorted before summing.
    is_ambiguous: bool,
    /// Components and weights in the order of the sum, if the terms are components and nothing else.
    plain: Option<Box<[(usize, f64)]>>,
    pub(super) range: Option<ScoreRange>,
}

#[derive(Debug)]
pub(super) struct Term {
    pub(super) child: Child,
    pub(super) weight: f64,
    /// Its position in the sum, which does not depend on the order in the source.
    pub(super) place: usize,
}

impl Weighted {
    pub(in crate::composite) fn new(parts: Vec<(Child, f64)>, range: Option<ScoreRange>) -> Self {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        let compare = |a: usize, b: usize| {
            let ((a, a_weight), (b, b_weight)) = (&parts[a], &parts[b]);
            a.name.cmp(&b.name).then(a_weight.total_cmp(b_weight))
        };
        order.sort_by(|a, b| compare(*a, *b));
        let is_ambiguous = order
            .windows(2)
            .any(|pair| compare(pair[0], pair[1]).is_eq());
        let mut places = vec![0; parts.len()];
        order
            .into_iter()
            .enumerate()
            .for_each(|(place, part)| places[part] = place);
        let terms = parts.into_iter().zip(places);
        let terms = terms.map(|((child, weight), place)| Term {
            child,
            weight,
            place,
        });
        let terms: Vec<Term> = terms.collect();
        let plain = if is_ambiguous { None } else { plain(&terms) };
        Self {
            terms,
            is_ambiguous,
            plain,
            range,
        }
    }

    /// Returns the sum of the terms by position, with zero for missing ones.
    #[inline]
    pub(super) fn sum(&self, terms: &mut [f64]) -> f64 {
        if self.is_ambiguous {
            stable_sum(terms)
        } else {
            terms.iter().sum()
        }
    }

    /// Returns the sum if every term is a component with a plain score: the common case, with the same result as the
    /// general one.
    #[inline]
    pub(super) fn plain_sum(&self, results: &[ComponentResult]) -> Option<f64> {
        self.sum_of(|index| results.get(index)?.plain())
    }

    /// Returns the sum if every term is a component; `numbers` are their scores.
    #[inline]
    pub(super) fn sum_of_numbers(&self, numbers: &[Number]) -> Option<f64> {
        self.sum_of(|index| numbers.get(index).map(|number| number.value))
    }

    #[inline]
    fn sum_of(&self, value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        // As an empty sum of `Iterator::sum`.
        let mut sum = -0.0;
        for (index, weight) in self.plain.as_deref()? {
            sum += weight * value(*index)?;
        }
        Some(self.range.map_or(sum, |range| within(range, sum)))
    }
}

impl Node {
    /// Returns the operands. The operands of a gate are its proxies; a decision has none.
    pub(super) fn operands(&self) -> impl Iterator<Item = &Child> {
        let (parts, terms): (&[Child], &[Term]) = match self {
            Self::Leaf(_) | Self::Decision(_) | Self::Number(_) => (&[], &[]),
            Self::Weighted(weighted) => (&[], &weighted.terms),
            Self::All(parts) | Self::Any(parts) | Self::Min(parts) | Self::Max(parts) => {
                (parts, &[])
            }
            Self::Gate { proxies, .. } => (proxies, &[]),
            Self::Invert(part, _) | Self::AtLeast(part, _) => (slice::from_ref(part), &[]),
        };
        parts.iter().chain(terms.iter().map(|term| &term.child))
    }

    /// Returns the operands that are evaluated after the others: the truths of a gate.
    pub(super) fn later_operands(&self) -> &[Child] {
        match self {
            Self::Gate { truths, .. } => truths,
            _ => &[],
        }
    }

    fn has_stages(&self) -> bool {
        let mut parts = self.operands();
        matches!(self, Self::Gate { .. } | Self::Decision(_))
            || parts.any(|it| it.node.has_stages())
    }

    fn has_decisions(&self) -> bool {
        let mut parts = self.operands().chain(self.later_operands());
        matches!(self, Self::Decision(_)) || parts.any(|part| part.node.has_decisions())
    }
}

fn plain(terms: &[Term]) -> Option<Box<[(usize, f64)]>> {
    let mut plain = vec![(0, 0.0); terms.len()];
    for Term {
        child,
        weight,
        place,
    } in terms
    {
        let Node::Leaf(index) = child.node else {
            return None;
        };
        plain[*place] = (index, *weight);
    }
    Some(plain.into())
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
    /// Whether components behind gates or in branches are evaluated after others, if at all.
    pub(super) has_stages: bool,
    pub(super) has_decisions: bool,
}

impl Tree {
    pub(in crate::composite) fn new(node: Node) -> Self {
        let (has_stages, has_decisions) = (node.has_stages(), node.has_decisions());
        Self {
            node,
            has_stages,
            has_decisions,
        }
    }
}
