//! Metrics that score all rows together, as aggregates.
//!
//! The state of a group is its distinct rows with their numbers, because it has to be sent to other partitions and machines.
//! Rows of labels have few distinct ones; rows of numbers take about a hundred bytes each.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, StringArray, StructArray, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields as ColumnFields};
use datafusion::common::{Result, ScalarValue, internal_datafusion_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Signature, Volatility,
};
use dsrs_metrics::{Example, Outcome, Prediction, contract::Counted, rows::Fields};

use crate::call;
use crate::function::{Shared, details_name};
use crate::output::Output;
use crate::rows::Rows;

/// An aggregate of a metric: of the score, or of the details.
#[derive(Debug)]
pub(crate) struct CorpusFunction {
    name: String,
    shared: Arc<Shared>,
    output: Output,
    signature: Signature,
}

impl CorpusFunction {
    /// Creates the aggregates of a metric: `NAME` and `NAME_details`.
    pub(crate) fn both(name: &str, shared: &Arc<Shared>) -> [AggregateUDF; 2] {
        let function = |name, output| {
            let (shared, signature) = (
                Arc::clone(shared),
                Signature::user_defined(Volatility::Immutable),
            );
            Self {
                name,
                shared,
                output,
                signature,
            }
            .into()
        };
        [
            function(name.to_owned(), Output::Score),
            function(details_name(name), Output::Details),
        ]
    }
}

impl PartialEq for CorpusFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for CorpusFunction {}

impl Hash for CorpusFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl AggregateUDFImpl for CorpusFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.output {
            Output::Score => DataType::Float64,
            Output::Details => DataType::Struct(details_fields()),
        })
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.shared.arguments.coerce(&self.name, types)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(
            format!("{}[rows]", args.name),
            DataType::Binary,
            true,
        ))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            let name = &self.name;
            return plan_err!("function `{name}`: expected all rows, found DISTINCT; remove it");
        }
        Ok(Box::new(DistinctRows::new(
            Arc::clone(&self.shared),
            self.output,
        )))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

fn details_fields() -> ColumnFields {
    let count = |name: &str| Field::new(name, DataType::UInt64, false);
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    ColumnFields::from(vec![
        Field::new("value", DataType::Float64, true),
        count("scored"),
        count("failed"),
        count("abstained"),
        text("not_defined"),
        text("error"),
    ])
}

/// The distinct rows of a group, as JSON, with their numbers. A row that cannot be read is the message of its error, which is
/// a JSON string.
struct DistinctRows {
    shared: Arc<Shared>,
    output: Output,
    rows: BTreeMap<Vec<u8>, u64>,
    /// The bytes of the rows.
    size: usize,
    /// The memory of the row that is written.
    line: Vec<u8>,
}

impl DistinctRows {
    fn new(shared: Arc<Shared>, output: Output) -> Self {
        Self {
            shared,
            output,
            rows: BTreeMap::new(),
            size: 0,
            line: Vec::new(),
        }
    }

    fn add(&mut self, row: &[u8], number: u64) {
        match self.rows.get_mut(row) {
            Some(all) => *all += number,
            None => {
                self.size += row.len() + size_of::<(Vec<u8>, u64)>();
                self.rows.insert(row.to_vec(), number);
            }
        }
    }

    /// Evaluates the metric on all rows.
    fn totals(&self) -> Result<Totals> {
        let mut totals = Totals::default();
        for (row, number) in &self.rows {
            if row.starts_with(b"\"") {
                totals.fail(
                    serde_json::from_slice(row).map_err(|_| invalid_state())?,
                    *number,
                );
                continue;
            }
            let (gold, pred): (Fields, Fields) =
                serde_json::from_slice(row).map_err(|_| invalid_state())?;
            let (gold, pred) = (Example::from(gold), Prediction::from(pred));
            let call = call::call(&gold, &pred, false);
            totals.record(call::evaluate_now(&*self.shared.metric, call), *number);
        }
        Ok(totals)
    }
}

/// The outcomes of a group.
#[derive(Debug, Default)]
struct Totals {
    counted: Option<Counted>,
    scored: u64,
    failed: u64,
    abstained: u64,
    /// The first message of failed rows in alphabetical order, so that it does not depend on the partitions.
    error: Option<String>,
}

