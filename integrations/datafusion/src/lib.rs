#![doc = include_str!("../README.md")]

mod aggregate;
mod arguments;
mod call;
mod cells;
mod corpus;
mod csv_output;
mod description;
mod files;
mod function;
mod named_scores;
mod output;
mod register;
mod rows;
mod samples;

pub use crate::aggregate::functions as aggregate_functions;
pub use crate::aggregate::{
    FindIdentities, score_identity, score_range, with_score_identity, with_score_range,
};
pub use crate::csv_output::{is_broken_pipe, write_csv};
pub use crate::description::FunctionDescription;
pub use crate::files::{register_files, tables};
pub use crate::register::{
    Functions, MetricFunctions, NotRegistered, RegisterMetric, configure_for_judges,
};
