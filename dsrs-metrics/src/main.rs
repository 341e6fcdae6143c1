//! The command line for the built-in metrics.
#![forbid(unsafe_code)]

dsrs_metrics::main![];
