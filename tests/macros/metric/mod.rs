//! Metrics from functions: parameter and return types, verdicts, and rows.

mod closures;
mod explain;
mod forms;
mod instances;
mod non_ascii_names;
mod rows;
mod verdicts;
