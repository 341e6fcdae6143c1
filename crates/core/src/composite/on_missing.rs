//! The effect of a component without a score on its composite.

use serde::{Deserialize, Serialize};

/// The effect of a metric that fails, abstains or panics on the score that it is a component of.
/// A missing component never counts as a pass.
///
/// It applies to the rollouts of a row as well: if one has no score, the row has none
/// ([`Fail`](Self::Fail)), or the rollout is omitted and counted ([`Skip`](Self::Skip)).
///
/// ```
/// use dsrs_metrics::composite::{Composite, OnMissing, component, weighted};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let rating = metric_fn("rating", |_, _| None::<f64>).with_range(0.0, 1.0);
/// let named = metric_fn("named", |_, _| true);
/// let blend = weighted([(component(rating), 0.25), (component(named), 0.75)]);
/// let (gold, pred) = (example! {}, prediction! {});
/// let mut values = Vec::new();
/// for on_missing in [OnMissing::Fail, OnMissing::Skip, OnMissing::Zero] {
///     let blend = Composite::builder("blend", blend.clone()).on_missing(on_missing).build()?;
///     values.push(blend.evaluate(&gold, &pred).await.ok().map(|score| score.value));
/// }
/// assert_eq!(values, [None, Some(1.0), Some(0.75)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnMissing {
    /// The composite has no score, and its error names the component.
    #[default]
    Fail,
    /// The component is omitted. The composite has no score if all components are missing.
    Skip,
    /// The component counts as its worst value: the minimum of its range (the maximum if the composite
    /// inverts it), or 0 if it declares no range.
    Zero,
}

/// A value is missing, and nothing replaces it.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct IsMissing;

impl OnMissing {
    /// Returns the replacement of a missing value whose worst value is given; `None` omits it.
    ///
    /// # Errors
    /// If the whole that the value is a component of has no value either.
    #[inline]
    #[doc(hidden)]
    pub fn replacement<T>(self, worst: T) -> Result<Option<T>, IsMissing> {
        match self {
            Self::Fail => Err(IsMissing),
            Self::Skip => Ok(None),
            Self::Zero => Ok(Some(worst)),
        }
    }
}
