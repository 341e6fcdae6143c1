//! A module of dspy-rs together with a metric of dsrs-metrics, for its evaluators and optimizers.
//!
//! `evaluators.rs` has what dspy-rs calls, `calls.rs` one call of the metric, `report.rs` what is known after the calls,
//! `score.rs` the conversion of scores and `mapping.rs` fields of other names.

mod calls;
mod evaluators;
mod feedback;
mod mapping;
mod report;
mod score;

use std::any::type_name;
use std::fmt;

use dspy_rs::{MetaSignature, Module, Optimizable};
use dsrs_metrics::Metric;
use dsrs_metrics::data::MappingError;
use indexmap::IndexMap;

pub use self::feedback::SpanFeedback;
use self::mapping::Mappings;
use self::report::Log;
pub use self::report::{Failure, MetricReport, NotScored, RowName, Tally};
use crate::recorded::run_program;

/// A module of dspy-rs with a metric, which dspy-rs's optimizers can compile.
///
/// It forwards `Module` and `Optimizable` to the module, and implements `Evaluator` and `FeedbackEvaluator` with the metric.
/// `batch` calls `forward` for each row, so that of the module is not used. A metric for which lower is better is reflected
/// within its range, because optimizers maximize.
///
/// dspy-rs receives a number for every call, also if the metric or the program fails: the
/// [failure score](Self::with_failure_score). [`report`](Self::report) has each of those failures.
///
/// ```
/// use dspy_rs::Evaluator;
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics_dspy_rs::WithMetric;
/// # struct Echo;
/// # impl dspy_rs::Module for Echo {
/// #     async fn forward(&self, inputs: dspy_rs::Example) -> anyhow::Result<dspy_rs::Prediction> {
/// #         Ok(dspy_rs::Prediction::from(vec![("answer".to_owned(), inputs.get("question", None))]))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let module = Echo.with_metric(F1::default());
/// let fields = [("question".to_owned(), "Paris, France".into()), ("answer".to_owned(), "Paris".into())];
/// let row = dspy_rs::Example::new(fields.into(), vec!["question".to_owned()], vec![]);
/// assert_eq!(module.evaluate(vec![row]).await, 2.0 / 3.0);
/// assert_eq!(module.report().to_string(), "f1: 0.6667 (mean of 1/1 calls, 0 failed)");
/// # }
/// ```
pub struct Measured<M, T> {
    module: M,
    metric: T,
    mappings: Mappings,
    concurrency: usize,
    continues: bool,
    log: Log,
}

/// Adds a metric to a module of dspy-rs.
pub trait WithMetric: Module + Sized {
    /// Returns the module with a metric, for the evaluators and optimizers of dspy-rs. See [`Measured`].
    fn with_metric<T: Metric>(self, metric: T) -> Measured<Self, T> {
        Measured::new(self, metric)
    }
}

impl<M: Module> WithMetric for M {}

impl<M: Module, T: Metric> Measured<M, T> {
    /// Adds a metric to a module.
    pub fn new(module: M, metric: T) -> Self {
        let log = Log::new(metric.name(), score::worst(&metric.spec()));
        let mappings = Mappings::default();
        Self {
            module,
            metric,
            mappings,
            concurrency: MAX_CONCURRENCY,
            continues: false,
            log,
        }
    }

    /// Sets the number that dspy-rs receives if the metric or the program fails. The default is the worst score of the
    /// metric; 0 if it declares no range; [`f32::MIN`] if its worst score has no limit. NaN and infinities, on which dspy-rs
    /// panics, are replaced by [`f32::MIN`].
    #[must_use]
    pub fn with_failure_score(self, score: f32) -> Self {
        let score = if score.is_finite() { score } else { f32::MIN };
        self.log.with(|report| report.failure_score = score);
        self
    }

    /// Sets how many rows `evaluate` runs concurrently; the default is 32, as in dspy-rs. 0 counts as 1.
    #[must_use]
    pub fn with_concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// Reads a field of the gold row or of the prediction from another one, as `--map` of the command line does. `id` sets
    /// the name of a row in reports.
    ///
    /// ```
    /// # fn with<M: dspy_rs::Module>(qa: M) -> Result<(), dsrs_metrics::data::MappingError> {
    /// use dsrs_metrics::metrics::F1;
    /// use dsrs_metrics_dspy_rs::WithMetric;
    ///
    /// let module = qa.with_metric(F1::default()).map("gold.answer=answers.0")?.map("pred.answer=response")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A mapping that is not of the form `gold.FIELD=PATH`, `pred.FIELD=PATH` or `id=PATH`.
    pub fn map(mut self, mapping: &str) -> Result<Self, MappingError> {
        self.mappings.add(mapping)?;
        Ok(self)
    }

    /// Lets optimizers continue after a failure of the program: `forward` returns a prediction that stands for the failure,
    /// and the metric counts it.
    ///
    /// Without it, dspy-rs's MIPROv2 and GEPA stop at the first error of `forward`. `evaluate` never stops.
    #[must_use]
    pub fn continue_after_program_errors(mut self) -> Self {
        self.continues = true;
        self
    }

    /// Returns what the metric returned so far.
    #[must_use]
    pub fn report(&self) -> MetricReport {
        self.log.with(|report| report.clone())
    }

    /// Starts a new report, and returns the one so far.
    pub fn take_report(&self) -> MetricReport {
        self.log.with(|report| {
            let new = MetricReport::new(&report.metric, report.failure_score);
            std::mem::replace(report, new)
        })
    }

    /// Returns the metric.
    pub const fn metric_ref(&self) -> &T {
        &self.metric
    }

    /// Returns the module.
    pub const fn module(&self) -> &M {
        &self.module
    }

    /// Returns the module without the metric: the compiled program.
    pub fn into_module(self) -> M {
        self.module
    }
}

/// That of dspy-rs's `Evaluator`.
const MAX_CONCURRENCY: usize = 32;

impl<M: Module, T: Metric> Module for Measured<M, T> {
    /// Runs the module. A panic of the module is an error.
    async fn forward(&self, inputs: dspy_rs::Example) -> anyhow::Result<dspy_rs::Prediction> {
        match run_program(&self.module, inputs).await {
            Err(error) if self.continues => Ok(calls::failed_prediction(&error)),
            result => result,
        }
    }
}

impl<M: Optimizable, T> Optimizable for Measured<M, T> {
    fn get_signature(&self) -> &dyn MetaSignature {
        self.module.get_signature()
    }

    fn parameters(&mut self) -> IndexMap<String, &mut dyn Optimizable> {
        self.module.parameters()
    }

    fn update_signature_instruction(&mut self, instruction: String) -> anyhow::Result<()> {
        self.module.update_signature_instruction(instruction)
    }
}

impl<M, T> fmt::Debug for Measured<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut measured = f.debug_struct("Measured");
        measured
            .field("module", &type_name::<M>())
            .field("report", &self.log);
        measured.finish_non_exhaustive()
    }
}
