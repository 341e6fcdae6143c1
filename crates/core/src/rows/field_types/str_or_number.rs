//! A number, or a string that contains one.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use crate::json::written_scalar::WrittenScalar;
use crate::value_type::{TypeHelp, ValueKind, ValueType};

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
