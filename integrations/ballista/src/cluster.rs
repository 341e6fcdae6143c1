//! The metrics of a cluster, and the sessions of its clients.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ballista::prelude::SessionContextExt as _;
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::common::{Result, plan_datafusion_err};
use datafusion::execution::FunctionRegistry as _;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::PhysicalExtensionCodec;
use dsrs_metrics_datafusion::{
    FindIdentities, MetricFunctions, RegisterMetric, aggregate_functions, configure_for_judges,
};

use crate::codec::FunctionCodec;
use crate::functions::{ADVICE, Descriptions, metric};

/// The metrics of a cluster. Scheduler, executors and clients create it in the same way, so that each of them has the same
/// functions.
///
/// Metrics are registered as with a `SessionContext`, with [`RegisterMetric`]. [`main`](Self::main) is the command line of all
/// processes; the other methods are for programs with their own configuration.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics_ballista::Cluster;
/// use dsrs_metrics_datafusion::RegisterMetric as _;
///
/// /// Whether the answer has at most this many characters.
/// #[metric]
/// fn is_short(#[pred] answer: &str, #[param(default = 10)] most: usize) -> bool {
///     answer.chars().count() <= most
/// }
///
/// fn main() -> ExitCode {
///     let cluster = Cluster::new();
///     cluster.register_all_builtin().expect("the names differ");
///     cluster.register_metric(IsShort::default()).expect("no other function has this name");
///     cluster.main()
/// }
/// ```
#[derive(Default)]
pub struct Cluster {
    ctx: SessionContext,
    descriptions: Mutex<Descriptions>,
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("metrics", &self.descriptions().keys())
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// Creates a cluster with the functions of DataFusion and the aggregates `metric_mean`, `metric_ci95` and
    /// `metric_summary`.
    #[must_use]
    pub fn new() -> Self {
        let cluster = Self::default();
        aggregate_functions()
            .into_iter()
            .for_each(|function| cluster.ctx.register_udaf(function));
        cluster
    }

    /// Returns the session whose functions all processes have. Functions that are not metrics are registered here.
    #[must_use]
    pub fn context(&self) -> &SessionContext {
        &self.ctx
    }

    /// Returns a session whose queries run on the cluster of this scheduler, such as `http://127.0.0.1:50050`. The limits and
    /// settings of DataFusion and Ballista are those of the configuration.
    ///
    /// A query with a function that the scheduler does not have, or has with other types, parameters or versions, is an
    /// error before it runs.
    ///
    /// # Errors
    /// The URL is not one of a scheduler.
    pub async fn connect(&self, url: &str, config: SessionConfig) -> Result<SessionContext> {
        let functions = self.functions();
        let codec = functions.logical_codec(config.ballista_logical_extension_codec());
        let config = config.with_ballista_logical_extension_codec(codec);
        let state = SessionStateBuilder::new()
            .with_default_features()
            .with_config(config)
            .build();
        let ctx = SessionContext::remote_with_state(url, state).await?;
        functions.register(&mut ctx.state_ref().write())?;
        Ok(ctx)
    }

    fn descriptions(&self) -> MutexGuard<'_, Descriptions> {
        self.descriptions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The functions that are registered now.
    pub(crate) fn functions(&self) -> Arc<Functions> {
        let descriptions = self.descriptions().clone();
        Arc::new(Functions {
            descriptions,
            state: self.ctx.state(),
        })
    }
}

impl RegisterMetric for Cluster {
    fn register_metric_functions(&self, functions: MetricFunctions) -> Result<()> {
        let (name, description) = (functions.name().to_owned(), functions.description());
        self.ctx.register_metric_functions(functions)?;
        self.descriptions().insert(name, description);
        Ok(())
    }

    fn has_function(&self, name: &str) -> bool {
        self.ctx.has_function(name)
    }
}

/// The functions of a process.
#[derive(Debug)]
pub(crate) struct Functions {
    pub(crate) descriptions: Descriptions,
    state: SessionState,
}

impl Functions {
    /// Registers the functions in a session, as far as it does not have them.
    pub(crate) fn register(&self, state: &mut SessionState) -> Result<()> {
        if self
            .state
            .scalar_functions()
            .values()
            .any(|function| function.as_async().is_some())
        {
            configure_for_judges(state.config_mut().options_mut());
        }
        state.add_analyzer_rule(Arc::new(FindIdentities));
        for (name, function) in self.state.scalar_functions() {
            if self.is_metric(name) || !state.scalar_functions().contains_key(name) {
                state.register_udf(Arc::clone(function))?;
            }
        }
        for (name, function) in self.state.aggregate_functions() {
            if self.is_metric(name) || !state.aggregate_functions().contains_key(name) {
                state.register_udaf(Arc::clone(function))?;
            }
        }
        Ok(())
    }

    fn is_metric(&self, name: &str) -> bool {
        metric(&self.descriptions, name).is_some()
    }

    pub(crate) fn scalar(&self, name: &str) -> Result<Arc<ScalarUDF>> {
        self.state.udf(name).map_err(|_| unknown(name))
    }

    pub(crate) fn aggregate(&self, name: &str) -> Result<Arc<AggregateUDF>> {
        self.state.udaf(name).map_err(|_| unknown(name))
    }

    /// Returns `true` if an aggregate over scores has this name.
    pub(crate) fn is_aggregate(&self, name: &str) -> bool {
        aggregate_functions()
            .iter()
            .any(|function| function.name() == name)
    }

    pub(crate) fn logical_codec(
        self: &Arc<Self>,
        others: Arc<dyn LogicalExtensionCodec>,
    ) -> Arc<dyn LogicalExtensionCodec> {
        Arc::new(FunctionCodec {
            functions: Arc::clone(self),
            others,
        })
    }

    /// Adds the functions to the codecs of a process, which are Ballista's if there are no others.
    pub(crate) fn add_codecs(
        self: &Arc<Self>,
        logical: &mut Option<Arc<dyn LogicalExtensionCodec>>,
        physical: &mut Option<Arc<dyn PhysicalExtensionCodec>>,
    ) {
        let others = logical.take();
        let others = others.unwrap_or_else(|| Arc::new(BallistaLogicalExtensionCodec::default()));
        *logical = Some(self.logical_codec(others));
        let others = physical.take();
        let others = others.unwrap_or_else(|| Arc::new(BallistaPhysicalExtensionCodec::default()));
        *physical = Some(Arc::new(FunctionCodec {
            functions: Arc::clone(self),
            others,
        }));
    }
}

fn unknown(name: &str) -> datafusion::error::DataFusionError {
    plan_datafusion_err!("function `{name}`: this process has no function of this name; {ADVICE}")
}
