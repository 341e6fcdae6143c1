//! The input, the expected answer and the answer of a row, as strings.

use serde_json::Value;

use super::error::ExportError;
use crate::import::as_string;
use crate::results::ResultRow;
use crate::trajectory::Trajectory;

/// The fields that the caller names.
#[derive(Debug, Clone, Default)]
pub(super) struct TextFields {
    pub(super) input: Option<String>,
    pub(super) target: Option<String>,
    pub(super) output: Option<String>,
}

/// A row of the run, as other programs have it.
pub(super) struct Sample {
    pub(super) input: String,
    /// Several if the field is a list.
    pub(super) target: Vec<String>,
    /// `None` if the program failed, or the file does not contain predictions.
    pub(super) output: Option<String>,
    /// The trajectory of an agent, if the prediction contains it.
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
                        "--{option}: missing field `{field}`; write the name of an attribute, gold.FIELD or pred.FIELD"
                    ),
                )),
            },
        };
        let first = |fields: &[&str]| fields.iter().find_map(|field| row.field(field));
        let input = named("input", &fields.input)?;
        let input = input.or_else(|| first(&["gold.input", "gold.question"]));
        let input = input
            .or(row.gold.as_ref())
            .map(as_string)
            .unwrap_or_default();
        let target = named("target", &fields.target)?;
        let target = target.or_else(|| first(&["gold.target", "gold.answer"]));
        let target = match target {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(as_string).collect(),
            Some(value) => vec![as_string(value)],
        };
        let output = match &row.pred {
            None => None,
            Some(pred) => {
                let output = named("output", &fields.output)?;
                Some(as_string(
                    output.or_else(|| first(&["pred.answer"])).unwrap_or(pred),
                ))
            }
        };
        let trajectory = row
            .field("pred.trajectory")
            .filter(|value| value.is_array());
        let trajectory = trajectory.and_then(|value| Trajectory::from_json(value.clone()).ok());
        Ok(Self {
            input,
            target,
            output,
            trajectory,
        })
    }
}
