//! The fields and parameters of a metric, as its spec declares them.

use std::fmt;

use crate::value_type::TypeHelp;

/// A field that a metric reads from a row: name, type, and whether it is required.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn cited(#[pred] answer: &str, #[pred] sources: Option<&[String]>) -> bool {
///     !answer.is_empty() && sources.is_some()
/// }
///
/// let [answer, sources] = Cited::SPEC.pred else { panic!("two fields") };
/// assert_eq!((answer.name, answer.ty, answer.required), ("answer", "&str", true));
/// assert!(!sources.required);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct FieldSpec<'a> {
    /// The field's name in the row.
    pub name: &'a str,
    /// The type as the metric's author wrote it, e.g. `&str`.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// `true` if a row without the field is an error, or is counted as a row without it (see
    /// [`may_be_missing`](Self::may_be_missing)).
    pub required: bool,
    /// `true` if a prediction without the required field is scored, and counted: `missing` of `#[metric]` or `#[pred]`.
    #[serde(skip_serializing_if = "is_false")]
    pub may_be_missing: bool,
    /// The description of the type for users who do not read Rust, if it has one.
    #[serde(skip)]
    pub help: TypeHelp,
}

impl<'a> FieldSpec<'a> {
    /// Creates the spec of a field.
    ///
    /// ```
    /// use dsrs_metrics::contract::{FieldSpec, MetricSpec};
    ///
    /// const PRED: &[FieldSpec<'static>] = &[FieldSpec::new("answer", "&str", true)];
    /// let spec = MetricSpec::new("brevity").with_fields(&[], PRED);
    /// assert_eq!(spec.required_fields().collect::<Vec<_>>(), ["pred.answer"]);
    /// ```
    pub const fn new(name: &'a str, ty: &'a str, required: bool) -> Self {
        Self {
            name,
            ty,
            required,
            may_be_missing: false,
            help: TypeHelp::NONE,
        }
    }

    /// Declares that a prediction without the required field is scored and counted.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::{FieldSpec, MetricSpec}, example, prediction};
    /// let answer = [FieldSpec::new("answer", "&str", true)];
    /// let spec = MetricSpec::new("brevity").with_fields(&[], &answer);
    /// assert!(!spec.can_evaluate(&example! {}, &prediction! {}));
    ///
    /// let answer = answer.map(FieldSpec::or_missing);
    /// assert!(spec.with_fields(&[], &answer).can_evaluate(&example! {}, &prediction! {}));
    /// ```
    pub const fn or_missing(mut self) -> Self {
        self.may_be_missing = true;
        self
    }

    /// Returns `true` if a row without the field is an error.
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
    ///
    /// ```
    /// # use dsrs_metrics::{contract::FieldSpec, rows::TypeHelp};
    /// let limit = FieldSpec::new("limit", "Limit", true).with_help(TypeHelp::new("a number of characters"));
    /// assert_eq!(limit.help.to_string(), "a number of characters");
    /// ```
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
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn brief(
///     #[pred] answer: &str,
///     /// The largest number of characters.
///     #[param(default = 280)]
///     limit: usize,
/// ) -> bool {
///     answer.chars().count() <= limit
/// }
///
/// let limit = &Brief::SPEC.params[0];
/// assert_eq!((limit.name, limit.ty, limit.default), ("limit", "usize", Some("280")));
/// assert_eq!(limit.doc, "The largest number of characters.");
/// ```
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
    /// Returns `true` if the parameter is the name of the prediction's field at this position.
    pub(crate) fn names_prediction(&self, position: usize) -> bool {
        self.names.contains(&(Side::Pred, position))
    }
}

/// The side of a row that a field belongs to.
///
/// ```
/// use dsrs_metrics::contract::Side;
///
/// assert_eq!(format!("{}.answer", Side::Pred), "pred.answer");
/// ```
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
