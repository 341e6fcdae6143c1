#![doc = include_str!("../README.md")]

mod lm;
mod measured;
mod panics;
mod recorded;
mod rows;

pub use lm::DspyLm;
pub use measured::{
    Failure, Measured, MetricReport, NotScored, RowName, SpanFeedback, Tally, WithMetric,
};
pub use recorded::Recorded;
pub use rows::{
    ConvertedExample, ConvertedExecution, ConvertedPrediction, ConvertedTrace, RUN_FIELD, RunField,
    TokenCounts, step_from_value, step_into_value, trace_from_steps, trace_into_steps,
};
