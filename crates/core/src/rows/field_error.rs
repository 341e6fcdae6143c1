//! Errors for fields that could not be read, and the fields that a prediction lacks.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::messages::escape;
use crate::spec::{FieldSpec, MetricSpec, Side};

/// The reason a row's field could not be read.
///
/// ```
/// use dsrs_metrics::contract::{MetricErrorKind, Side};
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::rows::FieldError;
///
/// # #[metric]
/// # fn is_short(#[pred] answer: &str) -> bool {
/// #     answer.len() < 10
/// # }
/// let error = IsShort.score(&example! {}, &prediction! { "answer" => 7 }).unwrap_err();
/// assert_eq!(error.to_string(), "metric `is_short`: field `pred.answer`: expected a string, found the number 7");
/// let is_of_type = |error: &FieldError| matches!(error, FieldError::WrongType { .. });
/// assert!(matches!(error.kind(), MetricErrorKind::Field { side: Side::Pred, error } if is_of_type(error)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldError {
    /// The row has no such field.
    Missing {
        /// The missing field's name.
        field: Cow<'static, str>,
        /// The names of the fields that the row has instead.
        present: Vec<String>,
    },
    /// The field's value is `null`.
    Null {
        /// The field's name.
        field: Cow<'static, str>,
        /// The expected type, as the metric's author wrote it, or a description of the type.
        expected: Cow<'static, str>,
    },
    /// The field's value has the wrong type.
    WrongType {
        /// The field's name.
        field: Cow<'static, str>,
        /// The expected type, as the metric's author wrote it, or a description of the type.
        expected: Cow<'static, str>,
        /// The field's value.
        found: String,
    },
    /// The field contains NaN or an infinity, which JSON cannot represent.
    NotFinite {
        /// The field's name.
        field: Cow<'static, str>,
    },
}

impl FieldError {
    #[doc(hidden)]
    pub fn missing<'a>(
        field: impl Into<Cow<'static, str>>,
        present: impl Iterator<Item = &'a str>,
    ) -> Box<Self> {
        let (field, present) = (field.into(), present.map(str::to_owned).collect());
        Box::new(Self::Missing { field, present })
    }

    /// Creates the error for a value of the wrong type.
    ///
    /// `found` describes the value, such as `null`.
    #[doc(hidden)]
    pub fn wrong_type(
        field: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
        found: Option<String>,
    ) -> Box<Self> {
        let (field, expected) = (field.into(), expected.into());
        Box::new(match found {
            Some(found) => Self::WrongType {
                field,
                expected,
                found,
            },
            None => Self::Null { field, expected },
        })
    }

    pub(crate) fn not_finite(field: &str) -> Box<Self> {
        let field = field.to_owned().into();
        Box::new(Self::NotFinite { field })
    }

    /// Returns `true` if the field is missing or null.
    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Null { .. })
    }

    /// Writes the error's message, naming the side of the row.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, side: Side) -> fmt::Result {
        let (field, expected, found) = match self {
            Self::Missing { field, present } => {
                let present = match present.is_empty() {
                    true => "no fields".to_owned(),
                    false => escape::names(present.iter().map(String::as_str)),
                };
                return write!(f, "no field `{side}.{field}`; found {present}");
            }
            Self::Null { field, expected } => (field, &**expected, "null"),
            Self::NotFinite { field } => (field, "a value", "NaN or an infinity"),
            Self::WrongType {
                field,
                expected,
                found,
            } => (field, &**expected, &**found),
        };
        write!(
            f,
            "field `{side}.{field}`: expected {expected}, found {found}"
        )
    }
}

/// The fields that a metric reads but a prediction lacks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MissingFields {
    fields: Vec<MissingField>,
    /// The names of the prediction's fields, used for a suggestion if no row has the missing field.
    present: Vec<String>,
}

