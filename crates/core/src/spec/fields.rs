//! The fields and parameters of a metric, as its spec declares them.

use std::fmt;

use crate::value_type::TypeHelp;

/// A field that a metric reads from a row: name, type, and whether it is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct FieldSpec<'a> {
    /// The field's name in the row.
    pub name: &'a str,
    /// The type as the metric's author wrote it, e.g. `&str`.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Whether a row without the field is an error, or is counted as a row without it (see
    /// [`may_be_missing`](Self::may_be_missing)).
    pub required: bool,
    /// Whether a prediction without the required field is scored, and counted: `missing` of `#[metric]` or `#[pred]`.
    #[serde(skip_serializing_if = "is_false")]
    pub may_be_missing: bool,
    /// The description of the type for users who do not read Rust, if it has one.
    #[serde(skip)]
    pub help: TypeHelp,
}

impl<'a> FieldSpec<'a> {
    /// Creates the spec of a field.
    #[must_use]
    pub const fn new(name: &'a str, ty: &'a str, required: bool) -> Self {
        Self { name, ty, required, may_be_missing: false, help: TypeHelp::NONE }
    }

    /// Declares that a prediction without the required field is scored and counted.
    #[must_use]
    pub const fn or_missing(mut self) -> Self {
        self.may_be_missing = true;
        self
    }

    /// Returns whether a row without the field is an error.
    pub(crate) const fn is_needed(&self) -> bool {
        self.required && !self.may_be_missing
    }

    /// Adds the same field of another component: it is required if either requires it, and may be missing unless that is
    /// an error for either.
    pub(crate) const fn merge(&mut self, other: &FieldSpec<'_>) {
        let is_needed = self.is_needed() || other.is_needed();
        self.required |= other.required;
        self.may_be_missing = self.required && !is_needed;
    }

    /// Sets the description of the type.
    #[must_use]
    pub const fn with_help(mut self, help: TypeHelp) -> Self {
        self.help = help;
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "required by serde")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// One configuration value of a metric: a `#[param]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct ParamSpec<'a> {
    /// The parameter's name, as in `--param NAME.KEY=VALUE`.
    pub name: &'a str,
    /// The type as the metric's author wrote it.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// The description of the type for users who do not read Rust, if it has one.
    #[serde(skip)]
    pub help: TypeHelp,
    /// The default as the metric's author wrote it; `None` if the parameter is required.
    pub default: Option<&'a str>,
    /// The parameter's documentation.
    pub doc: &'a str,
    /// The fields whose name the parameter configures, by side of the row and position among the fields of that side.
    #[doc(hidden)]
    #[serde(skip)]
    pub names: &'a [(Side, usize)],
}

impl ParamSpec<'_> {
    /// Returns whether the parameter is the name of the prediction's field at this position.
    pub(crate) fn names_prediction(&self, position: usize) -> bool {
        self.names.contains(&(Side::Pred, position))
    }
}

/// The side of a row that a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The labelled example.
    Gold,
    /// The program's prediction.
    Pred,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
        })
    }
}
