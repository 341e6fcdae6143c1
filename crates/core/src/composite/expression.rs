//! Expressions: components and their combinations, before validation.

use std::fmt;
use std::sync::Arc;

use super::shape::Shape;
use crate::metric::Metric;
use crate::rows::dynamic::{Example, Prediction};

/// A component, or a combination of several. A component that is used twice is evaluated once per row if both uses
/// are clones of one value.
pub struct Expression<G = Example, P = Prediction>(pub(super) Shape<Arc<dyn Metric<G, P>>>);

/// Creates a component from a metric.
pub fn component<G, P, M>(metric: M) -> Expression<G, P>
where
    G: Sync,
    P: Sync,
    M: Metric<G, P> + 'static,
{
    Expression(Shape::Leaf(Arc::new(metric)))
}

/// Returns the weighted mean of components. The weights must sum to 1.
pub fn weighted<G, P>(
    parts: impl IntoIterator<Item = (Expression<G, P>, f64)>,
) -> Expression<G, P> {
    Expression(Shape::Weighted(parts.into_iter().map(|(part, weight)| (part.0, weight)).collect()))
}

/// Returns a composite that passes if every component passes, by its verdict or the bound set by
/// [`Expression::at_least`].
pub fn all<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    Expression(Shape::All(shapes(parts)))
}

/// Returns a composite that passes if any component passes, by its verdict or the bound set by
/// [`Expression::at_least`].
pub fn any<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    Expression(Shape::Any(shapes(parts)))
}

/// Returns the smallest value of the components.
pub fn min<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    Expression(Shape::Min(shapes(parts)))
}

/// Returns the largest value of the components.
pub fn max<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    Expression(Shape::Max(shapes(parts)))
}

/// Returns the mean of the truths if the mean of the proxies is at least `at_least`. Otherwise the row is
/// gated: it has no score, the truths are not evaluated, and it ranks below every row that passed.
pub fn gate<G, P>(
    proxies: impl IntoIterator<Item = Expression<G, P>>,
    at_least: f64,
    truths: impl IntoIterator<Item = Expression<G, P>>,
) -> Expression<G, P> {
    Expression(Shape::Gate { proxies: shapes(proxies), at_least, truths: shapes(truths) })
}

/// Mirrors the component's value in its range, so that a lower-is-better component can be combined with others.
pub fn invert<G, P>(part: Expression<G, P>) -> Expression<G, P> {
    Expression(Shape::Invert(Box::new(part.0)))
}

impl<G, P> Expression<G, P> {
    /// Sets the smallest value that is a pass, in place of the component's own threshold.
    #[must_use]
    pub fn at_least(self, bound: f64) -> Self {
        Self(Shape::AtLeast(Box::new(self.0), bound))
    }
}

fn shapes<G, P>(
    parts: impl IntoIterator<Item = Expression<G, P>>,
) -> Vec<Shape<Arc<dyn Metric<G, P>>>> {
    parts.into_iter().map(|part| part.0).collect()
}

impl<G, P> Clone for Expression<G, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<G: Sync, P: Sync> fmt::Debug for Expression<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.0.name()).finish()
    }
}
