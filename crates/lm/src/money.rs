//! Amounts of money as users write them: decimal numbers with a unit, converted exactly.

use super::{LmError, LmErrorKind};

/// The number of msat per US dollar, unless a different rate is set.
const MSATS_PER_USD: &str = "1000000";

/// The environment variable that sets the rate.
pub(super) const RATE: &str = "DSRS_MSATS_PER_USD";

/// Parses an amount of money into millisatoshis.
///
/// The amount has a unit, as in `5000 msat`, `5 sat` or `0.01 usd`.
///
/// A dollar is 1,000,000 msat, unless the `DSRS_MSATS_PER_USD` environment variable sets a different rate. An amount in
/// dollars is rounded up to a whole msat.
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
/// Returns [`LmError`] if the amount or the rate is invalid.
pub fn parse_msats(text: &str) -> Result<u64, LmError> {
    let rate = match std::env::var(RATE).ok().filter(|rate| !rate.is_empty()) {
        // The shortest equal decimal number, without an exponent.
        Some(found) => self::rate(&found)?.to_string(),
        None => MSATS_PER_USD.to_owned(),
    };
    amount(text.trim(), &rate).map_err(|reason| LmErrorKind::Other(reason).into())
}

/// Converts an amount to msat at a rate in msat per dollar.
fn amount(text: &str, rate: &str) -> Result<u64, String> {
    let unknown = || {
        format!(
            "expected an amount in `msat`, `sat` or `usd` (1 usd = {rate} msat), found `{text}`; write `100 msat`"
        )
    };
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let split = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let is_usd = unit.eq_ignore_ascii_case("usd");
    let msats = match unit {
        _ if is_usd => rate,
        "msat" | "msats" => "1",
        "sat" | "sats" => "1000",
        "" if split > 0 => {
            return Err(format!(
                "expected an amount with a unit, found `{text}`; write `{text} msat`"
            ));
        }
        _ => return Err(unknown()),
    };
    let has_digit = number.bytes().any(|byte| byte.is_ascii_digit());
    if !has_digit || number.matches('.').count() > 1 {
        return Err(unknown());
    }
    let too_large = || {
        let at = is_usd.then(|| format!(" (1 usd = {rate} msat)"));
        let at = at.unwrap_or_default();
        format!(
            "expected an amount of msat that fits in 64 bits, found `{text}`{at}; write `100 msat`"
        )
    };
    let (msats, has_rest) = product(&number, msats).ok_or_else(too_large)?;
    if has_rest && !is_usd {
        return Err(format!(
            "expected a whole number of millisatoshis, found `{text}`; write `100 msat`"
        ));
    }
    u64::try_from(msats.saturating_add(has_rest.into())).map_err(|_| too_large())
}

/// Returns the whole part of the product of two decimal numbers, and `true` if there is a remainder. Returns `None` if
/// the numbers have too many digits.
fn product(a: &str, b: &str) -> Option<(u128, bool)> {
    let ((a, a_scale), (b, b_scale)) = (digits(a)?, digits(b)?);
    let product = a.checked_mul(b)?;
    let divisor = 10_u128.checked_pow(a_scale.checked_add(b_scale)?)?;
    Some((product / divisor, product % divisor != 0))
}

/// Returns the digits of a decimal number, and how many of them follow the point.
fn digits(number: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("0{whole}{fraction}").parse().ok()?;
    Some((digits, u32::try_from(fraction.len()).ok()?))
}

/// Parses a rate.
pub(super) fn rate(found: &str) -> Result<f64, LmError> {
    let is_valid = |rate: &f64| rate.is_finite() && *rate > 0.0;
    let rate = found.trim().parse().ok().filter(is_valid);
    rate.ok_or_else(|| LmError::setting(RATE, found, "expected a positive number"))
}

#[cfg(test)]
mod tests {
    use super::{MSATS_PER_USD, amount};

    fn msats(text: &str) -> Result<u64, String> {
        amount(text, MSATS_PER_USD)
    }

    #[test]
    fn amounts_are_converted_exactly() {
        for (text, expected) in [
            ("5000 msat", 5000),
            ("1_000msats", 1000),
            ("5sat", 5000),
            ("0.25 sats", 250),
            ("1.500 sat", 1500),
            ("0.01 usd", 10_000),
            ("1.234567 USD", 1_234_567),
            // In binary floating point, 0.29 * 100 is 28.999999999999996.
            ("0.00000029 usd", 1),
            ("0.000029 usd", 29),
            ("18446744073709551615 msat", u64::MAX),
            ("18446744073709.551615 usd", u64::MAX),
        ] {
            assert_eq!(msats(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn dollars_are_rounded_up_at_any_rate() {
        assert_eq!(amount("0.05 usd", "1234567.89"), Ok(61_729), "61728.3945");
        assert_eq!(
            amount("0.0000001 usd", "1000000"),
            Ok(1),
            "a tenth of a msat"
        );
        assert_eq!(amount("0 usd", "1000000"), Ok(0));
        assert_eq!(amount("3 usd", "0.5"), Ok(2));
        assert_eq!(
            amount("5 msat", "7"),
            Ok(5),
            "the rate is that of dollars only"
        );
    }

    #[test]
    fn an_invalid_amount_is_quoted_with_what_to_write() {
        let units = "expected an amount in `msat`, `sat` or `usd` (1 usd = 1000000 msat), found";
        for (text, message, example) in [
            (
                "5000",
                "expected an amount with a unit, found `5000`",
                "5000 msat",
            ),
            ("5 EUR", &format!("{units} `5 EUR`"), "100 msat"),
            ("1e3 usd", &format!("{units} `1e3 usd`"), "100 msat"),
            (
                "0.0001 sat",
                "expected a whole number of millisatoshis, found `0.0001 sat`",
                "100 msat",
            ),
            (
                "99999999999999 usd",
                "expected an amount of msat that fits in 64 bits, found `99999999999999 usd` (1 usd = 1000000 msat)",
                "100 msat",
            ),
            (
                "18446744073709551616 msat",
                "expected an amount of msat that fits in 64 bits, found `18446744073709551616 msat`",
                "100 msat",
            ),
        ] {
            let error = msats(text).unwrap_err();
            assert_eq!(error, format!("{message}; write `{example}`"));
        }
        for text in [
            "",
            "msat",
            "-1 msat",
            ". usd",
            "1.2.3 sat",
            "_ sat",
            "$5",
            "1 usd 2",
        ] {
            let error = msats(text).unwrap_err();
            assert!(error.starts_with(units), "{text}: {error}");
        }
        let long = format!("0.{}1 usd", "0".repeat(60));
        let error = msats(&long).unwrap_err();
        assert!(
            error.starts_with("expected an amount of msat that fits in 64 bits"),
            "{error}"
        );
    }
}
