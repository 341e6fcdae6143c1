//! A field that holds one text or several.

use serde::{Deserialize, Serialize};

use crate::core::rows::fields::Owned;
use crate::core::rows::provide::Give;

/// A text, or a list of texts: the context of an answer, the answers that are right.
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
    /// One text.
    Text(String),
    /// Several texts.
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
