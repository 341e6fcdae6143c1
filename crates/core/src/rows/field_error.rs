//! Errors of fields that could not be read.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::messages::escape;
use crate::spec::Side;

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
        /// The value of the field.
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

    /// Creates the error for a value of the wrong type, which is described by `found`; `null` if there is none.
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
        match self {
            Self::Missing { field, present } if present.is_empty() => {
                write!(f, "no field `{side}.{field}`; found no fields")
            }
            Self::Missing { field, present } => {
                let present = escape::names(present.iter().map(String::as_str));
                write!(f, "no field `{side}.{field}`; found {present}")
            }
            Self::Null { field, expected } => {
                write!(f, "field `{side}.{field}`: expected {expected}, found null")
            }
            Self::NotFinite { field } => {
                write!(
                    f,
                    "field `{side}.{field}`: expected a value, found NaN or an infinity"
                )
            }
            Self::WrongType {
                field,
                expected,
                found,
            } => {
                write!(
                    f,
                    "field `{side}.{field}`: expected {expected}, found {found}"
                )
            }
        }
    }
}