impl Totals {
    fn record(&mut self, outcome: Outcome, rows: u64) {
        match outcome {
            Outcome::Counted(counted) => {
                self.scored += rows;
                add_times(&mut self.counted, counted, rows);
            }
            Outcome::Abstained => self.abstained += rows,
            other => self.fail(
                other.error().unwrap_or_else(|| other.name().to_owned()),
                rows,
            ),
        }
    }

    fn fail(&mut self, error: String, rows: u64) {
        self.failed += rows;
        if self.error.as_ref().is_none_or(|first| error < *first) {
            self.error = Some(error);
        }
    }

    /// Returns the struct of the details.
    fn details(self) -> ScalarValue {
        let score = self.counted.as_ref().map(Counted::score);
        let (value, reason) = match score {
            Some(Ok(value)) => (Some(value), None),
            Some(Err(reason)) => (None, Some(reason.to_string())),
            None => (None, None),
        };
        let count = |count: u64| -> ArrayRef { Arc::new(UInt64Array::from(vec![count])) };
        let text = |text: Option<String>| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
        let columns = vec![
            Arc::new(Float64Array::from(vec![value])) as ArrayRef,
            count(self.scored),
            count(self.failed),
            count(self.abstained),
            text(reason),
            text(self.error),
        ];
        ScalarValue::Struct(Arc::new(StructArray::new(details_fields(), columns, None)))
    }
}

impl fmt::Debug for DistinctRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistinctRows")
            .field("rows", &self.rows.len())
            .finish_non_exhaustive()
    }
}

impl Accumulator for DistinctRows {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let number_of_rows = values.first().map_or(0, Array::len);
        let shared = Arc::clone(&self.shared);
        let values: Vec<_> = values.iter().cloned().map(ColumnarValue::Array).collect();
        let mut rows = Rows::new(&shared.arguments, &values)?;
        let mut line = std::mem::take(&mut self.line);
        for row in 0..number_of_rows {
            line.clear();
            // A row that cannot be read fails, and does not contribute.
            let written = match rows.read(row, shared.metric.name()) {
                Ok((gold, pred)) => serde_json::to_writer(&mut line, &(&gold.data, &pred.data)),
                Err(error) => serde_json::to_writer(&mut line, &error.to_string()),
            };
            written.map_err(|error| internal_datafusion_err!("cannot write a row: {error}"))?;
            self.add(&line, 1);
        }
        self.line = line;
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        for (row, number) in &self.rows {
            bytes.extend(number.to_le_bytes());
            bytes.extend((row.len() as u64).to_le_bytes());
            bytes.extend(row);
        }
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states.iter().flat_map(AsArray::as_binary::<i32>).flatten() {
            let mut rest = state;
            while !rest.is_empty() {
                let (number, row) = next_row(&mut rest).ok_or_else(invalid_state)?;
                self.add(row, number);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let totals = self.totals()?;
        Ok(match self.output {
            // A score that is not defined, such as a correlation of equal values, is NULL.
            Output::Score => ScalarValue::Float64(totals.counted.and_then(|all| all.score().ok())),
            Output::Details => totals.details(),
        })
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.size
    }
}

/// Adds a contribution this many times, by doubling it.
fn add_times(all: &mut Option<Counted>, mut counted: Counted, mut times: u64) {
    while times > 0 {
        if times & 1 == 1 {
            match all {
                Some(all) => all.merge(&counted),
                None => *all = Some(counted.clone()),
            }
        }
        times >>= 1;
        if times > 0 {
            let same = counted.clone();
            counted.merge(&same);
        }
    }
}

fn next_row<'a>(rest: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    let (number, others) = rest.split_first_chunk()?;
    let (length, others) = others.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (row, others) = others.split_at_checked(length)?;
    *rest = others;
    Some((u64::from_le_bytes(*number), row))
}

fn invalid_state() -> datafusion::error::DataFusionError {
    internal_datafusion_err!(
        "expected the rows of a metric's aggregate, found other bytes; \
         use the same version of dsrs-metrics-datafusion in all processes"
    )
}
