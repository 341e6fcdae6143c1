//! The traces of dspy-rs: `ExecutionTrace` of its feedback, and `Trace` of MIPROv2.

use std::collections::HashMap;

use dsrs_metrics::rows::Trace;
use serde_json::Value;

use super::example::ConvertedExample;
use super::prediction::ConvertedPrediction;
use super::steps::{trace_from_steps, trace_into_steps};

/// dspy-rs's `ExecutionTrace`. It can be converted and converted back without a change.
///
/// ```
/// use dspy_rs::ExecutionTrace;
/// use dsrs_metrics_dspy_rs::ConvertedExecution;
/// use serde_json::json;
///
/// let original = ExecutionTrace::builder(dspy_rs::Example::default()).add_step("count", json!(3)).build();
/// let converted = ConvertedExecution::from(original);
/// assert_eq!(converted.trace.steps[0].predictor, "count");
/// assert_eq!(ExecutionTrace::from(converted).intermediate_steps, [("count".to_owned(), json!(3))]);
/// ```
#[derive(Debug, Clone)]
pub struct ConvertedExecution {
    /// The example.
    pub inputs: ConvertedExample,
    /// The prediction, if the program returned one.
    pub outputs: Option<ConvertedPrediction>,
    /// Score and feedback, if the run was evaluated. It is that of dspy-rs, whose score is an `f32`.
    pub feedback: Option<dspy_rs::FeedbackMetric>,
    /// The steps.
    pub trace: Trace,
    /// Errors of the run.
    pub errors: Vec<String>,
    /// Additional structured data.
    pub metadata: HashMap<String, Value>,
}

impl From<dspy_rs::ExecutionTrace> for ConvertedExecution {
    fn from(original: dspy_rs::ExecutionTrace) -> Self {
        Self {
            inputs: original.inputs.into(),
            outputs: original.outputs.map(Into::into),
            feedback: original.feedback,
            trace: trace_from_steps(original.intermediate_steps),
            errors: original.errors,
            metadata: original.metadata,
        }
    }
}

impl From<ConvertedExecution> for dspy_rs::ExecutionTrace {
    fn from(converted: ConvertedExecution) -> Self {
        Self {
            inputs: converted.inputs.into(),
            outputs: converted.outputs.map(Into::into),
            feedback: converted.feedback,
            intermediate_steps: trace_into_steps(converted.trace),
            errors: converted.errors,
            metadata: converted.metadata,
        }
    }
}

/// A `Trace` of dspy-rs's MIPROv2: one run of the program with its score. It can be converted and converted back without a
/// change. The steps, if there are any, are in the [run](ConvertedPrediction::run) of the outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertedTrace {
    /// The example.
    pub inputs: ConvertedExample,
    /// The prediction.
    pub outputs: ConvertedPrediction,
    /// The score, if the run was evaluated.
    pub score: Option<f32>,
}

impl From<dspy_rs::Trace> for ConvertedTrace {
    fn from(original: dspy_rs::Trace) -> Self {
        let dspy_rs::Trace {
            inputs,
            outputs,
            score,
        } = original;
        Self {
            inputs: inputs.into(),
            outputs: outputs.into(),
            score,
        }
    }
}

impl From<ConvertedTrace> for dspy_rs::Trace {
    fn from(
        ConvertedTrace {
            inputs,
            outputs,
            score,
        }: ConvertedTrace,
    ) -> Self {
        Self::new(inputs.into(), outputs.into(), score)
    }
}
