//! Tests of `#[metric]` and of composites at run time.

mod clocks;
mod composite;
mod cycles;
mod documents;
mod error_debug;
mod file_access;
mod layers;
mod metric;
mod model_names;
mod module_files;
mod named_tests;
mod packages;
