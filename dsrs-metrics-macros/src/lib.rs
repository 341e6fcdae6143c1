//! The macros of dsrs-metrics.
