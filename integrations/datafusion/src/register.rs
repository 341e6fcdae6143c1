//! Registers metrics as functions of a session.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, plan_err};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::optimizer::AnalyzerRule as _;
use datafusion::prelude::SessionContext;
use dsrs_metrics::judge::Models;
use dsrs_metrics::metrics::Registry;
use dsrs_metrics::{
    Example, Metric, Prediction,
    contract::{MetricIdentity, Params, ScoreKind, ScoreRange, Settings},
};
use tokio::sync::Semaphore;

use crate::aggregate::{self, FindIdentities};
use crate::arguments::Arguments;
use crate::corpus::CorpusFunction;
use crate::description::FunctionDescription;
use crate::function::{Function, Shared};
use crate::output::{Output, ScoreColumn};

/// The calls of an asynchronous metric that run at the same time by default.
const CONCURRENCY: usize = 32;

/// A metric as functions of SQL, with their settings.
///
/// [`RegisterMetric::register_metric`] is enough for most metrics; this type has the settings, and
/// [`functions`](Self::functions) returns the functions for registries other than a `SessionContext`.
///
/// ```
/// use datafusion::prelude::SessionContext;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};
///
/// // A closure reads whole rows, so its fields are declared here.
/// let same = metric_fn("same", |gold, pred| gold.get("label") == pred.get("guess"));
/// let functions = MetricFunctions::new(same).with_fields(["label"], ["guess"]).named("same_label");
/// let ctx = SessionContext::new();
/// ctx.register_metric_functions(functions)?;
/// # Ok::<(), datafusion::error::DataFusionError>(())
/// ```
#[derive(Clone)]
pub struct MetricFunctions {
    metric: Arc<dyn Metric>,
    name: String,
    fields: Option<(Vec<String>, Vec<String>)>,
    concurrency: usize,
    settings: Settings,
}

impl MetricFunctions {
    /// Creates the functions of a metric, under its name and with the fields that it declares.
    #[must_use]
    pub fn new(metric: impl Metric + 'static) -> Self {
        let name = metric.name().to_owned();
        let (fields, settings) = (None, Settings::new());
        Self {
            metric: Arc::new(metric),
            name,
            fields,
            concurrency: CONCURRENCY,
            settings,
        }
    }

