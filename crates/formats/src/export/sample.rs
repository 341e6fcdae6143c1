//! The texts of a row: what the program received and returned, and the right answer.

use serde_json::Value;

use super::error::ExportError;
use crate::results::ResultRow;
use crate::trajectory::Trajectory;

/// The fields with the texts of a row, where the caller names them.
#[derive(Debug, Clone, Default)]
pub(super) struct TextFields {
    pub(super) input: Option<String>,
    pub(super) target: Option<String>,
    pub(super) output: Option<String>,
}

/// The texts of a row.
pub(super) struct Sample {
    pub(super) input: String,
    /// Several if the field is a list.
    pub(super) target: Vec<String>,
    /// `None` if the program failed, or the file does not contain predictions.
    pub(super) output: Option<String>,
    /// What an agent did, if the prediction contains it.
    pub(super) trajectory: Option<Trajectory>,
}

impl Sample {
    pub(super) fn of(row: &ResultRow, fields: &TextFields) -> Result<Self, ExportError> {
        let named = |option: &str, field: &Option<String>| match field {
            None => Ok(None),
            Some(field) => match row.field(field) {
                Some(value) => Ok(Some(value)),
                None => Err(ExportError::row(
                    row,
                    format!(
                        "--{option}: no field `{field}`; name an attribute, gold.FIELD or pred.FIELD"
                    ),
                )),
            },
        };
        let first = |fields: &[&str]| fields.iter().find_map(|field| row.field(field));
        let input = named("input", &fields.input)?;
        let input = input.or_else(|| first(&["gold.input", "gold.question"]));
        let input = input.or(row.gold.as_ref()).map(text).unwrap_or_default();
        let target = named("target", &fields.target)?;
        let target = target.or_else(|| first(&["gold.target", "gold.answer"]));
        let target = match target {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(text).collect(),
            Some(value) => vec![text(value)],
        };
        let output = match &row.pred {
            None => None,
            Some(pred) => {
                let output = named("output", &fields.output)?;
                Some(text(output.or_else(|| first(&["pred.answer"])).unwrap_or(pred)))
            }
        };
        let trajectory = row.field("pred.trajectory").filter(|value| value.is_array());
        let trajectory = trajectory.and_then(|value| Trajectory::from_json(value.clone()).ok());
        Ok(Self { input, target, output, trajectory })
    }
}

/// A value as a text: a string as it is, other values as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
