//! Metrics from functions: what a function may take and return, verdicts, and rows.

mod forms;
mod non_ascii_names;
mod rows;
mod verdicts;
