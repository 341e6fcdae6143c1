//! Conversions of fields in other notations, such as lists with separators and decimal commas.

use serde_json::Value;

use super::mapping::{Mapping, MappingError, Target};
use crate::contract::{Fields, Side};

/// A conversion for a field that metrics cannot read as is, such as a delimited list or a number with a decimal comma.
///
/// ```
/// use dsrs_metrics::data::{Conversion, DataReader, Format};
///
/// let file = br#"{"gold": {"answer": "Rome|Roma"}, "pred": {"answer": "Roma"}}"#;
/// let reader = DataReader::new().with_conversion(Conversion::split("gold.answer=|")?);
/// let row = reader.read_from("rows.jsonl", Format::Jsonl, &file[..]).next().unwrap()?;
/// assert_eq!(row.gold.get("answer").unwrap()[1], "Roma");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    side: Side,
    name: String,
    /// What separates the elements of a list; `None` for a number with a decimal comma.
    separator: Option<String>,
}

impl Conversion {
    /// Creates a conversion that splits a string field into a list. For example, `gold.answer=|` splits the field
    /// `gold.answer` at each `|`. An empty string becomes an empty list.
    ///
    /// # Errors
    /// Returns a [`MappingError`] if `text` is not of the form FIELD=SEPARATOR.
    pub fn split(text: &str) -> Result<Self, MappingError> {
        let invalid = || {
            MappingError::new(format!(
                "invalid separator `{text}`: expected FIELD=SEPARATOR, as in gold.answer=|"
            ))
        };
        let (field, separator) = text.split_once('=').ok_or_else(invalid)?;
        match separator {
            "" => Err(invalid()),
            separator => Self::of(field, Some(separator.to_owned())),
        }
    }

    /// Creates a conversion that reads a field, such as `pred.score`, as a number with a decimal comma.
    ///
    /// # Errors
    /// Returns a [`MappingError`] if `field` is not of the form `gold.FIELD` or `pred.FIELD`.
    pub fn decimal_comma(field: &str) -> Result<Self, MappingError> {
        Self::of(field, None)
    }

    fn of(field: &str, separator: Option<String>) -> Result<Self, MappingError> {
        match format!("{field}=value").parse::<Mapping>()?.into_target() {
            Target::Field(side, name) => Ok(Self {
                side,
                name,
                separator,
            }),
            Target::Id | Target::Repeat => Err(MappingError::new(format!(
                "expected gold.FIELD or pred.FIELD, found `{field}`"
            ))),
        }
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// Converts the field, if it is a string.
    pub(super) fn apply(&self, fields: &mut Fields) {
        let Some(value) = fields.get_mut(&self.name) else {
            return;
        };
        let Value::String(text) = &*value else {
            return;
        };
        match &self.separator {
            Some(_) if text.is_empty() => *value = Value::Array(Vec::new()),
            Some(separator) => {
                let items = text.split(separator).map(|item| item.trim().into());
                *value = Value::Array(items.collect());
            }
            None => {
                let number = text.trim().replace(',', ".");
                if let Ok(number @ Value::Number(_)) = serde_json::from_str(&number) {
                    *value = number;
                }
            }
        }
    }
}
