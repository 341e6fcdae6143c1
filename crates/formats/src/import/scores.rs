//! Outcomes of scores that another program computed.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::core::{
    MetricError, MetricScore, Outcome, ProgramOutput, ProgramRun, ProgramUsage, Scored,
};

/// Returns the outcome of a score: its value, and whether it is a verdict.
pub(super) fn scored(
    value: f64,
    passed: Option<bool>,
    details: Option<String>,
    metadata: Map<String, Value>,
) -> Outcome {
    let score = MetricScore { details, ..MetricScore::new(value) };
    Outcome::Scored(Scored::of_other_program(score, passed, metadata))
}

/// Returns the outcome of a score that is not a finite number.
pub(super) fn invalid(metric: &str, found: &Value) -> Outcome {
    let found = crate::json::describe::found(found);
    Outcome::from(MetricError::failed(metric, format_args!("the score is {found}, not a number")))
}

/// Returns the record of a program's run. A latency that is not a time is left out.
pub(super) fn program_run(latency_s: Option<f64>, tokens: Option<[u64; 2]>) -> ProgramRun {
    let mut output = ProgramOutput::new(());
    if let Some(latency) = latency_s.and_then(|it| Duration::try_from_secs_f64(it).ok()) {
        output = output.with_latency(latency);
    }
    if let Some([input, replies]) = tokens {
        output = output.with_usage(ProgramUsage::new(input, replies));
    }
    output.into_parts().1
}