/// A field that a prediction lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingField {
    pub name: Cow<'static, str>,
    /// `true` if the prediction has the field but no value for it.
    ///
    /// The field is `null` or an empty CSV cell.
    pub is_null: bool,
    /// `true` if the metric's function gets `None`, so it can explain the score itself.
    is_visible: bool,
}

impl MissingField {
    fn new(name: Cow<'static, str>, is_null: bool) -> Self {
        Self {
            name,
            is_null,
            is_visible: false,
        }
    }
}

/// `the prediction has no field `intent``
impl fmt::Display for MissingField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_null {
            false => write!(f, "the prediction has no field `{}`", self.name),
            true => write!(f, "the prediction's field `{}` is null", self.name),
        }
    }
}

impl MissingFields {
    /// If the error is about a missing field, returns the missing fields; otherwise, returns the error. The error names
    /// the first missing field, and the spec has the other required ones.
    pub(crate) fn of_error(
        error: FieldError,
        spec: &MetricSpec<'_>,
    ) -> std::result::Result<Self, FieldError> {
        let (name, is_null, present) = match error {
            FieldError::Missing { field, present } => (field, false, present),
            FieldError::Null { field, .. } => (field, true, Vec::new()),
            error @ (FieldError::WrongType { .. } | FieldError::NotFinite { .. }) => {
                return Err(error);
            }
        };
        let mut fields = vec![MissingField::new(name, is_null)];
        let names = |position| spec.params.iter().any(|it| it.names_prediction(position));
        for (position, field) in spec.pred.iter().enumerate().filter(|_| !is_null) {
            let is_present = present.iter().any(|name| name == field.name);
            // For a configurable name, a spec has only the default.
            let is_known = is_present || names(position) || fields[0].name == field.name;
            if field.required && !is_known {
                fields.push(MissingField::new(field.name.to_owned().into(), false));
            }
        }
        Ok(Self { fields, present })
    }

    pub fn iter(&self) -> impl Iterator<Item = &MissingField> {
        self.fields.iter()
    }

    /// Returns a score's explanation. `own` is the metric's own explanation. A metric that gets `None` for a missing
    /// field explains that itself.
    pub(crate) fn explained(&self, own: Option<String>) -> Option<String> {
        let is_open = |field: &&MissingField| own.is_none() || !field.is_visible;
        let fields = self.fields.iter().filter(is_open);
        let fields: Vec<String> = fields.map(ToString::to_string).collect();
        let fields = fields.join("; ");
        match own {
            None => Some(fields),
            Some(own) if fields.is_empty() => Some(own),
            Some(own) => Some(format!("{fields}\n{own}")),
        }
    }

    /// Returns the names of the fields that the prediction has.
    pub fn present(&self) -> &[String] {
        &self.present
    }
}

/// Collects the missing fields for one call.
///
/// These are the fields that `#[pred(missing = value)]` replaces.
#[derive(Debug, Default)]
pub struct Absent(pub(crate) Option<Box<MissingFields>>);

impl Absent {
    /// Adds a field. `present` contains the names of the prediction's fields, or is `None` for a record, which has
    /// every field. `is_visible` is true if the function gets `None` for the field.
    #[cold]
    pub(crate) fn add(
        &mut self,
        field: &FieldSpec<'static>,
        present: Option<Vec<String>>,
        is_visible: bool,
    ) {
        let has = |names: &Vec<String>| names.iter().any(|name| name == field.name);
        let missing = self.0.get_or_insert_default();
        missing.fields.push(MissingField {
            is_visible,
            ..MissingField::new(field.name.into(), present.as_ref().is_none_or(has))
        });
        missing.present = present.unwrap_or_default();
    }
}

/// Returns `true` if the field was read or is merely absent.
///
/// In both cases, a metric that allows the field to be missing can score the row.
pub fn is_scored<T>(read: &Result<T, Box<FieldError>>) -> bool {
    match read {
        Ok(_) => true,
        Err(error) => error.is_absent(),
    }
}
