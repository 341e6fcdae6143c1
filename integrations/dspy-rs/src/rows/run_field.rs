//! The field of a prediction of dspy-rs in which the run of the program is stored.

use std::time::Duration;

use dsrs_metrics::{
    rows::Trace,
    runs::{ProgramOutput, ProgramRun, ProgramUsage},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the field in which a prediction of dspy-rs carries a [`RunField`].
///
/// dspy-rs passes an example and a prediction to a metric and nothing else, so the steps of the program travel with the
/// prediction. Metrics do not see the field.
pub const RUN_FIELD: &str = "dsrs_metrics_run";

/// What a prediction of dspy-rs carries about the run that made it.
///
/// [`Measured`](crate::Measured) adds it to predictions of modules with [`Recorded`](crate::Recorded) predictors, and to
/// those that stand for a failed run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunField {
    /// The steps of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Tokens and cost of all steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ProgramUsage>,
    /// The duration of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Duration>,
    /// The predictor whose instruction an optimizer changed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictor: Option<String>,
    /// The error of the program, if the prediction stands for a failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl RunField {
    /// Reads the field. `None` if the value is not one that [`into_value`](Self::into_value) returned.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let field: Self = serde_json::from_value(value.clone()).ok()?;
        (field.to_value() == *value).then_some(field)
    }

    /// Returns the value of the field.
    pub(crate) fn to_value(&self) -> Value {
        // Maps with string keys and finite numbers only, which are always valid JSON.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns trace, usage and latency as metrics read them.
    pub(crate) fn into_run(self) -> ProgramRun {
        let mut output = ProgramOutput::new(());
        (output.trace, output.usage, output.latency) = (self.trace, self.usage, self.latency);
        output.into_parts().1
    }
}
