//! The error for a field that a metric reads and no prediction has: its name is wrong.

use std::fmt;

use serde::Serialize;

use crate::messages::{escape, suggest};

/// A field that a metric reads but no prediction has.
///
/// `Display` says what to correct: `` no prediction has a field `anwser`; did you mean `answer`? ``
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
        let present = self.present.iter().map(String::as_str);
        let hint = suggest::known_fields("the first prediction", &self.name, present);
        let name = escape::name(&self.name);
        write!(f, "no prediction has a field `{name}`{hint}")
    }
}
