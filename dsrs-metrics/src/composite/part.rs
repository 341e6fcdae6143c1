//! Expressions: components and how they are put together, before they are checked.

use std::fmt;
use std::sync::Arc;

use crate::metric::Metric;
use crate::row::{Example, Prediction};

/// A component, or several put together. A part that stands in two places is evaluated once a row if
/// it is a clone of one value.
pub struct Part<G = Example, P = Prediction>(pub(super) Shape<G, P>);

pub(super) enum Shape<G, P> {
    Metric(Arc<dyn Metric<G, P>>),
    Weighted(Vec<(Part<G, P>, f64)>),
    All(Vec<Part<G, P>>),
    Any(Vec<Part<G, P>>),
    Min(Vec<Part<G, P>>),
    Max(Vec<Part<G, P>>),
    Gate { proxies: Vec<Part<G, P>>, at_least: f64, truths: Vec<Part<G, P>> },
    Invert(Box<Part<G, P>>),
    AtLeast(Box<Part<G, P>>, f64),
}

/// One metric as a component.
pub fn part<G, P, M>(metric: M) -> Part<G, P>
where
    G: Sync,
    P: Sync,
    M: Metric<G, P> + 'static,
{
    Part(Shape::Metric(Arc::new(metric)))
}

/// The weighted mean; the weights must sum to 1.
pub fn weighted<G, P>(parts: impl IntoIterator<Item = (Part<G, P>, f64)>) -> Part<G, P> {
    Part(Shape::Weighted(parts.into_iter().collect()))
}

/// True if every part passes: its verdict, or the bound set by [`Part::at_least`].
pub fn all<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::All(parts.into_iter().collect()))
}

/// True if any part passes: its verdict, or the bound set by [`Part::at_least`].
pub fn any<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::Any(parts.into_iter().collect()))
}

/// The smallest value.
pub fn min<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::Min(parts.into_iter().collect()))
}

/// The largest value.
pub fn max<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::Max(parts.into_iter().collect()))
}

/// The mean of the truths where the mean of the proxies is at least `at_least`; elsewhere the row is
/// gated: it has no score, the truths are not asked, and it ranks below every row that passed.
pub fn gate<G, P>(
    proxies: impl IntoIterator<Item = Part<G, P>>,
    at_least: f64,
    truths: impl IntoIterator<Item = Part<G, P>>,
) -> Part<G, P> {
    let (proxies, truths) = (proxies.into_iter().collect(), truths.into_iter().collect());
    Part(Shape::Gate { proxies, at_least, truths })
}

/// The part upside down in its range, so that a lower-is-better part can stand beside others.
pub fn invert<G, P>(part: Part<G, P>) -> Part<G, P> {
    Part(Shape::Invert(Box::new(part)))
}

impl<G, P> Part<G, P> {
    /// Passes from this value on, whatever threshold the part has of its own.
    #[must_use]
    pub fn at_least(self, bound: f64) -> Self {
        Self(Shape::AtLeast(Box::new(self), bound))
    }
}

impl<G, P> Clone for Part<G, P> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Shape::Metric(metric) => Shape::Metric(Arc::clone(metric)),
            Shape::Weighted(parts) => Shape::Weighted(parts.clone()),
            Shape::All(parts) => Shape::All(parts.clone()),
            Shape::Any(parts) => Shape::Any(parts.clone()),
            Shape::Min(parts) => Shape::Min(parts.clone()),
            Shape::Max(parts) => Shape::Max(parts.clone()),
            Shape::Gate { proxies, at_least, truths } => Shape::Gate {
                proxies: proxies.clone(),
                at_least: *at_least,
                truths: truths.clone(),
            },
            Shape::Invert(part) => Shape::Invert(part.clone()),
            Shape::AtLeast(part, bound) => Shape::AtLeast(part.clone(), *bound),
        })
    }
}

impl<G, P> fmt::Debug for Part<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, parts: &[Self]| {
            let mut tuple = f.debug_tuple(name);
            parts.iter().for_each(|part| {
                tuple.field(part);
            });
            tuple.finish()
        };
        match &self.0 {
            Shape::Metric(_) => f.write_str("Metric(..)"),
            Shape::Weighted(parts) => f.debug_tuple("Weighted").field(parts).finish(),
            Shape::All(parts) => list(f, "All", parts),
            Shape::Any(parts) => list(f, "Any", parts),
            Shape::Min(parts) => list(f, "Min", parts),
            Shape::Max(parts) => list(f, "Max", parts),
            Shape::Gate { proxies, at_least, truths } => {
                f.debug_tuple("Gate").field(proxies).field(at_least).field(truths).finish()
            }
            Shape::Invert(part) => f.debug_tuple("Invert").field(part).finish(),
            Shape::AtLeast(part, bound) => {
                f.debug_tuple("AtLeast").field(part).field(bound).finish()
            }
        }
    }
}
