//! A field with one string or several.

use serde::{Deserialize, Serialize};

use crate::rows::fields::Owned;
use crate::rows::provide::Provide;
use crate::value_type::{TypeHelp, ValueKind, ValueType};

/// A string or a list of strings, such as the context of an answer or the acceptable answers.
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
    /// Several strings.
    List(Vec<String>),
}

impl<'r> Provide<'r, Owned<TextOrList>> for String {
    fn provide(&'r self) -> TextOrList {
        TextOrList::Text(self.clone())
    }
}

impl<'r> Provide<'r, Owned<TextOrList>> for Vec<String> {
    fn provide(&'r self) -> TextOrList {
        TextOrList::List(self.clone())
    }
}

/// Reference answers of a judge: one string, or a list of acceptable strings. An empty list cannot be read from a
/// row, because there is nothing to compare with.
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
    /// A list of one reference is that reference, so that both make the same prompt.
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

impl<'r> Provide<'r, Owned<References>> for String {
    fn provide(&'r self) -> References {
        self.clone().into()
    }
}

impl<'r> Provide<'r, Owned<References>> for Vec<String> {
    fn provide(&'r self) -> References {
        self.clone().into()
    }
}

impl ValueType for References {
    const HELP: TypeHelp = TypeHelp::new("a string or list of strings")
        .with_kinds(&[ValueKind::Str, ValueKind::ListOf(&str::HELP)]);
}

impl ValueType for TextOrList {
    const HELP: TypeHelp = TypeHelp::new("a string or list of strings")
        .with_kinds(&[ValueKind::Str, ValueKind::ListOf(&str::HELP)]);
}
