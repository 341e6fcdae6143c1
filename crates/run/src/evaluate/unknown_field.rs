//! The error for a field that a metric reads and no prediction has: its name is wrong.

use std::fmt;

use serde::Serialize;

use crate::messages::escape;

/// A field that a metric reads and no prediction has.
///
/// Its `Display` says what to correct: `` no prediction has a field `anwser`; did you mean `answer`? ``
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownField {
    /// The name of the field.
    pub name: String,
    /// The most similar field name in the first row, if there is one.
    pub nearest: Option<String>,
    /// The fields of the first prediction.
    #[serde(skip)]
    pub(super) present: Vec<String>,
}

impl fmt::Display for UnknownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no prediction has a field `{}`",
            escape::name(&self.name)
        )?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{}`?", escape::name(nearest)),
            None if self.present.is_empty() => f.write_str("; the first prediction has no fields"),
            None => {
                let names = escape::names(self.present.iter().map(String::as_str));
                write!(f, "; the first prediction has {names}")
            }
        }
    }
}
