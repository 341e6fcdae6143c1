//! The field types of metrics over all rows: labels, and whether something is true.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::core::rows::fields::Owned;
use crate::core::rows::provide::Provide;
use crate::core::value_type::{TypeHelp, ValueKind, ValueType};

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
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.trim()
    }
}

/// Whether something is true: `true` or `false`, 1 or 0, or one of these as a string.
///
/// ```
/// use dsrs_metrics::metrics::Truth;
///
/// let truth = |json: &'static str| serde_json::from_str::<Truth>(json).map(|truth| truth.0).ok();
/// assert_eq!([truth("1"), truth("false"), truth("\"True\""), truth("2")], [Some(true), Some(false), Some(true), None]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truth(pub bool);

struct LabelVisitor;

impl<'de> Visitor<'de> for LabelVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, true or false")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(if value { "true" } else { "false" }))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        // `Display` writes whole numbers without a point.
        Ok(Cow::Owned(number.to_string()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Label<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(LabelVisitor).map(Self)
    }
}

impl<'de> Deserialize<'de> for Truth {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let label = from.deserialize_any(LabelVisitor)?;
        match label.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Self(true)),
            "false" | "0" => Ok(Self(false)),
            _ => Err(Error::custom("expected true, false, 1 or 0")),
        }
    }
}

macro_rules! give_labels {
    ($($from:ty => $text:expr;)*) => {$(
        impl<'r> Provide<'r, Owned<Label<'r>>> for $from {
            fn provide(&'r self) -> Label<'r> {
                let text: fn(&'r $from) -> Cow<'r, str> = $text;
                Label(text(self))
            }
        }
    )*};
}
give_labels! {
    String => |text| Cow::Borrowed(text.as_str());
    &'static str => |text| Cow::Borrowed(text);
    bool => |value| Cow::Borrowed(if *value { "true" } else { "false" });
    f64 => |number| Cow::Owned(number.to_string());
    i64 => |number| Cow::Owned(number.to_string());
    u64 => |number| Cow::Owned(number.to_string());
    i32 => |number| Cow::Owned(number.to_string());
    u32 => |number| Cow::Owned(number.to_string());
}

impl Provide<'_, Owned<Truth>> for bool {
    fn provide(&self) -> Truth {
        Truth(*self)
    }
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
