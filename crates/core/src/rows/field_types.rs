//! Field types that several metrics share.
//!
//! Examples are labels, and values that rows can contain in several forms.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::json::read::WrittenScalar;
use crate::rows::{Owned, Provide};
use crate::value_type::{TypeHelp, ValueKind, ValueType};

/// Lets a metric parameter read fields of typed rows.
macro_rules! provide {
    ($([$($from:ty),*] => $to:ty: |$value:ident| $given:expr;)*) => {$($(
        impl<'r> Provide<'r, Owned<$to>> for $from {
            fn provide(&'r self) -> $to {
                let $value = self;
                $given
            }
        }
    )*)*};
}

/// A label in a row.
///
/// A label is a string without surrounding whitespace, a number or a boolean.
///
/// Whole numbers are compared by value, so 1, 1.0 and "1" are the same label.
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
    /// Returns the label as a string.
    pub fn as_str(&self) -> &str {
        self.0.trim()
    }
}

/// A boolean that can be written in several ways.
///
/// A row can contain `true` or `false`, 1 or 0, or any of these as a string.
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
    // `Display` writes whole numbers without a decimal point.
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
            "true" | "1" | "1.0" => Ok(Self(true)),
            "false" | "0" | "0.0" => Ok(Self(false)),
            _ => Err(Error::custom("expected true, false, 1 or 0")),
        }
    }
}

provide! {
    [String, &'static str] => Label<'r>: |text| Label(Cow::Borrowed(text));
    [bool, f64, i64, u64, i32, u32] => Label<'r>: |value| Label(value.to_string().into());
    [bool] => Truth: |value| Truth(*value);
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

/// A string, or a number as it was written.
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
    [String, &'static str] => StrOrNumber<'r>: |text| StrOrNumber(Cow::Borrowed(text));
    [f64, i64, u64, i32, u32] => StrOrNumber<'r>: |number| StrOrNumber(format!("{number:?}").into());
}

impl ValueType for StrOrNumber<'_> {
    const HELP: TypeHelp =
        TypeHelp::new("a string or number").with_kinds(&[ValueKind::Str, ValueKind::Number]);
}

/// A string, or a list of equally acceptable strings.
///
/// This type corresponds to DSPy's `str` or `list[str]`.
///
/// ```
/// use dsrs_metrics::metrics::StrOrList;
///
/// let one: StrOrList<'_> = serde_json::from_str(r#""Paris""#).unwrap();
/// let two: StrOrList<'_> = serde_json::from_str(r#"["Paris", "Paris, France"]"#).unwrap();
/// assert_eq!((one.len(), two.len(), &*two[1]), (1, 2, "Paris, France"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StrOrList<'a> {
    strings: Vec<Cow<'a, str>>,
    /// `true` if the string is not in a list.
    is_one: bool,
}

impl<'a> StrOrList<'a> {
    /// Creates a value from a single string.
    pub fn one(string: impl Into<Cow<'a, str>>) -> Self {
        Self {
            strings: vec![string.into()],
            is_one: true,
        }
    }

    /// Creates a value from a list of strings.
    pub fn many<T: Into<Cow<'a, str>>>(strings: impl IntoIterator<Item = T>) -> Self {
        Self {
            strings: strings.into_iter().map(Into::into).collect(),
            is_one: false,
        }
    }

    /// Returns the string, or `None` for a list.
    pub fn as_one(&self) -> Option<&str> {
        self.first().filter(|_| self.is_one).map(|it| &**it)
    }
}

impl<'a> std::ops::Deref for StrOrList<'a> {
    type Target = [Cow<'a, str>];

    fn deref(&self) -> &Self::Target {
        &self.strings
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for StrOrList<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StringsVisitor)
    }
}

struct StringsVisitor;

impl<'de> Visitor<'de> for StringsVisitor {
    type Value = StrOrList<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_borrowed_str<E>(self, string: &'de str) -> Result<Self::Value, E> {
        Ok(StrOrList::one(string))
    }

    fn visit_str<E>(self, string: &str) -> Result<Self::Value, E> {
        Ok(StrOrList::one(string.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = StrOrList::default();
        while let Some(item) = items.next_element::<StrOrList<'_>>()? {
            if !item.is_one {
                return Err(A::Error::custom("expected a string, found a nested list"));
            }
            list.strings.extend(item.strings);
        }
        Ok(list)
    }
}

provide! {
    [String, &'static str] => StrOrList<'r>: |text| StrOrList::one(&**text);
    [Vec<String>] => StrOrList<'r>: |texts| StrOrList::many(texts.iter().map(String::as_str));
}

impl ValueType for StrOrList<'_> {
    const HELP: TypeHelp = TypeHelp::new("a string or list of strings")
        .with_kinds(&[ValueKind::Str, ValueKind::ListOf(&str::HELP)]);
}

/// A string or a list of strings.
///
/// For example, the value can be the context of an answer, or the acceptable answers.
///
/// ```
/// use dsrs_metrics::judge::shipped::TextOrList;
///
/// let one: TextOrList = serde_json::from_str(r#""Paris""#).unwrap();
/// assert_eq!(one, TextOrList::Text("Paris".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a string or a list of strings")]
pub enum TextOrList {
    /// One string.
    Text(String),
    /// A list of strings.
    List(Vec<String>),
}

provide! {
    [String] => TextOrList: |text| TextOrList::Text(text.clone());
    [Vec<String>] => TextOrList: |list| TextOrList::List(list.clone());
    [String, Vec<String>] => References: |references| references.clone().into();
}

/// The reference answers for a judge.
///
/// A row contains one string, or a list of acceptable strings. An empty list is an error because it leaves nothing to
/// compare the answer with.
///
/// ```
/// use dsrs_metrics::judge::shipped::References;
///
/// let one: References = serde_json::from_str(r#"["Paris"]"#).unwrap();
/// assert_eq!(one, References::from("Paris".to_owned()));
/// let error = serde_json::from_str::<References>("[]").unwrap_err();
/// assert_eq!(error.to_string(), "expected at least one reference answer, found an empty list");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "TextOrList", into = "TextOrList")]
pub struct References(TextOrList);

conversions! {
    String => References: |reference| Self(TextOrList::Text(reference));
    /// A list with one reference equals that reference, so both produce the same prompt.
    Vec<String> => References: |references| match <[String; 1]>::try_from(references) {
        Ok([one]) => Self(TextOrList::Text(one)),
        Err(references) => Self(TextOrList::List(references)),
    };
    References => TextOrList: |references| references.0;
}

impl TryFrom<TextOrList> for References {
    type Error = &'static str;

    fn try_from(references: TextOrList) -> Result<Self, Self::Error> {
        match references {
            TextOrList::List(list) if list.is_empty() => {
                Err("expected at least one reference answer, found an empty list")
            }
            TextOrList::List(list) => Ok(list.into()),
            TextOrList::Text(text) => Ok(text.into()),
        }
    }
}

impl ValueType for References {
    const HELP: TypeHelp = StrOrList::HELP;
}

impl ValueType for TextOrList {
    const HELP: TypeHelp = StrOrList::HELP;
}
