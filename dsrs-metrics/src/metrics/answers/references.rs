//! Field types of the built-in metrics: DSPy's `str` or `list[str]`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};

use crate::core::rows::fields::Owned;
use crate::core::rows::provide::Give;

/// A text, or a list of texts each of which is as good: DSPy's `str` or `list[str]`.
///
/// ```
/// use dsrs_metrics::metrics::StrOrList;
///
/// let one: StrOrList<'_> = serde_json::from_str(r#""Paris""#).unwrap();
/// let two: StrOrList<'_> = serde_json::from_str(r#"["Paris", "Paris, France"]"#).unwrap();
/// assert_eq!((one.len(), two.len(), &*two[1]), (1, 2, "Paris, France"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StrOrList<'a>(Texts<'a>);

#[derive(Debug, Clone, PartialEq)]
enum Texts<'a> {
    One(Cow<'a, str>),
    Many(Vec<Cow<'a, str>>),
}

impl<'a> StrOrList<'a> {
    /// One text.
    pub fn one(text: impl Into<Cow<'a, str>>) -> Self {
        Self(Texts::One(text.into()))
    }

    /// Several texts.
    pub fn many<T: Into<Cow<'a, str>>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self(Texts::Many(texts.into_iter().map(Into::into).collect()))
    }

    /// The text, if it is one and not a list.
    #[must_use]
    pub fn as_one(&self) -> Option<&str> {
        match &self.0 {
            Texts::One(text) => Some(text),
            Texts::Many(_) => None,
        }
    }
}

impl<'a> std::ops::Deref for StrOrList<'a> {
    type Target = [Cow<'a, str>];

    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Texts::One(text) => std::slice::from_ref(text),
            Texts::Many(texts) => texts,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for StrOrList<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor).map(Self)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Texts::One(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Texts::One(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Self::Value, A::Error> {
        let mut many = Vec::with_capacity(texts.size_hint().unwrap_or(0).min(1024));
        while let Some(StrOrList(text)) = texts.next_element()? {
            match text {
                Texts::One(text) => many.push(text),
                Texts::Many(_) => {
                    return Err(serde::de::Error::custom("a list of texts holds another list"));
                }
            }
        }
        Ok(Texts::Many(many))
    }
}

impl<'r> Give<'r, Owned<StrOrList<'r>>> for String {
    fn give(&'r self) -> StrOrList<'r> {
        StrOrList::one(self.as_str())
    }
}

impl<'r> Give<'r, Owned<StrOrList<'r>>> for &'static str {
    fn give(&'r self) -> StrOrList<'r> {
        StrOrList::one(*self)
    }
}

impl<'r> Give<'r, Owned<StrOrList<'r>>> for Vec<String> {
    fn give(&'r self) -> StrOrList<'r> {
        StrOrList::many(self.iter().map(String::as_str))
    }
}
