//! Metrics from functions: parameter and return types, verdicts, and rows.

mod by_hand;
mod closures;
mod code;
mod explain;
mod forms;
mod instances;
mod missing;
mod non_ascii_names;
mod rows;
mod spec_line;
mod verdicts;
