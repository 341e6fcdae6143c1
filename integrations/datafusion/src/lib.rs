#![doc = include_str!("../README.md")]

mod aggregate;
mod arguments;
mod call;
mod cells;
mod function;
mod output;
mod register;
mod rows;
mod samples;

pub use crate::aggregate::functions as aggregate_functions;
pub use crate::register::{MetricFunctions, NotRegistered, RegisterMetric};
