//! Checks of single fields. Each returns the reason for a failure, or `None`.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::core::score::check::Unscored;
use crate::json::describe::found;
use crate::text::NormalForm;

/// A field that is a JSON value, or a string that contains one.
pub(super) enum JsonField<'a> {
    Valid(Cow<'a, Value>),
    /// The string is not valid JSON, with the reason.
    Invalid(String),
}

impl<'a> JsonField<'a> {
    /// Parses the value of a field.
    ///
    /// # Errors
    /// Valid JSON that is nested too deep to be parsed.
    pub(super) fn parse(field: &str, value: &'a Value) -> Result<Self, Unscored> {
        let Value::String(json) = value else {
            return Ok(Self::Valid(Cow::Borrowed(value)));
        };
        match serde_json::from_str(json) {
            Ok(value) => Ok(Self::Valid(Cow::Owned(value))),
            Err(_) if serde_json::from_str::<IgnoredAny>(json).is_ok() => Err(Unscored::Because(
                format!("`pred.{field}` is JSON nested deeper than 127 levels"),
            )),
            Err(error) => Ok(Self::Invalid(format!(
                "`{field}` is not valid JSON: {error}"
            ))),
        }
    }
}

pub(super) fn missing(field: &str) -> String {
    format!("`{field}` is missing")
}

/// Checks for a boolean, or a string with one in any case.
pub(super) fn boolean(field: &str, value: Option<&Value>) -> Option<String> {
    match value {
        None => Some(missing(field)),
        Some(Value::Bool(_)) => None,
        Some(Value::String(text))
            if ["true", "false"]
                .iter()
                .any(|word| text.trim().eq_ignore_ascii_case(word)) =>
        {
            None
        }
        Some(other) => Some(format!(
            "`{field}`: expected true or false, found {}",
            found(other)
        )),
    }
}

/// Checks for a number in a closed interval, or a string with one.
pub(super) fn number_in(
    field: &str,
    value: Option<&Value>,
    [min, max]: [f64; 2],
) -> Option<String> {
    let Some(value) = value else {
        return Some(missing(field));
    };
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    };
    // The string "NaN" parses as a number that is in no interval.
    let is_in_range = number.is_some_and(|number| (min..=max).contains(&number));
    (!is_in_range).then(|| {
        format!(
            "`{field}`: expected a number in {min}..={max}, found {}",
            found(value)
        )
    })
}

/// Checks for a string of a minimum number of characters that contains a letter or digit.
pub(super) fn substantive(field: &str, value: Option<&Value>, min_chars: u64) -> Option<String> {
    let text = match value {
        None => return Some(missing(field)),
        Some(Value::String(text)) => text,
        Some(other) => {
            return Some(format!(
                "`{field}`: expected a string, found {}",
                found(other)
            ));
        }
    };
    let chars = length(text);
    if chars < min_chars {
        return Some(format!(
            "`{field}`: expected at least {min_chars} characters, found {chars}"
        ));
    }
    let has_alphanumeric = text.chars().any(char::is_alphanumeric);
    (!has_alphanumeric).then(|| format!("`{field}` contains no letter or digit"))
}

/// The number of characters in NFC, counting a run of white space between words as one.
fn length(text: &str) -> u64 {
    let text = NormalForm::Nfc.apply(text);
    let (mut chars, mut words) = (0, 0_u64);
    for word in text.split_whitespace() {
        chars += word.chars().count() as u64;
        words += 1;
    }
    chars + words.saturating_sub(1)
}

/// Whether a value is a string that is not blank.
pub(super) fn is_nonblank_string(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty())
}

/// The reason for the first item that fails a check, with its number from 1 and the number of
/// further failures.
pub(super) fn first_failure(
    noun: &str,
    items: &[Value],
    check: impl Fn(&Value) -> Option<String>,
) -> Option<String> {
    let mut failures = items
        .iter()
        .enumerate()
        .filter_map(|(at, item)| check(item).map(|reason| format!("{noun} {}: {reason}", at + 1)));
    let first = failures.next()?;
    Some(match failures.count() {
        0 => first,
        more => format!("{first}, and {more} more"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{length, number_in, substantive};

    #[test]
    fn trap_10_length_is_in_characters_not_bytes() {
        assert_eq!(
            [length("é"), length("e\u{301}"), length("東京都")],
            [1, 1, 3]
        );
        assert_eq!([length("  a \n b  "), length(" \t"), length("")], [3, 0, 0]);
        // 7 characters, 21 bytes.
        assert!(substantive("reasoning", Some(&json!("東京都港区芝公")), 20).is_some());
    }

    #[test]
    fn the_bounds_are_inclusive_and_other_values_fail() {
        let fits = |value| number_in("x", Some(&value), [0.0, 1.0]).is_none();
        assert!(fits(json!(0)) && fits(json!(1.0)) && fits(json!(" 0.5 ")));
        assert!(!fits(json!(-0.001)) && !fits(json!(1.001)) && !fits(json!(true)));
        assert!(!fits(json!("NaN")) && !fits(json!("inf")) && !fits(json!("high")));
    }
}