    /// Sets the name of the function of the score. That of the details has `_details` after it.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the fields of the gold row and of the prediction that are arguments, in this order, for a metric that reads whole
    /// rows. Columns of any type are accepted.
    #[must_use]
    pub fn with_fields<N: Into<String>>(
        mut self,
        gold: impl IntoIterator<Item = N>,
        pred: impl IntoIterator<Item = N>,
    ) -> Self {
        let gold = gold.into_iter().map(Into::into).collect();
        self.fields = Some((gold, pred.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets how many calls of an asynchronous metric, such as a judge, run at the same time, over all partitions of all
    /// queries; 32 by default. The limits of a language model apply as well.
    #[must_use]
    pub fn with_concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// Calls no language model: a judge that names none scores by its offline stand-in, whatever `DSRS_LM` is, and the details of
    /// each score say so. A judge without a stand-in is an error before the query runs, as one without a model is.
    ///
    /// ```
    /// use datafusion::prelude::SessionContext;
    /// use dsrs_metrics_datafusion::{MetricFunctions, RegisterMetric as _};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> datafusion::error::Result<()> {
    /// let ctx = SessionContext::new();
    /// ctx.register_all_builtin_with(MetricFunctions::offline)?;
    /// let rows = ctx.sql("SELECT semantic_equivalence('in Paris', 'in Paris') AS score").await?;
    /// let table = rows.to_string().await?;
    /// assert!(table.contains("| true  |"), "{table}");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn offline(mut self) -> Self {
        self.settings = Settings::new().with(Models::offline());
        self
    }

    /// Returns the name of the function of the score.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what the results of the functions depend on, to compare the functions of two processes.
    #[must_use]
    pub fn description(&self) -> FunctionDescription {
        let identity = || MetricIdentity::of::<Example, Prediction>(&*self.metric);
        let metric = self.settings.clone().scope_sync(identity);
        let value = self.column().data_type(Output::Score);
        let call = self.arguments().typed_call(&self.name, &value);
        FunctionDescription::new(call, self.fields.clone(), metric)
    }

    fn arguments(&self) -> Arguments {
        match &self.fields {
            Some((gold, pred)) => Arguments::of_any_type(gold, pred),
            None => Arguments::declared(&self.metric.spec()),
        }
    }

    fn column(&self) -> ScoreColumn {
        let spec = self.metric.spec();
        let range = if spec.strict {
            Some(ScoreRange::UNIT)
        } else {
            spec.range
        };
        ScoreColumn {
            kind: spec.kind,
            range,
        }
    }

    /// Validates that the metric has fields.
    fn check(&self) -> Result<()> {
        let spec = self.metric.spec();
        if self.fields.is_none() && spec.gold.is_empty() && spec.pred.is_empty() {
            return plan_err!(
                "metric `{}`: expected declared fields, found a metric that reads whole rows; \
                 write MetricFunctions::new(metric).with_fields([\"answer\"], [\"answer\"])",
                spec.name
            );
        }
        Ok(())
    }

    /// Returns the functions: those of the score and of the details, or the aggregates of a metric that scores all rows together.
    ///
    /// # Errors
    /// The metric declares no fields.
    pub fn functions(self) -> Result<Functions> {
        self.check()?;
        let (arguments, column) = (self.arguments(), self.column());
        let Self {
            metric,
            name,
            concurrency,
            settings,
            ..
        } = self;
        let is_async = metric.spec().is_async;
        let calls = Semaphore::new(concurrency);
        let shared = Shared {
            metric,
            arguments,
            column,
            calls,
            concurrency,
            settings,
        };
        let shared = Arc::new(shared);
        Ok(match column.kind {
            ScoreKind::Corpus => {
                let aggregate = CorpusFunction::both(&name, &shared).into();
                Functions {
                    scalar: Vec::new(),
                    aggregate,
                }
            }
            _ => {
                let scalar = Function::both(&name, is_async, &shared)?.into();
                Functions {
                    scalar,
                    aggregate: Vec::new(),
                }
            }
        })
    }
}

/// The functions of a metric, for a registry other than a `SessionContext`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Functions {
    /// `NAME` and `NAME_details`, of a metric that scores each row.
    pub scalar: Vec<ScalarUDF>,
    /// `NAME` and `NAME_details`, of a metric that scores all rows together.
    pub aggregate: Vec<AggregateUDF>,
}

/// Turns off the optimization that copies the function of a judge to each place in a query that reads a field of its details,
/// so that every row would be judged several times: `datafusion.optimizer.enable_leaf_expression_pushdown`. A
/// `SessionContext` in which an asynchronous metric is registered has it off.
///
/// ```
/// use datafusion::common::config::ConfigOptions;
/// use dsrs_metrics_datafusion::configure_for_judges;
///
/// let mut options = ConfigOptions::new();
/// configure_for_judges(&mut options);
/// assert!(!options.optimizer.enable_leaf_expression_pushdown);
/// ```
pub fn configure_for_judges(options: &mut ConfigOptions) {
    options.optimizer.enable_leaf_expression_pushdown = false;
}

/// Registers metrics as functions of a session.
///
/// The aggregates `metric_mean`, `metric_ci95` and `metric_summary` are registered with the first metric.
pub trait RegisterMetric {
    /// Registers a metric under its name: `NAME(gold fields.., prediction fields..)` and `NAME_details(..)`.
    ///
    /// ```
    /// use datafusion::prelude::SessionContext;
    /// use dsrs_metrics::metrics::AnswerExactMatch;
    /// use dsrs_metrics_datafusion::RegisterMetric as _;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> datafusion::error::Result<()> {
    /// let ctx = SessionContext::new();
    /// ctx.register_metric(AnswerExactMatch::default())?;
    /// let rows = ctx.sql("SELECT answer_exact_match('Paris', 'paris') AS score").await?;
    /// let table = rows.to_string().await?;
    /// assert!(table.contains("| true  |"), "{table}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A function of that name exists, or the metric declares no fields.
    fn register_metric(&self, metric: impl Metric + 'static) -> Result<()> {
        self.register_metric_functions(MetricFunctions::new(metric))
    }

    /// Registers a metric under another name, such as one with parameters.
    ///
    /// # Errors
    /// As [`register_metric`](Self::register_metric).
    fn register_metric_as(
        &self,
        name: impl Into<String>,
        metric: impl Metric + 'static,
    ) -> Result<()> {
        self.register_metric_functions(MetricFunctions::new(metric).named(name))
    }

