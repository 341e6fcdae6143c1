//! The functions: types of argument and result, and the columns of the figures.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, StringArray, StructArray, UInt64Array};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, Expr, ExprSchemable as _, GroupsAccumulator, Signature,
    Volatility,
};
use dsrs_metrics::contract::ScoreRange;

use super::ScoreSource;
use super::accumulator::{All, Groups, Settings};
use super::input;
use super::tally::Figures;

/// The result of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Figure {
    Mean,
    Ci95,
    Summary,
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Self::Mean => "metric_mean",
            Self::Ci95 => "metric_ci95",
            Self::Summary => "metric_summary",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Mean => DataType::Float64,
            Self::Ci95 => DataType::Struct(fields(&["low", "high"], &[])),
            Self::Summary => DataType::Struct(summary_fields()),
        }
    }

    /// The column of the results of groups. `identity` is that of the metric.
    pub(crate) fn column(self, groups: &[Figures], identity: Option<&str>) -> ArrayRef {
        let numbers = |figure: fn(&Figures) -> Option<f64>| -> ArrayRef {
            Arc::new(groups.iter().map(figure).collect::<Float64Array>())
        };
        let counts = |count: fn(&Figures) -> u64| -> ArrayRef {
            Arc::new(
                groups.iter().map(count).collect::<Vec<_>>().into_iter().collect::<UInt64Array>(),
            )
        };
        let mean = || numbers(|it| it.mean);
        let (low, high) =
            (numbers(|it| it.ci95.map(|ci| ci.low)), numbers(|it| it.ci95.map(|ci| ci.high)));
        match self {
            Self::Mean => mean(),
            Self::Ci95 => {
                let is_known: NullBuffer = groups.iter().map(|it| it.ci95.is_some()).collect();
                let fields = fields(&["low", "high"], &[]);
                Arc::new(StructArray::new(fields, vec![low, high], Some(is_known)))
            }
            Self::Summary => {
                let columns = vec![
                    mean(),
                    numbers(|it| it.mean_scored),
                    numbers(|it| it.stderr),
                    low,
                    high,
                    counts(|it| it.scored),
                    counts(|it| it.failed),
                    counts(|it| it.abstained),
                    counts(|it| it.skipped),
                    Arc::new(groups.iter().map(|_| identity).collect::<StringArray>()),
                ];
                Arc::new(StructArray::new(summary_fields(), columns, None))
            }
        }
    }
}

fn summary_fields() -> Fields {
    let figures = fields(
        &["mean", "mean_scored", "stderr", "ci95_low", "ci95_high"],
        &["scored", "failed", "abstained", "skipped"],
    );
    let identity = Arc::new(Field::new("identity", DataType::Utf8, true));
    figures.iter().cloned().chain([identity]).collect()
}

fn fields(numbers: &[&str], counts: &[&str]) -> Fields {
    let numbers = numbers.iter().map(|name| Field::new(*name, DataType::Float64, true));
    numbers.chain(counts.iter().map(|name| Field::new(*name, DataType::UInt64, false))).collect()
}

/// An aggregate over scores.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Aggregate {
    figure: Figure,
    /// The smallest and the largest score as bits, once the optimizer has found them.
    range: Option<[u64; 2]>,
    /// The identity of the metric as JSON, once the optimizer has found it.
    identity: Option<Arc<str>>,
    signature: Signature,
}

impl Aggregate {
    pub(crate) fn new(figure: Figure, source: ScoreSource) -> Self {
        let range = source.range.map(|ScoreRange { min, max }| [min.to_bits(), max.to_bits()]);
        let identity = source.identity.map(Arc::from);
        Self { figure, range, identity, signature: Signature::user_defined(Volatility::Immutable) }
    }

    pub(crate) fn figure(&self) -> Figure {
        self.figure
    }

    pub(crate) fn source(&self) -> ScoreSource {
        let range = self.range.map(|range| range.map(f64::from_bits));
        ScoreSource {
            range: range.map(|[min, max]| ScoreRange { min, max }),
            identity: self.identity.as_deref().map(str::to_owned),
        }
    }

    fn settings(&self, args: &AccumulatorArgs<'_>) -> Result<Settings> {
        let figure = self.figure;
        let [field] = args.expr_fields else {
            return plan_err!("function `{}`: expected 1 argument", figure.name());
        };
        if args.is_distinct {
            return plan_err!(
                "function `{}`: expected all rows, found DISTINCT; remove it",
                figure.name()
            );
        }
        let (known, found) = (self.source(), input::source(field));
        Ok(Settings {
            figure,
            kind: input::kind(field.data_type()),
            range: known.range.or(found.range),
            identity: known.identity.or(found.identity).map(Arc::from),
        })
    }
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        self.figure.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.figure.data_type())
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        input::coerce(self.figure.name(), types)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[state]", args.name), DataType::Binary, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(All::new(self.settings(&args)?)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups::new(self.settings(&args)?)))
    }

    // What is known of the metric is in the metadata of the column, which a plan loses on its way to another process.
    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        if self.source() != ScoreSource::default() {
            return None;
        }
        let figure = self.figure;
        Some(Box::new(move |mut call: AggregateFunction, info| {
            let [argument] = &call.params.args[..] else {
                return Ok(Expr::AggregateFunction(call));
            };
            let (_, field) = argument.to_field(info.schema())?;
            let source = input::source(&field);
            if source != ScoreSource::default() {
                call.func = Arc::new(Self::new(figure, source).into());
            }
            Ok(Expr::AggregateFunction(call))
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}
