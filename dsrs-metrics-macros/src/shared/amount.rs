//! Amounts of money as users write them: decimal numbers with a unit, converted exactly.
//! The library reads amounts by the same rules (`lm/money.rs`).

use std::fmt;

/// The default number of msat per US dollar.
pub(crate) const MSATS_PER_USD: &str = "1000000";

/// Why an amount is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AmountError {
    /// The amount has no unit.
    NoUnit { number: String },
    /// The amount does not begin with a number, or its unit is unknown.
    Unit {
        found: String,
        msats_per_usd: String,
    },
    /// The amount is not a whole number of msat.
    Fraction { found: String },
    /// The amount does not fit into 64 bits of msat.
    TooLarge {
        found: String,
        msats_per_usd: Option<String>,
    },
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUnit { number } => {
                write!(f, "expected an amount with a unit, found `{number}`")
            }
            Self::Unit {
                found,
                msats_per_usd,
            } => write!(
                f,
                "expected an amount in `msat`, `sat` or `usd` (1 usd = {msats_per_usd} msat), found `{found}`"
            ),
            Self::Fraction { found } => {
                write!(
                    f,
                    "expected a whole number of millisatoshis, found `{found}`"
                )
            }
            Self::TooLarge {
                found,
                msats_per_usd,
            } => {
                write!(
                    f,
                    "expected an amount of msat that fits in 64 bits, found `{found}`"
                )?;
                match msats_per_usd {
                    Some(rate) => write!(f, " (1 usd = {rate} msat)"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl AmountError {
    /// Returns an amount to write instead.
    pub(crate) fn example(&self) -> String {
        match self {
            Self::NoUnit { number } if number.contains('.') => format!("{number} usd"),
            Self::NoUnit { number } => format!("{number} msat"),
            Self::Unit { found, .. } => meant(found).unwrap_or_else(|| "100 msat".to_owned()),
            Self::Fraction { found } if !found.contains("sat") => format!("{found} usd"),
            _ => "100 msat".to_owned(),
        }
    }
}

/// Returns the amount that was probably meant if the unit was written differently: `0.01 usd` for `$0.01`.
fn meant(found: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let number: String = found.chars().filter(|c| is_digit(*c)).collect();
    let unit: String = found.chars().filter(|c| !is_digit(*c)).collect();
    let unit = unit.trim().to_lowercase();
    let value: f64 = number.parse().ok()?;
    let unit = match &*unit {
        "cent" | "cents" | "ct" | "cts" => return Some(format!("{} usd", value / 100.0)),
        "msat" | "msats" | "millisat" | "millisats" | "millisatoshi" | "millisatoshis" => "msat",
        "sat" | "sats" | "satoshi" | "satoshis" => "sat",
        "tokens" | "token" | "calls" => return None,
        _ if number.contains('.') || unit.contains(['$', '€', '£']) => "usd",
        "dollar" | "dollars" | "eur" | "euro" | "euros" => "usd",
        _ => return None,
    };
    (unit == "usd" || value.fract() == 0.0).then(|| format!("{number} {unit}"))
}

/// Parses `5000 msat`, `0.5 sat` or `0.01 usd` as millisatoshis. `msats_per_usd` is a decimal number. Dollars are
/// rounded up to a whole msat, like the cost of a call; other units must give a whole number of msat.
pub(crate) fn parse(text: &str, msats_per_usd: &str) -> Result<u64, AmountError> {
    let text = text.trim();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
    let split = text.find(|c| !is_digit(c)).unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let found = || text.to_owned();
    let unknown = || AmountError::Unit {
        found: found(),
        msats_per_usd: msats_per_usd.to_owned(),
    };
    let is_usd = unit.eq_ignore_ascii_case("usd");
    let rate = match unit {
        _ if is_usd => msats_per_usd,
        "msat" | "msats" => "1",
        "sat" | "sats" => "1000",
        "" if split > 0 => return Err(AmountError::NoUnit { number: found() }),
        _ => return Err(unknown()),
    };
    let is_number =
        number.bytes().any(|byte| byte.is_ascii_digit()) && number.matches('.').count() < 2;
    if !is_number {
        return Err(unknown());
    }
    let too_large = || {
        let msats_per_usd = is_usd.then(|| msats_per_usd.to_owned());
        AmountError::TooLarge {
            found: found(),
            msats_per_usd,
        }
    };
    match product(&number, rate).ok_or_else(too_large)? {
        (_, true) if !is_usd => Err(AmountError::Fraction { found: found() }),
        (msats, has_rest) => msats
            .checked_add(u128::from(has_rest))
            .and_then(|msats| u64::try_from(msats).ok())
            .ok_or_else(too_large),
    }
}

/// Returns the whole part of a product of decimal numbers, and `true` if there is a remainder. Returns `None` if the
/// numbers have too many digits.
fn product(a: &str, b: &str) -> Option<(u128, bool)> {
    let ((a, a_scale), (b, b_scale)) = (digits(a)?, digits(b)?);
    let product = a.checked_mul(b)?;
    let divisor = 10_u128.checked_pow(a_scale.checked_add(b_scale)?)?;
    Some((product / divisor, product % divisor != 0))
}

/// Returns the digits of a decimal number, and how many of them follow the decimal point.
fn digits(number: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("0{whole}{fraction}").parse().ok()?;
    Some((digits, u32::try_from(fraction.len()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::{AmountError, MSATS_PER_USD, parse};

    fn msats(text: &str) -> Result<u64, AmountError> {
        parse(text, MSATS_PER_USD)
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
        assert_eq!(parse("0.05 usd", "1234567.89"), Ok(61_729), "61728.3945");
        assert_eq!(
            parse("0.0000001 usd", "1000000"),
            Ok(1),
            "a tenth of a msat"
        );
        assert_eq!(parse("0 usd", "1000000"), Ok(0));
        assert_eq!(parse("3 usd", "0.5"), Ok(2));
        assert_eq!(
            parse("5 msat", "7"),
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
            ("5 EUR", &format!("{units} `5 EUR`"), "5 usd"),
            ("$0.01", &format!("{units} `$0.01`"), "0.01 usd"),
            ("3 cents", &format!("{units} `3 cents`"), "0.03 usd"),
            (
                "20 millisats",
                &format!("{units} `20 millisats`"),
                "20 msat",
            ),
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
            assert_eq!(
                (error.to_string().as_str(), error.example().as_str()),
                (message, example)
            );
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
            assert!(
                matches!(msats(text), Err(AmountError::Unit { .. })),
                "{text}"
            );
        }
        let long = format!("0.{}1 usd", "0".repeat(60));
        assert!(
            matches!(msats(&long), Err(AmountError::TooLarge { .. })),
            "{long}"
        );
    }
}
