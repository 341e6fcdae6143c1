//! The field type of reference answers: DSPy's `str` or `list[str]`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use crate::value_type::{TypeHelp, ValueKind, ValueType};

/// A string, or a list of equally good strings: DSPy's `str` or `list[str]`.
///
/// ```
/// use dsrs_metrics::metrics::StrOrList;
///
/// let one: StrOrList<'_> = serde_json::from_str(r#""Paris""#).unwrap();
/// let two: StrOrList<'_> = serde_json::from_str(r#"["Paris", "Paris, France"]"#).unwrap();
/// assert_eq!((one.len(), two.len(), &*two[1]), (1, 2, "Paris, France"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StrOrList<'a>(Strings<'a>);

#[derive(Debug, Clone, PartialEq)]
enum Strings<'a> {
    One(Cow<'a, str>),
    /// A list of one, which most rows have, without an allocation.
    Single([Cow<'a, str>; 1]),
    /// No string, or several.
    Many(Vec<Cow<'a, str>>),
}

impl<'a> StrOrList<'a> {
    /// Creates a single string.
    pub fn one(string: impl Into<Cow<'a, str>>) -> Self {
        Self(Strings::One(string.into()))
    }

    /// Creates a list of strings.
    pub fn many<T: Into<Cow<'a, str>>>(strings: impl IntoIterator<Item = T>) -> Self {
        let strings: Vec<_> = strings.into_iter().map(Into::into).collect();
        Self(match <[_; 1]>::try_from(strings) {
            Ok(single) => Strings::Single(single),
            Err(strings) => Strings::Many(strings),
        })
    }

    /// Returns the string if it is not in a list.
    pub fn as_one(&self) -> Option<&str> {
        match &self.0 {
            Strings::One(string) => Some(string),
            Strings::Single(_) | Strings::Many(_) => None,
        }
    }
}

/// An empty list.
impl Default for StrOrList<'_> {
    fn default() -> Self {
        Self(Strings::Many(Vec::new()))
    }
}

impl<'a> std::ops::Deref for StrOrList<'a> {
    type Target = [Cow<'a, str>];

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Strings::One(string) => std::slice::from_ref(string),
            Strings::Single(single) => single,
            Strings::Many(strings) => strings,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for StrOrList<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StringsVisitor).map(Self)
    }
}

struct StringsVisitor;

impl<'de> Visitor<'de> for StringsVisitor {
    type Value = Strings<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_borrowed_str<E>(self, string: &'de str) -> Result<Self::Value, E> {
        Ok(Strings::One(Cow::Borrowed(string)))
    }

    fn visit_str<E>(self, string: &str) -> Result<Self::Value, E> {
        Ok(Strings::One(Cow::Owned(string.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut strings: A) -> Result<Self::Value, A::Error> {
        let Some(first) = next_string(&mut strings)? else {
            return Ok(Strings::Many(Vec::new()));
        };
        let Some(second) = next_string(&mut strings)? else {
            return Ok(Strings::Single([first]));
        };
        let mut many = Vec::with_capacity(2 + strings.size_hint().unwrap_or(0).min(1024));
        many.extend([first, second]);
        while let Some(string) = next_string(&mut strings)? {
            many.push(string);
        }
        Ok(Strings::Many(many))
    }
}

fn next_string<'de, A: SeqAccess<'de>>(strings: &mut A) -> Result<Option<Cow<'de, str>>, A::Error> {
    match strings.next_element()? {
        None => Ok(None),
        Some(StrOrList(Strings::One(string))) => Ok(Some(string)),
        Some(StrOrList(_)) => Err(serde::de::Error::custom(
            "expected a string, found a nested list",
        )),
    }
}

provide! {
    String => StrOrList<'r>: |text| StrOrList::one(text.as_str());
    &'static str => StrOrList<'r>: |text| StrOrList::one(*text);
    Vec<String> => StrOrList<'r>: |texts| StrOrList::many(texts.iter().map(String::as_str));
}

impl ValueType for StrOrList<'_> {
    const HELP: TypeHelp = TypeHelp::new("a string or list of strings")
        .with_kinds(&[ValueKind::Str, ValueKind::ListOf(&str::HELP)]);
}
