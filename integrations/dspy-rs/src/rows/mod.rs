//! Conversions of rows and traces between dspy-rs and dsrs-metrics, in both directions and without loss.

mod example;
mod execution;
mod prediction;
mod run_field;
mod steps;

pub use self::example::ConvertedExample;
pub use self::execution::{ConvertedExecution, ConvertedTrace};
pub use self::prediction::{ConvertedPrediction, TokenCounts};
pub use self::run_field::{RUN_FIELD, RunField};
pub use self::steps::{step_from_value, step_into_value, trace_from_steps, trace_into_steps};
