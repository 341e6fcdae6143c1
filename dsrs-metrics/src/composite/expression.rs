//! Expressions: components and how they are put together, before they are checked.

use std::fmt;
use std::sync::Arc;

use super::shape::Shape;
use crate::core::metric::Metric;
use crate::core::rows::dynamic::{Example, Prediction};

/// A component, or several put together. A part that stands in two places is evaluated once a row if
/// it is a clone of one value.
pub struct Part<G = Example, P = Prediction>(pub(super) Shape<Arc<dyn Metric<G, P>>>);

/// One metric as a component.
pub fn part<G, P, M>(metric: M) -> Part<G, P>
where
    G: Sync,
    P: Sync,
    M: Metric<G, P> + 'static,
{
    Part(Shape::Leaf(Arc::new(metric)))
}

/// The weighted mean; the weights must sum to 1.
pub fn weighted<G, P>(parts: impl IntoIterator<Item = (Part<G, P>, f64)>) -> Part<G, P> {
    Part(Shape::Weighted(parts.into_iter().map(|(part, weight)| (part.0, weight)).collect()))
}

/// True if every part passes: its verdict, or the bound set by [`Part::at_least`].
pub fn all<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::All(shapes(parts)))
}

/// True if any part passes: its verdict, or the bound set by [`Part::at_least`].
pub fn any<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::Any(shapes(parts)))
}

/// The smallest value.
pub fn min<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::Min(shapes(parts)))
}

/// The largest value.
pub fn max<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Part<G, P> {
    Part(Shape::Max(shapes(parts)))
}

/// The mean of the truths where the mean of the proxies is at least `at_least`; elsewhere the row is
/// gated: it has no score, the truths are not asked, and it ranks below every row that passed.
pub fn gate<G, P>(
    proxies: impl IntoIterator<Item = Part<G, P>>,
    at_least: f64,
    truths: impl IntoIterator<Item = Part<G, P>>,
) -> Part<G, P> {
    Part(Shape::Gate { proxies: shapes(proxies), at_least, truths: shapes(truths) })
}

/// The part upside down in its range, so that a lower-is-better part can stand beside others.
pub fn invert<G, P>(part: Part<G, P>) -> Part<G, P> {
    Part(Shape::Invert(Box::new(part.0)))
}

impl<G, P> Part<G, P> {
    /// Passes from this value on, whatever threshold the part has of its own.
    #[must_use]
    pub fn at_least(self, bound: f64) -> Self {
        Self(Shape::AtLeast(Box::new(self.0), bound))
    }
}

fn shapes<G, P>(parts: impl IntoIterator<Item = Part<G, P>>) -> Vec<Shape<Arc<dyn Metric<G, P>>>> {
    parts.into_iter().map(|part| part.0).collect()
}

impl<G, P> Clone for Part<G, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<G: Sync, P: Sync> fmt::Debug for Part<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Part").field(&self.0.name()).finish()
    }
}
