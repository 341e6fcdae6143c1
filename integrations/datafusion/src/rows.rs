//! The rows of a batch, which are read one after another in the memory of one pair of rows.

use datafusion::common::Result;
use datafusion::logical_expr::ColumnarValue;
use dsrs_metrics::{
    Example, MetricError, Prediction,
    contract::{MetricErrorKind, Side},
    rows::{FieldError, Fields},
};
use serde_json::Value;

use crate::arguments::{Argument, Arguments};
use crate::cells::{Cells, NotFinite};

/// The columns of a batch, and the pair of rows that they are read into.
pub(crate) struct Rows<'a> {
    columns: Vec<Column<'a>>,
    gold: Example,
    pred: Prediction,
}

struct Column<'a> {
    argument: &'a Argument,
    cells: Cells,
    /// `true` if the value is the same in all rows.
    is_constant: bool,
}

impl<'a> Rows<'a> {
    /// Creates the rows of a batch. Arguments that were left out are missing from the rows.
    pub(crate) fn new(arguments: &'a Arguments, values: &[ColumnarValue]) -> Result<Self> {
        let columns = arguments.iter().zip(values).map(|(argument, value)| {
            let (array, is_constant) = match value {
                ColumnarValue::Array(array) => (array.clone(), false),
                ColumnarValue::Scalar(scalar) => (scalar.to_array_of_size(1)?, true),
            };
            Ok(Column {
                argument,
                cells: Cells::new(&array)?,
                is_constant,
            })
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut rows = Self {
            columns,
            gold: Example::default(),
            pred: Prediction::default(),
        };
        for Column {
            argument: Argument { side, field, .. },
            ..
        } in &rows.columns
        {
            fields(&mut rows.gold, &mut rows.pred, *side).insert(field.as_str(), Value::Null);
        }
        Ok(rows)
    }

    /// Reads a row over the one before.
    ///
    /// # Errors
    /// A number in a cell is not finite, which makes it an error of the row as in a file.
    pub(crate) fn read(
        &mut self,
        row: usize,
        metric: &str,
    ) -> Result<(&Example, &Prediction), MetricError> {
        for Column {
            argument,
            cells,
            is_constant,
        } in &self.columns
        {
            let Argument { side, field, .. } = argument;
            let row = if *is_constant { 0 } else { row };
            let Some(value) = fields(&mut self.gold, &mut self.pred, *side).get_mut(field) else {
                continue;
            };
            // A constant is written once.
            if *is_constant && !value.is_null() {
                continue;
            }
            cells
                .write(row, value)
                .map_err(|found| not_finite(metric, argument, found))?;
        }
        Ok((&self.gold, &self.pred))
    }
}

fn fields<'r>(gold: &'r mut Example, pred: &'r mut Prediction, side: Side) -> &'r mut Fields {
    match side {
        Side::Gold => &mut gold.data,
        Side::Pred => &mut pred.data,
    }
}

#[cold]
fn not_finite(metric: &str, argument: &Argument, NotFinite(value): NotFinite) -> MetricError {
    let error = FieldError::WrongType {
        field: argument.field.clone().into(),
        expected: "a finite number".into(),
        found: value.to_string(),
    };
    MetricError::new(
        metric,
        MetricErrorKind::Field {
            side: argument.side,
            error,
        },
    )
}
