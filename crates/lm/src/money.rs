//! Amounts of money in the settings of a run, with its rate of dollars.

use super::amount;
use super::{LmError, LmErrorKind};

/// The environment variable of the rate.
pub(super) const RATE: &str = "DSRS_MSATS_PER_USD";

/// Parses an amount of money, such as `5000 msat`, `5 sat` or `0.01 usd`, as millisatoshis, for the methods that take a
/// number of them.
///
/// A dollar is 1,000,000 msat, or what the environment variable `DSRS_MSATS_PER_USD` sets. The conversion is exact; an
/// amount in dollars is rounded up to a whole msat, as the cost of a call is.
///
/// ```
/// use dsrs_metrics::judge::shipped::LlmJudge;
/// use dsrs_metrics::lm::parse_msats;
///
/// # fn main() -> Result<(), dsrs_metrics::lm::LmError> {
/// assert_eq!((parse_msats("0.01 usd")?, parse_msats("0.5 sat")?), (10_000, 500));
/// let judge = LlmJudge::builder().cost_msats(parse_msats("0.0005 usd")?).build();
/// # drop(judge);
/// assert_eq!(
///     parse_msats("5").unwrap_err().to_string(),
///     "expected an amount with a unit, found `5`; write `5 msat`"
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`LmError`], if the amount or the rate is invalid.
pub fn parse_msats(text: &str) -> Result<u64, LmError> {
    let rate = match std::env::var(RATE).ok().filter(|rate| !rate.is_empty()) {
        Some(rate) => decimal(&rate)?,
        None => amount::MSATS_PER_USD.to_owned(),
    };
    amount::parse(text, &rate).map_err(|error| {
        let reason = format!("{error}; write `{}`", error.example());
        LmErrorKind::Other { reason }.into()
    })
}

/// Parses a rate.
pub(super) fn rate(found: &str) -> Result<f64, LmError> {
    let is_valid = |rate: &f64| rate.is_finite() && *rate > 0.0;
    found.trim().parse().ok().filter(is_valid).ok_or_else(|| {
        let reason = "expected a positive number".to_owned();
        let (setting, found) = (RATE.to_owned(), found.to_owned());
        LmErrorKind::InvalidSetting {
            setting,
            found,
            reason,
        }
        .into()
    })
}

/// Returns a rate as the shortest decimal number that is equal to it, without an exponent.
fn decimal(found: &str) -> Result<String, LmError> {
    Ok(rate(found)?.to_string())
}
