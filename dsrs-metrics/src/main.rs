//! The command line over the built-in metrics.
#![forbid(unsafe_code)]

dsrs_metrics::main![];
