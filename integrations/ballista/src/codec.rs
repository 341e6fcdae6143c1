//! How functions travel in plans: with their descriptions, which the receiver compares with its own functions.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{
    AggregateUDF, Extension, HigherOrderUDF, LogicalPlan, ScalarUDF, WindowUDF,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion::physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use dsrs_metrics::contract::ScoreRange;
use dsrs_metrics_datafusion::{
    FunctionDescription, score_identity, score_range, with_score_identity, with_score_range,
};
use serde::{Deserialize, Serialize};

use crate::cluster::Functions;
use crate::functions::{ADVICE, check_call, metric};

/// The version of this crate, which defines what the aggregates keep of the rows.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A function in a plan.
#[derive(Debug, Serialize, Deserialize)]
enum Encoded {
    /// A function of a metric.
    Metric(Box<FunctionDescription>),
    /// An aggregate over scores, with the identity of the metric, and the smallest and the largest score. As bits, because JSON has
    /// no infinity.
    Aggregate {
        version: String,
        range: Option<[u64; 2]>,
        identity: Option<String>,
    },
}

/// Encodes and decodes functions, and leaves everything else to the codec of Ballista or of the user.
#[derive(Debug)]
pub(crate) struct FunctionCodec<C: ?Sized> {
    pub(crate) functions: Arc<Functions>,
    pub(crate) others: Arc<C>,
}

impl<C: ?Sized> FunctionCodec<C> {
    fn encode(&self, function: &Encoded, buffer: &mut Vec<u8>) -> Result<()> {
        serde_json::to_writer(buffer, function)
            .map_err(|error| plan_datafusion_err!("cannot encode {function:?}: {error}"))
    }

    /// Encodes a metric's function. Returns `false` if it isn't one.
    fn encode_metric(&self, name: &str, buffer: &mut Vec<u8>) -> Result<bool> {
        let all = &self.functions.descriptions;
        let Some(description) = metric(all, name).and_then(|metric| all.get(metric)) else {
            return Ok(false);
        };
        self.encode(&Encoded::Metric(Box::new(description.clone())), buffer)?;
        Ok(true)
    }

    fn encode_aggregate(&self, function: &AggregateUDF, buffer: &mut Vec<u8>) -> Result<bool> {
        if !self.functions.is_aggregate(function.name()) {
            return self.encode_metric(function.name(), buffer);
        }
        let range = score_range(function).map(|it| [it.min.to_bits(), it.max.to_bits()]);
        let identity = score_identity(function).map(str::to_owned);
        self.encode(
            &Encoded::Aggregate {
                version: VERSION.to_owned(),
                range,
                identity,
            },
            buffer,
        )?;
        Ok(true)
    }

    fn decode(name: &str, bytes: &[u8]) -> Result<Encoded> {
        serde_json::from_slice(bytes).map_err(|error| {
            plan_datafusion_err!(
                "function `{name}`: expected its description, found {error}; {ADVICE}"
            )
        })
    }

    /// Decodes a function that this crate encoded; `None` for another one.
    fn decode_scalar(&self, name: &str, bytes: &[u8]) -> Result<Option<Arc<ScalarUDF>>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        if let Encoded::Metric(found) = Self::decode(name, bytes)? {
            check_call(&self.functions.descriptions, name, &found)?;
        }
        self.functions.scalar(name).map(Some)
    }

    fn decode_aggregate(&self, name: &str, bytes: &[u8]) -> Result<Option<Arc<AggregateUDF>>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let (range, identity) = match Self::decode(name, bytes)? {
            Encoded::Metric(found) => {
                check_call(&self.functions.descriptions, name, &found)?;
                (None, None)
            }
            Encoded::Aggregate { version, .. } if version != VERSION => {
                return plan_err!(
                    "function `{name}`: expected version {VERSION} of dsrs-metrics-ballista, found {version} in the query; \
                     {ADVICE}"
                );
            }
            Encoded::Aggregate {
                range, identity, ..
            } => (range.map(|range| range.map(f64::from_bits)), identity),
        };
        let function = self.functions.aggregate(name)?;
        let range = range.map(|[min, max]| ScoreRange { min, max });
        let bound = range.and_then(|range| with_score_range(&function, range));
        let function = bound.map_or(function, Arc::new);
        let bound = identity.and_then(|identity| with_score_identity(&function, &identity));
        Ok(Some(bound.map_or(function, Arc::new)))
    }
}

// The methods for functions, which the traits for logical and for physical plans both have.
macro_rules! functions {
    () => {
        fn try_encode_udf(&self, function: &ScalarUDF, buffer: &mut Vec<u8>) -> Result<()> {
            match self.encode_metric(function.name(), buffer)? {
                true => Ok(()),
                false => self.others.try_encode_udf(function, buffer),
            }
        }

        fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
            match self.decode_scalar(name, bytes)? {
                Some(function) => Ok(function),
                None => self.others.try_decode_udf(name, bytes),
            }
        }

        fn try_encode_udaf(&self, function: &AggregateUDF, buffer: &mut Vec<u8>) -> Result<()> {
            match self.encode_aggregate(function, buffer)? {
                true => Ok(()),
                false => self.others.try_encode_udaf(function, buffer),
            }
        }

        fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
            match self.decode_aggregate(name, bytes)? {
                Some(function) => Ok(function),
                None => self.others.try_decode_udaf(name, bytes),
            }
        }

        fn try_decode_higher_order_function(
            &self,
            name: &str,
            bytes: &[u8],
        ) -> Result<Arc<HigherOrderUDF>> {
            self.others.try_decode_higher_order_function(name, bytes)
        }

        fn try_encode_higher_order_function(
            &self,
            node: &HigherOrderUDF,
            buffer: &mut Vec<u8>,
        ) -> Result<()> {
            self.others.try_encode_higher_order_function(node, buffer)
        }

        fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> Result<Arc<WindowUDF>> {
            self.others.try_decode_udwf(name, bytes)
        }

        fn try_encode_udwf(&self, node: &WindowUDF, buffer: &mut Vec<u8>) -> Result<()> {
            self.others.try_encode_udwf(node, buffer)
        }
    };
}

impl LogicalExtensionCodec for FunctionCodec<dyn LogicalExtensionCodec> {
    functions!();

    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[LogicalPlan],
        ctx: &TaskContext,
    ) -> Result<Extension> {
        self.others.try_decode(bytes, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buffer: &mut Vec<u8>) -> Result<()> {
        self.others.try_encode(node, buffer)
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        table: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        self.others
            .try_decode_table_provider(bytes, table, schema, ctx)
    }

    fn try_encode_table_provider(
        &self,
        table: &TableReference,
        node: Arc<dyn TableProvider>,
        buffer: &mut Vec<u8>,
    ) -> Result<()> {
        self.others.try_encode_table_provider(table, node, buffer)
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        ctx: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.others.try_decode_file_format(bytes, ctx)
    }

    fn try_encode_file_format(
        &self,
        buffer: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.others.try_encode_file_format(buffer, node)
    }
}

impl PhysicalExtensionCodec for FunctionCodec<dyn PhysicalExtensionCodec> {
    functions!();

    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.others.try_decode(bytes, inputs, ctx, converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buffer: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        self.others.try_encode(node, buffer, converter)
    }

    fn try_decode_expr(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        ctx: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.others.try_decode_expr(bytes, inputs, ctx)
    }

    fn try_encode_expr(
        &self,
        node: &Arc<dyn PhysicalExpr>,
        buffer: &mut Vec<u8>,
        ctx: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        self.others.try_encode_expr(node, buffer, ctx)
    }
}
