//! The column that the aggregates read: scores, or the structs of `NAME_details`.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type};
use datafusion::common::{Result, internal_datafusion_err, plan_err};
use dsrs_metrics::contract::{ScoreKind, ScoreRange};

use super::tally::Row;
use crate::output::{LEAST, MOST};

/// The rows of a batch.
pub(crate) struct Input {
    values: Values,
    /// Of details.
    outcomes: Option<StringArray>,
}

enum Values {
    Bools(BooleanArray),
    Numbers(Float64Array),
}

impl Input {
    /// Creates the rows of a column, whose type [`coerce`] returned.
    pub(crate) fn new(column: &ArrayRef) -> Result<Self> {
        let Some(details) = column.as_struct_opt() else {
            return Ok(Self {
                values: Values::new(column)?,
                outcomes: None,
            });
        };
        let named = |name: &str| {
            let column = details.column_by_name(name);
            column.ok_or_else(|| internal_datafusion_err!("details without `{name}`"))
        };
        let outcomes = cast(named("outcome")?, &DataType::Utf8)?
            .as_string::<i32>()
            .clone();
        Ok(Self {
            values: Values::new(named("value")?)?,
            outcomes: Some(outcomes),
        })
    }

    pub(crate) fn row(&self, row: usize) -> Row {
        match &self.outcomes {
            None => self.values.row(row),
            // A struct that is NULL has no outcome.
            Some(outcomes) if outcomes.is_null(row) => Row::Failed,
            Some(outcomes) => match outcomes.value(row) {
                "scored" => self.values.row(row),
                "abstained" => Row::Abstained,
                "gated" | "skipped" => Row::Skipped,
                _ => Row::Failed,
            },
        }
    }
}

impl Values {
    fn new(column: &ArrayRef) -> Result<Self> {
        match column.data_type() {
            DataType::Boolean => Ok(Self::Bools(column.as_boolean().clone())),
            DataType::Float64 => Ok(Self::Numbers(column.as_primitive::<Float64Type>().clone())),
            other => Err(internal_datafusion_err!("scores of type {other} are cast")),
        }
    }

    fn row(&self, row: usize) -> Row {
        match self {
            Self::Bools(bools) if bools.is_valid(row) => {
                Row::Scored(f64::from(u8::from(bools.value(row))))
            }
            Self::Numbers(numbers) if numbers.is_valid(row) => Row::Scored(numbers.value(row)),
            _ => Row::Failed,
        }
    }
}

/// Returns the type to which the argument of an aggregate is cast.
///
/// # Errors
/// There is another number of arguments, or the argument has another type.
pub(crate) fn coerce(function: &str, types: &[DataType]) -> Result<Vec<DataType>> {
    let [ty] = types else {
        return plan_err!(
            "function `{function}`: expected 1 argument, found {}; write {function}(f1(answer, prediction_answer))",
            types.len()
        );
    };
    let read = match ty {
        DataType::Boolean => ty.clone(),
        ty if ty.is_numeric() || ty.is_null() => DataType::Float64,
        ty if value_of_details(ty).is_some() => ty.clone(),
        found => {
            return plan_err!(
                "function `{function}`, argument 1: expected scores (Boolean or Float64) or the struct of a \
                 metric's details, found {found}; write {function}(f1(answer, prediction_answer))"
            );
        }
    };
    Ok(vec![read])
}

/// Returns the type of the scores in details; `None` for any other type.
fn value_of_details(ty: &DataType) -> Option<&DataType> {
    let DataType::Struct(fields) = ty else {
        return None;
    };
    let named = |name: &str| fields.find(name).map(|(_, field)| field.data_type());
    let is_outcome = named("outcome").is_some_and(DataType::is_string);
    let value = named("value").filter(|_| is_outcome)?;
    matches!(value, DataType::Boolean | DataType::Float64).then_some(value)
}

/// Returns the kind of the scores in a column.
pub(crate) fn kind(ty: &DataType) -> ScoreKind {
    match value_of_details(ty).unwrap_or(ty) {
        DataType::Boolean => ScoreKind::Bool,
        _ => ScoreKind::Number,
    }
}

/// Returns the range of the scores in a column that a metric computed.
pub(crate) fn range(field: &Field) -> Option<ScoreRange> {
    let number = |key: &str| field.metadata().get(key)?.parse().ok();
    Some(ScoreRange {
        min: number(LEAST)?,
        max: number(MOST)?,
    })
}
