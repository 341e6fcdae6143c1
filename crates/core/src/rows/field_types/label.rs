//! Types of fields that read scalars as text: labels, and strings or numbers.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};

use crate::json::written_scalar::WrittenScalar;
use crate::value_type::{TypeHelp, ValueKind, ValueType};

/// A label: a string without the white space around it, a number, or true or false.
///
/// Whole numbers are the same label however they are written: 1, 1.0 and "1".
///
/// ```
/// use dsrs_metrics::metrics::Label;
///
/// let label = |json: &'static str| serde_json::from_str::<Label<'_>>(json).unwrap();
/// assert_eq!(label("\" yes\"").as_str(), "yes");
/// assert_eq!((label("1.0"), label("true").as_str()), (label("\"1\""), "true"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label<'a>(Cow<'a, str>);

impl Label<'_> {
    /// Returns the label.
    pub fn as_str(&self) -> &str {
        self.0.trim()
    }
}

/// A truth value: `true` or `false`, 1 or 0, or one of these as a string.
///
/// ```
/// use dsrs_metrics::metrics::Truth;
///
/// let truth = |json: &'static str| serde_json::from_str::<Truth>(json).map(|truth| truth.0).ok();
/// assert_eq!([truth("1"), truth("false"), truth("\"True\""), truth("2")], [Some(true), Some(false), Some(true), None]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truth(pub bool);

const LABEL: WrittenScalar = WrittenScalar {
    expected: "a string, a number, true or false",
    allows_bools: true,
    // `Display` writes whole numbers without a point.
    write_float: Some(|number| number.to_string()),
};

impl<'de: 'a, 'a> Deserialize<'de> for Label<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        LABEL.read(from).map(Self)
    }
}

impl<'de> Deserialize<'de> for Truth {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let label = LABEL.read(from)?;
        match label.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Self(true)),
            "false" | "0" => Ok(Self(false)),
            _ => Err(Error::custom("expected true, false, 1 or 0")),
        }
    }
}

provide! {
    String => Label<'r>: |text| Label(text.as_str().into());
    &'static str => Label<'r>: |text| Label((*text).into());
    bool => Label<'r>: |value| Label(if *value { "true" } else { "false" }.into());
    f64 => Label<'r>: |number| Label(number.to_string().into());
    i64 => Label<'r>: |number| Label(number.to_string().into());
    u64 => Label<'r>: |number| Label(number.to_string().into());
    i32 => Label<'r>: |number| Label(number.to_string().into());
    u32 => Label<'r>: |number| Label(number.to_string().into());
    bool => Truth: |value| Truth(*value);
}

impl ValueType for Label<'_> {
    const HELP: TypeHelp = TypeHelp::new("a string, a number, true or false").with_kinds(&[
        ValueKind::Str,
        ValueKind::Number,
        ValueKind::Bool,
    ]);
}

impl ValueType for Truth {
    const HELP: TypeHelp = TypeHelp::new("true, false, 1 or 0").with_kinds(&[
        ValueKind::Bool,
        ValueKind::Number,
        ValueKind::Str,
    ]);
}

/// A string, or a number in its written form.
///
/// ```
/// use dsrs_metrics::metrics::StrOrNumber;
///
/// let number: StrOrNumber<'_> = serde_json::from_str("18.5").unwrap();
/// assert_eq!(number.as_str(), "18.5");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrOrNumber<'a>(Cow<'a, str>);

impl StrOrNumber<'_> {
    /// Returns the string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const NUMBER_OR_STRING: WrittenScalar = WrittenScalar {
    expected: "a string or a number",
    allows_bools: false,
    write_float: Some(|number| format!("{number:?}")),
};

impl<'de: 'a, 'a> Deserialize<'de> for StrOrNumber<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NUMBER_OR_STRING.read(deserializer).map(Self)
    }
}

provide! {
    String => StrOrNumber<'r>: |text| StrOrNumber(text.as_str().into());
    &'static str => StrOrNumber<'r>: |text| StrOrNumber((*text).into());
    f64 => StrOrNumber<'r>: |number| StrOrNumber(format!("{number:?}").into());
    i64 => StrOrNumber<'r>: |number| StrOrNumber(number.to_string().into());
    u64 => StrOrNumber<'r>: |number| StrOrNumber(number.to_string().into());
    i32 => StrOrNumber<'r>: |number| StrOrNumber(number.to_string().into());
    u32 => StrOrNumber<'r>: |number| StrOrNumber(number.to_string().into());
}

impl ValueType for StrOrNumber<'_> {
    const HELP: TypeHelp =
        TypeHelp::new("a string or number").with_kinds(&[ValueKind::Str, ValueKind::Number]);
}
