//! The functions: types of argument and result, and the columns of the figures.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float64Array, StringViewBuilder, StructArray, UInt64Array,
};
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

    /// The column of the results of groups.
    pub(crate) fn column(self, groups: &[Figures], identity: Option<&str>) -> ArrayRef {
        let numbers = |figure: fn(&Figures) -> Option<f64>| -> ArrayRef {
            Arc::new(groups.iter().map(figure).collect::<Float64Array>())
        };
        let counts = |count: fn(&Figures) -> u64| -> ArrayRef {
            Arc::new(
                groups
                    .iter()
                    .map(count)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .collect::<UInt64Array>(),
            )
        };
        let mean = || numbers(|it| it.mean);
        let (low, high) = (
            numbers(|it| it.ci95.map(|ci| ci.low)),
            numbers(|it| it.ci95.map(|ci| ci.high)),
        );
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
                    identities(identity, groups.len()),
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
    let identity = Arc::new(Field::new("identity", DataType::Utf8View, true));
    figures.iter().cloned().chain([identity]).collect()
}

/// The column of the identity, whose string all groups share.
fn identities(identity: Option<&str>, groups: usize) -> ArrayRef {
    let mut column = StringViewBuilder::with_capacity(groups).with_deduplicate_strings();
    (0..groups).for_each(|_| column.append_option(identity));
    Arc::new(column.finish())
}

fn fields(numbers: &[&str], counts: &[&str]) -> Fields {
    let numbers = numbers
        .iter()
        .map(|name| Field::new(*name, DataType::Float64, true));
    numbers
        .chain(
            counts
                .iter()
                .map(|name| Field::new(*name, DataType::UInt64, false)),
        )
        .collect()
}

/// An aggregate over scores.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Aggregate {
    figure: Figure,
    /// The smallest and the largest score as bits, once the optimizer has found them.
    range: Option<[u64; 2]>,
    /// The identity of the metric as JSON, if the plan shows it.
    identity: Option<Arc<str>>,
    signature: Signature,
}

impl Aggregate {
    pub(crate) fn new(figure: Figure, range: Option<ScoreRange>) -> Self {
        let range = range.map(|ScoreRange { min, max }| [min.to_bits(), max.to_bits()]);
        let signature = Signature::user_defined(Volatility::Immutable);
        Self {
            figure,
            range,
            identity: None,
            signature,
        }
    }

    pub(crate) fn with_range(&self, range: ScoreRange) -> Self {
        Self {
            identity: self.identity.clone(),
            ..Self::new(self.figure, Some(range))
        }
    }

    pub(crate) fn with_identity(&self, identity: &str) -> Self {
        Self {
            identity: Some(identity.into()),
            ..Self::new(self.figure, self.range())
        }
    }

    pub(crate) fn identity(&self) -> Option<&Arc<str>> {
        self.identity.as_ref()
    }

    pub(crate) fn figure(&self) -> Figure {
        self.figure
    }

    pub(crate) fn range(&self) -> Option<ScoreRange> {
        let [min, max] = self.range?.map(f64::from_bits);
        Some(ScoreRange { min, max })
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
        let range = self.range().or_else(|| input::range(field));
        let (kind, identity) = (input::kind(field.data_type()), self.identity.clone());
        Ok(Settings {
            figure,
            kind,
            range,
            identity,
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
        Ok(vec![Arc::new(Field::new(
            format!("{}[state]", args.name),
            DataType::Binary,
            true,
        ))])
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

    // The range is in the metadata of the column, which a plan loses on its way to another process.
    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        if self.range.is_some() {
            return None;
        }
        let unbound = Self {
            identity: self.identity.clone(),
            ..Self::new(self.figure, None)
        };
        Some(Box::new(move |mut call: AggregateFunction, info| {
            let [argument] = &call.params.args[..] else {
                return Ok(Expr::AggregateFunction(call));
            };
            let (_, field) = argument.to_field(info.schema())?;
            if let Some(range) = input::range(&field) {
                call.func = Arc::new(unbound.with_range(range).into());
            }
            Ok(Expr::AggregateFunction(call))
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}
