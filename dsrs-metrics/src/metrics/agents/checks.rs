//! What is checked of a field in a reply: the reason against it, or nothing.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::json::describe::found;
use crate::metrics::check::Unscored;
use crate::text::NormalForm;

/// A value, or the one that a text holds as JSON.
pub(super) enum Given<'a> {
    Json(Cow<'a, Value>),
    /// The text is no JSON, for this reason.
    Text(String),
}

impl<'a> Given<'a> {
    /// Reads the value of a field.
    ///
    /// # Errors
    /// JSON that is nested too deeply to be read, which does not say that it is none.
    pub(super) fn read(field: &str, value: &'a Value) -> Result<Self, Unscored> {
        let Value::String(text) = value else {
            return Ok(Self::Json(Cow::Borrowed(value)));
        };
        match serde_json::from_str(text) {
            Ok(value) => Ok(Self::Json(Cow::Owned(value))),
            Err(_) if serde_json::from_str::<IgnoredAny>(text).is_ok() => Err(Unscored::Because(
                format!("`pred.{field}` is JSON nested deeper than 127 levels"),
            )),
            Err(error) => Ok(Self::Text(format!("`{field}` is no JSON: {error}"))),
        }
    }
}

/// A row that has none of the fields is of another kind, and no bad reply.
pub(super) fn one_of<const N: usize>(fields: [(&str, Option<&Value>); N]) -> Result<(), Unscored> {
    if fields.iter().any(|(_, value)| value.is_some()) {
        return Ok(());
    }
    let names = fields.map(|(field, _)| format!("`pred.{field}`"));
    Err(Unscored::Because(format!("the row has none of {}", names.join(", "))))
}

pub(super) fn missing(field: &str) -> String {
    format!("there is no `{field}`")
}

/// A boolean, or a text that says one in any case.
pub(super) fn boolean(field: &str, value: Option<&Value>) -> Option<String> {
    match value {
        None => Some(missing(field)),
        Some(Value::Bool(_)) => None,
        Some(Value::String(text))
            if ["true", "false"].iter().any(|word| text.trim().eq_ignore_ascii_case(word)) =>
        {
            None
        }
        Some(other) => Some(format!("`{field}` should be true or false, not {}", found(other))),
    }
}

/// A number, or a text that says one, between two others.
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
    // NaN, which a text can say, is in no range.
    let is_in = number.is_some_and(|number| (min..=max).contains(&number));
    (!is_in).then(|| format!("`{field}` should be a number in {min}..={max}, not {}", found(value)))
}

/// A text of at least so many characters, with a letter or digit among them.
pub(super) fn substantive(field: &str, value: Option<&Value>, at_least: u64) -> Option<String> {
    let text = match value {
        None => return Some(missing(field)),
        Some(Value::String(text)) => text,
        Some(other) => return Some(format!("`{field}` should be a text, not {}", found(other))),
    };
    let chars = length(text);
    if chars < at_least {
        return Some(format!("`{field}` has {chars} characters, at least {at_least} expected"));
    }
    let says_something = text.chars().any(char::is_alphanumeric);
    (!says_something).then(|| format!("`{field}` has no letter or digit"))
}

/// Characters in composed form; white space counts one where it stands between words.
fn length(text: &str) -> u64 {
    let text = NormalForm::Nfc.apply(text);
    let (mut chars, mut words) = (0, 0_u64);
    for word in text.split_whitespace() {
        chars += word.chars().count() as u64;
        words += 1;
    }
    chars + words.saturating_sub(1)
}

/// Whether a value is a text that says something.
pub(super) fn is_said(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

/// What is wrong with the first item with which something is, by its number from 1, and how many others there are.
pub(super) fn first_fault(
    noun: &str,
    items: &[Value],
    fault: impl Fn(&Value) -> Option<String>,
) -> Option<String> {
    let mut faults = items
        .iter()
        .enumerate()
        .filter_map(|(at, item)| fault(item).map(|fault| format!("{noun} {}: {fault}", at + 1)));
    let first = faults.next()?;
    Some(match faults.count() {
        0 => first,
        more => format!("{first}, and so {more} more"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{length, number_in, substantive};

    #[test]
    fn trap_10_characters_are_counted_not_bytes() {
        assert_eq!([length("é"), length("e\u{301}"), length("東京都")], [1, 1, 3]);
        assert_eq!([length("  a \n b  "), length(" \t"), length("")], [3, 0, 0]);
        // 7 characters, 21 bytes.
        assert!(substantive("reasoning", Some(&json!("東京都港区芝公")), 20).is_some());
    }

    #[test]
    fn numbers_at_the_bounds_and_no_numbers() {
        let fits = |value| number_in("x", Some(&value), [0.0, 1.0]).is_none();
        assert!(fits(json!(0)) && fits(json!(1.0)) && fits(json!(" 0.5 ")));
        assert!(!fits(json!(-0.001)) && !fits(json!(1.001)) && !fits(json!(true)));
        assert!(!fits(json!("NaN")) && !fits(json!("inf")) && !fits(json!("high")));
    }
}
