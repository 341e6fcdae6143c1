//! Predictors that record their steps, and the run of a program that reads them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::anyhow;
use dspy_rs::{LM, MetaSignature, Module, Optimizable, Predictor};
use dsrs_metrics::{
    Example, Prediction,
    rows::{Trace, TraceStep},
    runs::ProgramUsage,
};
use indexmap::IndexMap;

use crate::panics::caught;
use crate::rows::{ConvertedPrediction, RUN_FIELD, RunField};

/// A predictor of dspy-rs that records its steps while a [`Measured`](crate::Measured) module runs.
///
/// The published dspy-rs passes no trace to metrics. With recorded predictors, a metric gets the steps of the program,
/// their tokens, and in `feedback_metric` the predictor whose instruction was changed last, with its steps. The name should
/// be that of the field, by which optimizers refer to the predictor.
///
/// ```
/// use dspy_rs::{Module, Optimizable, Predict, Predictor, Signature};
/// use dsrs_metrics_dspy_rs::Recorded;
///
/// #[Signature]
/// struct AnswerQuestion {
///     #[input]
///     question: String,
///     #[output]
///     answer: String,
/// }
///
/// #[derive(Optimizable)]
/// struct Qa {
///     #[parameter]
///     answer: Recorded<Predict>,
/// }
///
/// impl Module for Qa {
///     async fn forward(&self, inputs: dspy_rs::Example) -> anyhow::Result<dspy_rs::Prediction> {
///         self.answer.forward(inputs).await
///     }
/// }
///
/// let mut qa = Qa { answer: Recorded::new("answer", Predict::new(AnswerQuestion::new())) };
/// assert_eq!(qa.parameters().keys().collect::<Vec<_>>(), ["answer"]);
/// ```
///
/// Steps are recorded per task: those of predictors that a program runs in a task of its own (`tokio::spawn`) are not.
#[derive(Debug)]
pub struct Recorded<P> {
    name: String,
    predictor: P,
    /// The time at which the instruction was changed last; 0 if it was not.
    changed: AtomicU64,
}

/// Counts changes of instructions, as a clock that every predictor reads.
static CHANGES: AtomicU64 = AtomicU64::new(0);

impl<P> Recorded<P> {
    /// Records the steps of a predictor under a name.
    pub fn new(name: impl Into<String>, predictor: P) -> Self {
        Self {
            name: name.into(),
            predictor,
            changed: AtomicU64::new(0),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the predictor.
    pub const fn predictor(&self) -> &P {
        &self.predictor
    }
}

impl<P: Predictor + Optimizable> Recorded<P> {
    /// Adds a step to the run of this task, if there is one.
    fn record(&self, inputs: &dspy_rs::Example, prediction: &dspy_rs::Prediction) {
        let run = RUN.try_with(Arc::clone);
        let Ok(run) = run else { return };
        // Only what the predictor reads: the example of an optimizer has the labels too.
        let names = self.predictor.get_signature().input_fields();
        let names = names
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys());
        let read = names.filter_map(|name| Some((name.as_str(), inputs.data.get(name)?.clone())));
        let inputs: Example = read.collect();
        let converted = ConvertedPrediction::from(prediction);
        let usage = converted.run().usage;
        let outputs: Prediction = converted.prediction;
        let step = TraceStep {
            predictor: self.name.clone(),
            inputs,
            outputs,
        };
        run.add(step, usage, self.changed.load(Ordering::Relaxed));
    }
}

impl<P: Predictor + Optimizable> Predictor for Recorded<P> {
    async fn forward(&self, inputs: dspy_rs::Example) -> anyhow::Result<dspy_rs::Prediction> {
        let prediction = self.predictor.forward(inputs.clone()).await?;
        self.record(&inputs, &prediction);
        Ok(prediction)
    }

    async fn forward_with_config(
        &self,
        inputs: dspy_rs::Example,
        lm: Arc<LM>,
    ) -> anyhow::Result<dspy_rs::Prediction> {
        let prediction = self
            .predictor
            .forward_with_config(inputs.clone(), lm)
            .await?;
        self.record(&inputs, &prediction);
        Ok(prediction)
    }
}

impl<P: Optimizable> Optimizable for Recorded<P> {
    fn get_signature(&self) -> &dyn MetaSignature {
        self.predictor.get_signature()
    }

    fn parameters(&mut self) -> IndexMap<String, &mut dyn Optimizable> {
        self.predictor.parameters()
    }

    fn update_signature_instruction(&mut self, instruction: String) -> anyhow::Result<()> {
        self.predictor.update_signature_instruction(instruction)?;
        *self.changed.get_mut() = CHANGES.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(())
    }
}

tokio::task_local! {
    static RUN: Arc<Run>;
}

/// The steps of one run of a program.
#[derive(Default)]
struct Run(Mutex<Steps>);

#[derive(Default)]
struct Steps {
    trace: Trace,
    /// `None` once a step has no usage.
    usage: Option<ProgramUsage>,
    /// The predictor that was changed last, with the time.
    changed: (u64, Option<String>),
}

impl Run {
    fn add(&self, step: TraceStep, usage: Option<ProgramUsage>, changed: u64) {
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if changed > steps.changed.0 {
            steps.changed = (changed, Some(step.predictor.clone()));
        }
        let is_first = steps.trace.steps.is_empty();
        steps.usage = match (steps.usage, usage) {
            (None, usage) if is_first => usage,
            (Some(mut sum), Some(usage)) => {
                sum += usage;
                Some(sum)
            }
            _ => None,
        };
        steps.trace.steps.push(step);
    }
}

/// Runs a module, and adds the recorded steps to its prediction. A panic is an error.
pub(crate) async fn run_program<M: Module>(
    module: &M,
    inputs: dspy_rs::Example,
) -> anyhow::Result<dspy_rs::Prediction> {
    let run = Arc::new(Run::default());
    let start = Instant::now();
    let result = RUN.scope(run.clone(), caught(module.forward(inputs))).await;
    let latency = start.elapsed();
    let mut prediction = result.map_err(|message| anyhow!("the program panicked: {message}"))??;
    let mut steps = run.0.lock().unwrap_or_else(PoisonError::into_inner);
    let steps = std::mem::take(&mut *steps);
    if !steps.trace.steps.is_empty() {
        let run_field = RunField {
            trace: Some(steps.trace),
            usage: steps.usage,
            latency: Some(latency),
            predictor: steps.changed.1,
            error: None,
        };
        prediction
            .data
            .insert(RUN_FIELD.to_owned(), run_field.to_value());
    }
    Ok(prediction)
}
