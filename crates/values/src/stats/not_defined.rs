//! The reason why rows determine no score.

use std::borrow::Cow;

/// The reason why a score is not defined for the given rows, such as a correlation where all values are equal. It is
/// neither 0 nor NaN.
///
/// ```
/// use dsrs_metrics::stats::{NotDefined, ValuePairs};
///
/// let mut pairs = ValuePairs::default();
/// pairs.add(1.0, 0.5);
/// pairs.add(1.0, 0.7);
/// assert_eq!(pairs.spearman(), Err(NotDefined::from("all gold values are equal")));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotDefined(Cow<'static, str>);

crate::debug_as_display!(NotDefined);

conversions! {
    &'static str => NotDefined: |reason| Self(reason.into());
    String => NotDefined: |reason| Self(reason.into());
}
