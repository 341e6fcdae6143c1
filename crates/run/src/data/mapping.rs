//! Mappings of fields, such as `gold.answer=answers`, for rows that have a different shape.

use std::fmt;
use std::str::FromStr;

use crate::contract::Side;

/// Maps a field that a metric reads to the dotted path of its value in the row.
///
/// Each path segment is a key or a list index: `messages.-1.content` and `messages[-1].content` both select the last
/// message's content. Quote keys that contain dots, as in `meta."a.b".c`; an unquoted key with dots matches only if it
/// is the whole path. If the path continues into a string, the string is parsed as JSON or as a Python literal. If the
/// row has no value at the path, the field is absent, even if the row has a field with the same name.
///
/// An id can span several columns, as in `id=task,language`. If you map `repeat=COLUMN`, rows with the same id are
/// samples of one row, and the column holds each sample's number.
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
///     "invalid mapping `answer=answers`: expected `gold.FIELD`, `pred.FIELD`, `id` or `repeat` before `=`, found `answer`",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    target: Target,
    path: String,
}

/// The target of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Id,
    /// The sample's number among rows with the same id.
    Repeat,
    Field(Side, String),
}

impl Mapping {
    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the target of the mapping: `gold.NAME`, `pred.NAME`, `id` or `repeat`.
    pub fn field(&self) -> String {
        match &self.target {
            Target::Id => "id".to_owned(),
            Target::Repeat => "repeat".to_owned(),
            Target::Field(side, field) => format!("{side}.{field}"),
        }
    }

    /// Returns the dotted path into the row.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn into_target(self) -> Target {
        self.target
    }

    /// Returns the paths: those of an id of several columns, or the one path.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let is_several = self.target == Target::Id && !self.path.contains('"');
        self.path
            .split(move |separator| is_several && separator == ',')
    }

    /// Returns `true` if the mapping sets this field.
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
        let invalid = |reason: &str| MappingError(format!("invalid mapping `{text}`: {reason}"));
        let Some((field, path)) = text.split_once('=') else {
            return Err(invalid("expected FIELD=PATH, as in gold.answer=answers"));
        };
        if path.is_empty() || !path.contains('"') && path.split('.').any(str::is_empty) {
            let reason = format!("empty segment in the path `{path}`; remove the extra dot");
            return Err(invalid(&reason));
        }
        let target = match field.split_once('.') {
            _ if field == "id" => Target::Id,
            _ if field == "repeat" => Target::Repeat,
            Some(("gold", name)) if !name.is_empty() => Target::Field(Side::Gold, name.to_owned()),
            Some(("pred", name)) if !name.is_empty() => Target::Field(Side::Pred, name.to_owned()),
            _ => {
                let expected = "expected `gold.FIELD`, `pred.FIELD`, `id` or `repeat` before `=`";
                return Err(invalid(&format!("{expected}, found `{field}`")));
            }
        };
        Ok(Self {
            target,
            path: path.to_owned(),
        })
    }
}

/// An error returned when a string is not a valid mapping, conversion or join.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MappingError(String);

impl MappingError {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }
}

dsrs_metrics_values::debug_as_display!(MappingError);
