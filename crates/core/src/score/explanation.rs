//! The return types of the function of `explain = ..` in `#[metric]`.

use std::borrow::Cow;

use crate::score::Scored;

/// Types that the function of `explain = ..` may return.
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
#[must_use]
pub fn explained(scored: Scored, details: Option<String>) -> Scored {
    match details {
        Some(details) => scored.explained(details),
        None => scored,
    }
}