    /// Registers the built-in metrics with their default parameters, under the names of `dsrs-metrics list`, and returns
    /// those that are not functions of rows, with the reason.
    ///
    /// These are metrics that need a parameter. Register them one by one. A metric whose name DataFusion uses is registered
    /// as `metric_NAME`.
    ///
    /// ```
    /// use datafusion::execution::FunctionRegistry as _;
    /// use datafusion::prelude::SessionContext;
    /// use dsrs_metrics_datafusion::RegisterMetric as _;
    ///
    /// let ctx = SessionContext::new();
    /// let others = ctx.register_all_builtin()?;
    /// assert_eq!(ctx.udf("rouge_l")?.name(), "rouge_l");
    /// assert_eq!(ctx.udf("rouge_l_details")?.name(), "rouge_l_details");
    /// let others: Vec<&str> = others.iter().map(|other| other.metric.as_str()).collect();
    /// assert_eq!(others, ["pattern", "regex", "within_steps", "within_tool_calls", "within_tokens"]);
    /// # Ok::<(), datafusion::error::DataFusionError>(())
    /// ```
    ///
    /// # Errors
    /// A metric of one of these names is registered.
    fn register_all_builtin(&self) -> Result<Vec<NotRegistered>> {
        self.register_all_builtin_with(|functions| functions)
    }

    /// As [`register_all_builtin`](Self::register_all_builtin), with settings for all functions, such as
    /// [`MetricFunctions::offline`].
    ///
    /// # Errors
    /// A metric of one of these names is registered.
    fn register_all_builtin_with(
        &self,
        set_up: impl Fn(MetricFunctions) -> MetricFunctions,
    ) -> Result<Vec<NotRegistered>> {
        let (all, others) = builtin();
        for functions in all {
            let functions = set_up(functions);
            let name = functions.name();
            let name = if self.has_function(name) {
                format!("metric_{name}")
            } else {
                name.into()
            };
            self.register_metric_functions(functions.named(name))?;
        }
        Ok(others)
    }

    /// Registers the functions of a metric.
    ///
    /// # Errors
    /// As [`register_metric`](Self::register_metric).
    fn register_metric_functions(&self, functions: MetricFunctions) -> Result<()>;

    /// Returns `true` if a function or an aggregate has this name, even if it isn't a metric's.
    fn has_function(&self, name: &str) -> bool;
}

/// A built-in metric that [`RegisterMetric::register_all_builtin`] does not register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRegistered {
    /// The metric's name.
    pub metric: String,
    /// The reason.
    pub reason: String,
}

/// Returns the functions of the built-in metrics, and those that are not functions.
fn builtin() -> (Vec<MetricFunctions>, Vec<NotRegistered>) {
    let registry = Registry::builtin();
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for name in registry.names() {
        let metric = registry
            .create(name, &Params::default())
            .map_err(|error| error.to_string());
        let functions = metric.map(|metric| MetricFunctions::new(metric).named(name));
        let checked = functions.and_then(|functions| match functions.check() {
            Ok(()) => Ok(functions),
            Err(error) => Err(error.message().into_owned()),
        });
        match checked {
            Ok(functions) => all.push(functions),
            Err(reason) => others.push(NotRegistered {
                metric: name.to_owned(),
                reason,
            }),
        }
    }
    (all, others)
}

/// Adds [`FindIdentities`] to a session that does not have it.
fn find_identities(state: &mut SessionState) {
    if state
        .analyzer()
        .rules
        .iter()
        .all(|rule| rule.name() != FindIdentities.name())
    {
        state.add_analyzer_rule(Arc::new(FindIdentities));
    }
}

impl RegisterMetric for SessionContext {
    fn register_metric_functions(&self, functions: MetricFunctions) -> Result<()> {
        let Functions { scalar, aggregate } = functions.functions()?;
        let mut names = scalar
            .iter()
            .map(ScalarUDF::name)
            .chain(aggregate.iter().map(AggregateUDF::name));
        if let Some(name) = names.find(|name| self.has_function(name)) {
            return plan_err!(
                "function `{name}` is already registered; write register_metric_as(\"another_name\", metric)"
            );
        }
        if scalar.iter().any(|function| function.as_async().is_some()) {
            configure_for_judges(self.state_ref().write().config_mut().options_mut());
        }
        scalar
            .into_iter()
            .for_each(|function| self.register_udf(function));
        let others = aggregate::functions().into_iter();
        let others = others.filter(|function| self.udaf(function.name()).is_err());
        find_identities(&mut self.state_ref().write());
        aggregate
            .into_iter()
            .chain(others)
            .for_each(|function| self.register_udaf(function));
        Ok(())
    }

    fn has_function(&self, name: &str) -> bool {
        self.udf(name).is_ok() || self.udaf(name).is_ok()
    }
}
