//! Numbers as written in JSON text. `serde_json` silently changes the value of some of them.

use std::borrow::Cow;

/// A number in JSON text.
pub struct Number<'t> {
    /// The byte offset of the number in the text.
    pub offset: usize,
    /// The number, exactly as written in the text.
    pub text: &'t str,
    /// The key of the number in the outermost object, including its quotes.
    ///
    /// `None` if the number is not a value of this object.
    pub key: Option<&'t str>,
}

/// Returns an iterator over the numbers in valid JSON text, in order.
pub fn numbers(text: &str) -> impl Iterator<Item = Number<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut key) = (0, 0_usize, None);
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'"' => {
                    at += string_length(&bytes[at..]);
                    key = Some(&text[start..at]);
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' => key = None,
                b'-' | b'0'..=b'9' => {
                    at = start + number_length(&bytes[start..]);
                    let key = key.filter(|_| depth == 1);
                    return Some(Number {
                        offset: start,
                        text: &text[start..at],
                        key,
                    });
                }
                _ => {}
            }
        }
        None
    })
}

/// Returns the length of the rest of a string after its opening quote, including the closing one.
fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    let end = bytes.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(bytes.len(), |end| end + 1)
}

fn number_length(bytes: &[u8]) -> usize {
    let in_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    bytes.iter().take_while(in_number).count()
}

/// The numbers that Python writes and JSON does not have.
const CONSTANTS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// Replaces `NaN`, `Infinity` and `-Infinity` in JSON text.
///
/// `with` contains the three replacements, in the same order. Strings are left unchanged.
pub fn replace_constants<'t>(text: &'t str, with: [&str; 3]) -> Cow<'t, str> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return text.into();
    }
    let (mut replaced, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(['"', 'N', 'I', '-']) {
        replaced.push_str(&rest[..start]);
        rest = &rest[start..];
        let mut constants = CONSTANTS.iter().zip(with);
        let (length, with) = match constants.find(|(constant, _)| rest.starts_with(**constant)) {
            Some((constant, with)) => (constant.len(), with),
            None if rest.starts_with('"') => {
                let length = 1 + string_length(&rest.as_bytes()[1..]);
                (length, &rest[..length])
            }
            None => (1, &rest[..1]),
        };
        replaced.push_str(with);
        rest = &rest[length..];
    }
    replaced.push_str(rest);
    replaced.into()
}

/// Returns `true` if the text is a number that is not finite, such as `nan`, `-inf` or `Infinity`.
///
/// JSON cannot represent these numbers.
pub fn is_not_finite(text: &str) -> bool {
    let name = text.trim().trim_start_matches(['-', '+']);
    ["nan", "inf", "infinity"]
        .iter()
        .any(|other| name.eq_ignore_ascii_case(other))
}

/// Returns the first number that `serde_json` cannot read exactly, with the reason.
///
/// The text must be valid JSON.
pub fn inexact_number(text: &str) -> Option<(&str, &'static str)> {
    if !may_be_inexact(text) {
        return None;
    }
    numbers(text).find_map(|number| match number.text {
        text if is_long_integer(text) => Some((text, "is longer than 64 bits")),
        text if is_underflow(text) => Some((text, "is out of range")),
        _ => None,
    })
}

/// How many digits every `i64` and `u64` has room for.
const EXACT_DIGITS: usize = 18;

/// Returns `true` if the text has a run of digits that may be too long for an integer, or a negative exponent. Numbers
/// without either are exact. Few bytes are read, because every run that long covers one of each `EXACT_DIGITS` bytes.
fn may_be_inexact(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_long_run = (0..bytes.len()).step_by(EXACT_DIGITS).any(|at| {
        let before = bytes[..at]
            .iter()
            .rev()
            .take_while(|it| it.is_ascii_digit());
        let after = bytes[at..].iter().take_while(|it| it.is_ascii_digit());
        bytes[at].is_ascii_digit() && before.count() + after.count() > EXACT_DIGITS
    });
    has_long_run || text.contains("e-") || text.contains("E-")
}

/// Returns `true` if the number is an integer that does not fit into `i64` or `u64`.
///
/// `serde_json` reads a longer integer as a float.
pub fn is_long_integer(number: &str) -> bool {
    let is_integer = !number.contains(['.', 'e', 'E']);
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// Returns `true` if a nonzero number is so small that it is read as 0.
pub fn is_underflow(number: &str) -> bool {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    digits.contains(|digit: char| ('1'..='9').contains(&digit)) && number.parse() == Ok(0.0_f64)
}

/// Adds the missing zero to a number such as `.5` or `-.5`.
///
/// JSON requires this zero. Returns `None` for any other text.
pub fn with_zero(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    digits.starts_with('.').then(|| format!("{sign}0{digits}"))
}

#[cfg(test)]
mod tests {
    use super::{inexact_number, is_underflow, numbers};

    #[test]
    fn inexact_numbers_are_found_at_any_place() {
        let tiny = format!("0.{}1", "0".repeat(330));
        for place in 0..40 {
            let found = |number: &str| {
                let text = format!("{}{number}]", "[".repeat(place + 1));
                inexact_number(&text).map(|(found, reason)| (found == number, reason))
            };
            let too_long = Some((true, "is longer than 64 bits"));
            let underflow = Some((true, "is out of range"));
            assert_eq!(found("18446744073709551616"), too_long);
            assert_eq!(found("-9223372036854775809"), too_long);
            assert_eq!(found("1e-400"), underflow);
            assert_eq!(found("2.5E-324"), None);
            assert_eq!(found("2E-324"), underflow);
            assert_eq!(found(&tiny), underflow);
            for exact in [
                "18446744073709551615",
                "-9223372036854775808",
                "0.30000000000000004",
            ] {
                assert_eq!(found(exact), None, "{exact}");
            }
        }
    }

    #[test]
    fn numbers_are_found_outside_of_strings_with_their_keys() {
        let text = r#"{"a": [1, {"b": -2.5e3}], "c\"1": "4", "\\": 5, "d" : 0, "e": [6]}"#;
        let found: Vec<_> = numbers(text)
            .map(|number| (number.text, number.key))
            .collect();
        assert_eq!(
            found,
            [
                ("1", None),
                ("-2.5e3", None),
                ("5", Some(r#""\\""#)),
                ("0", Some("\"d\"")),
                ("6", None)
            ]
        );
        assert_eq!(numbers(text).next().unwrap().offset, 7);
    }

    #[test]
    fn underflow_is_not_zero() {
        for number in ["1e-400", "-0.1E-324", "0.00001e-330"] {
            assert!(is_underflow(number), "{number}");
        }
        for number in ["0", "-0.0", "0e-400", "0.000e5", "5e-324", "1e-300"] {
            assert!(!is_underflow(number), "{number}");
        }
    }
}
