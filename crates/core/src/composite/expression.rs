//! Expressions: components and their combinations, before validation.

use std::fmt;
use std::sync::Arc;

use super::shape::{Combinator, Shape};
use crate::metric::Metric;
use crate::rows::{Example, Prediction};

/// An expression that describes how a composite combines its components.
///
/// If an expression uses clones of the same component, the component is evaluated once per row.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use dsrs_metrics::composite::{Composite, all, any, component};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let calls = Arc::new(AtomicU32::new(0));
/// let counted = Arc::clone(&calls);
/// let answered = component(metric_fn("answered", move |_, pred| {
///     counted.fetch_add(1, Ordering::Relaxed);
///     pred.get("answer").is_some()
/// }));
/// let both = all([any([answered.clone()]), answered]);
/// let both = Composite::builder("both", both).build()?;
/// assert_eq!(both.evaluate(&example! {}, &prediction! { "answer" => 4 }).await?.value, 1.0);
/// assert_eq!(calls.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
pub struct Expression<G = Example, P = Prediction>(pub(super) Shape<Arc<dyn Metric<G, P>>>);

/// Creates an expression from a single metric.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component};
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let overlap = Composite::builder("overlap", component(F1::default())).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(overlap.evaluate(&gold, &pred).await?.value, 2.0 / 3.0);
/// # Ok(())
/// # }
/// ```
pub fn component<G, P, M>(metric: M) -> Expression<G, P>
where
    G: Sync,
    P: Sync,
    M: Metric<G, P> + 'static,
{
    Expression(Shape::Leaf(Arc::new(metric)))
}

/// Creates an expression whose value is the weighted mean of its components.
///
/// The weights must sum to 1.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, weighted};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let blend = weighted([(component(Em::default()), 0.25), (component(F1::default()), 0.75)]);
/// let blend = Composite::builder("blend", blend).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// // 0.25 * 0 + 0.75 * 2 / 3
/// assert_eq!(blend.evaluate(&gold, &pred).await?.value, 0.5);
/// # Ok(())
/// # }
/// ```
pub fn weighted<G, P>(
    parts: impl IntoIterator<Item = (Expression<G, P>, f64)>,
) -> Expression<G, P> {
    let parts = parts.into_iter().map(|(part, weight)| (part.0, weight));
    Expression(Shape::Weighted(parts.collect()))
}

/// Creates an expression that passes if every component passes.
///
/// By default, the component's own verdict decides whether it passes. You can set a different bound with
/// [`Expression::at_least`].
///
/// ```
/// use dsrs_metrics::composite::{Composite, all, component};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let both = all([component(Em::default()), component(F1::default()).at_least(0.5)]);
/// let both = Composite::builder("both", both).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(both.evaluate(&gold, &pred).await?.value, 0.0, "the match is not exact");
/// # Ok(())
/// # }
/// ```
pub fn all<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Combinator::All, parts)
}

/// Creates an expression that passes if any component passes.
///
/// By default, the component's own verdict decides whether it passes. You can set a different bound with
/// [`Expression::at_least`].
///
/// ```
/// use dsrs_metrics::composite::{Composite, any, component};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let either = any([component(Em::default()), component(F1::default()).at_least(0.5)]);
/// let either = Composite::builder("either", either).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(either.evaluate(&gold, &pred).await?.value, 1.0, "F1 is 0.67");
/// # Ok(())
/// # }
/// ```
pub fn any<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Combinator::Any, parts)
}

/// Creates an expression whose value is the minimum of its components.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, min};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let worst = min([component(Em::default()), component(F1::default())]);
/// let worst = Composite::builder("worst", worst).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(worst.evaluate(&gold, &pred).await?.value, 0.0);
/// # Ok(())
/// # }
/// ```
pub fn min<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Combinator::Min, parts)
}

/// Creates an expression whose value is the maximum of its components.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, max};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let best = max([component(Em::default()), component(F1::default())]);
/// let best = Composite::builder("best", best).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(best.evaluate(&gold, &pred).await?.value, 2.0 / 3.0);
/// # Ok(())
/// # }
/// ```
pub fn max<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Combinator::Max, parts)
}

/// Creates an expression that evaluates expensive components only if cheap ones score high enough.
///
/// The cheap components are the proxies, and the expensive ones are the truths. If the mean of the proxies is at least
/// `at_least`, the value is the mean of the truths.
///
/// Otherwise, the row is gated. The truths are not evaluated, and the row has no score.
///
/// A gated row ranks below every row that passed the gate.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, gate};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answered = metric_fn("answered", |_, pred| pred.get("answer").is_some());
/// let correct = metric_fn("correct", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let correct = component(correct.with_tier(MetricTier::Truth));
/// let checked = Composite::builder("checked", gate([component(answered)], 1.0, [correct])).build()?;
/// let gold = example! { "answer" => 4 };
/// let gated = checked.answer(MetricCall::new(&gold, &prediction! {})).await;
/// assert_eq!(Outcome::from(gated), Outcome::Gated { by: "answered".into() });
/// assert_eq!(checked.evaluate(&gold, &prediction! { "answer" => 5 }).await?.value, 0.0);
/// # Ok(())
/// # }
/// ```
pub fn gate<G, P>(
    proxies: impl IntoIterator<Item = Expression<G, P>>,
    at_least: f64,
    truths: impl IntoIterator<Item = Expression<G, P>>,
) -> Expression<G, P> {
    Expression(Shape::Gate {
        proxies: shapes(proxies),
        at_least,
        truths: shapes(truths),
    })
}

/// Creates an expression that inverts a component's value within its range.
///
/// For example, 2 in the range [0, 5] becomes 3. You can use this to combine lower-is-better and higher-is-better
/// components.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, invert};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let errors = metric_fn("errors", |_, _| 2.0).with_range(0.0, 5.0).lower_is_better();
/// let without = Composite::builder("without_errors", invert(component(errors))).build()?;
/// assert_eq!(without.evaluate(&example! {}, &prediction! {}).await?.value, 3.0);
/// # Ok(())
/// # }
/// ```
pub fn invert<G, P>(part: Expression<G, P>) -> Expression<G, P> {
    Expression(Shape::Invert(Box::new(part.0)))
}

impl<G, P> Expression<G, P> {
    /// Sets the smallest passing value.
    ///
    /// This bound replaces the component's own threshold.
    ///
    /// ```
    /// use dsrs_metrics::composite::{Composite, all, component};
    /// use dsrs_metrics::metrics::{Em, F1};
    ///
    /// let parts = |f1| all([component(Em::default()), f1]);
    /// let error = Composite::builder("both", parts(component(F1::default()))).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "composite `both`: `f1` has a score but no verdict; set a pass threshold with `at_least`"
    /// );
    /// Composite::builder("both", parts(component(F1::default()).at_least(0.5))).build()?;
    /// # Ok::<(), dsrs_metrics::composite::CompositeError>(())
    /// ```
    pub fn at_least(self, bound: f64) -> Self {
        Self(Shape::AtLeast(Box::new(self.0), bound))
    }
}

fn combined<G, P>(
    combinator: Combinator,
    parts: impl IntoIterator<Item = Expression<G, P>>,
) -> Expression<G, P> {
    Expression(Shape::Combined(combinator, shapes(parts)))
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
