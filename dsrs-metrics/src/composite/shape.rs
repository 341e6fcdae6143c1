//! An expression over components of any kind, before it is checked: metrics that are known at run time
//! ([`Expression`](super::Expression)), or those that `#[metric]` names.

use std::sync::Arc;

use crate::core::metric::Metric;
use crate::core::spec::MetricSpec;

/// How components are put together.
#[derive(Debug, Clone)]
pub enum Shape<L> {
    /// One component.
    Leaf(L),
    /// The weighted mean.
    Weighted(Vec<(Self, f64)>),
    /// Whether every part passes.
    All(Vec<Self>),
    /// Whether any part passes.
    Any(Vec<Self>),
    /// The smallest value.
    Min(Vec<Self>),
    /// The largest value.
    Max(Vec<Self>),
    /// The mean of the truths where the mean of the proxies reaches a bound.
    Gate {
        /// What is asked first.
        proxies: Vec<Self>,
        /// The bound.
        at_least: f64,
        /// What is asked where the proxies pass.
        truths: Vec<Self>,
    },
    /// The part upside down.
    Invert(Box<Self>),
    /// A pass from this value on.
    AtLeast(Box<Self>, f64),
}

/// A component as the rules see it.
pub trait Leaf {
    /// The metric's name.
    fn name(&self) -> &str;
    /// The metric's spec.
    fn spec(&self) -> MetricSpec<'_>;
    /// Whether both are one component, which is asked once a row.
    fn is(&self, other: &Self) -> bool;
}

impl<G: Sync, P: Sync> Leaf for Arc<dyn Metric<G, P>> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn spec(&self) -> MetricSpec<'_> {
        (**self).spec()
    }

    fn is(&self, other: &Self) -> bool {
        Self::ptr_eq(self, other)
    }
}

/// A component that `#[metric]` names.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Its number among the composite's components, in the order of the expression.
    pub index: usize,
    /// What stands behind its name in results: how it is configured.
    pub configured: &'static str,
    /// Its spec.
    pub spec: &'static MetricSpec<'static>,
}

impl Leaf for Named {
    fn name(&self) -> &str {
        self.spec.name
    }

    fn spec(&self) -> MetricSpec<'_> {
        *self.spec
    }

    fn is(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<L: Leaf> Shape<L> {
    /// The name of a part in messages: the metric's, or the combination's.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Leaf(leaf) => leaf.name().to_owned(),
            Self::Weighted(_) => "weighted(..)".to_owned(),
            Self::All(_) => "all(..)".to_owned(),
            Self::Any(_) => "any(..)".to_owned(),
            Self::Min(_) => "min(..)".to_owned(),
            Self::Max(_) => "max(..)".to_owned(),
            Self::Gate { .. } => "gate(..)".to_owned(),
            Self::Invert(part) => format!("invert({})", part.name()),
            Self::AtLeast(part, _) => part.name(),
        }
    }

    /// The component that a part is, under bounds.
    pub(super) fn component(&self) -> Option<&L> {
        match self {
            Self::Leaf(leaf) => Some(leaf),
            Self::AtLeast(part, _) => part.component(),
            _ => None,
        }
    }
}
