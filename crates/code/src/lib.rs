//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.

#[macro_use]
extern crate dsrs_metrics_values;

pub mod deadline;
#[cfg(feature = "sparql")]
pub mod sparql;
pub mod syntax;
