//! Part of [dsrs-metrics](https://docs.rs/dsrs-metrics), which documents it. This package has no stable API of its own.

#[macro_use]
extern crate dsrs_metrics_values;

pub mod deadline;
#[cfg(feature = "sparql")]
pub mod sparql;
pub mod syntax;
