//! The return types of the function of `explain = ..` in `#[metric]`.

use std::borrow::Cow;

use crate::score::Scored;

/// Types that the function of `explain = ..` may return.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// fn reason(found: f64, _score: f64) -> Option<&'static str> {
///     (found < 0.0).then_some("a share is not negative")
/// }
///
/// #[metric(explain = reason)]
/// fn is_share(#[pred] share: f64) -> bool {
///     (0.0..=1.0).contains(&share)
/// }
///
/// let score = IsShare.score(&example! {}, &prediction! { "share" => -0.5 })?;
/// assert_eq!(score.details.as_deref(), Some("a share is not negative"));
/// assert_eq!(IsShare.score(&example! {}, &prediction! { "share" => 0.5 })?.details, None);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an explanation cannot be `{Self}`",
    label = "not an explanation",
    note = "return `String`, `&'static str`, or an `Option` of one of these (`None` leaves the score without details)"
)]
pub trait Explanation {
    /// Returns the details of the score.
    fn into_details(self) -> Option<String>;
}

#[diagnostic::do_not_recommend]
impl Explanation for String {
    fn into_details(self) -> Option<String> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl Explanation for &'static str {
    fn into_details(self) -> Option<String> {
        Some(self.to_owned())
    }
}

#[diagnostic::do_not_recommend]
impl Explanation for Cow<'static, str> {
    fn into_details(self) -> Option<String> {
        Some(self.into_owned())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Explanation> Explanation for Option<T> {
    fn into_details(self) -> Option<String> {
        self.and_then(T::into_details)
    }
}

/// Adds the explanation to a score, if there is one.
pub fn explained(scored: Scored, details: Option<String>) -> Scored {
    match details {
        Some(details) => scored.explained(details),
        None => scored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_of_any_type_is_its_text() {
        let why = || "why".to_owned();
        for details in [
            "why".into_details(),
            why().into_details(),
            Cow::Borrowed("why").into_details(),
            Cow::<'static, str>::Owned(why()).into_details(),
            Some("why").into_details(),
        ] {
            assert_eq!(details, Some(why()));
        }
        assert_eq!(None::<String>.into_details(), None);
    }
}
