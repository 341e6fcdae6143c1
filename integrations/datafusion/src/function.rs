//! The scalar functions of a metric.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use dsrs_metrics::{
    Metric, Outcome,
    contract::{MetricIdentity, Requirement, Settings},
    prelude::{Example, Prediction},
};
use futures::StreamExt;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::aggregate::{IDENTITY, answer};
use crate::arguments::Arguments;
use crate::call;
use crate::output::{Output, ScoreColumn};
use crate::rows::Rows;

/// What the functions of a metric have in common.
pub(crate) struct Shared {
    pub(crate) metric: Arc<dyn Metric>,
    pub(crate) arguments: Arguments,
    pub(crate) column: ScoreColumn,
    /// The calls of an asynchronous metric at the same time, over all partitions.
    pub(crate) calls: Semaphore,
    pub(crate) concurrency: usize,
    /// The scope in which the metric is called.
    pub(crate) settings: Settings,
}

impl Shared {
    /// Returns the identity of the metric as JSON.
    fn identity(&self) -> String {
        let identity = || MetricIdentity::of::<Example, Prediction>(&*self.metric);
        json!(self.settings.clone().scope_sync(identity)).to_string()
    }

    /// Validates that a judge, or another asynchronous metric, can score rows: that it has a model, or was asked to score
    /// offline.
    fn check_requirements(&self, function: &str) -> Result<()> {
        let mut requirements = Vec::new();
        if self.metric.spec().is_async {
            let settings = self.settings.clone();
            settings.scope_sync(|| self.metric.requirements(&mut requirements));
        }
        match requirements.iter().find_map(Requirement::missing_reason) {
            Some(reason) => plan_err!("function `{function}`: {reason}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metric")
            .field("name", &self.metric.name())
            .finish_non_exhaustive()
    }
}

/// A function of a metric: of its score, or of the details.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    name: String,
    shared: Arc<Shared>,
    output: Output,
    signature: Signature,
}

// Two functions are equal if they have the same metric, not only the same name.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.output == other.output
            && Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.output).hash(state);
    }
}

impl Function {
    /// Creates the functions of a metric: `NAME` and `NAME_details`.
    pub(crate) fn both(name: &str, is_async: bool, shared: &Arc<Shared>) -> Result<[ScalarUDF; 2]> {
        let signature = match is_async {
            // A language model may answer differently, and each row is to be answered once.
            true => async_signature(&shared.arguments, Volatility::Volatile)?,
            false => Signature::user_defined(Volatility::Immutable)
                .with_parameter_names(shared.arguments.names())?,
        };
        let function = |name, output| {
            let function = Self {
                name,
                shared: Arc::clone(shared),
                output,
                signature: signature.clone(),
            };
            match is_async {
                true => AsyncScalarUDF::new(Arc::new(function)).into_scalar_udf(),
                false => ScalarUDF::new_from_impl(function),
            }
        };
        Ok([
            function(name.to_owned(), Output::Score),
            function(details_name(name), Output::Details),
        ])
    }

    /// Returns the identity of the metric as JSON.
    pub(crate) fn identity(&self) -> String {
        self.shared.identity()
    }

    fn evaluate(&self, args: &ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Shared {
            metric,
            arguments,
            column,
            ..
        } = &*self.shared;
        let mut rows = Rows::new(arguments, &args.args)?;
        let mut output = column.builder(self.output, args.number_rows);
        let is_explained = self.output == Output::Details;
        for row in 0..args.number_rows {
            let outcome = match rows.read(row, metric.name()) {
                Ok((gold, pred)) => {
                    call::evaluate_now(&**metric, call::call(gold, pred, is_explained))
                }
                Err(error) => Outcome::from(error),
            };
            output.append(&outcome);
        }
        Ok(ColumnarValue::Array(output.finish()))
    }
}

/// DataFusion casts no arguments of an asynchronous function, so any types are accepted, and validated with the return type.
fn async_signature(arguments: &Arguments, volatility: Volatility) -> Result<Signature> {
    match arguments.fixed_number() {
        Some(number) => Signature::any(number, volatility).with_parameter_names(arguments.names()),
        None => Ok(Signature::variadic_any(volatility)),
    }
}

/// The name of the function that returns the details.
pub(crate) fn details_name(name: &str) -> String {
    format!("{name}_details")
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.shared.column.data_type(self.output))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        if let [probe] = args.arg_fields
            && probe.name() == IDENTITY
        {
            return Ok(Arc::new(answer(self.identity())));
        }
        let types: Vec<_> = args
            .arg_fields
            .iter()
            .map(|it| it.data_type().clone())
            .collect();
        self.shared.arguments.coerce(&self.name, &types)?;
        self.shared.check_requirements(&self.name)?;
        Ok(self.shared.column.field(&self.name, self.output))
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.shared.arguments.coerce(&self.name, types)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.evaluate(&args)
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for Function {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Shared {
            metric,
            arguments,
            column,
            calls,
            concurrency,
            settings,
        } = &*self.shared;
        let is_explained = self.output == Output::Details;
        let mut rows = Rows::new(arguments, &args.args)?;
        // A row is copied when its call starts, so that as many are in memory as calls are running.
        let calls = (0..args.number_rows).map(|row| {
            let pair = rows
                .read(row, metric.name())
                .map(|(gold, pred)| (gold.clone(), pred.clone()));
            async move {
                // The semaphore is never closed.
                let _permit = calls.acquire().await;
                let outcome = match pair {
                    Ok((gold, pred)) => {
                        call::evaluate(&**metric, (&gold, &pred), is_explained).await
                    }
                    Err(error) => Outcome::from(error),
                };
                (row, outcome)
            }
        });
        // In order of completion, so that a slow row does not delay the start of others.
        let calls = futures::stream::iter(calls).buffer_unordered(*concurrency);
        let mut outcomes: Vec<(usize, Outcome)> = settings.clone().scope(calls.collect()).await;
        outcomes.sort_unstable_by_key(|(row, _)| *row);
        let mut output = column.builder(self.output, args.number_rows);
        outcomes
            .iter()
            .for_each(|(_, outcome)| output.append(outcome));
        Ok(ColumnarValue::Array(output.finish()))
    }
}
