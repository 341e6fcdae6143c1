//! Where a metric's field stands in rows of another shape: `gold.answer=answers`.

use std::fmt;
use std::str::FromStr;

use crate::core::spec::Side;

/// A field that the metric reads, and the dotted path into the row at which its value stands.
///
/// A part of the path is a key, or an index into a list. A key with dots in it is found if it is
/// the whole path. In a row that has nothing there the field is absent, even if the row has one of
/// its name.
///
/// ```
/// use dsrs_metrics::data::Mapping;
///
/// let mapping: Mapping = "pred.answer=choices.0.text".parse().unwrap();
/// assert_eq!(mapping.to_string(), "pred.answer=choices.0.text");
///
/// let error = "answer=answers".parse::<Mapping>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "bad mapping `answer=answers`: on its left stands `gold.FIELD`, `pred.FIELD` or `id`, not `answer`",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    target: Target,
    path: String,
}

/// What a mapping sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Id,
    Field(Side, String),
}

impl Mapping {
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// What the mapping sets: `gold.NAME`, `pred.NAME` or `id`.
    #[must_use]
    pub fn field(&self) -> String {
        match &self.target {
            Target::Id => "id".to_owned(),
            Target::Field(side, field) => format!("{side}.{field}"),
        }
    }

    /// The path into the row.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it sets this field.
    #[must_use]
    pub fn sets(&self, side: Side, field: &str) -> bool {
        matches!(&self.target, Target::Field(its, name) if *its == side && name == field)
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.field(), self.path)
    }
}

impl FromStr for Mapping {
    type Err = MappingError;

    fn from_str(text: &str) -> Result<Self, MappingError> {
        let mapping = || text.to_owned();
        let Some((field, path)) = text.split_once('=') else {
            return Err(MappingError::NoPath { mapping: mapping() });
        };
        if path.split('.').any(str::is_empty) {
            return Err(MappingError::BadPath { mapping: mapping(), path: path.to_owned() });
        }
        let target = match field.split_once('.') {
            _ if field == "id" => Target::Id,
            Some(("gold", name)) if !name.is_empty() => Target::Field(Side::Gold, name.to_owned()),
            Some(("pred", name)) if !name.is_empty() => Target::Field(Side::Pred, name.to_owned()),
            _ => {
                return Err(MappingError::BadField { mapping: mapping(), field: field.to_owned() });
            }
        };
        Ok(Self { target, path: path.to_owned() })
    }
}

/// What is wrong with a mapping's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// There is no `=`.
    #[error("bad mapping `{mapping}`: write FIELD=PATH, as in gold.answer=answers")]
    NoPath {
        /// The text.
        mapping: String,
    },
    /// The path is empty, or one of its parts is.
    #[error("bad mapping `{mapping}`: the path `{path}` has an empty part")]
    BadPath {
        /// The text.
        mapping: String,
        /// The path.
        path: String,
    },
    /// The field belongs neither to the gold example nor to the prediction.
    #[error(
        "bad mapping `{mapping}`: on its left stands `gold.FIELD`, `pred.FIELD` or `id`, not `{field}`"
    )]
    BadField {
        /// The text.
        mapping: String,
        /// What stands on the left.
        field: String,
    },
}
