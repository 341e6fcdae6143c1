//! A field with one string or several.

use serde::{Deserialize, Serialize};

use crate::core::rows::fields::Owned;
use crate::core::rows::provide::Give;
use crate::core::value_type::{TypeHelp, ValueType};

/// A string or a list of strings, such as the context of an answer or the acceptable answers.
///
/// ```
/// use dsrs_metrics::judge::shipped::TextOrList;
///
/// let one: TextOrList = serde_json::from_str(r#""Paris""#).unwrap();
/// assert_eq!(one, TextOrList::Text("Paris".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextOrList {
    /// One string.
    Text(String),
    /// Several strings.
    List(Vec<String>),
}

impl<'r> Give<'r, Owned<TextOrList>> for String {
    fn give(&'r self) -> TextOrList {
        TextOrList::Text(self.clone())
    }
}

impl<'r> Give<'r, Owned<TextOrList>> for Vec<String> {
    fn give(&'r self) -> TextOrList {
        TextOrList::List(self.clone())
    }
}

impl ValueType for TextOrList {
    const HELP: TypeHelp = TypeHelp::new("a string or list of strings");
}
